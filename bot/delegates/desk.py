"""The desk: where agents ask, whatever they came in by; implements `bot.callers.Callers`.

It hands each call to `submitting`, lets the conversation do what stands then, and tells. Calls of one agent
are taken one after the other, so that its quota counts each; waiting is bounded, and holds up nobody. A call
that its client gives up is done all the same: it was recorded, or it was not.
"""

import asyncio
import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import replace
from typing import Any, Protocol, TypeVar

from bot.callers import Answer, Progress, Wanted, WantedRun, no_progress
from bot.core import Core
from bot.delegates import telling
from bot.delegates.delegate import Delegate
from bot.delegates.keys import Keys
from bot.delegates.submitting import Submitted, submit, submit_run
from bot.delegates.withdrawing import take_back
from bot.origin import AGENT_PREFIX
from bot.outcome import Outcome
from gate.domain import PersonId, Reason, ReasonCode
from ledger.kinds import LedgerError

log = logging.getLogger(__name__)

#: How long a call waits by itself for what runs at once, and the longest that anybody may wait.
AT_ONCE_S, LONGEST_S = 20.0, 300.0
#: How often is looked whether anything changed, while somebody waits.
LOOK_EVERY_S = 0.25
#: Calls of one agent that may wait at a time; one more is answered at once.
MOST_WAITING = 8

_T = TypeVar("_T")

_UNWRITABLE = "The ledger cannot be written, so nothing was asked for and nothing runs. Try again later."
_FAULT = "That failed inside sayso. status tells what is open; nothing else was asked for."


class Conversation(Protocol):
    """What the desk needs of the conversation."""

    async def perform(self, outcome: Outcome) -> None:
        """Do what a batch that stands wants done."""


