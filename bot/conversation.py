"""The conversation: takes what the ports hand over, in order, and performs what was decided.

An inbound event is committed to the inbox, then its port may acknowledge; then its turn is taken, its answer
shown and its actions moved. Messages of one place are taken one after the other, clicks at once; nobody
waits in here for an answer. Whatever fails in a turn runs nothing, says so and is recorded.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from weakref import WeakValueDictionary

from bot import control_words, deadlines, overheard, recovery
from bot.core import Core
from bot.delivery import Delivery
from bot.execution.work import Work
from bot.outcome import Outcome
from bot.planning.model.worker import Planner
from bot.ports import (
    Account,
    ChatPort,
    Form,
    Inbound,
    InboundKind,
    Message,
    NotCommittedError,
    PlaceRef,
    Receipt,
    RejectedError,
    UncertainError,
)
from bot.runbooks.cards import cards_of
from bot.runbooks.restoring import learn_all
from bot.runbooks.watching import keep_runs
from bot.scheduling.timer import Timer
from bot.showing import open_lines
from bot.signals import taking
from bot.signals.lane import SignalLane
from bot.text import Text
from bot.timing import Timing
from bot.turn import Turns
from bot.unrecorded import STILL_WORK, Unrecorded
from gate.domain import PlaceId, ProposalId
from ledger.kinds import EffectKind, LedgerError, LedgerUnwritableError

log = logging.getLogger(__name__)

#: A quick read is shown once, with its result, rather than twice.
GRACE_S = 0.8
#: How long a stop waits for the turns in hand, and for a platform to take what is still to be shown; the next
#: process goes on with both.
CLOSE_S = 5.0
#: The longest sleep of the timer; a clock that jumps is noticed within it.
LOOK_EVERY_S = 30.0
_DAY = timedelta(days=1)


class Conversation:
    """All places, one core."""

    def __init__(
        self, core: Core, *, turns: Turns, work: Work, delivery: Delivery, ports: Mapping[str, ChatPort]
    ) -> None:
        self._core = core
        self._turns = turns
        self._work = work
        self._delivery = delivery
        self._ports = ports
        # A lane is there while somebody waits in it: places are many, and most are spoken in once.
        self._lanes: WeakValueDictionary[PlaceId, asyncio.Lock] = WeakValueDictionary()
        self._tasks: set[asyncio.Task[None]] = set()
        self._settling: set[asyncio.Task[None]] = set()
        self._closing = False
        self._look = asyncio.Event()
        self._timer = Timer(core, work=work, delivery=delivery)
        self._planner = Planner(core, work=work, delivery=delivery)
        work.ended = self._planner.look
        self._signals = SignalLane(core)
        self._unrecorded = Unrecorded(core, turns=turns, work=work, ports=ports)
        self._forgot_at: datetime | None = None

    # ------------------------------------------------------------ arriving

    async def sink(self, inbound: Inbound) -> Receipt:
        """Commit `inbound` and return; its port acknowledges after that.

        Raises:
            NotCommittedError: it is not stored and will not be acted on.
        """
        inbound = replace(inbound, text=recovery.storable(inbound.text))
        settled: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        try:
            arrived = await asyncio.to_thread(self._commit, inbound)
        except LedgerError as error:
            unwritable = isinstance(error, LedgerUnwritableError)
            if unwritable and await self._unrecorded.brake(self._arrived(inbound)):
                settled.set_result(None)
                return Receipt(fresh=True, settled=settled)
            raise NotCommittedError(f"{NotCommittedError.__doc__} {STILL_WORK}") from error
        self._core.probe("inbox.committed")
        if arrived is None:
            settled.set_result(None)
            return Receipt(fresh=False, settled=settled)
        form = await self._form_for(inbound)  # before its turn, after which the card may be dead
        _keep(self._tasks, self._in_lane(arrived, settled, begins=self._core.stopwatch(Timing.TURN_WAIT)))
        return Receipt(fresh=True, settled=settled, form=form)

    async def _form_for(self, inbound: Inbound) -> Form | None:
        """Return the form that a press opens; whatever fails about that, the press counts."""
        if inbound.kind is not InboundKind.CLICK:
            return None
        try:
            return await asyncio.to_thread(self._turns.form_for, inbound)
        except Exception:
            log.exception("no form for %s", inbound.event_id)
            return None

    def _commit(self, inbound: Inbound) -> recovery.Arrived | None:
        """Store what arrived and what was on the screen by then; None for a redelivery."""
        arrived = self._arrived(inbound)
        document = recovery.pack(inbound, seen=arrived.seen)
        fresh = self._core.ledger.inbox.commit(arrived.key, arrived.place, document, self._core.now())
        return arrived if fresh else None

    def _arrived(self, inbound: Inbound) -> recovery.Arrived:
        # Of the place, not of the account: events differ in whether they say where a guest is from.
        key = f"{inbound.place.platform}:{inbound.place.tenant}:{inbound.event_id}"
        place = self._core.place_of(inbound.place)
        seen = self._core.ledger.outbox.seen(place, by=inbound.position, channel=inbound.place.channel)
        return recovery.Arrived(inbound=inbound, key=key, place=place, seen=seen)

    async def _in_lane(
        self, arrived: recovery.Arrived, settled: "asyncio.Future[None]", *, begins: Callable[[], None]
    ) -> None:
        outcome: Outcome | None = None
        try:
            if arrived.inbound.kind is InboundKind.CLICK:
                begins()
                outcome = await self._handle(arrived)
            else:
                # Nothing is awaited before this, so that who arrived first goes first.
                async with self._lane(arrived.place):
                    if not self._closing:  # else it stays in the inbox, for the next start
                        begins()
                        outcome = await self._handle(arrived)
        except Exception:
            log.exception("the answer to %s was not shown", arrived.key)
        finally:
            # A turn is over before what it started is: stopping waits for the one, not for the other.
            _keep(self._settling, self._settle(outcome, settled))

    def _lane(self, place: PlaceId) -> asyncio.Lock:
        """Return what lets the messages of `place` through one after the other."""
        lane = self._lanes.get(place)
        if lane is None:
            lane = self._lanes[place] = asyncio.Lock()
        return lane

    async def _settle(self, outcome: Outcome | None, settled: "asyncio.Future[None]") -> None:
        try:
            if outcome is not None:
                moved = [*outcome.work, *(ProposalId(one.rpartition(".")[0]) for one in outcome.cancel)]
                await self._work.quiet(moved)
                await self._planner.quiet(outcome.place)
                await self._shown(outcome, moved)
        finally:
            if not settled.done():
                settled.set_result(None)

    async def _handle(self, arrived: recovery.Arrived) -> Outcome | None:
        if arrived.inbound.kind is InboundKind.SIGNAL:
            return await self._hear(arrived)
        place = await asyncio.to_thread(self._core.place_of, arrived.inbound.place)
        try:
            await self._unrecorded.record(take=self._take_anew, perform=self.perform)
            if arrived.inbound.kind is not InboundKind.CLICK:
                await asyncio.to_thread(self._unrecorded.close, place)
            outcome = await asyncio.to_thread(self._take, arrived)
        except LedgerUnwritableError as error:
            log.error("a turn was not recorded: %s", error)  # noqa: TRY400 - expected, and said
            await self._unrecorded.hold(arrived, place=place)
            return None
        await self.perform(outcome)
        return outcome

    async def _hear(self, arrived: recovery.Arrived) -> Outcome | None:
        """Take what machines report; return what came of the newest, None where it is kept for later."""
        heard = await self._signals.hear(arrived.inbound, key=arrived.key)
        for outcome in heard:
            await self.perform(outcome)
        return heard[-1] if heard else None

    def _take_anew(self, arrived: recovery.Arrived) -> Outcome:
        """Commit what could not be committed, and take its turn.

        Raises:
            LedgerUnwritableError: nothing can be recorded still.
        """
        self._commit(arrived.inbound)
        return self._take(arrived)

    def _take(self, arrived: recovery.Arrived) -> Outcome:
        inbound = arrived.inbound
        if inbound.kind is InboundKind.SIGNAL:
            return taking.take(self._core, inbound, inbox=arrived.key)
        try:
            if not overheard.concerns(self._core, inbound, own_threads=self._turns.own_threads):
                self._core.ledger.inbox.finish(arrived.key, self._core.now())
                return self._turns.nothing(inbound)
            deadlines.close_due(self._core)
            if why := recovery.mistimed(self._core, inbound):
                return self._turns.too_late(inbound, inbox=arrived.key, words=why)
            inbound = self._as_form(inbound)
            refers_to = self._core.subject_of(inbound.reply_to)
            return self._turns.take(inbound, inbox=arrived.key, seen=arrived.seen, refers_to=refers_to)
        except LedgerUnwritableError:
            raise
        except Exception as error:
            log.exception("a turn failed")
            return self._turns.crashed(inbound, inbox=arrived.key, error=error)

    def _as_form(self, inbound: Inbound) -> Inbound:
        """Return a reply to a message that asks as the form that it fills in; anything else as it is."""
        reply = inbound.reply_to
        if reply is None or inbound.kind is not InboundKind.MESSAGE or inbound.forwarded:
            return inbound
        if control_words.names_its_own(inbound.text):
            return inbound  # "stop" is no reason and no phrase, wherever it is typed
        place = self._core.place_of(reply.place)
        token = self._core.queries.form_of(reply.message, place, channel=reply.place.channel)
        return inbound if token is None else replace(inbound, kind=InboundKind.FORM, token=token)

    async def perform(self, outcome: Outcome) -> None:
        """Do what a batch that stands wants done: stop, move on, show."""
        for action, person in outcome.cancel.items():
            self._work.cancel(action, by=person)
        for proposal in outcome.work:
            await self._work.move(proposal)
        await keep_runs(self._core, self._work)
        await self._planner.look()
        await self._work.wrap_up()
        if outcome.work and not outcome.shows:
            quiet = asyncio.ensure_future(self._work.quiet(outcome.work))
            await asyncio.wait([quiet], timeout=GRACE_S)
            quiet.cancel()
        await self._kick()
        self._look.set()
        self._timer.look()

    async def _shown(self, outcome: Outcome, moved: Sequence[ProposalId]) -> None:
        """Wait until what a turn led to is shown, where it is; other places and platforms hold up nothing."""
        places = {outcome.place, *(effect.place for effect in outcome.effects)}
        edited = [one.body["subject"] for one in outcome.effects if one.kind is EffectKind.REFRESH]
        proposals = {*moved, *(ProposalId(str(one)) for one in edited)}
        for proposal in moved:
            try:
                head = await asyncio.to_thread(self._core.queries.head, proposal)
            except LookupError:
                continue
            places |= {head.asked_in, head.shown_in}
        runs = await asyncio.to_thread(cards_of, self._core, proposals)
        try:
            await self._delivery.shown({*places, *runs.values()}, {*proposals, *runs})
        except LedgerUnwritableError as error:
            log.error("what was shown is not recorded yet: %s", error)  # noqa: TRY400 - expected

    async def _kick(self) -> None:
        """Begin to show what is to be shown; a slow place holds up nobody."""
        try:
            await self._delivery.kick()
        except LedgerUnwritableError as error:
            log.error("what was shown is not recorded yet: %s", error)  # noqa: TRY400 - expected

    async def greet(self, place: PlaceRef, account: Account) -> None:
        """Show an operator who joins what waits, runs or is unknown, since its cards may have had no reader.

        It is no turn: it is not recorded, consumes no window and opens none.
        """
        core, port = self._core, self._ports.get(place.platform)
        operator = core.find(account.key)
        if operator is None or port is None:
            return
        zone = core.zone_for(operator.id)
        lines = await asyncio.to_thread(
            open_lines, core, zone=zone, now=core.now(), behind=self._turns.steering.behind
        )
        if not lines:
            return
        try:
            await port.post(place, Message(body=Text.of(*lines)), nonce=f"join-{core.ids.token()}")
        except (RejectedError, UncertainError):
            log.info("whoever joined is gone again")

    # ------------------------------------------------------------ going on

    async def recover(self) -> None:
        """Go on from what the last process left."""
        await self._delivery.inherit()
        await asyncio.to_thread(self._work.remember)
        await asyncio.to_thread(learn_all, self._core)
        await recovery.close_open_ends(self._core)
        # What people said comes before what was queued: it may have been "stop".
        for item in await asyncio.to_thread(self._core.ledger.inbox.pending):
            arrived = recovery.unpack(item)
            await asyncio.to_thread(self._take, arrived)
        for proposal in await asyncio.to_thread(self._core.queries.unfinished):
            await self._work.move(proposal)
        await keep_runs(self._core, self._work)
        await self._planner.look()
        await self._work.wrap_up()
        await self._kick()

    async def keep_time(self) -> None:
        """Do and close what is due when it is due, until cancelled."""
        async with asyncio.TaskGroup() as keeping:
            keeping.create_task(self._timer.keep())
            keeping.create_task(self._keep_deadlines())

    async def _keep_deadlines(self) -> None:
        while True:
            self._look.clear()
            try:
                due = await asyncio.to_thread(deadlines.next_due, self._core)
                wait_s = LOOK_EVERY_S if due is None else (due - self._core.now()).total_seconds()
                # Not wait_for: in Python 3.11 that forgets to be cancelled where both happen at once.
                async with asyncio.timeout(min(max(wait_s, 0.0), LOOK_EVERY_S)):
                    await self._look.wait()
            except TimeoutError:
                await self._look_now()
            except Exception:
                log.exception("it is not known what is due; it is looked at again")
                await asyncio.sleep(1.0)

    async def _look_now(self) -> None:
        try:
            await self._unrecorded.record(take=self._take_anew, perform=self.perform)
            await asyncio.to_thread(deadlines.close_due, self._core)
            await self._timer.fire()
            for outcome in await self._signals.look():
                await self.perform(outcome)
            for place in self._unrecorded.places:
                async with self._lane(place):
                    await asyncio.to_thread(self._unrecorded.close, place)
            await self._work.retry()
            await keep_runs(self._core, self._work)
            await self._planner.look()
            await self._work.wrap_up()
            await self._delivery.kick()
            await asyncio.to_thread(self._core.ledger.tick)
            await asyncio.to_thread(self._forget)
        except Exception:
            log.exception("what is due could not be done; it is tried again")
            await asyncio.sleep(1.0)

    def _forget(self) -> None:
        """Prune the words that are older than the owner wants to keep, once a day."""
        core, now = self._core, self._core.now()
        if not core.retention_days or (self._forgot_at is not None and now - self._forgot_at < _DAY):
            return
        core.ledger.prune(before=now - timedelta(days=core.retention_days))
        self._forgot_at = now

    async def close(self) -> None:
        """Finish the turns in hand, then let go of what runs.

        Turns that wait behind one in hand are not begun: the inbox holds them, and the next start takes them.
        """
        self._closing = True
        if self._tasks:
            await asyncio.wait(list(self._tasks), timeout=CLOSE_S)
        await self._planner.close()
        await self._work.close()
        await asyncio.wait(
            [*self._settling, asyncio.ensure_future(self._delivery.settled())], timeout=CLOSE_S
        )
        await self._delivery.close()


def _keep(tasks: set[asyncio.Task[None]], work: Coroutine[None, None, None]) -> None:
    """Run `work` as a task that is not forgotten before it ends."""
    task = asyncio.create_task(work)
    tasks.add(task)
    task.add_done_callback(tasks.discard)
