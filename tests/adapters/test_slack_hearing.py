"""Hearing over the real socket client: stored before acknowledged, acknowledged in time, heard once."""

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
from tests.simulators.slack.world import BOT, BOT_USER, TEAM, Fault, shown

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


# ---------------------------------------------------------------- events


async def test_a_redelivery_is_acknowledged_and_heard_once(on: SlackStage, core: FakeCore) -> None:
    """Report 1: Slack sends again what was acknowledged too late, in new envelopes."""
    ts = await on.slack.say("hello")
    await on.slack.sockets.acked(ts)
    for _ in range(3):
        again = await on.slack.sockets.again(ts)
        assert again is not None
        await on.slack.world.until(lambda again=again: again.acked_at)
    assert [heard.text for heard in core.heard] == ["hello"]
    assert len({one.envelope for one in on.slack.sockets.deliveries if one.key == ts}) == 4


async def test_what_was_not_stored_is_stored_when_it_comes_again(on: SlackStage, core: FakeCore) -> None:
    """Report 1 and P1: no acknowledgement, so Slack sends it again, and then it counts."""
    core.full = frozenset({"hello"})
    ts = await on.slack.say("hello")
    await on.slack.say("other")
    await core.heard_of(1)
    assert not on.slack.sockets.was_acked(ts)
    core.full = frozenset()
    await on.slack.sockets.again(ts)
    await on.slack.sockets.acked(ts)
    assert [heard.text for heard in core.heard] == ["other", "hello"]


async def test_a_fault_of_the_core_is_not_acknowledged(on: SlackStage, core: FakeCore) -> None:
    inner = core.sink

    async def broken(inbound: Inbound) -> Receipt:
        if inbound.text == "odd":
            raise ZeroDivisionError
        return await inner(inbound)

    on.port._sink = broken
    ts = await on.slack.say("odd")
    await on.slack.sockets.acked(await on.slack.say("even"))
    assert not on.slack.sockets.was_acked(ts)


async def test_a_mention_and_its_message_are_heard_once(on: SlackStage, core: FakeCore) -> None:
    """Report 2."""
    ts = await on.slack.say("@sayso uptime", channel="C_OPS", events=("message", "app_mention"))
    await on.slack.world.until(
        lambda: sum(bool(one.acked_at) for one in on.slack.sockets.deliveries if one.key == ts) == 2
    )
    assert [heard.text for heard in core.heard] == ["uptime"]


async def test_a_mention_alone_is_enough(on: SlackStage, core: FakeCore) -> None:
    """Report 3: some workspaces send nothing else."""
    await on.slack.say("@sayso uptime", channel="C_OPS", events=("app_mention",))
    (heard,) = await core.heard_of(1)
    assert (heard.text, heard.addressed) == ("uptime", True)


async def test_what_we_post_and_edit_comes_back_and_starts_nothing(on: SlackStage, core: FakeCore) -> None:
    """Reports 11, 12 and 50."""
    ref = await on.port.post(HERE, Message(body=Text.of("one")), nonce="n")
    await on.port.edit(ref, Message(body=Text.of("two")))
    await on.slack.sockets.acked(await on.slack.say("hello"))
    echoes = [one for one in on.slack.sockets.deliveries if one.body["event"].get("user") == BOT_USER]
    assert echoes
    await on.slack.world.until(lambda: all(one.acked_at for one in on.slack.sockets.deliveries))
    assert [heard.text for heard in core.heard] == ["hello"]


async def test_an_edit_by_a_person_is_heard_as_one(on: SlackStage, core: FakeCore) -> None:
    """Report 36."""
    ts = await on.slack.say("no")
    await core.heard_of(1)
    await on.slack.edit(ts, "yes")
    heard = (await core.heard_of(2))[1]
    assert (heard.kind, heard.text, heard.position) == (InboundKind.EDIT, "yes", core.heard[0].position)


async def test_another_bot_is_heard_as_one(on: SlackStage, core: FakeCore) -> None:
    """Report 50."""
    await on.slack.say("yes", bot_id="B_OTHER", app_id="A_OTHER")
    assert (await core.heard_of(1))[0].account.is_bot


