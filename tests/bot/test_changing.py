"""A yes with a change in it: what is composed from it, what is not, and that nothing ever runs from it."""

import asyncio
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot import changing
from bot.ports import InboundKind
from gate.domain import ProposalId, Risk
from gate.policy import Permission
from ledger.views import ProposalView
from tests.bot.test_digest import Ends
from tests.kit import Kit, conversation, person

RESTART = "run systemctl restart caddy on web1"
SERVE = "run nginx -p 8080 on web1"
TWO_NUMBERS = "run nginx -p 8080 -q 9090 on web1"
TWO_COMMANDS = "on web1: nginx -p 8080\non web2: nginx -q 9090"
ELSEWHERE = Permission(risk=Risk.REVERSIBLE_LOW, targets=("local",))
SAY_THE_WHOLE = "Say the whole of it, as in:  run "


def ran(kit: Kit) -> list[str]:
    return list(kit.core.executor.ran)  # type: ignore[attr-defined] # Ends


def view_of(kit: Kit, proposal: str | None = None) -> ProposalView:
    view = kit.core.queries.proposal(ProposalId(proposal or kit.newest_id()))
    assert view is not None
    return view


def asked_for(kit: Kit) -> list[tuple[str, str]]:
    """Return target and command of each action of the newest proposal."""
    return [(str(one.action.target.id), one.action.command) for one in view_of(kit).actions]


# ---------------------------------------------------------------- what is composed


@pytest.mark.parametrize(
    ("request_", "said", "wanted"),
    [
        (RESTART, "yes, but on web2", [("web2", "systemctl restart caddy")]),
        (RESTART, "but on web2", [("web2", "systemctl restart caddy")]),
        (RESTART, "yes but run it on web2 instead.", [("web2", "systemctl restart caddy")]),
        (RESTART, "yes but on @web", [(name, "systemctl restart caddy") for name in ("web1", "web2")]),
        (TWO_COMMANDS, "yes, but on local", [("local", "nginx -p 8080"), ("local", "nginx -q 9090")]),
        (SERVE, "go ahead but with port 8081", [("web1", "nginx -p 8081")]),
        (SERVE, "go ahead, but 8081 instead of 8080", [("web1", "nginx -p 8081")]),
        (TWO_NUMBERS, "yes but with 8081 instead of 8080", [("web1", "nginx -p 8081 -q 9090")]),
        (RESTART, "ja, aber auf web2", [("web2", "systemctl restart caddy")]),
        (RESTART, "ja, aber bitte auf web2", [("web2", "systemctl restart caddy")]),
        (SERVE, "ja, aber mit Port 8081 statt 8080", [("web1", "nginx -p 8081")]),
        (RESTART, "نعم، لكن على web2", [("web2", "systemctl restart caddy")]),
        (RESTART, "نعم بس على web2", [("web2", "systemctl restart caddy")]),
        (SERVE, "نعم لكن مع 8081", [("web1", "nginx -p 8081")]),
        (SERVE, "نعم لكن على ٨٠٨١", [("web1", "nginx -p 8081")]),
        (RESTART, "oui, mais sur web2", [("web2", "systemctl restart caddy")]),
        (RESTART, "sí, pero en web2", [("web2", "systemctl restart caddy")]),
    ],
)
async def test_a_change_that_is_certain_replaces_the_card(
    tmp_path: Path, request_: str, said: str, wanted: list[tuple[str, str]]
) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        await kit.say(request_)
        old = view_of(kit)
        shown = await kit.say(said)
        new = view_of(kit)
        assert new.id != old.id
        assert asked_for(kit) == wanted
        assert set(kit.states(old.id)) == {"cancelled"}
        assert kit.states()[0] == "waiting"
        fresh = {one.digest for one in new.actions} - {one.digest for one in old.actions}
        assert fresh  # what a yes to the old card granted is not what this one asks for
        assert f"This card was replaced by #{new.id}. Nothing ran from it." in shown
        assert said in shown  # the purpose is what was really said
        assert ran(kit) == []


