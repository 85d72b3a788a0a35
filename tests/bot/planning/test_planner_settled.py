"""When a turn is over that a model plans for: once its plan is, or waits for somebody."""

import asyncio
import threading
from pathlib import Path

from bot.ports import Ended, EndKind, OutputSink
from gate.domain import Action, PlaceId, ProposalId, Target
from tests.bot.planning.planned import UNREAD, ends, run
from tests.kit import conversation
from tests.simulators.model.double import Scripted, calls, says


class Second:
    """An executor whose second command ends when it is let."""

    def __init__(self, _inventory: object) -> None:
        self.ran: list[str] = []
        self.runs, self.let = threading.Event(), asyncio.Event()

    async def identify(self, target: Target) -> Target:
        return target

    async def run(
        self, action: Action, *, on_output: OutputSink, cancel: asyncio.Event, reads: bool = False
    ) -> Ended:
        self.ran.append(action.command)
        if len(self.ran) > 1:
            self.runs.set()
            await self.let.wait()
        return Ended(kind=EndKind.EXITED, exit_code=0)

    async def close(self) -> None:
        return


async def test_a_turn_is_over_only_once_all_of_its_plan_is(tmp_path: Path) -> None:
    """Also where the plan went on while it was read what it had come to."""
    model = Scripted([calls(run("uptime")), calls(run("hostname")), says("It is busy.")])
    async with conversation(tmp_path, thinker=model, executor=Second) as kit:
        executor, planner = kit.core.executor, kit.app.conversation._planner
        assert isinstance(executor, Second)
        read_at_once = planner._made_in

        def late(place: PlaceId) -> list[ProposalId]:
            found = read_at_once(place)
            if len(found) == 1:
                executor.runs.wait(timeout=30)
            return found

        planner._made_in = late  # type: ignore[method-assign] # its answer comes late
        receipt = await kit.hand_over(kit.inbound(UNREAD))
        assert await asyncio.to_thread(executor.runs.wait, 30)
        await asyncio.sleep(0.3)
        assert not receipt.settled.done()
        executor.let.set()
        await asyncio.wait_for(receipt.settled, timeout=60)
        assert ends(kit) == ["answered"]
