"""Presses and forms over the real socket client: acknowledged in time, heard, and always answered."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.ports import Button, Form, Inbound, InboundKind, Message, NotCommittedError, PlaceRef, Receipt
from bot.text import Text
from tests.adapters.console_fakes import FakeCore
from tests.adapters.stage_slack import FAST, SlackStage, port_for, serving
from tests.simulators.slack.server import Slack, running
from tests.simulators.slack.world import BOT_USER, TEAM, Fault, shown

HERE = PlaceRef(platform="slack", tenant=TEAM, channel="D_ANA")


@pytest.fixture
def core() -> FakeCore:
    return FakeCore()


@pytest.fixture
async def slack() -> AsyncIterator[Slack]:
    async with running() as simulator:
        yield simulator


@pytest.fixture
async def on(slack: Slack, core: FakeCore, tmp_path: Path) -> AsyncIterator[SlackStage]:
    async with serving(port_for(slack, tmp_path), core) as port:
        yield SlackStage(slack, port)


async def card(on: SlackStage, *tokens: str, place: PlaceRef = HERE) -> str:
    """Post a card with a button for each token; return its timestamp."""
    buttons = tuple(Button(label=token, token=token) for token in tokens)
    message = Message(body=Text.of("go?"), buttons=buttons)
    return (await on.port.post(place, message, nonce=f"card{tokens}{place}")).message


async def notes(slack: Slack, words: str, channel: str = "D_ANA") -> list[str]:
    """Wait for an ephemeral message that holds `words`; return for whom it and its like are."""
    kept = slack.world.channels[channel].ephemeral
    await slack.world.until(lambda: any(words in shown(one) for one in kept))
    return [one["to"] for one in kept if words in shown(one)]


# ---------------------------------------------------------------- presses


async def test_a_press_is_acknowledged_once_it_is_stored(on: SlackStage, core: FakeCore) -> None:
    """Reports 5 and 6."""
    delivery = await on.slack.press(await card(on, "tok"), token="tok")
    assert delivery is not None
    await on.slack.world.until(lambda: delivery.acked_at)
    assert [(heard.kind, heard.token) for heard in core.heard] == [(InboundKind.CLICK, "tok")]
    assert delivery.answer is None


async def test_a_press_is_acknowledged_in_time_when_the_core_is_slow(
    slack: Slack, core: FakeCore, tmp_path: Path
) -> None:
    """P2 and report 28: the press counts all the same."""
    inner, let = core.sink, asyncio.Event()

    async def slow(inbound: Inbound) -> Receipt:
        await let.wait()
        return await inner(inbound)

    async with serving(port_for(slack, tmp_path, pace=replace(FAST, ack=0.05)), core) as port:
        on = SlackStage(slack, port)
        ts = await card(on, "tok")
        port._sink = slow
        delivery = await slack.press(ts, token="tok")
        assert delivery is not None
        await slack.world.until(lambda: delivery.acked_at)
        assert core.heard == []
        let.set()
        assert (await core.heard_of(1))[0].token == "tok"
        assert dict((await port.health()).facts)["late acknowledgements"] == "1"


async def test_a_press_waits_for_nothing_that_is_asked_of_slack(on: SlackStage, core: FakeCore) -> None:
    """Report 5: Bolt would ask who we are at the first event, in the way of the acknowledgement."""
    on.slack.world.token_error = "token_revoked"
    asked = len(on.slack.world.calls)
    body_of = await on.slack.press(await _card_in_the_world(on), token="tok")
    assert body_of is not None
    await on.slack.world.until(lambda: body_of.acked_at)
    assert [heard.token for heard in core.heard] == ["tok"]
    assert on.slack.world.calls[asked:] == []


async def _card_in_the_world(on: SlackStage) -> str:
    """Let a card stand that an earlier process posted."""
    button = {"type": "button", "action_id": "s1:0", "text": {"text": "tok"}, "value": "s1:tok"}
    card = {
        "ts": on.slack.world.ts(),
        "user": BOT_USER,
        "blocks": [{"type": "actions", "elements": [button]}],
    }
    return on.slack.world.keep("D_ANA", card)["ts"]


async def test_a_press_overtakes_a_message_that_waits(on: SlackStage, core: FakeCore) -> None:
    """Report 27: presses have their own lane."""
    inner, let = core.sink, asyncio.Event()

    async def slow(inbound: Inbound) -> Receipt:
        if inbound.kind is InboundKind.MESSAGE:
            await let.wait()
        return await inner(inbound)

    ts = await card(on, "tok")
    on.port._sink = slow
    await on.slack.say("hello")
    await on.press("tok", "p")
    await on.acknowledged("p")
    assert [heard.token for heard in core.heard] == ["tok"]
    let.set()
    await core.heard_of(2)
    assert ts


async def test_a_press_that_was_not_stored_is_answered(on: SlackStage) -> None:
    """Slack sends a press once, so the person is told to press again."""

    async def full(_inbound: Inbound) -> Receipt:
        raise NotCommittedError

    await card(on, "tok")
    on.port._sink = full
    await on.press("tok", "p")
    await on.acknowledged("p")
    assert await notes(on.slack, "Not stored, so nothing was done. Press it again.") == ["U_ANA"]


async def test_a_press_that_broke_something_is_answered(on: SlackStage) -> None:
    async def broken(_inbound: Inbound) -> Receipt:
        raise ZeroDivisionError

    await card(on, "tok")
    on.port._sink = broken
    await on.press("tok", "p")
    await on.acknowledged("p")
    assert await notes(on.slack, "It is unknown whether that counted.") == ["U_ANA"]


async def test_a_button_that_is_not_ours_is_answered_and_not_heard(on: SlackStage, core: FakeCore) -> None:
    """Report 24: every press gets an answer."""
    ts = await card(on, "tok")
    delivery = await on.slack.press(ts, token="tok", value="elsewhere:1")
    assert delivery is not None
    await on.slack.world.until(lambda: delivery.acked_at)
    assert await notes(on.slack, "That button belongs to nothing here.") == ["U_ANA"]
    assert core.heard == []


async def test_two_people_who_press_at_once_are_both_heard(on: SlackStage, core: FakeCore) -> None:
    """Reports 21 and 22: who presses is part of the press; the core decides whose counts."""
    place = PlaceRef(platform="slack", tenant=TEAM, channel="C_OPS")
    ts = await card(on, "tok", place=place)
    await asyncio.gather(
        *(on.slack.press(ts, token="tok", by=user, channel="C_OPS") for user in ("U_ANA", "U_BO", "U_ANA"))
    )
    heard = await core.heard_of(3)
    assert sorted(one.account.user for one in heard) == ["U_ANA", "U_ANA", "U_BO"]
    assert len({one.event_id for one in heard}) == 3


async def test_a_card_from_before_a_restart_has_live_buttons(
    slack: Slack, core: FakeCore, tmp_path: Path
) -> None:
    """Reports 24 and 42's kin: nothing of a card is kept in memory."""
    async with serving(port_for(slack, tmp_path), core) as port:
        ts = await card(SlackStage(slack, port), "tok")
    core.forms["tok"] = Form(token="f", title="Phrase", label="Type it")
    async with serving(port_for(slack, tmp_path), core):
        await slack.press(ts, token="tok")
        await core.heard_of(1)
        await slack.world.until(lambda: "U_ANA" in slack.world.views)
    async with serving(port_for(slack, tmp_path), core):
        await slack.fill("destroy ct-112 on pve1")
        heard = (await core.heard_of(2))[1]
    assert (heard.kind, heard.token, heard.text) == (InboundKind.FORM, "f", "destroy ct-112 on pve1")
    assert heard.place == HERE


