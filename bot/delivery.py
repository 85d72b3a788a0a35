"""Delivery: performs the effects that the ledger's batches left in the outbox.

A card is drawn when it is sent, from the state of that moment, so a late send never shows the past. Sends
have three ends (P10): done, failed, uncertain; an uncertain one is never blindly repeated. Edits are
coalesced: many changes of one card become one edit of its newest state. Nothing here decides or waits for
people.
"""

import asyncio
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from bot.cards import Cards
from bot.core import Core
from bot.outcome import text_of
from bot.ports import (
    Button,
    ButtonStyle,
    ChatPort,
    Message,
    MessageRef,
    PlaceRef,
    RejectedError,
    UncertainError,
)
from bot.text import Text, block
from gate.domain import PlaceId, ProposalId
from ledger.kinds import EffectKind, Json, LedgerError
from ledger.outbox import OutboxItem

log = logging.getLogger(__name__)


class Live:
    """What a running proposal shows beyond its recorded state; lives only in memory."""

    def __init__(self) -> None:
        self.output: dict[ProposalId, str] = {}
        self.behind: dict[ProposalId, str] = {}


class Delivery:
    """Sends what is to be shown.

    Args:
        ports: the chat ports by name of their platform.
        live: newest output and what queued actions wait behind.
    """

    def __init__(self, core: Core, cards: Cards, *, ports: Mapping[str, ChatPort], live: Live) -> None:
        self._core = core
        self._cards = cards
        self._ports = ports
        self._live = live
        self._sending = asyncio.Lock()
        self._editing: dict[ProposalId, asyncio.Task[None]] = {}
        self._again: set[ProposalId] = set()
        # Effects of which a card's next edit is the performance, and effects performed and not recorded yet.
        self._owed: dict[ProposalId, list[int]] = {}
        self._performed: dict[int, Callable[[], None]] = {}

    async def flush(self) -> None:
        """Perform every pending effect, in order."""
        async with self._sending:
            await self._settle_performed()
            owed = {one for ids in self._owed.values() for one in ids}
            for item in await asyncio.to_thread(self._core.ledger.outbox.pending):
                if item.id in owed:
                    continue
                self._core.probe("outbox.before")
                await self._perform(item)
                self._core.probe("outbox.after")
                await self._settle_performed()

    async def _settle_performed(self) -> None:
        """Record what was performed; while that cannot be written, it is not performed again."""
        for item, record in list(self._performed.items()):
            await asyncio.to_thread(record)
            self._performed.pop(item, None)

    async def _perform(self, item: OutboxItem) -> None:
        outbox = self._core.ledger.outbox
        if item.kind is EffectKind.REFRESH:
            proposal = ProposalId(item.subject)
            self._owed.setdefault(proposal, []).append(item.id)
            self.refresh(proposal)
            return
        place = await asyncio.to_thread(self._place, item.place)
        port = None if place is None else self._ports.get(place.platform)
        if place is None or port is None:
            self._performed[item.id] = partial(outbox.failed, item.id, "no adapter for that place is on")
            return
        message = await asyncio.to_thread(self._message, item)
        try:
            ref = await port.post(place, message, nonce=item.nonce)
        except RejectedError as error:
            self._performed[item.id] = partial(outbox.failed, item.id, str(error))
        except UncertainError as error:
            self._performed[item.id] = partial(outbox.uncertain, item.id, str(error))
        except Exception as error:
            # Unknown failure of an adapter: it may have been shown, and must not hold up what follows.
            log.exception("effect %s", item.id)
            self._performed[item.id] = partial(outbox.uncertain, item.id, repr(error)[:200])
        else:
            self._performed[item.id] = partial(outbox.done, item.id, ref_json(ref))

    def _message(self, item: OutboxItem) -> Message:
        if item.kind is EffectKind.CARD:
            return self._card(ProposalId(item.subject))
        fold = item.body.get("fold")
        return Message(
            body=text_of(item.body["text"]),
            buttons=_buttons(item.body["buttons"]),
            fold=Text.of(block(fold)) if isinstance(fold, str) else None,
        )

    def _card(self, proposal: ProposalId) -> Message:
        view = self._core.queries.proposal(proposal)
        if view is None:
            raise LookupError(f"no proposal {proposal}")
        return self._cards.draw(
            view,
            now=self._core.now(),
            zone=self._core.zone_for(view.requester),
            behind=self._live.behind.get(proposal, ""),
            live=self._live.output.get(proposal, ""),
        )

    def _place(self, place: PlaceId) -> PlaceRef | None:
        found = self._core.queries.place(place)
        if found is None:
            return None
        platform, tenant, channel, thread = found
        return PlaceRef(platform=platform, tenant=tenant, channel=channel, thread=thread)

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
            self._owed.pop(proposal, None)
            self._editing.pop(proposal, None)

    async def _owed_is_done(self, proposal: ProposalId, owed: Sequence[int]) -> None:
        """Record that the effects which asked for this edit are performed."""
        for item in owed:
            await asyncio.to_thread(self._core.ledger.outbox.done, item)
            self._owed[proposal].remove(item)

    async def _edit_once(self, proposal: ProposalId) -> None:
        posted = await asyncio.to_thread(self._core.ledger.outbox.posted, proposal)
        for item in posted:
            ref = ref_of(item.ref)
            port = self._ports.get(ref.place.platform)
            if port is None:
                continue
            try:
                await port.edit(ref, await asyncio.to_thread(self._card, proposal))
            except (RejectedError, UncertainError) as error:
                # The next change of state draws the whole card anew, so nothing is lost but this edit.
                log.info("card %s was not edited: %s", proposal, error)

    async def settled(self) -> None:
        """Wait until no edit is under way."""
        while self._editing:
            await asyncio.gather(*self._editing.values(), return_exceptions=True)


def _buttons(doc: Json) -> tuple[Button, ...]:
    if not isinstance(doc, list):
        raise TypeError(f"expected buttons, got {doc!r}")
    return tuple(_button(one) for one in doc)


def _button(doc: Json) -> Button:
    match doc:
        case [str(label), str(token), str(style)]:
            return Button(label=label, token=token, style=ButtonStyle(style))
        case _:
            raise TypeError(f"expected [label, token, style], got {doc!r}")


def ref_json(ref: MessageRef) -> str:
    """Return a message reference as JSON, for the outbox."""
    place = ref.place
    return json.dumps([place.platform, place.tenant, place.channel, place.thread, ref.message])


def ref_of(text: str) -> MessageRef:
    """Return the reference that `ref_json` wrote."""
    platform, tenant, channel, thread, message = json.loads(text)
    return MessageRef(
        place=PlaceRef(platform=platform, tenant=tenant, channel=channel, thread=thread), message=message
    )