class Desk:
    """Answers agents.

    Args:
        keys: knows them.
        look_every_s: seconds between two looks, while somebody waits.
    """

    def __init__(
        self, core: Core, conversation: Conversation, keys: Keys, *, look_every_s: float = LOOK_EVERY_S
    ) -> None:
        self._core = core
        self._conversation = conversation
        self._keys = keys
        self._look_every_s = look_every_s
        self._one_by_one: Mapping[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._waiting: Counter[str] = Counter()
        self._under_way: set[asyncio.Task[Any]] = set()
        self._closing = asyncio.Event()

    # ------------------------------------------------------------ who

    def agents(self) -> tuple[str, ...]:
        """Return everybody who may ask."""
        return tuple(one.name for one in self._core.delegates.values())

    def of_secret(self, secret: str) -> str | None:
        """Return the agent whose secret this is; None for nobody's."""
        return self._known(self._keys.of_secret(secret))

    def of_login(self, login: str) -> str | None:
        """Return the agent that runs as this user of this machine; None where none does."""
        return self._known(self._keys.logins.get(login))

    def _known(self, name: str | None) -> str | None:
        return name if name is not None and self._delegate(name) is not None else None

    def _delegate(self, name: str) -> Delegate | None:
        return self._core.delegates.get(PersonId(f"{AGENT_PREFIX}{name}"))

    # ------------------------------------------------------------ asking

    async def run(self, agent: str, wanted: Wanted) -> Answer:
        """Ask for a command; see `bot.callers.Callers`, as of everything below."""
        return await self._asked(agent, lambda delegate: submit(self._core, delegate, wanted))

    async def start_runbook(self, agent: str, wanted: WantedRun) -> Answer:
        """Ask for a run of a runbook."""
        return await self._asked(agent, lambda delegate: submit_run(self._core, delegate, wanted))

    async def cancel(self, agent: str, name: str) -> Answer:
        """Take back one request of the agent's own."""
        name = name.strip().removeprefix("#").casefold()
        return await self._asked(agent, lambda delegate: take_back(self._core, delegate, name))

    async def _asked(self, agent: str, ask: Callable[[Delegate], Submitted]) -> Answer:
        delegate = self._delegate(agent)
        if delegate is None:
            return self._nobody(agent)
        answer = await self._through(self._carried_out(delegate, ask))
        if answer.is_over or answer.data.get("state") == "pending":
            return answer
        return await self._until_over(delegate, str(answer.data["id"]), AT_ONCE_S, no_progress)

    async def _carried_out(self, delegate: Delegate, ask: Callable[[Delegate], Submitted]) -> Answer:
        core = self._core
        try:
            async with self._one_by_one[delegate.name]:
                made = await asyncio.to_thread(ask, delegate)
            if made.outcome is not None:
                await self._conversation.perform(made.outcome)
            if made.denied is not None:
                return telling.refused(core, made.denied)
            return await asyncio.to_thread(telling.of, core, delegate, made.name)
        except LedgerError as error:
            log.error("a call of %s was not recorded: %s", delegate.name, error)  # noqa: TRY400 - expected, and said
            return telling.refused(core, Reason(code=ReasonCode.UNHEALTHY, text=_UNWRITABLE))
        except Exception:
            log.exception("a call of %s", delegate.name)
            return telling.refused(core, Reason(code=ReasonCode.UNHEALTHY, text=_FAULT))

    async def _through(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Wait for `work`, which goes on where whoever waits for it gives up."""
        task = asyncio.ensure_future(work)
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        return await asyncio.shield(task)

    # ------------------------------------------------------------ telling

    async def targets(self, agent: str) -> Answer:
        """Tell which targets the agent may ask for."""
        return await self._told(agent, lambda delegate: telling.targets(self._core, delegate))

    async def status(self, agent: str, name: str) -> Answer:
        """Tell how one request stands; all that is open, and its limits, for ""."""
        if not name.strip():
            return await self._told(agent, lambda delegate: telling.overview(self._core, delegate))
        return await self._told(agent, lambda delegate: telling.of(self._core, delegate, name))

    async def history(self, agent: str, *, limit: int) -> Answer:
        """Tell what the agent asked for before."""
        return await self._told(agent, lambda delegate: telling.history(self._core, delegate, limit=limit))

    async def result(self, agent: str, name: str, *, wait_s: float, progress: Progress) -> Answer:
        """Tell what came of one request, waiting for its end for a bounded while."""
        delegate = self._delegate(agent)
        if delegate is None:
            return self._nobody(agent)
        return await self._until_over(delegate, name, wait_s, progress)

    async def _until_over(self, delegate: Delegate, name: str, wait_s: float, progress: Progress) -> Answer:
        clock = asyncio.get_running_loop().time
        until = clock() + max(0.0, min(wait_s, LONGEST_S))
        if self._waiting[delegate.name] >= MOST_WAITING:
            until = clock()
        self._waiting[delegate.name] += 1
        said = ""
        try:
            while True:
                answer = await self._told(delegate.name, lambda one: telling.of(self._core, one, name))
                if answer.is_over or self._closing.is_set() or clock() >= until:
                    return answer
                words = answer.text.split("\n", 1)[0]
                if words != said:
                    said = words
                    await progress(words)
                await self._pause(min(self._look_every_s, max(0.0, until - clock())))
        finally:
            self._waiting[delegate.name] -= 1

    async def _pause(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._closing.wait()
        except TimeoutError:
            return

    async def _told(self, agent: str, tell: Callable[[Delegate], Answer]) -> Answer:
        delegate = self._delegate(agent)
        if delegate is None:
            return self._nobody(agent)
        if delegate.expires_at is not None and self._core.now() >= delegate.expires_at:
            text = "The permission of this agent is over. Its owner can prolong it in the config."
            return telling.refused(self._core, Reason(code=ReasonCode.OUT_OF_SCOPE, text=text))
        try:
            return await asyncio.to_thread(tell, delegate)
        except Exception:
            log.exception("telling %s", agent)
            return telling.refused(self._core, Reason(code=ReasonCode.UNHEALTHY, text=_FAULT))

    def _nobody(self, agent: str) -> Answer:
        reason = Reason(code=ReasonCode.OUT_OF_SCOPE, text=f"There is no agent {agent[:40]!r} here.")
        return replace(telling.refused(self._core, reason), is_over=True)

    # ------------------------------------------------------------ ending

    async def close(self) -> None:
        """Let nobody wait any more, and finish the calls in hand."""
        self._closing.set()
        if self._under_way:
            await asyncio.wait(set(self._under_way))