@pytest.mark.parametrize("kind", ["shortcut", "message_action"])
async def test_what_has_no_meaning_here_is_acknowledged(on: SlackStage, core: FakeCore, kind: str) -> None:
    body = {
        "type": kind,
        "callback_id": "x",
        "user": {"id": "U_ANA"},
        "team": {"id": TEAM},
        "trigger_id": "1",
        "channel": {"id": "D_ANA"},
        "message": {"ts": "1.0"},
    }
    await on.slack.sockets.send("interactive", body, key="odd")
    await on.slack.sockets.acked("odd")
    assert core.heard == []


async def test_a_slash_command_is_acknowledged(on: SlackStage) -> None:
    body = {"command": "/sayso", "text": "uptime", "user_id": "U_ANA", "team_id": TEAM, "channel_id": "D_ANA"}
    await on.slack.sockets.send("slash_commands", body, key="odd")
    await on.slack.sockets.acked("odd")


# ---------------------------------------------------------------- forms


async def opened(on: SlackStage, core: FakeCore, **form: Any) -> None:
    core.forms["tok"] = Form(**{"token": "f", "title": "Phrase", "label": "Type it", **form})
    await on.slack.press(await card(on, "tok"), token="tok")
    await on.slack.world.until(lambda: "U_ANA" in on.slack.world.views)


