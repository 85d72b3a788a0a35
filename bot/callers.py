"""Callers: what agents may ask of the core, and the values that cross (D20).

Protocols and values only, for adapters through which agents ask; `bot.delegates` implements them. Whoever
asks is named by the adapter, which knows them by a secret or by the kernel's word, never by their own. The
rule it owns: nothing in here decides, settles, resumes or changes a setting.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from bot.ports import Health, Sink


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A command that an agent wants run; everything in it is the agent's own words.

    Attributes:
        target: a name, "@tag" or several with commas.
        purpose: what it is for, which people read before they decide; never empty.
        declared_risk: what the agent takes it for. It can only make a verdict stricter (N8, N14).
        verify: a command that only reads, run afterwards; "" for none.
        timeout_s: 1 to 86 400; None for the setting.
        task: what the agent is working at; "" for nothing said.
    """

    target: str
    command: str
    purpose: str
    declared_risk: str = ""
    verify: str = ""
    timeout_s: int | None = None
    task: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedRun:
    """A runbook that an agent wants run; see `Wanted`."""

    runbook: str
    purpose: str
    inputs: Mapping[str, str] = field(default_factory=dict)
    target: str = ""
    task: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What an agent is told.

    Attributes:
        text: for whoever reads, secrets masked. What commands put out is marked as data.
        data: the same as JSON values; "id" and "state" where it is about something.
        is_refusal: nothing was done, and `text` says why.
        is_over: nothing about it will change any more.
    """

    text: str
    data: Mapping[str, Any] = field(default_factory=dict)
    is_refusal: bool = False
    is_over: bool = True


#: Told what is going on while somebody waits; the words are for people and the model alike.
Progress = Callable[[str], Awaitable[None]]


async def no_progress(_words: str) -> None:
    """Tell nobody."""


class Callers(Protocol):
    """Answers agents. `agent` is a name of the config; every method takes any text and raises for none."""

    def agents(self) -> tuple[str, ...]:
        """Return everybody who may ask."""

    def of_secret(self, secret: str) -> str | None:
        """Return the agent whose secret this is; None for nobody's. Takes as long whichever it is."""

    def of_login(self, login: str) -> str | None:
        """Return the agent that runs as this user of this machine; None where none does."""

    async def run(self, agent: str, wanted: Wanted) -> Answer:
        """Ask for a command: what may run at once is waited for a moment, the rest is pending at once."""

    async def start_runbook(self, agent: str, wanted: WantedRun) -> Answer:
        """Ask for a run of a runbook, with everything that it needs."""

    async def targets(self, agent: str) -> Answer:
        """Tell which targets the agent may ask for."""

    async def status(self, agent: str, name: str) -> Answer:
        """Tell how one request of the agent's own stands; all that is open, and its limits, for ""."""

    async def result(self, agent: str, name: str, *, wait_s: float, progress: Progress) -> Answer:
        """Tell what came of one request of the agent's own, waiting for its end for a bounded while."""

    async def history(self, agent: str, *, limit: int) -> Answer:
        """Tell what the agent asked for before, newest first; of others it is told nothing."""

    async def cancel(self, agent: str, name: str) -> Answer:
        """Take back one request of the agent's own."""


class Entrance(Protocol):
    """A way in that shows nothing to people by itself: kept by `bot.listening` as a surface is."""

    name: str

    async def listen(self, sink: Sink, /) -> None:
        """Answer until closed; what comes in here is no message for `sink`.

        No fault of the world ends it. One of our own may; it can be called again then.
        """

    async def health(self) -> Health:
        """Tell how it is."""

    async def close(self) -> None:
        """Stop answering and free everything."""