@pytest.mark.parametrize(
    "event",
    [
        {"type": "reaction_added", "user": "U_ANA", "item": {"channel": "C_OPS", "ts": "1.0"}},
        {"type": "app_home_opened", "user": "U_ANA", "channel": "D_ANA"},
        {"type": "function_executed", "function": {}},
        {"type": "message", "subtype": "channel_join", "channel": "C_OPS", "user": "U_BO", "ts": "1.0"},
        {"type": "something_new"},
    ],
)
async def test_every_event_is_acknowledged(on: SlackStage, core: FakeCore, event: dict[str, Any]) -> None:
    """An event that nobody acknowledges comes again, and again."""
    await on.slack.sockets.event(event, key="odd")
    await on.slack.sockets.acked("odd")
    assert core.heard == []


async def test_a_slow_commit_holds_up_its_own_channel_only(on: SlackStage, core: FakeCore) -> None:
    inner, let = core.sink, asyncio.Event()

    async def slow(inbound: Inbound) -> Receipt:
        if inbound.text == "first":
            await let.wait()
        return await inner(inbound)

    on.port._sink = slow
    first = await on.slack.say("first")
    second = await on.slack.say("second")
    await on.slack.sockets.acked(await on.slack.say("elsewhere", by="U_BO", channel="D_BO"))
    assert not on.slack.sockets.was_acked(second)
    let.set()
    await on.slack.sockets.acked(first)
    await on.slack.sockets.acked(second)
    assert [heard.text for heard in core.heard] == ["elsewhere", "first", "second"]


async def test_a_name_is_known_from_the_second_time_on(on: SlackStage, core: FakeCore) -> None:
    await on.slack.say("one")
    await core.heard_of(1)
    await on.slack.world.until(lambda: on.slack.world.called("users.info"))
    async with asyncio.timeout(5):
        while on.port._people.name_of("U_ANA") != "ana":  # noqa: ASYNC110  # nothing tells
            await asyncio.sleep(0)
    await on.slack.say("two")
    assert [heard.account.display for heard in await core.heard_of(2)] == ["U_ANA", "ana"]
    assert len(on.slack.world.called("users.info")) == 1


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
        assert delivery.latency_s < 2
        let.set()
        assert (await core.heard_of(1))[0].token == "tok"
        assert dict((await port.health()).facts)["late acknowledgements"] == "1"


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
    assert [name for name, _ in on.slack.world.calls[before:] if name != "auth.test"] == ["views.open"]


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


# ---------------------------------------------------------------- many at once


async def test_many_conversations_at_once_are_acknowledged_in_time_and_heard_once(
    on: SlackStage, core: FakeCore
) -> None:
    """P2: with a press, a redelivery and a growing card in each of 60 conversations."""
    for number in range(60):
        on.slack.world.add_channel(f"D_{number}", kind="im", members={"U_ANA", BOT_USER})

    async def converse(number: int) -> None:
        channel = f"D_{number}"
        place = PlaceRef(platform="slack", tenant=TEAM, channel=channel)
        ts = await on.slack.say(f"run {number}", channel=channel)
        button = Message(body=Text.of("go?"), buttons=(Button(label="Go", token="t"),))
        ref = await on.port.post(place, button, nonce=f"n{number}")
        await on.slack.sockets.again(ts)
        await on.slack.press(ref.message, token="t", channel=channel)
        await on.port.edit(ref, Message(body=Text.of("done")))

    await asyncio.gather(*(converse(number) for number in range(60)))
    await core.heard_of(120)
    await on.slack.world.until(lambda: all(one.acked_at for one in on.slack.sockets.deliveries))
    assert len(core.heard) == 120
    assert on.slack.sockets.worst_latency_s() < 2
    assert on.slack.world.refused == []
    assert on.slack.world.pings == []


async def test_a_lost_acknowledgement_is_a_redelivery_and_nothing_else(
    on: SlackStage, core: FakeCore
) -> None:
    for connection in on.slack.sockets.connections:
        connection.deaf = True
    ts = await on.slack.say("hello")
    await core.heard_of(1)
    assert not on.slack.sockets.was_acked(ts)
    for connection in on.slack.sockets.connections:
        connection.deaf = False
    await on.slack.sockets.again(ts)
    await on.slack.sockets.acked(ts)
    assert len(core.heard) == 1


async def test_a_person_who_cannot_be_told_breaks_nothing(on: SlackStage, core: FakeCore) -> None:
    ts = await card(on, "tok")
    on.slack.world.fail("chat.postEphemeral", Fault(kind="error", name="user_not_in_channel"))
    await on.slack.press(ts, token="tok", value="elsewhere")
    await on.slack.world.until(lambda: on.slack.world.refused)
    await on.slack.sockets.acked(await on.slack.say("hello"))
    assert len(core.heard) == 1
    assert BOT
