"""Delivery: what becomes of a send that nobody is sure of, and of one that was refused."""

from pathlib import Path

import pytest

from bot import delivery as delivering
from bot.ports import BusyError, RejectedError, UncertainError
from ledger.outbox import OutboxState
from tests.bot.sending import RESTART, Fault, UnsurePort, at_once, cards, states
from tests.bot.test_digest import Ends
from tests.kit import ScriptedPort, conversation

__all__ = ["at_once"]


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
