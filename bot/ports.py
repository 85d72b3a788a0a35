"""The ports: what the core asks of the world, and the values that cross.

Protocols only; adapters/ and bot/execution/ implement them, tests bring classes that do. Imports gate/ and
bot.text, nothing else of ours. No platform's name appears here: platforms differ by `Capabilities`.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from bot.text import Text
from gate.domain import Action, Target

# ---------------------------------------------------------------- chat


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceRef:
    """Where something was said, in the platform's own opaque ids; `thread` is "" outside threads."""

    platform: str
    tenant: str = ""
    channel: str
    thread: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageRef:
    """A message that exists on a platform: on one it is an id, on another a timestamp.

    `position` is as in `Inbound`; equality is by place and message.
    """

    place: PlaceRef
    message: str
    position: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """Who spoke, as the platform vouches for it."""

    platform: str
    tenant: str = ""
    user: str
    display: str = ""
    is_bot: bool = False

    @property
    def key(self) -> str:
        """The form used in [operators.NAME] accounts: "platform:tenant:user"."""
        return f"{self.platform}:{self.tenant}:{self.user}"


class InboundKind(StrEnum):
    """What arrived."""

    MESSAGE = "message"
    CLICK = "click"
    FORM = "form"  # a form was filled in and sent: `token` is the form's, `text` what was written
    EDIT = "edit"  # somebody changed an old message: never assent (P6)
    MOVED = "moved"  # the place goes on under other ids, `moved_to`; nobody spoke
    SIGNAL = "signal"  # a machine reports: `text` is what `gate.signals.pack` wrote, and no words of anybody


@dataclass(frozen=True, slots=True, kw_only=True)
class Inbound:
    """One event, verified and normalised by its adapter.

    Attributes:
        event_id: the platform's id of the event, unique in (platform, tenant) of its place; de-duplicates
            redelivery.
        sent_at: the platform's message time, aware UTC.
        reply_to: the message this one answers explicitly, where the platform says so.
        token: the opaque token of the pressed button, for CLICK, or of the form, for FORM.
        position: the platform's own order of messages in a place (a timestamp in microseconds, a growing
            id), by which it is known what was said before what (D2); 0 for clicks and where there is none.
        direct: said where nobody but the bot listens.
        moved_to: where the place goes on, for MOVED.
        forwarded: a forwarded or quoted-only message: never assent (P6).
        addressed: said to the bot (a direct message, a mention, the console); in a shared place other
            people's talk is not.
    """

    event_id: str
    place: PlaceRef
    account: Account
    sent_at: datetime
    kind: InboundKind = InboundKind.MESSAGE
    text: str = ""
    reply_to: MessageRef | None = None
    token: str = ""
    forwarded: bool = False
    addressed: bool = True
    position: int = 0
    direct: bool = False
    moved_to: PlaceRef | None = None


class ButtonStyle(StrEnum):
    """How a button is meant."""

    GO = "go"
    STOP = "stop"
    NEUTRAL = "neutral"


