"""Delivery: performs the effects that the ledger's batches left in the outbox.

A card is drawn when it is sent, from the state of that moment, so a late send never shows the past. Sends
have three ends (P10): done, failed, uncertain; an uncertain one is never blindly repeated. Edits are
coalesced: many changes of one card become one edit of its newest state. Nothing here decides or waits for
people.
"""

import asyncio
import json
import logging
from collections.abc import Mapping

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
from ledger.kinds import EffectKind, Json
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

    async def flush(self) -> None:
        """Perform every pending effect, in order."""
        async with self._sending:
            for item in await asyncio.to_thread(self._core.ledger.outbox.pending):
                self._core.probe("outbox.before")
                await self._perform(item)
                self._core.probe("outbox.after")

    async def _perform(self, item: OutboxItem) -> None:
        outbox = self._core.ledger.outbox
        if item.kind is EffectKind.REFRESH:
            self.refresh(ProposalId(item.subject))
            await asyncio.to_thread(outbox.done, item.id)
            return
        place = await asyncio.to_thread(self._place, item.place)
        port = None if place is None else self._ports.get(place.platform)
        if place is None or port is None:
            await asyncio.to_thread(outbox.failed, item.id, "no adapter for that place is on")
            return
        try:
            ref = await port.post(place, await asyncio.to_thread(self._message, item), nonce=item.nonce)
        except RejectedError as error:
            await asyncio.to_thread(outbox.failed, item.id, str(error))
        except UncertainError as error:
            await asyncio.to_thread(outbox.uncertain, item.id, str(error))
        else:
            await asyncio.to_thread(outbox.done, item.id, ref_json(ref))

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
                await self._edit_once(proposal)
                if proposal not in self._again:
                    return
        finally:
            self._editing.pop(proposal, None)

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
