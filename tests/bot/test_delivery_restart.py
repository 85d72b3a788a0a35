"""Delivery: stopping while something is on its way, and starting again."""

import asyncio
from pathlib import Path

import pytest

from bot import conversation as conversing
from bot.ports import Message, MessageRef, PlaceRef
from tests.bot.sending import RESTART, UnsurePort, at_once, cards, states, until
from tests.bot.test_digest import Ends
from tests.kit import Kit, conversation

__all__ = ["at_once"]


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