async def test_a_form_comes_back_with_what_was_typed(on: SlackStage, core: FakeCore) -> None:
    await opened(on, core, hint="destroy …", initial="destroy")
    view = on.slack.world.views["U_ANA"]
    assert view["blocks"][0]["element"]["initial_value"] == "destroy"
    done = await on.slack.fill("destroy ct-112")
    assert done.answer is None
    heard = (await core.heard_of(2))[1]
    assert (heard.kind, heard.token, heard.text, heard.place) == (
        InboundKind.FORM,
        "f",
        "destroy ct-112",
        HERE,
    )
    assert heard.account.user == "U_ANA"


async def test_an_empty_form_is_an_empty_text(on: SlackStage, core: FakeCore) -> None:
    await opened(on, core, required=False)
    await on.slack.fill(None)
    assert (await core.heard_of(2))[1].text == ""


async def test_a_form_that_was_not_stored_stays_open_and_says_so(on: SlackStage, core: FakeCore) -> None:
    """Report 7: the error travels in the acknowledgement."""
    await opened(on, core)
    core.full = frozenset({"destroy"})
    done = await on.slack.fill("destroy")
    assert done.answer == {
        "response_action": "errors",
        "errors": {"answer": "Not stored, so nothing was done. Send it again."},
    }
    core.full = frozenset()
    assert (await on.slack.fill("destroy")).answer is None
    assert (await core.heard_of(2))[1].text == "destroy"


@pytest.mark.parametrize("trigger", ["expired", "used", "unknown"])
async def test_a_form_whose_moment_has_gone_changes_nothing(
    on: SlackStage, core: FakeCore, trigger: str
) -> None:
    """Report 8: the press counts, and the core has said in words what to type."""
    core.forms["tok"] = Form(token="f", title="Phrase", label="Type it")
    await on.slack.press(await card(on, "tok"), token="tok", trigger=trigger)
    await core.heard_of(1)
    await on.slack.world.until(lambda: on.slack.world.called("views.open"))
    await on.slack.sockets.acked(await on.slack.say("destroy ct-112 on pve1"))
    assert [heard.text for heard in core.heard] == ["", "destroy ct-112 on pve1"]


async def test_a_form_is_the_first_thing_after_the_acknowledgement(on: SlackStage, core: FakeCore) -> None:
    """Report 8: nothing is asked of Slack before it."""
    ts = await card(on, "tok")
    core.forms["tok"] = Form(token="f", title="Phrase", label="Type it")
    before = len(on.slack.world.calls)
    await on.slack.press(ts, token="tok")
    await on.slack.world.until(lambda: "U_ANA" in on.slack.world.views)
    assert [name for name, _ in on.slack.world.calls[before:]] == ["views.open"]


async def test_a_form_of_another_app_is_acknowledged_and_not_heard(on: SlackStage, core: FakeCore) -> None:
    body = {
        "type": "view_submission",
        "user": {"id": "U_ANA", "team_id": TEAM},
        "team": {"id": TEAM},
        "view": {"id": "V1", "callback_id": "other", "private_metadata": "", "state": {"values": {}}},
    }
    await on.slack.sockets.send("interactive", body, key="odd")
    await on.slack.sockets.acked("odd")
    assert core.heard == []


async def test_a_person_who_cannot_be_told_breaks_nothing(on: SlackStage, core: FakeCore) -> None:
    ts = await card(on, "tok")
    on.slack.world.fail("chat.postEphemeral", Fault(kind="error", name="user_not_in_channel"))
    await on.slack.press(ts, token="tok", value="elsewhere")
    await on.slack.world.until(lambda: on.slack.world.refused)
    await on.slack.sockets.acked(await on.slack.say("hello"))
    assert len(core.heard) == 1