async def test_only_the_new_card_can_be_approved(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        await kit.say(SERVE)
        old, before = kit.card, view_of(kit)
        approve = old.token("Approve")
        await kit.say("go ahead but with port 8081")
        assert view_of(kit).actions[0].digest != before.actions[0].digest
        assert old.message.buttons == ()
        await kit.send(replace(kit.inbound(""), kind=InboundKind.CLICK, token=approve))
        await kit.say(f"approve {before.id}")
        assert ran(kit) == []
        await kit.say(f"approve {kit.newest_id()}")
        assert ran(kit) == ["nginx -p 8081"]


async def test_a_bare_yes_after_a_change_is_to_the_new_card(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        await kit.say(SERVE)
        await kit.say("go ahead but with port 8081")
        await kit.say("yes, go ahead")
        assert ran(kit) == ["nginx -p 8081"]


async def test_what_already_ran_is_not_asked_for_again(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        await kit.say("on web1: systemctl restart caddy\non web1: rm -rf /srv/x")
        await kit.say("go ahead")
        assert ran(kit) == ["systemctl restart caddy"]
        await kit.say("yes, but on web2", reply_to=kit.card)
        assert ran(kit) == ["systemctl restart caddy"]
        assert asked_for(kit) == [("web2", "rm -rf /srv/x")]


# ---------------------------------------------------------------- what is not certain


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (TWO_NUMBERS, "go ahead but with port 8081"),
        (SERVE, "go ahead but with 8081 instead of 9090"),
        (SERVE, "go ahead but with port 8080"),
        (RESTART, "go ahead but with port 8081"),
        (RESTART, "yes, but on nowhere"),
        (RESTART, "yes, but on @nothing"),
        (RESTART, "yes, but on web1"),
        (TWO_COMMANDS, "go ahead but with port 8081"),
        (RESTART, "yes, but on web2 and with care"),
        (SERVE, "نعم لكن على nowhere"),
        (SERVE, "ja, aber auf nirgendwo"),
    ],
)
async def test_a_change_that_is_not_certain_leaves_the_card_as_it_was(
    tmp_path: Path, request_: str, said: str
) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        await kit.say(request_)
        old, states, card = kit.newest_id(), kit.states(), kit.card.text
        shown = await kit.say(said)
        assert kit.newest_id() == old
        assert kit.states() == states
        assert kit.card.text == card
        assert "Nothing ran" in shown
        assert SAY_THE_WHOLE in shown
        assert ran(kit) == []


async def test_who_may_not_drop_the_card_changes_nothing(tmp_path: Path) -> None:
    people = (person("ana"), person("ben", ELSEWHERE))
    async with conversation(tmp_path, executor=Ends, operators=people) as kit:
        await kit.say(RESTART)
        old, card = kit.newest_id(), kit.card
        shown = await kit.say("yes, but on local", by="ben", reply_to=card)
        assert kit.newest_id() == old
        assert kit.states() == ["waiting"]
        assert shown
        assert ran(kit) == []


@pytest.mark.parametrize(
    "said",
    ["yes and restart nginx, but on web2", "no, but on web2", "not now, but on web2", "hm, but on web2"],
)
async def test_what_comes_before_the_change_is_a_yes_or_nothing_is_composed(
    tmp_path: Path, said: str
) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        await kit.say(RESTART)
        assert changing.changed(kit.core, view_of(kit), said) is None
        old = kit.newest_id()
        await kit.say(said)
        assert kit.newest_id() == old
        assert ran(kit) == []


# ---------------------------------------------------------------- nothing runs

_BUTS = st.sampled_from(["but", "aber", "pero", "mais", "لكن", "بس", "but only", "but please"])
_YESES = st.sampled_from(["yes", "go ahead", "ja", "نعم", "ok do it", "sure", "approve", "yes yes", ""])
_CHANGES = st.one_of(
    st.builds("on {}".format, st.sampled_from(["web1", "web2", "local", "@web", "nowhere", "8081"])),
    st.builds("with port {}".format, st.integers(0, 99999)),
    st.builds("{0} instead of {1}".format, st.integers(0, 9999), st.sampled_from([8080, 9090, 1])),
    st.builds("على {}".format, st.sampled_from(["web2", "٨٠٨١"])),
    st.text(max_size=12).map("with {}".format),
)


@settings(max_examples=30, deadline=None)
@given(
    request_=st.sampled_from([RESTART, SERVE, TWO_NUMBERS, TWO_COMMANDS]),
    yes=_YESES,
    but=_BUTS,
    change=_CHANGES,
)
def test_nothing_ever_runs_from_a_change(request_: str, yes: str, but: str, change: str) -> None:
    async def story(folder: Path) -> None:
        async with conversation(folder, executor=Ends) as kit:
            await kit.say(request_)
            await kit.say(f"{yes}, {but} {change}")
            # "with port 80" may be read as a question of its own, whose answer only looks.
            assert not [one for one in ran(kit) if one.startswith(("systemctl", "nginx"))]
            assert "approval:granted" not in kit.kinds()

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(story(Path(folder)))
