"""Delivery: performs the effects that the ledger's batches left in the outbox.

A card is drawn when it is sent, from the state of that moment, so a late send never shows the past. Sends
have three ends (P10): done, failed, uncertain; an unsure one is looked for by its nonce before it is sent
again, and never repeated where nobody can tell. Edits are coalesced: many changes of one card become one edit
of its newest state, and they never hold up a message. Nothing here decides or waits for people.
"""

import asyncio
import logging
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from bot import attaching, undelivered
from bot.cards import Cards
from bot.core import Core
from bot.outboxed import account_of, buttons_of, ref_json, ref_of
from bot.outcome import text_of
from bot.places import place_ref
from bot.ports import (
    BusyError,
    ChatPort,
    Message,
    MessageRef,
    PlaceRef,
    RejectedError,
    UncertainError,
)
from bot.runbooks import cards as run_cards
from bot.signals import cards as signal_cards
from gate.domain import PlaceId, ProposalId
from gate.supervise.domain import RunId
from ledger.kinds import Batch, EffectKind, LedgerError
from ledger.outbox import OutboxItem

log = logging.getLogger(__name__)

#: How often it is looked whether an unsure message was shown, how long in between, before nobody can tell.
LOOKS, LOOK_AGAIN_S = 4, 2.0
#: The longest that a place is left alone at its platform's wish before the next try.
LONGEST_WAIT_S = 300.0


class Live:
    """What a running proposal shows beyond its recorded state; lives only in memory."""

    def __init__(self) -> None:
        self.output: dict[ProposalId, str] = {}
        self.behind: dict[ProposalId, str] = {}


