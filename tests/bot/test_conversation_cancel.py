"""Cancelling what runs: the card says who did it and when."""

import asyncio
from pathlib import Path

from bot.ports import Ended, EndKind, OutputSink
from gate.domain import Action
from tests.bot.test_digest import Ends
from tests.kit import conversation


class UntilCancelled(Ends):
    """An executor whose commands run until they are cancelled."""

    def __init__(self, inventory: object) -> None:
        super().__init__(inventory)
        self.runs = asyncio.Event()

    async def run(
        self, action: Action, *, on_output: OutputSink, cancel: asyncio.Event, reads: bool = False
    ) -> Ended:
        self.ran.append(action.command)
        self.runs.set()
        await cancel.wait()
        return Ended(kind=EndKind.CANCELLED, run_s=12.0, note="stopped on request")


async def test_the_card_says_who_cancelled(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=UntilCancelled) as kit:
        await kit.say("run systemctl restart caddy on web1")
        await kit.hand_over(kit.inbound("go ahead"))
        await kit.core.executor.runs.wait()  # type: ignore[attr-defined] # UntilCancelled
        shown = await kit.say(f"cancel {kit.newest_id()}", by="ana")
        assert "✗ stopped by ana after 12 s; what it did until then stays done" in shown
