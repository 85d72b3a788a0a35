"""What a module of `bot.acts` has to offer: reading, resolving and performing one family of acts.

`dispatch` calls them in this order and keeps the record between: read → resolve → (question, phrase) →
perform. A handler holds no state of its own.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, runtime_checkable

from bot.answering import Speaker
from bot.core import Core
from bot.outcome import Outcome
from gate.resolve.decision import Act, Decision, Deny, Slots


@dataclass(frozen=True, slots=True, kw_only=True)
class ActRequest:
    """An act that somebody asked for, as read from their words or as proposed by a planner.

    Attributes:
        act: the kind.
        slots: what the words say, unresolved: {"text": …, "about": …}.
        said: the whole message.
        request_at: the platform's own time of the message, aware UTC; times are relative to it (K25).
        tool: the registered tool that asks, see `gate.effects`.
    """

    act: Act
    slots: Slots
    said: str
    request_at: datetime
    tool: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """A resolved act that is to be done now.

    Attributes:
        commitment: its id, which is the correlation id of everything that it causes.
        slots: as the gate bound them, which is what was shown where something was shown.
    """

    commitment: str
    slots: Slots


class NothingLeftError(Exception):
    """What was allowed is not there any more, since others did it meanwhile; the message says what is so.

    Raised by `ActHandler.perform` before it writes anything.
    """


class ActHandler(Protocol):
    """One family of acts."""

    #: The acts it resolves and performs.
    acts: frozenset[Act]

    def read(self, core: Core, speaker: Speaker, request_at: datetime) -> ActRequest | None:
        """Return what the whole message `speaker.said` asks for; None where it is none of this family."""
        ...

    def resolve(self, core: Core, outcome: Outcome, speaker: Speaker, request: ActRequest) -> Decision:
        """Gather the facts and let the gate resolve `request`. Writes nothing."""
        ...

    def perform(
        self, core: Core, outcome: Outcome, speaker: Speaker, request: ActRequest, bound: Bound
    ) -> None:
        """Record the act and say so, in the batch of `outcome`; the commitment is the correlation id.

        Raises:
            NothingLeftError: there is nothing left to do; nothing was written.
        """
        ...


@runtime_checkable
class RecordsDenials(Protocol):
    """A family that keeps a record of its own of what it was denied, beside the act's."""

    def denied(
        self, outcome: Outcome, speaker: Speaker, request: ActRequest, decision: Deny, commitment: str
    ) -> None:
        """Record that `request` was denied; whoever asked is told by the caller."""
        ...
