"""What was read when: words from before a card, and messages that come too late."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.bot.sending import RESTART
from tests.bot.test_digest import Ends
from tests.kit import Kit, ScriptedPort, conversation


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
