"""Editing: many changes of a message become few, the newest wins, and nothing else waits for them.

Telegram takes about 20 messages a minute in a group, and one a second elsewhere, edits included. Whatever is
posted goes at once; an edit that changes no button waits until there is room beyond what posts may need. What
Telegram wants later is held until then, in its newest form.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from bot.ports import BusyError, Message, MessageRef

#: The longest that an edit is held at Telegram's wish.
MOST_HELD_S = 60.0
_REMEMBERED = 2000


@dataclass
class _Budget:
    """A bucket of sends: `size` at most, `rate` a second come back, `spare` are not for edits."""

    size: float
    rate: float
    spare: float
    left: float
    at_s: float
    held_until_s: float = 0.0


class Pacing:
    """How much a chat may still be sent.

    Args:
        now_s: monotonic seconds.
    """

    def __init__(self, *, now_s: Callable[[], float]) -> None:
        self._now_s = now_s
        self._budgets: OrderedDict[str, _Budget] = OrderedDict()

    def sent(self, channel: str) -> None:
        """Count one message or edit."""
        budget = self._budget(channel)
        budget.left -= 1.0

    def hold(self, channel: str, wait_s: float) -> None:
        """Leave the chat alone: Telegram wants less."""
        self._budget(channel).held_until_s = self._now_s() + wait_s

    def wait_s(self, channel: str, *, urgent: bool) -> float:
        """Return in how many seconds an edit may be sent; an urgent one waits for Telegram's wish only."""
        budget, now_s = self._budget(channel), self._now_s()
        if now_s < budget.held_until_s:
            return budget.held_until_s - now_s
        lacking = budget.spare + 1.0 - budget.left
        return 0.0 if urgent or lacking <= 0 else lacking / budget.rate

    def _budget(self, channel: str) -> _Budget:
        now_s = self._now_s()
        budget = self._budgets.get(channel)
        if budget is None:
            group = channel.startswith("-")  # as Telegram numbers them
            size, rate, spare = (20.0, 1 / 3, 8.0) if group else (15.0, 1.0, 5.0)
            budget = self._budgets[channel] = _Budget(size, rate, spare, left=size, at_s=now_s)
            if len(self._budgets) > _REMEMBERED:
                self._budgets.popitem(last=False)
        budget.left = min(budget.size, budget.left + (now_s - budget.at_s) * budget.rate)
        budget.at_s = now_s
        self._budgets.move_to_end(channel)
        return budget


@dataclass
class _Slot:
    """One message that is being edited: how many changes were wanted, and whose turn it is."""

    wanted: int = 0
    users: int = 0
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    news: asyncio.Event = field(default_factory=asyncio.Event)


class Editing:
    """Edits, the newest of each message.

    Args:
        send: performs one edit. Raises BusyError when Telegram wants it later.
        pause: sleeps so many seconds.
    """

    def __init__(
        self,
        send: Callable[[MessageRef, Message], Awaitable[None]],
        *,
        pacing: Pacing,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._send = send
        self._pacing = pacing
        self._pause = pause
        self._slots: dict[MessageRef, _Slot] = {}
        self._tokens: OrderedDict[MessageRef, tuple[str, ...]] = OrderedDict()

    def shown(self, ref: MessageRef, message: Message) -> None:
        """Remember which buttons a message has."""
        self._tokens[ref] = _tokens(message)
        self._tokens.move_to_end(ref)
        if len(self._tokens) > _REMEMBERED:
            self._tokens.popitem(last=False)

    async def edit(self, ref: MessageRef, message: Message) -> None:
        """Show `message`, or return once a newer change of the same message takes its place.

        Raises:
            RejectedError: it was not shown.
            UncertainError: it may have been.
        """
        slot = self._slots.setdefault(ref, _Slot())
        slot.wanted += 1
        slot.users += 1
        slot.news.set()
        mine = slot.wanted
        try:
            async with slot.turn:
                await self._send_if_newest(slot, mine, ref, message)
        finally:
            slot.users -= 1
            if not slot.users:
                self._slots.pop(ref, None)

    async def _send_if_newest(self, slot: _Slot, mine: int, ref: MessageRef, message: Message) -> None:
        channel = ref.place.channel
        urgent = self._tokens.get(ref) != _tokens(message)
        while mine == slot.wanted:
            slot.news.clear()
            wait_s = self._pacing.wait_s(channel, urgent=urgent)
            if wait_s > 0:
                await self._pause_or_news(slot, wait_s)
                continue
            try:
                await self._send(ref, message)
            except BusyError as error:
                if error.retry_after_s > MOST_HELD_S:
                    raise
                self._pacing.hold(channel, error.retry_after_s)
            else:
                self._pacing.sent(channel)
                self.shown(ref, message)
                return

    async def _pause_or_news(self, slot: _Slot, wait_s: float) -> None:
        """Wait so long, or until a newer change is wanted: it may be an urgent one."""
        waiting = [asyncio.ensure_future(self._pause(wait_s)), asyncio.ensure_future(slot.news.wait())]
        try:
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in waiting:
                one.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)


def _tokens(message: Message) -> tuple[str, ...]:
    return tuple(button.token for button in message.buttons)
