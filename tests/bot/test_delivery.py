"""Delivery: each place in its order, places side by side, and what becomes of a send nobody is sure of."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bot import conversation as conversing
from bot import delivery as delivering
from bot.ports import BusyError, Message, MessageRef, PlaceRef, RejectedError, UncertainError
from gate.domain import ProposalId
from ledger.outbox import OutboxState
from tests.bot.test_digest import Ends
from tests.kit import Kit, ScriptedPort, conversation, person

RESTART = "run systemctl restart caddy on web1"
PEOPLE = (person("ana"), person("kim"))


@dataclass
class Fault:
    """What happens to a send before, or after, it arrives."""

    error: Exception
    arrives: bool = False


@dataclass
class Tries:
    """What was tried, in order: (what, place or message, nonce)."""

    made: list[tuple[str, str, str]] = field(default_factory=list)

    def of(self, what: str) -> list[str]:
        return [nonce for name, _, nonce in self.made if name == what]


class UnsurePort(ScriptedPort):
    """A surface that fails as told: `faults` for posts of matching text, `blind` where it cannot tell."""

    def __init__(self, **can: bool) -> None:
        super().__init__(**can)
        self.tries = Tries()
        self.faults: list[tuple[str, Fault]] = []
        self.edit_faults: list[Exception] = []
        self.blind: list[Exception] = []
        self.held: dict[str, asyncio.Event] = {}

    def fail(self, text: str, *faults: Fault) -> None:
        self.faults += [(text, one) for one in faults]

    async def post(self, place: PlaceRef, message: Message, *, nonce: str) -> MessageRef:
        self.tries.made.append(("post", place.channel, nonce))
        if place.channel in self.held:
            await self.held[place.channel].wait()
        words = message.body.plain()
        found = next((one for one in self.faults if one[0] in words), None)
        if found is not None:
            self.faults.remove(found)
            if found[1].arrives:
                await super().post(place, message, nonce=nonce)
            raise found[1].error
        return await super().post(place, message, nonce=nonce)

    async def find(self, place: PlaceRef, *, nonce: str) -> MessageRef | None:
        self.tries.made.append(("find", place.channel, nonce))
        if self.blind:
            raise self.blind.pop(0)
        return await super().find(place, nonce=nonce)

    async def edit(self, ref: MessageRef, message: Message) -> None:
        self.tries.made.append(("edit", ref.place.channel, ref.message))
        if self.edit_faults:
            raise self.edit_faults.pop(0)
        await super().edit(ref, message)


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivering, "LOOK_AGAIN_S", 0.0)


def cards(port: ScriptedPort, channel: str = "ops") -> list[str]:
    return [
        one.text for one in port.screen.values() if one.ref.place.channel == channel and one.message.buttons
    ]


def states(kit: Kit, kind: str = "card") -> list[tuple[str, bool]]:
    """Return (state, whether its message is known) of every effect of a kind, in order."""
    rows = kit.core.ledger.reader().execute(
        "SELECT state, ref != '' FROM outbox WHERE kind=? ORDER BY id", (kind,)
    )
    return [(row[0], bool(row[1])) for row in rows]


async def until(is_so: Callable[[], bool]) -> None:
    """Wait until something is so, without a say in how long that takes."""
    async with asyncio.timeout(60):
        while not is_so():  # noqa: ASYNC110 - what is waited for has no event
            await asyncio.sleep(0.005)


# ---------------------------------------------------------------- order


async def test_what_is_shown_in_a_place_comes_in_its_order(tmp_path: Path) -> None:
    port = UnsurePort()
    async with conversation(tmp_path, executor=Ends, port=port) as kit:
        port.held["ops"] = asyncio.Event()
        receipts = [await kit.hand_over(kit.inbound(f"run uptime on nowhere{n}")) for n in range(5)]
        await until(lambda: len(port.tries.of("post")) == 1)
        port.held.pop("ops").set()
        await asyncio.gather(*(one.settled for one in receipts))
        said = [one.text for one in port.screen.values()]
        assert [f"nowhere{n}" in text for n, text in enumerate(said)] == [True] * 5


async def test_a_slow_place_holds_up_no_other(tmp_path: Path) -> None:
    port = UnsurePort()
    async with conversation(tmp_path, operators=PEOPLE, executor=Ends, port=port) as kit:
        port.held["slow"] = asyncio.Event()
        stuck = await kit.hand_over(kit.inbound(RESTART, place="slow"))
        await until(lambda: bool(port.tries.of("post")))
        await kit.hand_over(kit.inbound(RESTART, by="kim"))
        # What is not recorded as shown yet, nobody's words count for.
        await until(lambda: ("done", True) in states(kit))
        await kit.hand_over(kit.inbound("go ahead", by="kim"))
        await until(lambda: kit.core.executor.ran == ["systemctl restart caddy"])  # type: ignore[attr-defined]
        assert cards(port, "slow") == []
        assert not stuck.settled.done()
        port.held.pop("slow").set()
        await asyncio.wait_for(stuck.settled, timeout=60)
        assert len(cards(port, "slow")) == 1


async def test_an_edit_never_holds_up_a_card(tmp_path: Path) -> None:
    port = UnsurePort()
    async with conversation(tmp_path, executor=Ends, port=port) as kit:
        await kit.say(RESTART)
        old = kit.newest_id()
        gate = asyncio.Event()
        plain = port.edit

        async def slow(ref: MessageRef, message: Message) -> None:
            await gate.wait()
            await plain(ref, message)

        port.edit = slow  # type: ignore[method-assign] # held for this test
        await kit.hand_over(kit.inbound(f"edit {old} run systemctl restart nginx on web1"))
        await until(lambda: any("restart nginx" in one for one in cards(port)))
        assert any("restart caddy" in one for one in cards(port))
        gate.set()
        await kit.say("pending")
        await kit.look()
        assert [one for one in cards(port) if "restart caddy" in one] == []


# ---------------------------------------------------------------- busy


async def test_what_a_busy_platform_refuses_is_sent_again(tmp_path: Path) -> None:
    port = UnsurePort()
    async with conversation(tmp_path, executor=Ends, port=port) as kit:
        port.fail("restart caddy", *[Fault(BusyError("slow down", retry_after_s=0.001))] * 3)
        await kit.say(RESTART)
        assert len(cards(port)) == 1
        assert states(kit) == [("done", True)]
        assert len(set(port.tries.of("post"))) == 1
        assert len(port.tries.of("post")) == 4


async def test_no_platform_is_waited_for_longer_than_a_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivering, "LONGEST_WAIT_S", 0.001)
    port = UnsurePort()
    async with conversation(tmp_path, executor=Ends, port=port) as kit:
        port.fail("restart caddy", Fault(BusyError("come back tomorrow", retry_after_s=86_400)))
        await kit.say(RESTART)
        assert states(kit) == [("done", True)]


async def test_edits_that_a_busy_platform_refuses_become_one_of_the_newest_state(tmp_path: Path) -> None:
    port = UnsurePort()
    async with conversation(tmp_path, executor=Ends, port=port) as kit:
        await kit.say(RESTART)
        port.edit_faults = [BusyError("slow down", retry_after_s=0.001)] * 2
        await kit.say("go ahead")
        (card,) = [one for one in port.screen.values() if "restart caddy" in one.text]
        assert "✓ ok" in card.text
        assert not port.edit_faults
        assert {state for state, _ in states(kit, "refresh")} == {"done"}


async def test_many_changes_while_an_edit_is_under_way_become_one_more(tmp_path: Path) -> None:
    port = UnsurePort()
    async with conversation(tmp_path, executor=Ends, port=port) as kit:
        await kit.say(RESTART)
        under_way = asyncio.Event()
        plain = port.edit

        async def slow(ref: MessageRef, message: Message) -> None:
            await plain(ref, message)
            await under_way.wait()

        port.edit = slow  # type: ignore[method-assign] # held for this test
        delivery = kit.app.conversation._delivery
        delivery.refresh(ProposalId(kit.newest_id()))
        await until(lambda: bool(port.tries.of("edit")))
        for _ in range(50):
            delivery.refresh(ProposalId(kit.newest_id()))
        under_way.set()
        await delivery.settled()
        assert len(port.tries.of("edit")) == 2


async def test_a_card_that_cannot_be_edited_yet_holds_up_no_other_of_the_same(tmp_path: Path) -> None:
    port = UnsurePort()
    people = (person("ana"), person("bo"))
    async with conversation(tmp_path, operators=people, executor=Ends, port=port) as kit:
        await kit.say("pending")
        await kit.say("pending", by="bo", place="other", direct=True)
        await kit.say("run rm -rf /srv/x on web1")
        (there,) = [
            one for one in port.screen.values() if one.ref.place.channel == "other" and one.message.buttons
        ]
        held, plain = asyncio.Event(), port.edit

        async def edit(ref: MessageRef, message: Message) -> None:
            if ref.place.channel == "ops":
                await held.wait()
            await plain(ref, message)

        port.edit = edit  # type: ignore[method-assign] # held for this test
        await kit.say("no", settle=False)
        await until(lambda: there.edits > 0)
        assert not there.message.buttons
        held.set()
        await kit.app.conversation._delivery.settled()


@pytest.mark.parametrize("error", [RejectedError("too old to edit"), UncertainError("no answer")])
async def test_an_edit_that_is_refused_is_drawn_by_the_next(tmp_path: Path, error: Exception) -> None:
    port = UnsurePort()
    async with conversation(tmp_path, executor=Ends, port=port) as kit:
        await kit.say(RESTART)
        port.edit_faults = [error]
        await kit.say("no, not now")
        assert {state for state, _ in states(kit, "refresh")} == {"done"}


# ---------------------------------------------------------------- unsure


async def test_an_unsure_message_that_is_found_is_not_sent_twice(tmp_path: Path) -> None:
    port = UnsurePort(finds=True)
    async with conversation(tmp_path, executor=Ends, port=port) as kit:
        port.fail("restart caddy", Fault(UncertainError("timed out"), arrives=True))
        await kit.say(RESTART)
        assert len(port.tries.of("post")) == 1
        assert states(kit) == [("done", True)]
        await kit.say("go ahead")
        assert kit.states() == ["succeeded"]
        assert "✓ ok" in kit.port.screen[port.tries.of("post")[0]].text


async def test_an_unsure_message_that_is_not_there_is_sent_again_with_its_nonce(tmp_path: Path) -> None:
    port = UnsurePort(finds=True)
    async with conversation(tmp_path, executor=Ends, port=port) as kit:
        port.fail("restart caddy", Fault(UncertainError("timed out")))
        await kit.say(RESTART)
        assert port.tries.of("post") == [port.tries.of("find")[0]] * 2
        assert len(cards(port)) == 1
        assert states(kit) == [("done", True)]


async def test_a_platform_that_cannot_tell_now_is_asked_again(tmp_path: Path) -> None:
    port = UnsurePort(finds=True)
    async with conversation(tmp_path, executor=Ends, port=port) as kit:
        port.fail("restart caddy", Fault(UncertainError("timed out"), arrives=True))
        port.blind = [UncertainError("not now"), BusyError("slow down", retry_after_s=0.001)]
        await kit.say(RESTART)
        assert len(port.tries.of("post")) == 1
        assert len(port.tries.of("find")) == 3
        assert states(kit) == [("done", True)]


@pytest.mark.parametrize("finds", [False, True])
async def test_what_nobody_can_tell_is_not_repeated_and_said(tmp_path: Path, *, finds: bool) -> None:
    port = UnsurePort(finds=finds)
    async with conversation(tmp_path, executor=Ends, port=port) as kit:
        port.fail("restart caddy", Fault(UncertainError("timed out"), arrives=True))
        port.blind = [UncertainError("cannot tell")] * 99
        shown = await kit.say(RESTART)
        proposal = kit.newest_id()
        card = next(nonce for nonce, one in port.screen.items() if "restart caddy" in one.text)
        assert port.tries.of("post").count(card) == 1
        assert len(port.tries.of("find")) == (delivering.LOOKS - 1 if finds else 0)
        assert f"The card of #{proposal} may not have arrived. show {proposal} shows it again." in shown
        assert states(kit) == [("uncertain", False)]
        assert states(kit, "say") == [("done", True)]
        assert [one.state for one in kit.core.ledger.outbox.unsure()] == [OutboxState.UNCERTAIN]


async def test_words_do_not_count_for_a_card_that_may_not_have_arrived(tmp_path: Path) -> None:
    port = UnsurePort()
    async with conversation(tmp_path, executor=Ends, port=port) as kit:
        port.fail("restart caddy", Fault(UncertainError("timed out")))
        await kit.say(RESTART)
        await kit.say("go ahead")
        assert kit.states() == ["waiting"]
        await kit.say(f"approve {kit.newest_id()}")
        assert kit.states() == ["succeeded"]


async def test_a_plain_answer_that_nobody_is_sure_of_is_left_alone(tmp_path: Path) -> None:
    port = UnsurePort()
    async with conversation(tmp_path, executor=Ends, port=port) as kit:
        port.fail("sandwich", Fault(UncertainError("timed out")))
        port.fail("Nothing", Fault(UncertainError("timed out")))
        assert await kit.say("make me a sandwich") == ""
        assert states(kit, "say") == [("uncertain", False)]


async def test_a_broken_adapter_counts_as_unsure_and_holds_up_nothing(tmp_path: Path) -> None:
    port = UnsurePort()
    async with conversation(tmp_path, executor=Ends, port=port) as kit:
        port.fail("restart caddy", Fault(ZeroDivisionError("oops")))
        assert "may not have arrived" in await kit.say(RESTART)
        assert states(kit) == [("uncertain", False)]
        assert "restart caddy" in await kit.say("pending")


async def test_a_refused_message_is_failed_and_not_tried_again(tmp_path: Path) -> None:
    port = UnsurePort(finds=True)
    async with conversation(tmp_path, executor=Ends, port=port) as kit:
        port.fail("restart caddy", Fault(RejectedError("no right to write here")))
        await kit.say(RESTART)
        await kit.say("pending")
        assert states(kit) == [("failed", False)]
        assert port.tries.of("find") == []
        why = kit.core.ledger.reader().execute("SELECT why FROM outbox WHERE kind='card'").fetchone()[0]
        assert why == "no right to write here"


async def test_a_place_of_no_adapter_is_failed(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        await kit.say(RESTART)
        old = kit.newest_id()
    async with conversation(tmp_path, executor=Ends, port=ScriptedPort("other"), clock=kit.clock) as kit:
        kit.clock.advance(901)
        await kit.look()
        assert kit.states(old) == ["cancelled"]
        assert {state for state, _ in states(kit, "refresh")} == {"done"}


# ---------------------------------------------------------------- stopping and starting again


async def left_behind(folder: Path, port: UnsurePort, *, arrives: bool) -> Kit:
    """Stop while a card is on its way: it is in the outbox, and has `arrive`d or not."""
    async with conversation(folder, executor=Ends, port=port) as kit:
        plain = port.post

        async def hang(place: PlaceRef, message: Message, *, nonce: str) -> MessageRef:
            if arrives:
                await plain(place, message, nonce=nonce)
            port.tries.made.append(("hang", place.channel, nonce))
            return await asyncio.Event().wait()  # type: ignore[return-value] # never returns

        port.post = hang  # type: ignore[method-assign] # until the process ends
        await kit.hand_over(kit.inbound(RESTART))
        await until(lambda: bool(port.tries.of("hang")))
    del port.post  # type: ignore[method-assign]
    return kit


@pytest.mark.parametrize("arrives", [True, False])
async def test_what_was_left_is_looked_for_before_it_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, arrives: bool
) -> None:
    monkeypatch.setattr(conversing, "CLOSE_S", 0.01)
    port = UnsurePort(finds=True)
    left = await left_behind(tmp_path, port, arrives=arrives)
    port.tries.made.clear()
    async with conversation(tmp_path, executor=Ends, port=port, clock=left.clock) as kit:
        await kit.look()
        assert [name for name, *_ in port.tries.made] == ["find", "edit" if arrives else "post"]
        assert len(cards(port)) == 1
        assert states(kit) == [("done", True)]
        await kit.say("go ahead")
        assert kit.states() == ["succeeded"]


async def test_closing_does_not_hang_on_a_place_that_never_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversing, "CLOSE_S", 0.01)
    port = UnsurePort()
    async with asyncio.timeout(60):
        left = await left_behind(tmp_path, port, arrives=False)
    assert cards(port) == []
    async with conversation(tmp_path, executor=Ends, port=port, clock=left.clock) as kit:
        await kit.look()
        assert len(cards(port)) == 1


async def test_closing_does_not_hang_on_an_edit_that_never_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversing, "CLOSE_S", 0.01)
    port = UnsurePort()

    async def hang(_ref: MessageRef, _message: Message) -> None:
        await asyncio.Event().wait()

    async with asyncio.timeout(60):
        async with conversation(tmp_path, executor=Ends, port=port) as kit:
            await kit.say(RESTART)
            port.edit = hang  # type: ignore[method-assign] # until the process ends
            await kit.hand_over(kit.inbound("go ahead"))
            await until(lambda: kit.states() == ["succeeded"])
    del port.edit  # type: ignore[method-assign]
    async with conversation(tmp_path, executor=Ends, port=port, clock=kit.clock) as kit:
        await kit.look()
        assert "✓ ok" in next(one.text for one in port.screen.values() if "restart caddy" in one.text)


# ---------------------------------------------------------------- what was read when


def positions(kit: Kit) -> Sequence[int]:
    return [one.ref.position for one in kit.port.screen.values()]


@pytest.mark.parametrize(("position", "wanted"), [(10, "waiting"), (12, "succeeded")])
async def test_a_yes_from_before_the_card_grants_nothing_however_late_it_comes(
    tmp_path: Path, position: int, wanted: str
) -> None:
    port = ScriptedPort(ordered=True)
    async with conversation(tmp_path, executor=Ends, port=port) as kit:
        port.position = 10
        await kit.say(RESTART, position=9)
        assert positions(kit) == [11]
        await kit.say("go ahead", position=position)
        assert kit.states() == [wanted]


@pytest.mark.parametrize(("position", "wanted"), [(10, "waiting"), (12, "succeeded")])
async def test_the_same_after_an_absence(tmp_path: Path, position: int, wanted: str) -> None:
    """What people said while sayso was away comes later, with its own place in the order."""
    port = ScriptedPort(ordered=True)
    async with conversation(tmp_path, executor=Ends, port=port) as kit:
        port.position = 10
        await kit.say(RESTART, position=9)
    async with conversation(tmp_path, executor=Ends, port=port, clock=kit.clock) as kit:
        await kit.say("go ahead", position=position)
        assert kit.states() == [wanted]


async def test_a_message_that_comes_too_late_runs_nothing_and_is_told(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        old = kit.inbound("run uptime on web1")
        kit.clock.advance(901)
        assert "That message reached sayso late. Nothing ran from it. Ask again." in await kit.send(old)
        assert kit.core.executor.ran == []  # type: ignore[attr-defined] # Ends
        just = kit.inbound("run uptime on web1")
        kit.clock.advance(900)
        await kit.send(just)
        assert kit.core.executor.ran == ["uptime"]  # type: ignore[attr-defined] # Ends


async def test_a_stop_that_comes_late_stops_all_the_same(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        old, forwarded, back = kit.inbound("stop"), kit.inbound("auto off"), kit.inbound("resume")
        kit.clock.advance(7200)
        await kit.send(old)
        assert kit.core.switches().stopped
        await kit.say("auto off", forwarded=True, sent_at=forwarded.sent_at)
        assert not kit.core.switches().auto_off
        assert "reached sayso late" in await kit.send(back)
        assert kit.core.switches().stopped


async def test_a_card_that_changed_while_it_was_on_its_way_is_drawn_anew(tmp_path: Path) -> None:
    port = UnsurePort()
    async with conversation(tmp_path, executor=Ends, port=port) as kit:
        port.held["ops"] = asyncio.Event()
        asked = await kit.hand_over(kit.inbound(RESTART))
        async with asyncio.timeout(10):
            while not port.tries.of("post"):  # noqa: ASYNC110 - what was tried tells nobody
                await asyncio.sleep(0.001)
        await kit.say(f"deny {kit.newest_id()}, not today", place="elsewhere", settle=False)
        async with asyncio.timeout(10):
            while kit.core.ledger.outbox.pending()[1:] or kit.states() != ["cancelled"]:  # noqa: ASYNC110 - likewise
                await asyncio.sleep(0.001)
        port.held["ops"].set()
        await asked.settled
        await kit.app.conversation._delivery.settled()
        card = next(one for one in port.screen.values() if one.ref.place.channel == "ops")
        assert not card.message.buttons
        assert card.edits
