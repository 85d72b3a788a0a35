"""Answers buttons and forms: each exactly once, in time, whatever happens (P2, reports 43 and 44).

A press is stored first, and answered at the latest when 1.5 s are over. A form has to be the first answer, so
it is shown when the core was quick enough; else the core has said in words what to type. No state of a card
is kept here: what a press means is in its token. An answer that comes too late undoes nothing.
"""

import asyncio
import contextlib
import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from adapters.discord import inbound
from adapters.discord.client import Gateway
from adapters.discord.faults import ALREADY_ANSWERED, INVALID_FORM, WORN_OUT, Fault, outcome
from adapters.discord.render import EPHEMERAL, NO_PINGS, Outgoing, modal, token_of_button, token_of_form
from adapters.discord.sdk import discord
from adapters.discord.status import Status
from bot.ports import Form, Inbound, NotCommittedError, PlaceRef, Receipt

log = logging.getLogger(__name__)

NOT_OURS = "That button belongs to nothing here."
NOT_STORED = "Not stored, so nothing was done."
NOTED = "Taken."
BROKE = "That was not taken: something broke here. Try again."
#: Kinds of first answers. https://discord.com/developers/docs/interactions/receiving-and-responding
SAY, TAKEN, OPEN = 4, 6, 9
#: Discord gives three seconds for the first answer and fifteen minutes for more; some are kept in reserve.
ANSWER_S, MORE_S = 2.0, 14 * 60.0
#: How long what is to be sent gives way to presses that wait for their answer.
GIVE_WAY_S = 1.0
_KEPT = 256

Interaction = discord.Interaction[Any]


@dataclass(slots=True)
class Handle:
    """An interaction as a way to show something to one person."""

    interaction: Interaction
    at: float
    answered: asyncio.Event = field(default_factory=asyncio.Event)
    usable: bool = False


class Presses:
    """Takes interactions.

    Args:
        commit: gives an event to the core; returns once it is stored.
        ack_s: how long the core may take before the press is answered without it.
    """

    def __init__(
        self, commit: Callable[[Inbound], "asyncio.Task[Receipt]"], *, status: Status, ack_s: float
    ) -> None:
        self._commit = commit
        self._status = status
        self._ack_s = ack_s
        self._waiting = 0
        self._quiet = asyncio.Event()
        self._quiet.set()
        self._handles: OrderedDict[tuple[PlaceRef, str], Handle] = OrderedDict()

    async def take(self, client: Gateway, interaction: Interaction) -> None:
        """Store an interaction and answer it."""
        handle = Handle(interaction, asyncio.get_running_loop().time())
        self._waiting += 1
        self._quiet.clear()
        try:
            event = _event(interaction)
            if event is None:
                await self._answer(client, handle, SAY, _private(NOT_OURS))
                return
            self._keep(event, handle)
            await self._take(client, handle, event)
        except Exception:
            log.exception("a press was not taken")
            await self._say(client, handle, BROKE)
        finally:
            self._done(handle)

    def _done(self, handle: Handle) -> None:
        """Take note that the first answer to a press was given, or cannot be."""
        if handle.answered.is_set():
            return
        handle.answered.set()
        self._waiting -= 1
        if not self._waiting:
            self._quiet.set()

    async def quiet(self) -> None:
        """Wait while presses wait for their answer, but not for long: they have seconds, a card has not."""
        if not self._quiet.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(GIVE_WAY_S):
                    await self._quiet.wait()

    async def _take(self, client: Gateway, handle: Handle, event: Inbound) -> None:
        storing = self._commit(event)
        await asyncio.wait({storing}, timeout=self._ack_s)
        if not storing.done():
            await self._answer(client, handle, TAKEN, None)
        try:
            receipt = await asyncio.shield(storing)
        except NotCommittedError:
            await self._say(client, handle, NOT_STORED)
            return
        if not handle.answered.is_set():
            await self._answer(client, handle, *_first(receipt.form), fresh=receipt.fresh)

    async def _say(self, client: Gateway, handle: Handle, words: str) -> None:
        """Tell the one who pressed, as the first answer or after it."""
        if not handle.answered.is_set():
            await self._answer(client, handle, SAY, _private(words))
            return
        if not handle.usable:
            return
        try:
            await client.hooks.follow_up(handle.interaction, Outgoing(payload=_private(words)))
        except Fault as error:
            log.info("an answer to a press was not shown: %s", outcome(error))

    async def _answer(
        self,
        client: Gateway,
        handle: Handle,
        kind: int,
        data: dict[str, Any] | None,
        *,
        fresh: bool = True,
    ) -> None:
        """Give the first answer. When it comes too late, what was pressed counts all the same."""
        try:
            async with asyncio.timeout(ANSWER_S):
                await client.hooks.answer(handle.interaction, kind, data)
            handle.usable = True
        except Fault as error:
            if kind == TAKEN and getattr(error, "code", 0) == INVALID_FORM:
                # Discord has not always let a form be taken without a word.
                await self._answer(client, handle, SAY, _private(NOTED))
                return
            log.info("a press was answered too late or not at all: %s", outcome(error))
            if getattr(error, "code", 0) == ALREADY_ANSWERED and fresh:
                self._status.answered_elsewhere = asyncio.get_running_loop().time()
        finally:
            self._done(handle)

    def _keep(self, event: Inbound, handle: Handle) -> None:
        key = (event.place, event.account.user)
        self._handles[key] = handle
        self._handles.move_to_end(key)
        while len(self._handles) > _KEPT:
            self._handles.popitem(last=False)

    async def whisper(self, client: Gateway, place: PlaceRef, user: str, message: Outgoing) -> bool:
        """Show a message to one person only; return False where no press of theirs is fresh enough for it.

        Raises:
            RejectedError, UncertainError: as for a post.
        """
        handle = self._handles.get((place, user))
        if handle is None or asyncio.get_running_loop().time() - handle.at > MORE_S:
            return False
        await handle.answered.wait()
        if not handle.usable:
            return False
        payload = {**message.payload, "flags": EPHEMERAL | int(str(message.payload["flags"]))}
        try:
            await client.hooks.follow_up(handle.interaction, Outgoing(payload=payload, files=message.files))
        except Fault as error:
            if getattr(error, "code", 0) in WORN_OUT:
                handle.usable = False
                return False
            raise outcome(error) from error
        return True


def _event(interaction: Interaction) -> Inbound | None:
    """Return what an interaction says, or None when it belongs to nothing of ours."""
    place = inbound.place_of(interaction.channel, interaction.guild_id)
    data: Mapping[str, Any] = interaction.data or {}
    custom_id = str(data.get("custom_id", ""))
    if place is None:
        return None
    if interaction.type is discord.InteractionType.component:
        token = token_of_button(custom_id)
        return None if token is None else inbound.from_press(interaction, place, token)
    if interaction.type is discord.InteractionType.modal_submit:
        token = token_of_form(custom_id)
        return None if token is None else inbound.from_form(interaction, place, token)
    return None


def _first(form: Form | None) -> tuple[int, dict[str, Any] | None]:
    """Return the first answer: the form where the core asks for one and it fits, else that it is taken."""
    shown = None if form is None else modal(form)
    return (TAKEN, None) if shown is None else (OPEN, shown)


def _private(words: str) -> dict[str, Any]:
    return {"content": words, "flags": EPHEMERAL, "allowed_mentions": NO_PINGS}