@dataclass(frozen=True, slots=True, kw_only=True)
class Button:
    """One choice. `token` is opaque, at most 32 ASCII bytes (P3); `label` at most 60 characters."""

    label: str
    token: str
    style: ButtonStyle = ButtonStyle.NEUTRAL


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """One question with one field, shown over the conversation where a platform can.

    Attributes:
        token: opaque, comes back with the answer; at most 32 ASCII bytes (P3).
        title: at most 24 characters.
        label: of the field, at most 45 characters; `hint`, inside the empty field, at most 60.
        initial: what the field holds at first.
        lines: the field may hold several lines.
        required: an empty answer cannot be sent.
    """

    token: str
    title: str
    label: str
    hint: str = ""
    initial: str = ""
    lines: bool = False
    required: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """What the bot wants shown.

    Attributes:
        fold: long output that a platform may collapse or attach; shown in full below `body` elsewhere.
        attachment: (file name, content) for what cannot be shown inline.
        asks: this message wants a reply to itself, where a platform can offer that; the words are the hint in
            the empty field, at most 60 characters. "" for most messages.
    """

    body: Text
    buttons: tuple[Button, ...] = ()
    fold: Text | None = None
    attachment: tuple[str, bytes] | None = None
    asks: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What a platform can do, as data."""

    max_chars: int = 3000
    own_threads: bool = False  # what answers a request in a shared place gets a thread of its own (D2)
    max_buttons: int = 25
    forms: bool = False  # can show a form as the answer to a press
    replies: bool = False  # can offer a field for a reply to a message that `asks`
    files: bool = False  # can show a file beside a message
    finds: bool = False  # can tell whether a message was shown, by its nonce
    acks_in_order: bool = False  # acknowledging an event acknowledges all that came before it


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """How an adapter is; `detail` says what to do when it is not ok.

    `facts` are (name, value) pairs for `sayso status`: who it is, scopes, last event, connections.
    """

    ok: bool
    detail: str = ""
    facts: tuple[tuple[str, str], ...] = ()


class RejectedError(Exception):
    """The platform refused the message; it was not shown."""


class BusyError(RejectedError):
    """The platform wants less at once; it was not shown. Send it again after `retry_after_s` seconds."""

    def __init__(self, message: str, *, retry_after_s: float) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class UncertainError(Exception):
    """It is unknown whether the message was shown; reconcile before sending again (P10)."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """What the core gives back for an inbound, once it is committed.

    Attributes:
        fresh: False for a redelivery, which is acknowledged and otherwise ignored.
        settled: done when the turn has been answered and everything it started has ended.
        form: what to ask the person for, as the answer to this press, where `Capabilities.forms`. The press
            counts all the same, so an adapter that cannot show the form in time just goes on.
    """

    fresh: bool
    settled: "asyncio.Future[None]"
    form: Form | None = None


#: Commits to the inbox and returns; the adapter acknowledges to its platform after that. Raises
#: `bot.ports.NotCommittedError` when the inbox could not take it: do not acknowledge.
Sink = Callable[[Inbound], Awaitable[Receipt]]


#: Shows somebody who joins a place what stands there, for adapters whose messages reach only who is there.
Greet = Callable[[PlaceRef, Account], Awaitable[None]]


class NotCommittedError(Exception):
    """The message could not be stored; it was not acted on. Free some disk space and send it again."""


class Bookmarks(Protocol):
    """Where reading stopped, for platforms that keep what was said while the bot was away."""

    def newest(self, platform: str) -> Sequence[tuple[PlaceRef, str]]:
        """Return every place in which an operator ever spoke, with the newest event id that came from it."""


class ChatPort(Protocol):
    """One conversation surface."""

    name: str
    capabilities: Capabilities

    async def listen(self, sink: Sink) -> None:
        """Take events until closed, or until input ends; hand each to `sink` before acknowledging.

        No fault of the world ends it. One of our own may; it can be called again then.
        """

    async def post(self, place: PlaceRef, message: Message, *, nonce: str) -> MessageRef:
        """Show a message; `nonce` stays the same when a send is tried again.

        Raises:
            RejectedError: it was not shown; BusyError when later will do.
            UncertainError: it may have been.
        """

    async def find(self, place: PlaceRef, *, nonce: str) -> MessageRef | None:
        """Return the message of ours that was posted with `nonce`, or None when it certainly is not there.

        Raises:
            UncertainError: the platform cannot tell (always, unless `Capabilities.finds`), or not now.
        """

    async def edit(self, ref: MessageRef, message: Message) -> None:
        """Replace a message of ours. Raises RejectedError, UncertainError."""

    async def note(self, place: PlaceRef, account: Account, message: Message) -> None:
        """Show a message to one person only; in the open where the platform cannot."""

    async def health(self) -> Health:
        """Tell how the connection is."""

    async def close(self) -> None:
        """Stop listening and free everything."""


# ---------------------------------------------------------------- execution


class EndKind(StrEnum):
    """How a started command ended, as far as known."""

    EXITED = "exited"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"
    NOT_STARTED = "not_started"  # certain that the command never ran (no connection, unknown host key …)
    LOST = "lost"  # may have run, end unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Streams:
    """The first bytes of each stream apart, for what a runbook expects of it; `cut`: not all of it."""

    stdout: bytes = b""
    stderr: bytes = b""
    cut: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Captured:
    """Output within bounds: the first and last bytes, and what is known of the whole.

    Attributes:
        head, tail: kept bytes of stdout and stderr as they arrived, interleaved; `tail` is empty unless
            something between them was dropped.
        total: bytes that arrived in all.
        sha256: hex digest of everything that arrived, dropped bytes included.
        streams: each stream for itself; None but for steps of runbooks.
    """

    head: bytes = b""
    tail: bytes = b""
    total: int = 0
    sha256: str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    streams: Streams | None = None

    @property
    def dropped(self) -> int:
        """How many bytes between head and tail were not kept."""
        return self.total - len(self.head) - len(self.tail)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The end of one execution.

    Attributes:
        exit_code: of the command; None unless it is known. A signal is 128 + its number.
        note: for people: why it did not start, was lost or was stopped; "" otherwise.
        cause: stable word for why it did not start (bot.execution.unreached), for scripts; "" otherwise.
        connect_s, run_s: seconds to reach the target, and to run.
    """

    kind: EndKind
    exit_code: int | None = None
    output: Captured = field(default_factory=Captured)
    note: str = ""
    cause: str = ""
    connect_s: float = 0.0
    run_s: float = 0.0


#: Called with each chunk as it arrives (bytes of either stream); must not block.
OutputSink = Callable[[bytes], None]


class Executor(Protocol):
    """Runs one granted action on one target. Knows nothing of approvals; its caller asks the door first."""

    async def identify(self, target: Target) -> Target:
        """Return `target` as it would be reached right now (address, user, host keys). No network."""

    async def run(
        self, action: Action, *, on_output: OutputSink, cancel: asyncio.Event, reads: bool = False
    ) -> Ended:
        """Run `action` and return its end; setting `cancel` terminates, then kills it.

        `reads` says that it was judged read-only, so that it may be handed to a shell that waits for such.

        Never raises for faults of the world: they are ends.
        """

    async def close(self) -> None:
        """Close pooled connections."""


# ---------------------------------------------------------------- world


class Clock(Protocol):
    """Time, read only by whoever was given one."""

    def now(self) -> datetime:
        """Return the current instant, aware UTC."""


class IdSource(Protocol):
    """Randomness for ids and tokens."""

    def short_id(self) -> str:
        """Return six characters of an unambiguous alphabet."""

    def token(self) -> str:
        """Return an unguessable token of at most 32 ASCII characters."""

    def code(self, alphabet: str, length: int) -> str:
        """Return that many unguessable characters of `alphabet`, for people to type."""
