"""When a turn is over that a model plans for: once its plan is, or waits for somebody."""

import asyncio
import threading
from pathlib import Path

from bot.ports import Ended, EndKind, OutputSink
from gate.domain import Action, PlaceId, ProposalId, Target
from tests.bot.planning.planned import UNREAD, ends, run
from tests.bot.sending import until
from tests.kit import conversation
from tests.simulators.model.double import Scripted, call, calls, says


class HoldsOne:
    """An executor one of whose commands, counted from one, ends when it is let."""

    def __init__(self, number: int) -> None:
        self._number = number
        self.ran: list[str] = []
        self.runs, self.let = threading.Event(), asyncio.Event()

    async def identify(self, target: Target) -> Target:
        return target

    async def run(
        self, action: Action, *, on_output: OutputSink, cancel: asyncio.Event, reads: bool = False
    ) -> Ended:
        self.ran.append(action.command)
        if len(self.ran) == self._number:
            self.runs.set()
            await self.let.wait()
        return Ended(kind=EndKind.EXITED, exit_code=0)

    async def close(self) -> None:
        return


async def test_a_turn_is_over_only_once_all_of_its_plan_is(tmp_path: Path) -> None:
    """Also where the plan went on while it was read what it had come to."""
    model = Scripted([calls(run("uptime")), calls(run("hostname")), says("It is busy.")])
    executor = HoldsOne(2)
    async with conversation(tmp_path, thinker=model, executor=lambda _: executor) as kit:
        planner = kit.app.conversation._planner
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


async def test_a_turn_is_not_over_before_the_next_step_of_a_run_has_begun(tmp_path: Path) -> None:
    """Also where what the plan had come to was read when that step was recorded and had not begun."""
    wanted = calls(call("start_runbook", runbook="high-load", target="local", purpose="find the load"))
    executor = HoldsOne(1)
    model = Scripted([wanted, says("It is busy.")])
    async with conversation(tmp_path, thinker=model, executor=lambda _: executor) as kit:
        work, planner = kit.app.conversation._work, kit.app.conversation._planner
        recorded, let = threading.Event(), asyncio.Event()
        read_at_once, begin = planner._made_in, work.move

        def late(place: PlaceId) -> list[ProposalId]:
            recorded.wait(timeout=30)
            return read_at_once(place)

        async def later(proposal: ProposalId) -> None:
            run = kit.core.queries.run_of(proposal)
            if run is not None and len(kit.core.queries.run_steps(run.id)) > 1:
                recorded.set()
                await let.wait()
            await begin(proposal)

        planner._made_in, work.move = late, later  # type: ignore[method-assign] # as on a slow machine
        receipt = await kit.hand_over(kit.inbound(UNREAD))
        assert await asyncio.to_thread(executor.runs.wait, 30)
        await until(lambda: not planner._tasks)  # so that the first step itself is what begins the second
        executor.let.set()
        assert await asyncio.to_thread(recorded.wait, 30)
        await asyncio.sleep(0.3)
        assert not receipt.settled.done()
        let.set()
        await asyncio.wait_for(receipt.settled, timeout=60)
        assert ends(kit) == ["answered"]
