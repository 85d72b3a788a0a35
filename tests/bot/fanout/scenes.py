"""Fan-outs for tests, as views: hosts by name, each as far as a table says, and their card as it is drawn."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, timedelta

from bot.cards import Cards
from bot.ports import Message
from gate.digest import action_digest, list_digest
from gate.domain import (
    Action,
    ActionId,
    ApprovalId,
    Deed,
    PersonId,
    PlaceId,
    ProposalId,
    Radius,
    Risk,
    RouteKind,
    Target,
    TargetId,
    TargetKind,
    Touch,
    TouchKind,
    Verdict,
)
from gate.fanout import Brake
from gate.lifecycle import ActionState, ApprovalState
from ledger.views import ActionView, ApprovalView, EndingView, FanoutView, ProposalView
from tests.gate.makers import NOW, P1, verdict

RELOAD = "systemctl reload nginx"
CHANGES = Brake(canary=1, batch=10, stop_after=1)
READS = Brake()


CARDS = Cards(token_key=b"k" * 32, secrets=("tr0ub4dor",), last_run=lambda _: None)
NGINX = Touch(kind=TouchKind.SERVICE, name="nginx")
RELOADS = replace(
    verdict(), deed=Deed(verb="reload", object="nginx"), reasons=("reloads a service",), touches=(NGINX,)
)


def hosts(count: int, *, prefix: str = "web") -> list[str]:
    """Return web1, web2, …."""
    return [f"{prefix}{number}" for number in range(1, count + 1)]


def target(name: str, number: int, *, kind: TargetKind = TargetKind.SSH) -> Target:
    """Return a target at an address of its own."""
    return Target(id=TargetId(name), kind=kind, address=f"10.0.{number // 250}.{number % 250}", user="root")


def view(
    name: str,
    index: int = 1,
    *,
    command: str = RELOAD,
    state: ActionState = ActionState.WAITING,
    risk: Risk = Risk.REVERSIBLE_LOW,
    judged: Verdict | None = None,
    radius: Radius | None = None,
    phrase: str | None = None,
    verify: str | None = None,
    kind: TargetKind = TargetKind.SSH,
    proposal: ProposalId = P1,
) -> ActionView:
    """Return one action in its list, without an approval."""
    made = Action(
        id=ActionId(f"{proposal}.{index}"),
        index=index,
        target=target(name, index, kind=kind),
        command=command,
        purpose="",
        verify=verify,
    )
    auto = judged.auto_run if judged is not None else risk is Risk.READ_ONLY
    route = RouteKind.AUTO if auto else RouteKind.PHRASE if phrase else RouteKind.APPROVAL
    return ActionView(
        action=made,
        digest=action_digest(made),
        verdict=judged or verdict(risk, auto_run=auto),
        radius=radius or Radius(known=False),
        route=route,
        because="",
        phrase=phrase,
        state=state,
        approval=None,
        queued_at=None,
        started_at=None,
        ended_at=None,
        ending=None,
    )


def ended(
    one: ActionView,
    state: ActionState = ActionState.SUCCEEDED,
    *,
    exit_code: int | None = None,
    output: str = "",
    note: str = "",
    run_s: float = 1.0,
    dropped: int = 0,
    settled: str = "",
    verify_exit: int | None = None,
    checked: bool = False,
) -> ActionView:
    """Return `one` as it started now and ended after `run_s`."""
    code = exit_code if exit_code is not None else 0 if state is ActionState.SUCCEEDED else None
    ending = EndingView(
        note=note,
        exit_code=code,
        run_s=run_s,
        output=output,
        total_bytes=len(output) + dropped,
        dropped_bytes=dropped,
        verify_exit=verify_exit,
        settled=settled,
        checked=checked,
    )
    at = NOW + timedelta(seconds=run_s)
    return replace(one, state=state, started_at=NOW, ended_at=at, ending=ending)


def running(one: ActionView) -> ActionView:
    """Return `one` as it started now."""
    return replace(one, state=ActionState.STARTED, started_at=NOW)


def dropped(one: ActionView, note: str) -> ActionView:
    """Return `one` as it never will run."""
    never = ended(one, ActionState.CANCELLED, note=note, run_s=0.0)
    return replace(never, started_at=None)


def fanout(
    *actions: ActionView,
    brake: Brake = CHANGES,
    selector: Sequence[str] = ("@web",),
    granted: bool = True,
    said: str = "go ahead",
) -> ProposalView:
    """Return the proposal of `actions`: what waits is asked about together, the rest was granted before."""
    rest = [one for one in actions if one.state is ActionState.WAITING]
    whole = [_approved(one, actions, brake, said) if granted else one for one in actions]
    made = [_asked(one, rest, brake) if one.state is ActionState.WAITING else one for one in whole]
    return ProposalView(
        id=P1,
        correlation_id="c",
        requester=PersonId("ana"),
        asked_in=PlaceId("ops"),
        shown_in=PlaceId("ops"),
        made_at=NOW,
        source="typed",
        purpose="",
        replaced_by=None,
        policy_revision="r1",
        actions=tuple(made),
        fanout=FanoutView(brake=brake, selector=tuple(selector)),
    )


def _asked(one: ActionView, rest: Sequence[ActionView], brake: Brake) -> ActionView:
    return replace(
        one,
        approval=ApprovalView(
            id=ApprovalId(f"{one.action.id}/a"),
            action=one.action.id,
            state=ApprovalState.PENDING,
            deadline_at=NOW + timedelta(minutes=15),
            phrase=one.phrase,
            list_digest=list_digest([other.digest for other in rest], brake),
            decided_by=None,
            decided_at=None,
            said="",
            why="",
            alone=False,
        ),
    )


def _approved(one: ActionView, all_of: Sequence[ActionView], brake: Brake, said: str) -> ActionView:
    if one.route is RouteKind.AUTO:
        return one
    asked = _asked(one, all_of, brake).approval
    assert asked is not None
    by = PersonId("ana")
    return replace(
        one,
        approval=replace(asked, state=ApprovalState.GRANTED, decided_by=by, decided_at=NOW, said=said),
    )


def message(one: ProposalView, *, seconds: float = 4, files: bool = False, behind: str = "") -> Message:
    """Return the card of `one`, some seconds after it was asked."""
    now = NOW + timedelta(seconds=seconds)
    return CARDS.draw(one, now=now, zone=UTC, files=files, behind=behind, types=True)


def drawn(one: ProposalView, *, seconds: float = 4, files: bool = False, behind: str = "") -> str:
    """Return what stands on the card of `one`."""
    return message(one, seconds=seconds, files=files, behind=behind).body.plain()


def webs(count: int = 12, *, state: ActionState = ActionState.WAITING) -> list[ActionView]:
    """Return web1, web2, … to reload."""
    return [view(name, index, judged=RELOADS, state=state) for index, name in enumerate(hosts(count), 1)]
