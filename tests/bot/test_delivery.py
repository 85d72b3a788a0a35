"""Delivery: each place in its order, places side by side, busy platforms, and edits that hold up no card."""

import asyncio
import threading
from pathlib import Path

import pytest

from bot import delivery as delivering
from bot.core import Core
from bot.ports import BusyError, Message, MessageRef, PlaceRef, RejectedError, UncertainError
from gate.domain import PlaceId, ProposalId
from tests.bot.sending import RESTART, Fault, UnsurePort, at_once, cards, states, until
from tests.bot.test_digest import Ends
from tests.kit import conversation, person

__all__ = ["at_once"]

PEOPLE = (person("ana"), person("kim"))


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


# ---------------------------------------------------------------- edits


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


async def test_a_card_that_changed_while_it_was_on_its_way_is_drawn_anew(tmp_path: Path) -> None:
    port = UnsurePort()
    async with conversation(tmp_path, executor=Ends, port=port) as kit:
        port.held["ops"] = asyncio.Event()
        asked = await kit.hand_over(kit.inbound(RESTART))
        await until(lambda: bool(port.tries.of("post")))
        await kit.say(f"deny {kit.newest_id()}, not today", place="elsewhere", settle=False)
        await until(lambda: kit.states() == ["cancelled"] and not kit.core.ledger.outbox.pending()[1:])
        port.held["ops"].set()
        await asked.settled
        await kit.app.conversation._delivery.settled()
        card = next(one for one in port.screen.values() if one.ref.place.channel == "ops")
        assert not card.message.buttons
        assert card.edits


async def test_a_card_that_changed_before_it_was_drawn_is_drawn_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    port, changed = UnsurePort(), threading.Event()
    plain = delivering.place_ref

    def late(core: Core, place: PlaceId) -> PlaceRef | None:
        found = plain(core, place)
        if found is not None and found.channel == "ops":
            assert changed.wait(timeout=60)
        return found

    monkeypatch.setattr(delivering, "place_ref", late)
    async with conversation(tmp_path, executor=Ends, port=port) as kit:
        asked = await kit.hand_over(kit.inbound(RESTART))
        await until(lambda: states(kit) == [("pending", False)])
        await kit.say(f"deny {kit.newest_id()}, not today", place="elsewhere", settle=False)
        await until(lambda: kit.states() == ["cancelled"])
        await until(lambda: bool(states(kit, "refresh")))
        await until(lambda: {one for one, _ in states(kit, "refresh")} == {"done"})
        changed.set()
        await asked.settled
        await kit.app.conversation._delivery.settled()
        card = next(one for one in port.screen.values() if one.ref.place.channel == "ops")
        assert "not today" in card.text
        assert not card.message.buttons
        assert not card.edits