class Delivery:
    """Sends what is to be shown: each place in its order, places side by side.

    Args:
        ports: the chat ports by name of their platform.
        live: newest output and what queued actions wait behind.
    """

    def __init__(self, core: Core, cards: Cards, *, ports: Mapping[str, ChatPort], live: Live) -> None:
        self._core = core
        self._cards = cards
        self._ports = ports
        self._live = live
        self._lanes: dict[PlaceId, deque[OutboxItem]] = defaultdict(deque)
        self._sending: dict[PlaceId, asyncio.Task[None]] = {}
        # What was taken from the outbox; what of that is recorded is forgotten once nobody can hold an older
        # reading of the outbox. And what the last process left.
        self._taken: set[int] = set()
        self._recorded: set[int] = set()
        self._taking = asyncio.Lock()
        self._inherited: set[int] = set()
        self._editing: dict[ProposalId, asyncio.Task[None]] = {}
        self._again: set[ProposalId] = set()
        # Cards drawn and on their way, by effect, and proposals that changed after one of theirs was drawn.
        self._on_the_way: dict[int, ProposalId] = {}
        self._outdated: set[ProposalId] = set()
        # Effects of which a card's next edit is the performance, and effects performed and not recorded yet.
        self._owed: dict[ProposalId, list[int]] = {}
        self._performed: dict[int, Callable[[], None]] = {}
        self._writing: set[asyncio.Future[None]] = set()
        self._has_doubts = False

    async def inherit(self) -> None:
        """Remember what the last process left: it may have been shown without being recorded."""
        pending = await asyncio.to_thread(self._core.ledger.outbox.pending)
        self._inherited = {item.id for item in pending}

    async def kick(self) -> None:
        """Begin to perform every pending effect, and wait for none.

        Raises:
            LedgerUnwritableError: what was performed before could not be recorded.
        """
        await self._settle_performed()
        async with self._taking:
            self._taken -= self._recorded
            self._recorded.clear()
            for item in await asyncio.to_thread(self._core.ledger.outbox.pending):
                if item.id not in self._taken:
                    self._taken.add(item.id)
                    self._take(item)

    def _take(self, item: OutboxItem) -> None:
        if item.kind is EffectKind.REFRESH:
            proposal = ProposalId(item.subject)
            self._owed.setdefault(proposal, []).append(item.id)
            self.refresh(proposal)
            return
        self._lanes[item.place].append(item)
        if item.place not in self._sending:
            self._sending[item.place] = asyncio.create_task(self._send(item.place))

    async def flush(self) -> None:
        """Perform every pending effect and wait for it.

        Raises:
            LedgerUnwritableError: what was performed could not be recorded; it is not performed again.
        """
        await self.kick()
        while self._sending:
            await asyncio.wait(list(self._sending.values()))
        await self._settle_performed()

    async def shown(self, places: Iterable[PlaceId], proposals: Iterable[ProposalId]) -> None:
        """Perform every pending effect; wait for those of `places` and for the edits of `proposals`.

        Raises:
            LedgerUnwritableError: as for `flush`.
        """
        await self.kick()
        if lanes := [self._sending[place] for place in places if place in self._sending]:
            await asyncio.wait(lanes)
        await self._settle_performed()
        if self._writing:  # another lane may be recording it
            await asyncio.wait(set(self._writing))
        if edits := [self._editing[one] for one in proposals if one in self._editing]:
            await asyncio.wait(edits)

    async def close(self) -> None:
        """Stop sending; what was not sent is sent by the next process."""
        under_way = [*self._sending.values(), *self._editing.values()]
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)

    async def _send(self, place: PlaceId) -> None:
        """Perform what is in the lane of `place`, in order."""
        lane = self._lanes[place]
        item: OutboxItem | None = None
        try:
            while lane:
                item = lane.popleft()
                self._core.probe("outbox.before")
                self._performed[item.id] = await self._perform(item)
                self._core.probe("outbox.after")
                await self._settle_performed()
                self._arrived(item)
                if self._has_doubts:  # what says so is to be sent too
                    self._has_doubts = False
                    await self.kick()
        except LedgerError as error:
            log.error("what was shown is not recorded yet: %s", error)  # noqa: TRY400 - the next flush tries again
        except Exception:
            log.exception("the lane of %s", place)
        finally:
            # What is left is taken up by the next flush.
            if item is not None:
                self._on_the_way.pop(item.id, None)
            self._taken.difference_update(item.id for item in lane)
            self._lanes.pop(place, None)
            self._sending.pop(place, None)

    def _arrived(self, item: OutboxItem) -> None:
        """Draw a card anew that changed while it was on its way: until now there was nothing to edit."""
        proposal = self._on_the_way.pop(item.id, None)
        if proposal is None or proposal not in self._outdated:
            return
        if proposal not in self._on_the_way.values():
            self._outdated.discard(proposal)
        self.refresh(proposal)

    async def _settle_performed(self) -> None:
        """Record what was performed; while that cannot be written, it is not performed again."""
        for item, record in list(self._performed.items()):
            if self._performed.pop(item, None) is None:
                continue  # another lane records it
            writing = asyncio.ensure_future(asyncio.to_thread(record))
            self._writing.add(writing)
            writing.add_done_callback(self._writing.discard)
            try:
                await writing
            except LedgerError:
                self._performed[item] = record
                raise
            self._recorded.add(item)

    async def _perform(self, item: OutboxItem) -> Callable[[], None]:
        """Show `item`; return what records how that went."""
        outbox = self._core.ledger.outbox
        place = await asyncio.to_thread(place_ref, self._core, item.place)
        port = None if place is None else self._ports.get(place.platform)
        if place is None or port is None:
            return self._failed(item, "no adapter for that place is on")
        try:
            ref = await self._once(port, place, item)
        except RejectedError as error:
            log.warning("effect %s was refused: %s", item.id, error)
            return self._failed(item, str(error))
        except UncertainError as error:
            return self._unsure(item, str(error))
        except Exception as error:
            # Unknown failure of an adapter: it may have been shown, and must not hold up what follows.
            log.exception("effect %s", item.id)
            return self._unsure(item, repr(error)[:200])
        return partial(outbox.done, item.id, "" if ref is None else ref_json(ref))

    async def _once(self, port: ChatPort, place: PlaceRef, item: OutboxItem) -> MessageRef | None:
        """Show `item` once, whatever it takes: wait where the platform wants less, look where it is unsure.

        Raises:
            RejectedError: it was certainly not shown.
            UncertainError: nobody can tell whether it was.
        """
        looks = LOOKS if item.id in self._inherited and port.capabilities.finds else 0
        while True:
            try:
                if looks and (found := await port.find(place, nonce=item.nonce)) is not None:
                    if item.kind is EffectKind.CARD:  # it shows what was so back then
                        self._on_the_way[item.id] = ProposalId(item.subject)
                        self._outdated.add(ProposalId(item.subject))
                    return found
                return await self._show(port, place, item)
            except BusyError as error:
                await asyncio.sleep(min(error.retry_after_s, LONGEST_WAIT_S))
            except UncertainError:
                if not port.capabilities.finds or looks == 1:
                    raise
                looks = (looks or LOOKS) - 1
                await asyncio.sleep(LOOK_AGAIN_S)

    async def _show(self, port: ChatPort, place: PlaceRef, item: OutboxItem) -> MessageRef | None:
        if item.kind is EffectKind.CLOSE:
            asked = await asyncio.to_thread(
                self._core.ledger.outbox.asked, item.place, str(item.body["choice"])
            )
            if asked is not None:
                await port.edit(ref_of(asked.ref), Message(body=text_of(item.body["text"])))
            return None
        if item.kind is EffectKind.CARD:  # what changes from here on is not in it
            self._on_the_way[item.id] = ProposalId(item.subject)
        message = await asyncio.to_thread(self._message, port, item)
        if item.kind is EffectKind.NOTE:
            await port.note(place, account_of(item.body["account"]), message)
            return None
        return await port.post(place, message, nonce=item.nonce)

    def _failed(self, item: OutboxItem, why: str) -> Callable[[], None]:
        """Return what records that `item` was certainly not shown, and says so where it was asked for."""
        record = partial(self._core.ledger.outbox.failed, item.id, why)
        told = undelivered.not_sent(self._core, item, why)
        return record if told is None else self._telling(told, record)

    def _unsure(self, item: OutboxItem, why: str) -> Callable[[], None]:
        """Return what records that `item` may have been shown, and says so where that matters."""
        record = partial(self._core.ledger.outbox.uncertain, item.id, why)
        told = undelivered.unsure(self._core, item, why)
        return record if told is None else self._telling(told, record)

    def _telling(self, told: Batch, record: Callable[[], None]) -> Callable[[], None]:
        """Return what tells and then records; what was told is not told again when only that was recorded."""
        left = [told]

        def tell() -> None:
            if left:
                self._core.ledger.append(left[0])
                left.clear()
                self._has_doubts = True
            record()

        return tell

    def _message(self, port: ChatPort, item: OutboxItem) -> Message:
        if item.kind is EffectKind.CARD:
            return self._card(port, ProposalId(item.subject))
        more = attaching.beside(self._core, item.body.get("file"), files=port.capabilities.files)
        return Message(
            body=text_of(item.body["text"]),
            fold=more.fold,
            attachment=more.file,
            # What has more choices than fit names them in its words too.
            buttons=buttons_of(item.body["buttons"])[: port.capabilities.max_buttons],
            asks=str(item.body.get("asks", "")),
        )

    def _card(self, port: ChatPort, proposal: ProposalId) -> Message:
        view = self._core.queries.proposal(proposal)
        if view is None:
            drawn = signal_cards.draw(self._core, proposal, now=self._core.now())
            return drawn or run_cards.draw(self._core, RunId(proposal), now=self._core.now())
        return self._cards.draw(
            view,
            now=self._core.now(),
            zone=self._core.zone_for(view.requester),
            behind=self._live.behind.get(proposal, ""),
            live=self._live.output.get(proposal, ""),
            types=port.capabilities.forms or port.capabilities.replies,
            files=port.capabilities.files,
        )

    # ------------------------------------------------------------ edits

    def refresh(self, proposal: ProposalId) -> None:
        """Bring the posted cards of `proposal` up to date soon; calls while one is under way become one."""
        if proposal in self._editing:
            self._again.add(proposal)
            return
        self._editing[proposal] = asyncio.create_task(self._edit(proposal))

    async def _edit(self, proposal: ProposalId) -> None:
        try:
            while True:
                self._again.discard(proposal)
                owed = self._owed.get(proposal, [])[:]
                await self._edit_once(proposal)
                await self._owed_is_done(proposal, owed)
                if proposal not in self._again:
                    return
        except LedgerError as error:
            log.error("card #%s is not up to date: %s", proposal, error)  # noqa: TRY400 - the next flush tries again
        except Exception:
            log.exception("card #%s is not up to date", proposal)
        finally:
            self._taken.difference_update(self._owed.pop(proposal, ()))
            self._editing.pop(proposal, None)

    async def _owed_is_done(self, proposal: ProposalId, owed: Sequence[int]) -> None:
        """Record that the effects which asked for this edit are performed."""
        for item in owed:
            await asyncio.to_thread(self._core.ledger.outbox.done, item)
            self._owed[proposal].remove(item)
            self._recorded.add(item)

    async def _edit_once(self, proposal: ProposalId) -> None:
        if proposal in self._on_the_way.values():
            self._outdated.add(proposal)
        posted = await asyncio.to_thread(self._core.ledger.outbox.posted, proposal)
        # Side by side: a platform that wants less, or hangs, leaves no live buttons standing on another.
        await asyncio.gather(*(self._edit_card(proposal, ref_of(item.ref)) for item in posted))

    async def _edit_card(self, proposal: ProposalId, ref: MessageRef) -> None:
        port = self._ports.get(ref.place.platform)
        if port is None:
            return
        try:
            await port.edit(ref, await asyncio.to_thread(self._card, port, proposal))
        except BusyError as error:
            # By then the card may have changed again; one edit shows the newest state of it.
            await asyncio.sleep(min(error.retry_after_s, LONGEST_WAIT_S))
            self._again.add(proposal)
        except (RejectedError, UncertainError) as error:
            # The next change of state draws the whole card anew, so nothing is lost but this edit.
            log.info("card %s was not edited: %s", proposal, error)

    async def settled(self) -> None:
        """Wait until no edit is under way."""
        while self._editing:
            await asyncio.gather(*self._editing.values(), return_exceptions=True)
