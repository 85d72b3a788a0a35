"""Work: moves proposals along, one action at a time, from queued to a recorded end.

A failure stops the rest of its proposal, which then waits for a new yes (D4). A fan-out moves many at a time
and is `bot.fanout.engine`'s. What is under way lives in memory (`bot.execution.running`); the truth is the
ledger's.
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from weakref import WeakValueDictionary

from bot import digest, repairing, routing
from bot.core import Core
from bot.delivery import Delivery, Live
from bot.execution import door, ending
from bot.execution.carrier import Carrier, until_recorded
from bot.execution.running import Running, proposal_of
from bot.fanout import rounds
from bot.fanout.engine import Fanouts
from bot.phrasing import named
from bot.ports import EndKind, OutputSink
from bot.runbooks import judging, runner
from bot.runbooks.cards import cards_of
from bot.signals import showing as signal_showing
from bot.signals import watching
from gate.domain import ActionId, PersonId, ProposalId
from gate.lifecycle import ActionState
from gate.sequence import Move, MoveKind, Step, next_move
from ledger import waiting
from ledger.kinds import ActionIs, Batch, Draft, Kind, LedgerUnwritableError, LostRaceError
from ledger.views import ActionView, ProposalView

log = logging.getLogger(__name__)

#: How often a running card is edited at most, and how much of the newest output it shows.
EDIT_EVERY_S = 1.0
LIVE_LINES = 10
LIVE_BYTES = 4096

#: The longest that the next step of a run waits for the end of the last one to be shown.
SEEN_S = 5.0

_UNWRITABLE = "until the ledger can be written again"


class Work:
    """Everything under way."""

    def __init__(self, core: Core, delivery: Delivery, *, live: Live) -> None:
        self._core = core
        self._delivery = delivery
        self._live = live
        self._running = Running()
        self._carrier = Carrier(core, self._running)
        self._fanouts = Fanouts(core, delivery, live=live, running=self._running, carrier=self._carrier)
        self._fanouts.rested = self._fanout_rests
        self._fanouts.stale = self.move
        self._fanouts.stuck = self._hold
        # A lock is there while somebody waits for it: proposals are many, and most have ended.
        self._moving: WeakValueDictionary[ProposalId, asyncio.Lock] = WeakValueDictionary()
        # Actions that were to start while their task was still deciding not to: they get another look.
        self._poked: set[ActionId] = set()
        # Proposals that did not move because the ledger could not be written.
        self._stuck: set[ProposalId] = set()
        # Proposals of which something was about to start; what they came to is said when they are over (N35).
        self._open_tasks: set[ProposalId] = set()
        #: Called after every recorded end, for whoever goes on with what came of it.
        self.ended: Callable[[], Awaitable[None]] = _nothing

    # ------------------------------------------------------------ moving

    async def move(self, proposal: ProposalId) -> None:
        """Take every step of `proposal` that needs nobody, and start what is next.

        What cannot be recorded does not happen; it is tried again by `retry`.
        """
        async with self._lock(proposal):
            try:
                view = await self._fanouts.move(proposal)
                if view is not None:
                    await self._moved(view)
                    return
                while await self._step(proposal):
                    pass
            except LedgerUnwritableError as error:
                self._hold(proposal, error)

    async def _moved(self, view: ProposalView) -> None:
        """Keep in mind what was moved of a fan-out; say that it is over, were it that somebody said no."""
        if any(one.state in (ActionState.QUEUED, ActionState.STARTED) for one in view.actions):
            self._open_tasks.add(view.id)
        elif rounds.is_over(view.actions):
            await self._finish(view)

    def _lock(self, proposal: ProposalId) -> asyncio.Lock:
        """Return what lets one move of `proposal` be made at a time."""
        lock = self._moving.get(proposal)
        if lock is None:
            lock = self._moving[proposal] = asyncio.Lock()
        return lock

    async def retry(self) -> None:
        """Move on what stood still because the ledger could not be written."""
        stuck, self._stuck = self._stuck, set()
        for proposal in stuck:
            await self.move(proposal)

    def remember(self) -> None:
        """Read which tasks the last process left open, before anything of them is closed."""
        self._open_tasks.update(self._core.queries.unfinished())

    async def wrap_up(self) -> None:
        """Say what the tasks came to that are over, whoever ended them."""
        for proposal in await asyncio.to_thread(self._not_at_rest):
            await self.move(proposal)

    def _not_at_rest(self) -> list[ProposalId]:
        """Return the open tasks that wait for nobody and for nothing that runs."""
        reader = self._core.ledger.reader()
        return [
            proposal
            for proposal in list(self._open_tasks)
            if not self._fanouts.runs(proposal)
            and next_move(waiting.steps(reader, proposal)).kind is not MoveKind.WAIT
        ]

    async def _tell_if_over(self, view: ProposalView) -> None:
        """Say what a task of several actions came to, once, if any of it ran."""
        if view.id not in self._open_tasks:
            return
        # Before it is told: of many that end at once, each may be the one that finds all of it over.
        self._open_tasks.discard(view.id)
        if len(view.actions) < 2 or all(one.started_at is None for one in view.actions):  # noqa: PLR2004 - several
            return
        try:
            await asyncio.to_thread(digest.tell, self._core, view)
        except LedgerUnwritableError:
            self._open_tasks.add(view.id)
            raise

    def _hold(self, proposal: ProposalId, error: LedgerUnwritableError) -> None:
        log.error("#%s does not go on: %s", proposal, error)
        self._stuck.add(proposal)
        self._live.behind[proposal] = _UNWRITABLE
        self._delivery.refresh(proposal)

    async def _step(self, proposal: ProposalId) -> bool:
        view = await asyncio.to_thread(self._core.queries.proposal, proposal)
        if view is None:
            return False
        move = next_move([Step(one.state, one.route) for one in view.actions])
        if move.kind is MoveKind.DONE:
            await self._finish(view)
        if move.index is None:
            return False
        one = view.actions[move.index]
        if move.kind is MoveKind.START:
            self._open_tasks.add(proposal)
            self._begin(proposal, one)
            return False
        return await self._append_move(view, one, move)

    async def _finish(self, view: ProposalView) -> None:
        """Say that a proposal is over, where and to whom that is news."""
        if view.asked_in != view.shown_in:
            await asyncio.to_thread(routing.tell_end, self._core, view)
        await self._tell_if_over(view)

    async def _fanout_rests(self, proposal: ProposalId) -> None:
        """Go on with what came of a fan-out of which nothing runs any more."""
        group = await asyncio.to_thread(signal_showing.group_of, self._core, proposal)
        if group is not None:
            self._delivery.refresh(ProposalId(group))
        await self.ended()
        view = await asyncio.to_thread(self._core.queries.proposal, proposal)
        if view is not None and (failed := rounds.first_failure(view)) is not None:
            for look in await self._followed(failed):
                await self.move(look)
        if view is not None and rounds.is_over(view.actions):
            await self._finish(view)
        await self._delivery.kick()

    async def _append_move(self, view: ProposalView, one: ActionView, move: Move) -> bool:
        try:
            if move.kind is MoveKind.QUEUE:
                await asyncio.to_thread(self._queue, one)
                return True
            await asyncio.to_thread(ending.challenge, self._core, view, one)
        except LostRaceError:
            return True
        await self._delivery.kick()
        return False

    def _queue(self, one: ActionView) -> None:
        draft = Draft(
            kind=Kind.ACTION_QUEUED,
            correlation_id=one.action.id.rpartition(".")[0],
            body={"action": one.action.id, "grant": None, "because": one.because, "rule": one.rule},
        )
        expects = (ActionIs(one.action.id, ActionState.PROPOSED),)
        self._core.ledger.append(Batch(at=self._core.now(), drafts=(draft,), expects=expects))
        self._core.probe("action.queued")

    def _begin(self, proposal: ProposalId, one: ActionView) -> None:
        if one.action.id in self._running:
            self._poked.add(one.action.id)
            return
        self._running.begin(one.action.id, self._carry_out(proposal, one.action.id))

    async def quiet(self, proposals: Iterable[ProposalId]) -> None:
        """Wait until nothing of `proposals` runs any more, nor of the runs that they are steps of."""
        waiting = list(dict.fromkeys(proposals))
        for proposal in waiting:
            while True:
                async with self._lock(proposal):  # a move under way may be about to start the next
                    tasks = self._running.tasks_of(proposal)
                if not tasks:
                    break
                # not gather: whoever gives up waiting must not cancel what runs
                await asyncio.wait(tasks)
            newest = await asyncio.to_thread(runner.newest, self._core, proposal)
            if newest is not None and newest not in waiting:
                waiting.append(newest)

    def cancel(self, action: ActionId, *, by: PersonId) -> bool:
        """Stop a running action, or drop it before it starts; False when nothing of that name runs."""
        return self._running.cancel(action, by=by)

    async def close(self) -> None:
        """Give up what runs: it stays started in the ledger and is lost at the next start."""
        self._fanouts.close()
        await self._running.close()

    # ------------------------------------------------------------ one action

    async def _carry_out(self, proposal: ProposalId, action: ActionId) -> None:
        stuck: LedgerUnwritableError | None = None
        self._live.behind.pop(proposal, None)
        try:
            await self._in_turn(proposal, action)
        except LedgerUnwritableError as error:
            stuck = error
        except Exception:
            log.exception("action %s", action)
        finally:
            self._running.over(action)
            self._live.output.pop(proposal, None)
        if stuck is not None:
            self._hold(proposal, stuck)
        elif action in self._poked:
            self._poked.discard(action)
            await self.move(proposal)

    async def _in_turn(self, proposal: ProposalId, action: ActionId) -> None:
        view = await asyncio.to_thread(self._core.queries.action, action)
        name = f"#{proposal}, {named(view, secrets=self._core.secrets)}"
        async with self._running.turn(view, name=name, waits=partial(self._waits, proposal)):
            moved = await self._start_and_run(view)
        if moved:
            for look in await self._followed(action):
                await self.move(look)
            await self._told_to_signal(action)
            await self.ended()
            self._running.step_aside(action)
            await self.move(proposal)
        await self._delivery.kick()

    def _waits(self, proposal: ProposalId, behind: str) -> None:
        """Show what `proposal` waits behind; "" for nothing."""
        if behind:
            self._live.behind[proposal] = behind
            self._delivery.refresh(proposal)
        else:
            self._live.behind.pop(proposal, None)

    async def _followed(self, action: ActionId) -> tuple[ProposalId, ...]:
        """Let what follows an end follow; whatever fails about that, the end itself is recorded."""
        try:
            if await asyncio.to_thread(watching.is_look, self._core, proposal_of(action)):
                return await asyncio.to_thread(watching.follow, self._core, action)
            if await asyncio.to_thread(runner.is_step, self._core, proposal_of(action)):
                await self._seen(proposal_of(action))
                return await asyncio.to_thread(runner.follow, self._core, action)
            return await asyncio.to_thread(repairing.follow, self._core, action)
        except Exception:
            log.exception("nothing follows the end of %s", action)
            return ()

    async def _told_to_signal(self, action: ActionId) -> None:
        """Draw the card of the signal anew that `action` was started because of, if one was."""
        group = await asyncio.to_thread(signal_showing.group_of, self._core, proposal_of(action))
        if group is not None:
            self._delivery.refresh(ProposalId(group))

    async def _seen(self, proposal: ProposalId) -> None:
        """Wait until the end of a step can be seen, if that is soon: what is asked next comes after it."""
        view = await asyncio.to_thread(self._core.queries.proposal, proposal)
        if view is None:
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(SEEN_S):
                await self._delivery.shown([view.shown_in], [proposal])

    async def _start_and_run(self, view: ActionView) -> bool:
        """Start and run one action; False when it stays queued, or something else ended it meanwhile."""
        core, action = self._core, view.action
        while True:
            view = await asyncio.to_thread(core.queries.action, action.id)
            if view.state is not ActionState.QUEUED:
                return False
            looked = await asyncio.to_thread(self._looked, view)
            if isinstance(looked, door.Held):
                self._live.behind[proposal_of(action.id)] = f"until resumed: {looked.reason.text}"
                return False
            if isinstance(looked, door.Void) or self._running.cancelled(action.id).is_set():
                note = (
                    looked.reason.text
                    if isinstance(looked, door.Void)
                    else f"cancelled{self._running.by(action.id)}, nothing ran"
                )
                try:
                    await asyncio.to_thread(ending.void, core, view, note=note)
                except LostRaceError:
                    continue
                return True
            booted = await self._carrier.boot_id(view)
            try:
                await asyncio.to_thread(door.start, core, door.Start(cleared=looked, boot_id=booted))
            except LostRaceError:
                continue
            core.probe("start.recorded")
            await self._run(looked.running(), booted=booted)
            return True

    def _looked(self, view: ActionView) -> door.Cleared | door.Held | door.Void:
        return door.inspect(self._core, view, door.look(self._core, proposal_of(view.action.id)))

    async def _run(self, view: ActionView, *, booted: str | None) -> None:
        proposal = proposal_of(view.action.id)
        ticker = asyncio.create_task(self._tick(proposal))
        try:
            hidden = await asyncio.to_thread(judging.finds_secret, self._core, view)
            on_output = _unseen if hidden else self._collect(proposal)
            ended = await self._carrier.run(view, booted=booted, on_output=on_output)
        finally:
            ticker.cancel()
            await asyncio.gather(ticker, return_exceptions=True)
        files = await judging.look(self._core, view, ended)
        by = self._running.canceller(view.action.id) if ended.kind is EndKind.CANCELLED else None
        await self._recorded(view, lambda: ending.record(self._core, view, ended, by=by, files=files))
        self._core.probe("end.recorded")
        if view.action.verify is not None and ended.kind is EndKind.EXITED and ended.exit_code == 0:
            checked = await self._carrier.check(view, view.action.verify)
            self._core.probe("check.after")
            await self._recorded(view, lambda: ending.record_check(self._core, view, checked))
            self._core.probe("check.recorded")

    async def _recorded(self, view: ActionView, record: Callable[[], None]) -> None:
        await until_recorded(record, started=[view.action.id])

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
        await asyncio.sleep(EDIT_EVERY_S)
        for run in await asyncio.to_thread(cards_of, self._core, [proposal]):
            self._delivery.refresh(run)  # once: that the step runs is all that it shows
        while True:
            self._delivery.refresh(proposal)
            await asyncio.sleep(EDIT_EVERY_S)


async def _nothing() -> None:
    """Go on with nothing."""


def _unseen(_chunk: bytes) -> None:
    """Take output that nobody may see while it comes."""
