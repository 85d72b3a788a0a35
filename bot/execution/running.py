"""What runs: tasks, cancels and target locks, which live only in memory.

The truth is the ledger's; after a crash `bot.recovery` reads it and nothing here is missed. One lock a target
for whatever is not read-only, whichever proposal it belongs to.
"""

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Coroutine

from gate.domain import ActionId, PersonId, ProposalId, TargetId
from ledger.views import ActionView


class Running:
    """Everything under way, by its action."""

    def __init__(self) -> None:
        self._tasks: dict[ActionId, asyncio.Task[None]] = {}
        self._cancels: dict[ActionId, asyncio.Event] = {}
        self._cancelled_by: dict[ActionId, PersonId] = {}
        self._locks: dict[TargetId, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._holders: dict[TargetId, str] = {}
        self._closed = False

    def __contains__(self, action: ActionId) -> bool:
        return action in self._tasks

    def begin(self, action: ActionId, work: Coroutine[None, None, None]) -> None:
        """Let `work` go on as the task of `action`, which must have none; nothing begins after `close`."""
        if self._closed:
            work.close()
            return
        self._cancels[action] = asyncio.Event()
        self._tasks[action] = asyncio.create_task(work)

    def over(self, action: ActionId) -> None:
        """Forget `action`; a task calls it for itself when it has nothing more to do."""
        self._tasks.pop(action, None)
        self._cancels.pop(action, None)
        self._cancelled_by.pop(action, None)

    def step_aside(self, action: ActionId) -> None:
        """Let the next task of `action` begin, while this one has only to say what it did."""
        self._tasks.pop(action, None)

    def cancel(self, action: ActionId, *, by: PersonId) -> bool:
        """Stop a running action, or drop it before it starts; False when nothing of that name runs."""
        event = self._cancels.get(action)
        if event is None:
            return False
        self._cancelled_by.setdefault(action, by)
        event.set()
        return True

    def cancelled(self, action: ActionId) -> asyncio.Event:
        """Return what is set once somebody has cancelled `action`."""
        return self._cancels[action]

    def canceller(self, action: ActionId) -> PersonId | None:
        """Return who cancelled `action`; None for nobody."""
        return self._cancelled_by.get(action)

    def by(self, action: ActionId) -> str:
        """Return " by ana" where she cancelled it, "" where nobody is known to have."""
        person = self._cancelled_by.get(action)
        return "" if person is None else f" by {person}"

    def tasks_of(self, proposal: ProposalId) -> list[asyncio.Task[None]]:
        """Return what runs of `proposal`."""
        return [task for action, task in self._tasks.items() if proposal_of(action) == proposal]

    @contextlib.asynccontextmanager
    async def turn(self, view: ActionView, *, name: str, waits: Callable[[str], None]) -> AsyncIterator[None]:
        """Hold the lock of the target of `view`; what only reads holds none.

        Args:
            name: what others wait behind, in words.
            waits: is told what this waits behind, and "" once it does not.
        """
        if view.verdict.risk.rank == 0:
            yield
            return
        target = view.action.target.id
        lock = self._locks[target]
        if lock.locked():
            waits(f"behind {self._holders.get(target, 'another change')}")
        async with lock:
            waits("")
            self._holders[target] = name
            try:
                yield
            finally:
                self._holders.pop(target, None)

    async def close(self) -> None:
        """Give up what runs: it stays started in the ledger and is lost at the next start."""
        self._closed = True
        for task in list(self._tasks.values()):
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)


def proposal_of(action: ActionId) -> ProposalId:
    """Return the proposal that an action belongs to."""
    return ProposalId(action.rpartition(".")[0])
