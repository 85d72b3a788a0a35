"""The engine of fan-outs: moves each along as its brake lets it, from queued to recorded ends.

What starts next is `gate.fanout`'s to say, what may start the door's, and the record is the truth: a proposal
is read anew whenever somebody else may have touched it, and a start that does not stand there does not
happen. In between, how far each member is stands in memory, so that hundreds of ends do not read hundreds of
rows each.
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta

from bot.core import Core
from bot.delivery import Delivery, Live
from bot.execution.carrier import Carrier, until_recorded
from bot.execution.running import Running
from bot.fanout import recording, starting
from bot.fanout.gathering import Gathering
from bot.fanout.going import UNDER_WAY, Going
from bot.fanout.recording import Checked, Happened, Ran
from bot.ports import EndKind
from gate.domain import ActionId, ProposalId
from gate.fanout import Brake, Member, next_starts, rests
from gate.lifecycle import ActionState
from ledger.kinds import LedgerUnwritableError, LostRaceError
from ledger.views import ActionView, ProposalView

log = logging.getLogger(__name__)

#: Members under way at once, over all fan-outs.
AT_ONCE = 64
#: Starts and ends that share a transaction at most.
_LOT = 64
#: How often a running card is edited at most.
EDIT_EVERY_S = 1.0


class Fanouts:
    """Every fan-out under way."""

    def __init__(
        self, core: Core, delivery: Delivery, *, live: Live, running: Running, carrier: Carrier
    ) -> None:
        self._core = core
        self._delivery = delivery
        self._live = live
        self._running = running
        self._carrier = carrier
        self._going: dict[ProposalId, Going] = {}
        self._count = 0
        self._look: asyncio.Handle | None = None
        self._closed = False
        #: Called when nothing of a fan-out runs any more, for whoever goes on with that.
        self.rested: Callable[[ProposalId], Awaitable[None]] = _nothing
        #: Called when one has to be read anew.
        self.stale: Callable[[ProposalId], Awaitable[None]] = _nothing
        #: Called when one does not go on because the ledger cannot be written.
        self.stuck: Callable[[ProposalId, LedgerUnwritableError], None] = _ignored

    async def move(self, proposal: ProposalId) -> ProposalView | None:
        """Read a fan-out anew and start what is next; return it as it was read, None for what is none."""
        head = await asyncio.to_thread(self._core.queries.head, proposal)
        if head.fanout is None:
            return None
        going = self._going.get(proposal) or self._begun(head, head.fanout.brake)
        going.moving += 1
        try:
            view = await asyncio.to_thread(self._core.queries.proposal, proposal)
            if view is None:
                raise LookupError(f"no proposal {proposal}")
            going.read(view)
            self._advance(going)
        finally:
            going.moving -= 1
            self._forget(going)
        return view

    def runs(self, proposal: ProposalId) -> bool:
        """Whether something of a fan-out runs, so that it goes on by itself."""
        going = self._going.get(proposal)
        return going is not None and bool(going.running)

    def close(self) -> None:
        """Start nothing any more."""
        self._closed = True
        for going in self._going.values():
            for timer in (going.pause, going.ticker):
                if timer is not None:
                    timer.cancel()

    def _begun(self, head: ProposalView, brake: Brake) -> Going:
        # All of these are called only once it is there.
        def about() -> int:
            # where a failure stops it, each is recorded at once
            return 0 if brake.canary or brake.stop_after else len(going.running)

        going = self._going[head.id] = Going(
            view=head,
            brake=brake,
            starts=Gathering(lambda wanted: self._start(going, wanted), most=_LOT, about=about),
            ends=Gathering(lambda lot: self._record(going, lot), most=_LOT, about=about),
        )
        return going

    def _forget(self, going: Going) -> None:
        """Forget what neither runs nor rests only for a while; the record knows how far it is."""
        if going.running or going.moving:
            return
        if going.ticker is not None:
            going.ticker.cancel()
            going.ticker = None
        # Whoever moved it meanwhile may have begun anew.
        if going.pause is None and self._going.get(going.view.id) is going:
            del self._going[going.view.id]

    # ------------------------------------------------------------ who is next

    def _advance(self, going: Going) -> None:
        """Start what may start now, and see to it that the end of a pause is noticed."""
        if self._stands(going):
            return
        for action in self._next(going)[: max(AT_ONCE - self._count, 0)]:
            self._begin(going, action)
        left_s = self._pause_left_s(going)
        if left_s > 0 and going.pause is None and rests(list(going.members.values()), going.brake):
            going.pause = asyncio.get_running_loop().call_later(left_s, self._rested, going)

    def _stands(self, going: Going) -> bool:
        return self._closed or going.held or going.stale or going.elsewhere

    def _next(self, going: Going) -> list[ActionId]:
        """Return what may start now as far as it alone is asked, in its order."""
        names, members = list(going.members), list(going.members.values())
        return [names[at] for at in next_starts(members, going.brake, rested=self._pause_left_s(going) <= 0)]

    def _goes_on(self, going: Going) -> bool:
        """Whether others of it start as soon as those that run have ended."""
        is_room = self._count - len(going.running) < AT_ONCE
        return is_room and not self._stands(going) and bool(self._next(going))

    def _pause_left_s(self, going: Going) -> float:
        if not going.brake.pause_s or going.rest_until is None:
            return 0.0
        return (going.rest_until - self._core.now()).total_seconds()

    def _rested(self, going: Going) -> None:
        going.pause = None
        self._advance(going)
        self._forget(going)

    def _begin(self, going: Going, action: ActionId) -> None:
        going.members[action] = UNDER_WAY
        going.running.add(action)
        self._count += 1
        self._live.behind.pop(going.view.id, None)
        if going.ticker is None:
            going.ticker = asyncio.create_task(self._tick(going.view.id))
        self._running.begin(action, self._carry_out(going, going.views[action]))

    async def _tick(self, proposal: ProposalId) -> None:
        while True:
            await asyncio.sleep(EDIT_EVERY_S)
            self._delivery.refresh(proposal)

    # ------------------------------------------------------------ one member

    async def _carry_out(self, going: Going, view: ActionView) -> None:
        action, proposal = view.action.id, going.view.id
        stuck: LedgerUnwritableError | None = None
        try:
            going.over(action, await self._in_turn(going, view))
        except LedgerUnwritableError as error:
            stuck, going.held = error, True
        except Exception:
            log.exception("action %s", action)
            # Once it is read what became of it; a second time it waits for whoever moves it next.
            going.held |= action in going.faulty
            going.stale |= not going.held
            going.faulty.add(action)
        finally:
            self._count -= 1
            going.running.discard(action)
            self._running.over(action)
        going.rest_until = self._core.now() + timedelta(seconds=going.brake.pause_s)
        going.stale |= going.elsewhere
        if stuck is not None:
            self.stuck(proposal, stuck)
        elif going.stale and not going.reading:
            await self._read_anew(going)
        if going.running:
            self._look_soon()
            return
        self._look_now()
        if not going.running:
            self._forget(going)
            await self.rested(proposal)

    async def _read_anew(self, going: Going) -> None:
        going.reading = True
        try:
            await self.stale(going.view.id)
        except Exception:
            log.exception("#%s is not read anew", going.view.id)
            going.reading = False

    def _look_soon(self) -> None:
        """Look once at what may start now, however many have just ended."""
        if self._look is None:
            self._look = asyncio.get_running_loop().call_soon(self._look_now)

    def _look_now(self) -> None:
        """Let what waits for a free place go on, whichever fan-out it is of."""
        self._look = None
        for other in list(self._going.values()):
            self._advance(other)

    async def _in_turn(self, going: Going, view: ActionView) -> Member:
        """Start and run one member when its target is free; return how it ended."""
        action = view.action.id
        async with self._running.turn(view, name=f"#{going.view.id}", waits=_unsaid):
            booted = await self._carrier.boot_id(view)
            stopped = self._running.cancelled(action).is_set()
            note = f"cancelled{self._running.by(action)}, nothing ran" if stopped else ""
            started = await going.starts(
                starting.Wanted(action=action, grant=starting.grant_of(view), boot_id=booted, cancelled=note)
            )
            if started is None:
                return Member(state=ActionState.QUEUED)
            ended = await self._carrier.run(started, booted=booted, on_output=_unseen)
            by = self._running.canceller(action) if ended.kind is EndKind.CANCELLED else None
            going.stale |= await going.ends(Ran(view=started, ended=ended, by=by))
            self._core.probe("end.recorded")
            well = ended.kind is EndKind.EXITED and ended.exit_code == 0
            if well and started.action.verify is not None:
                checked = await self._carrier.check(started, started.action.verify)
                self._core.probe("check.after")
                going.stale |= await going.ends(Checked(view=started, ended=checked))
                well = checked.exit_code == 0
        state = ActionState.SUCCEEDED if well else ActionState.FAILED
        return Member(state=state, failed=not well, settled=True)

    # ------------------------------------------------------------ many at once

    async def _start(self, going: Going, wanted: Sequence[starting.Wanted]) -> Sequence[ActionView | None]:
        if self._closed:
            return [None] * len(wanted)
        proposal = going.view.id
        looked = await asyncio.to_thread(starting.start, self._core, proposal, wanted)
        self._core.probe("start.recorded")
        if looked.held:
            going.held = True
            self._live.behind[proposal] = f"until resumed: {next(iter(looked.held.values()))}"
        fault = looked.fault or await self._voided(proposal, looked.voided)
        if fault is not None:
            # Nothing of this may keep what is started from running.
            going.held = True
            if isinstance(fault, LedgerUnwritableError):
                self.stuck(proposal, fault)
        elif len(looked.started) + len(looked.held) < len(wanted):
            going.stale = True  # the others ended or were taken back
        return [looked.started.get(one.action) for one in wanted]

    async def _voided(self, proposal: ProposalId, voided: Sequence[Happened]) -> Exception | None:
        """Record what may not start any more; return why that is not recorded."""
        try:
            if voided:
                await asyncio.to_thread(recording.record, self._core, proposal, voided, draws=True)
        except LostRaceError:
            return None  # it is read anew, and looked at once more
        except LedgerUnwritableError as error:
            return error
        except Exception as error:
            log.exception("#%s: what may not start is not recorded", proposal)
            return error
        return None

    async def _record(self, going: Going, lot: Sequence[Happened]) -> Sequence[bool]:
        proposal = going.view.id
        going.told.update(one.view.action.id for one in lot if _is_last_word(one))
        # Members that were told of in the lot before may not have woken up yet. Between two waves of the same
        # batch it is drawn by the second, as while it runs.
        draws = going.running <= going.told and not self._goes_on(going)
        try:
            stopped = await self._recorded(proposal, lot, draws=draws)
        except LostRaceError:
            # Something of this lot has an end already; the others must not go without theirs for that.
            stopped = False
            for one in lot:
                with contextlib.suppress(LostRaceError):
                    stopped |= await self._recorded(proposal, [one], draws=True)
        if stopped or draws:
            await self._delivery.kick()
        return [stopped] * len(lot)

    async def _recorded(self, proposal: ProposalId, lot: Sequence[Happened], *, draws: bool) -> bool:
        stopped: list[bool] = []

        def record() -> None:
            stopped.append(recording.record(self._core, proposal, lot, draws=draws))

        await until_recorded(record, started=[one.view.action.id for one in lot if isinstance(one, Ran)])
        return any(stopped)


def _is_last_word(one: Happened) -> bool:
    """Whether nothing more will be recorded of a member after this."""
    if not isinstance(one, Ran) or one.view.action.verify is None:
        return True
    return one.ended.kind is not EndKind.EXITED or one.ended.exit_code != 0


def _unseen(_chunk: bytes) -> None:
    """Take output that no card shows while it comes: hundreds of them would flicker by."""


def _unsaid(_behind: str) -> None:
    """Say nothing of one target among many that waits for its turn."""


def _ignored(_proposal: ProposalId, _error: LedgerUnwritableError) -> None:
    """Leave it to whoever moves it next."""


async def _nothing(_proposal: ProposalId) -> None:
    """Go on with nothing."""
