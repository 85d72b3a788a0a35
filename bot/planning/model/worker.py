"""The worker: calls the model outside of every turn, and goes on with plans when something came of them.

One task for each plan that can go on; what it does stands in the ledger before and after each call, so that
a process that dies in between leaves a plan that the next one goes on with. A call in flight is not waited
for by anybody; one whose plan was dropped is given up.
"""

import asyncio
import logging
import time

from bot.core import Core
from bot.delivery import Delivery
from bot.execution.work import Work
from bot.planning.model import course
from bot.planning.model.course import Failed
from bot.planning.model.thinking import Reply, ThinkerError
from bot.planning.model.writing import Calling
from bot.runbooks.watching import keep_runs
from gate.domain import PlaceId, ProposalId
from ledger.kinds import LedgerUnwritableError

log = logging.getLogger(__name__)


class Planner:
    """Carries plans on. Call everything of it inside the running loop."""

    def __init__(self, core: Core, *, work: Work, delivery: Delivery) -> None:
        self._core = core
        self._work = work
        self._delivery = delivery
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._calls: dict[str, asyncio.Task[Reply | Failed]] = {}
        self._places: dict[str, PlaceId] = {}
        self._again: set[str] = set()

    async def look(self) -> None:
        """Begin whatever a plan can go on with now, and give up the calls of plans that are over."""
        plans = await asyncio.to_thread(self._core.queries.open_plans)
        names = {one.id for one in plans}
        stopped = await asyncio.to_thread(self._core.switches)
        for name, call in list(self._calls.items()):
            if name not in names or stopped.stopped:
                call.cancel()
        for one in plans:
            if one.id in self._tasks:
                self._again.add(one.id)
                continue
            self._places[one.id] = one.place
            self._tasks[one.id] = asyncio.create_task(self._carry_on(one.id))

    async def quiet(self, place: PlaceId) -> None:
        """Wait until no plan of `place` is thought about, nor runs what nobody has to be asked for."""
        seen: list[ProposalId] = []
        while True:
            tasks = [task for name, task in self._tasks.items() if self._places.get(name) == place]
            if tasks:
                await asyncio.wait(tasks)
                continue
            made = await asyncio.to_thread(self._made_in, place)
            await self._work.quiet(made)
            # While it was read, and while that ran, a plan may have gone on to what is not among it.
            if made == seen and place not in self._places.values():
                return
            seen = made

    def _made_in(self, place: PlaceId) -> list[ProposalId]:
        """Return what the open plans of `place` proposed."""
        queries = self._core.queries
        plans = [one.id for one in queries.open_plans() if one.place == place]
        made = [name for plan in plans for name in queries.made_by(plan)]
        # All steps of a run: the task of one that has ended is what begins the next, recorded before that.
        steps = [step.proposal for name in made for step in queries.run_steps(name)]
        return [*map(ProposalId, made), *(step for step in steps if step is not None)]

    async def close(self) -> None:
        """Give up the calls in flight: the next process makes them again, counted anew."""
        for task in list(self._tasks.values()):
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        if self._core.thinker is not None:
            await self._core.thinker.close()

    async def _carry_on(self, plan: str) -> None:
        try:
            while True:
                self._again.discard(plan)
                while await self._once(plan):
                    pass
                if plan not in self._again:
                    return
        except LedgerUnwritableError as error:
            log.error("a plan does not go on: %s", error)  # noqa: TRY400 - expected, and looked at again
        except Exception:
            log.exception("plan %s", plan)
        finally:
            self._tasks.pop(plan, None)
            self._places.pop(plan, None)
            self._again.discard(plan)

    async def _once(self, plan: str) -> bool:
        """Call the model once, if that is due; whether it was."""
        core = self._core
        calling = await asyncio.to_thread(course.next_call, core, plan)
        if calling is None:
            await self._delivery.kick()
            return False
        core.probe("plan.called")
        began = time.monotonic()
        reply = await self._called(calling)
        seconds = time.monotonic() - began
        core.probe("plan.thought")
        made = await asyncio.to_thread(course.take, core, calling, reply, seconds=seconds)
        core.probe("plan.recorded")
        for proposal in made:
            await self._work.move(proposal)
        await keep_runs(core, self._work)
        await self._delivery.kick()
        return True

    async def _called(self, calling: Calling) -> Reply | Failed:
        """Wait for an answer, or until the plan is dropped."""
        call = self._calls[calling.plan] = asyncio.create_task(self._think(calling))
        try:
            await asyncio.wait([call])
            return Failed(why="The model's answer is not waited for.") if call.cancelled() else call.result()
        finally:
            call.cancel()
            self._calls.pop(calling.plan, None)

    async def _think(self, calling: Calling) -> Reply | Failed:
        thinker = self._core.thinker
        if thinker is None:
            return Failed(why="No model is configured any more.")
        try:
            async with asyncio.timeout(calling.thought.timeout_s):
                return await thinker.think(calling.thought)
        except TimeoutError:
            return Failed(why=f"{thinker.name} did not answer within {calling.thought.timeout_s:.0f} s.")
        except ThinkerError as error:
            return Failed(why=f"{thinker.name} gave no answer: {error}.")
        except Exception as error:
            log.exception("the model's answer could not be taken")
            return Failed(why=f"{thinker.name} gave no answer that can be read ({type(error).__name__}).")
