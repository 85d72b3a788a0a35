"""Names of actions: secrets in a command are masked in every one of them."""

from bot.phrasing import command_on, named, title
from gate.digest import action_digest
from gate.domain import Radius, RouteKind
from gate.lifecycle import ActionState
from ledger.views import ActionView
from tests.gate.makers import action, verdict


def view(command: str) -> ActionView:
    one = action(command)
    return ActionView(
        action=one,
        digest=action_digest(one),
        verdict=verdict(),
        radius=Radius(known=False),
        route=RouteKind.APPROVAL,
        because="",
        phrase=None,
        state=ActionState.WAITING,
        approval=None,
        queued_at=None,
        started_at=None,
        ended_at=None,
        ending=None,
    )


def test_a_name_shows_no_secret() -> None:
    one = view("deploy --token hunter2 now")
    assert title(one, secrets=[]) == "deploy --token *** now"
    assert named(one, secrets=[]) == "deploy --token *** now on web1"
    assert command_on(one.action, secrets=[]) == "deploy --token *** now on web1"


def test_a_name_masks_values_known_from_the_configuration() -> None:
    assert named(view("use hunter2"), secrets=["hunter2"]) == "use *** on web1"


def test_a_name_hides_nothing_that_is_executed() -> None:
    assert title(view("echo Cookie: a; touch /tmp/x"), secrets=[]) == "echo Cookie: ***; touch /tmp/x"
