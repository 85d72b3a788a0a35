"""Work: moves proposals along, one action at a time, from queued to a recorded end.

Holds what lives only in memory: running tasks, target locks, cancel events, the newest output. The truth is
the ledger's; after a crash `bot.recovery` reads it and nothing here is missed. One lock a target for
whatever is not read-only; a failure stops the rest of its proposal, which then waits for a new yes (D4).
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from bot.core import Core
from bot.delivery import Delivery, Live
from bot.execution import door, ending
from bot.execution.settle import boot_id, probe, settle_reboot, settle_verify
from bot.phrasing import named
from bot.ports import Ended, EndKind, OutputSink
from gate.domain import ActionId, ProposalId, TargetId
from gate.lifecycle import ActionState
from gate.sequence import Move, MoveKind, Step, next_move
from ledger.kinds import ActionIs, Batch, Draft, Kind, LedgerUnwritableError, LostRaceError
from ledger.views import ActionView, ProposalView

log = logging.getLogger(__name__)

#: How often a running card is edited at most, and how much of the newest output it shows.
EDIT_EVERY_S = 1.0
LIVE_LINES = 10
LIVE_BYTES = 4096

#: While the end of a command cannot be recorded, it is tried again this often and this many times.
RECORD_RETRY_S = 2.0
RECORD_TRIES = 150

_CUTS_ITSELF_OFF = frozenset({"reboot", "shut down", "power off", "halt"})


class Work:
    """Everything under way."""

    def __init__(self, core: Core, delivery: Delivery, *, live: Live) -> None:
        self._core = core
        self._delivery = delivery
        self._live = live
        self._tasks: dict[ActionId, asyncio.Task[None]] = {}
        self._cancels: dict[ActionId, asyncio.Event] = {}
        self._locks: dict[TargetId, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._holders: dict[TargetId, str] = {}
        self._moving: dict[ProposalId, asyncio.Lock] = defaultdict(asyncio.Lock)

    # ------------------------------------------------------------ moving

    async def move(self, proposal: ProposalId) -> None:
        """Take every step of `proposal` that needs nobody, and start what is next."""
        async with self._moving[proposal]:
            while await self._step(proposal):
                pass

    async def _step(self, proposal: ProposalId) -> bool:
        view = await asyncio.to_thread(self._core.queries.proposal, proposal)
        if view is None:
            return False
        move = next_move([Step(one.state, one.route) for one in view.actions])
        if move.index is None:
            return False
        one = view.actions[move.index]
        if move.kind is MoveKind.START:
            self._begin(proposal, one)
            return False
        return await self._append_move(view, one, move)

    async def _append_move(self, view: ProposalView, one: ActionView, move: Move) -> bool:
        try:
            if move.kind is MoveKind.QUEUE:
                await asyncio.to_thread(self._queue, one)
                return True
            await asyncio.to_thread(ending.challenge, self._core, view, one)
        except LostRaceError:
            return True
        await self._delivery.flush()
        return False

    def _queue(self, one: ActionView) -> None:
        draft = Draft(
            kind=Kind.ACTION_QUEUED,
            correlation_id=one.action.id.rpartition(".")[0],
            body={"action": one.action.id, "grant": None, "because": one.because},
        )
        expects = (ActionIs(one.action.id, ActionState.PROPOSED),)
        self._core.ledger.append(Batch(at=self._core.now(), drafts=(draft,), expects=expects))
        self._core.probe("action.queued")

    def _begin(self, proposal: ProposalId, one: ActionView) -> None:
        if one.action.id in self._tasks:
            return
        self._cancels[one.action.id] = asyncio.Event()
        task = asyncio.create_task(self._carry_out(proposal, one.action.id))
        self._tasks[one.action.id] = task

    async def quiet(self, proposals: Iterable[ProposalId]) -> None:
        """Wait until nothing of `proposals` runs any more."""
        for proposal in dict.fromkeys(proposals):
            while tasks := [task for action, task in self._tasks.items() if _belongs(action, proposal)]:
                await asyncio.gather(*tasks, return_exceptions=True)

    def cancel(self, action: ActionId) -> None:
        """Stop a running action, or drop it before it starts; it ends as cancelled."""
        event = self._cancels.get(action)
        if event is not None:
            event.set()

    async def close(self) -> None:
        """Give up what runs: it stays started in the ledger and is lost at the next start."""
        for task in list(self._tasks.values()):
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    # ------------------------------------------------------------ one action

    async def _carry_out(self, proposal: ProposalId, action: ActionId) -> None:
        try:
            await self._in_turn(proposal, action)
        except LedgerUnwritableError as error:
            log.exception("action %s was not started or its end not recorded", action, exc_info=error)
        finally:
            self._tasks.pop(action, None)
            self._cancels.pop(action, None)
            self._live.output.pop(proposal, None)
            self._live.behind.pop(proposal, None)

    async def _in_turn(self, proposal: ProposalId, action: ActionId) -> None:
        view = await asyncio.to_thread(self._core.queries.action, action)
        moved = False
        if view.verdict.risk.rank == 0:
            moved = await self._start_and_run(view)
        else:
            target = view.action.target.id
            lock = self._locks[target]
            if lock.locked():
                self._live.behind[proposal] = f"behind {self._holders.get(target, 'another change')}"
                self._delivery.refresh(proposal)
            async with lock:
                self._live.behind.pop(proposal, None)
                self._holders[target] = f"#{proposal}, {named(view)}"
                try:
                    moved = await self._start_and_run(view)
                finally:
                    self._holders.pop(target, None)
        await self._delivery.flush()
        if moved:
            self._tasks.pop(action, None)
            await self.move(proposal)

    async def _start_and_run(self, view: ActionView) -> bool:
        """Start and run one action; False when it stays queued."""
        core, action = self._core, view.action
        while True:
            view = await asyncio.to_thread(core.queries.action, action.id)
            if view.state is not ActionState.QUEUED:
                return False
            looked = await asyncio.to_thread(door.inspect, core, view)
            if isinstance(looked, door.Held):
                self._live.behind[_proposal(action.id)] = f"until resumed: {looked.reason.text}"
                return False
            if isinstance(looked, door.Void) or self._cancels[action.id].is_set():
                note = looked.reason.text if isinstance(looked, door.Void) else "cancelled, nothing ran"
                await asyncio.to_thread(ending.void, core, view, note=note)
                return True
            booted = await self._boot_id(view)
            try:
                await asyncio.to_thread(door.start, core, view, looked, boot_id=booted)
            except LostRaceError:
                continue
            core.probe("start.recorded")
            await self._run(replace(view, action=looked.judged.action), booted=booted)
            return True

    async def _run(self, view: ActionView, *, booted: str | None) -> None:
        core, proposal = self._core, _proposal(view.action.id)
        ticker = asyncio.create_task(self._tick(proposal))
        try:
            core.probe("run.before")
            ended = await core.executor.run(
                view.action, on_output=self._collect(proposal), cancel=self._cancels[view.action.id]
            )
            core.probe("run.after")
            if ended.kind is EndKind.LOST:
                ended = await self._settled(view, ended, booted=booted)
        finally:
            ticker.cancel()
            await asyncio.gather(ticker, return_exceptions=True)
        await self._record_end(view, ended)

    async def _record_end(self, view: ActionView, ended: Ended) -> None:
        """Record the end, however long the disk stays full: it happened, and must not be forgotten."""
        for attempt in range(RECORD_TRIES):
            try:
                await asyncio.to_thread(ending.record, self._core, view, ended)
                break
            except LedgerUnwritableError:
                log.exception("the end of %s is not recorded yet", view.action.id)
                if attempt == RECORD_TRIES - 1:
                    raise
                await asyncio.sleep(RECORD_RETRY_S)
        self._core.probe("end.recorded")
        if view.action.verify is not None and ended.kind is EndKind.EXITED and ended.exit_code == 0:
            checked = await probe(
                self._core.executor, view.action.target, view.action.verify, timeout_s=view.action.timeout_s
            )
            await asyncio.to_thread(ending.record_check, self._core, view, checked)
            self._core.probe("check.recorded")

    # ------------------------------------------------------------ around a run

    def _collect(self, proposal: ProposalId) -> OutputSink:
        tail = bytearray()

        def collect(chunk: bytes) -> None:
            tail.extend(chunk[-LIVE_BYTES:])
            del tail[:-LIVE_BYTES]
            lines = tail.decode("utf-8", "replace").splitlines()[-LIVE_LINES:]
            self._live.output[proposal] = "\n".join(lines)

        return collect

    async def _tick(self, proposal: ProposalId) -> None:
        while True:
            await asyncio.sleep(EDIT_EVERY_S)
            self._delivery.refresh(proposal)

    async def _boot_id(self, view: ActionView) -> str | None:
        deed = view.verdict.deed
        if deed is None or deed.verb not in _CUTS_ITSELF_OFF:
            return None
        return await boot_id(self._core.executor, view.action.target)

    async def _settled(self, view: ActionView, ended: Ended, *, booted: str | None) -> Ended:
        """Find out how a command ended that cut its own connection, where that can be checked (D7)."""
        executor, target = self._core.executor, view.action.target
        found: Ended | None = None
        if booted is not None:
            found = await settle_reboot(executor, target, before=booted)
        elif view.action.verify is not None:
            found = await settle_verify(executor, target, verify=view.action.verify)
        return ended if found is None else replace(found, output=ended.output, run_s=ended.run_s)


def _proposal(action: ActionId) -> ProposalId:
    return ProposalId(action.rpartition(".")[0])


def _belongs(action: ActionId, proposal: ProposalId) -> bool:
    return _proposal(action) == proposal
