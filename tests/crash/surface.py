"""What the bot touches in a crash test: a chat surface whose people keep a journal, and a watched executor.

The journal is a file of JSON lines written with one system call each, so that it tells what a life had done
when it was killed.
"""

import asyncio
import json
import logging
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bot.ports import (
    Account,
    Capabilities,
    Ended,
    Executor,
    Health,
    Inbound,
    Message,
    MessageRef,
    OutputSink,
    PlaceRef,
    Receipt,
    Sink,
)
from gate.domain import Action, Target

Moment = Callable[[str], None]
PLACE = PlaceRef(platform="console", channel="ops")


class Journal:
    """What happened, in order, over all lives of one cycle."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._fd = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def write(self, what: str, **details: object) -> None:
        """Add one line."""
        os.write(self._fd, (json.dumps({"what": what, **details}) + "\n").encode())

    def read(self, what: str) -> list[dict[str, object]]:
        """Return every line of one sort."""
        lines = map(json.loads, self._file.read_text().splitlines())
        return [line for line in lines if line["what"] == what]


class Complaints(logging.Handler):
    """Errors that were logged, such as exceptions of tasks that nobody waited for."""

    def __init__(self, journal: Journal) -> None:
        super().__init__(logging.ERROR)
        self._journal = journal

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if record.exc_info and record.exc_info[1] is not None:
            text = f"{text}: {record.exc_info[1]!r}"
        self._journal.write("complaint", text=text)


class LateClock:
    """The clock of this machine, moved ahead."""

    def __init__(self, ahead_s: float) -> None:
        self._ahead = timedelta(seconds=ahead_s)

    def now(self) -> datetime:
        return datetime.now(UTC) + self._ahead


class Surface:
    """A chat surface that one person speaks on."""

    name = "console"
    capabilities = Capabilities()

    def __init__(self, journal: Journal, *, moment: Moment, user: str) -> None:
        self._journal = journal
        self._moment = moment
        self._user = user
        self._sink: Sink | None = None
        self._shown = 0

    async def listen(self, sink: Sink) -> None:
        self._sink = sink

    async def say(self, event: str, text: str, *, at: datetime) -> Receipt:
        """Hand over one message; the journal tells whether it was acknowledged."""
        if self._sink is None:
            raise RuntimeError("nobody listens")
        inbound = Inbound(
            event_id=event,
            place=PLACE,
            account=Account(platform="console", user=self._user),
            sent_at=at,
            text=text,
        )
        self._journal.write("sent", event=event, text=text)
        receipt = await self._sink(inbound)
        self._journal.write("acknowledged", event=event)
        return receipt

    async def post(self, place: PlaceRef, message: Message, *, nonce: str) -> MessageRef:
        self._shown += 1
        self._journal.write("shown", nonce=nonce, text=message.body.plain())
        self._moment("post.shown")
        return MessageRef(place=place, message=nonce)

    async def edit(self, ref: MessageRef, message: Message) -> None:
        self._journal.write("edited", nonce=ref.message, text=message.body.plain())
        self._moment("edit.shown")

    async def note(self, place: PlaceRef, account: Account, message: Message) -> None:
        self._journal.write("noted", user=account.user, text=message.body.plain())

    async def health(self) -> Health:
        return Health(ok=True)

    async def close(self) -> None:
        self._sink = None


class Watched:
    """The real executor; output and end of a command are moments."""

    def __init__(self, real: Executor, moment: Moment) -> None:
        self._real = real
        self._moment = moment

    async def identify(self, target: Target) -> Target:
        return await self._real.identify(target)

    async def run(
        self, action: Action, *, on_output: OutputSink, cancel: asyncio.Event, reads: bool = False
    ) -> Ended:
        def noticed(chunk: bytes) -> None:
            self._moment("run.output")
            on_output(chunk)

        return await self._real.run(action, on_output=noticed, cancel=cancel, reads=reads)

    async def close(self) -> None:
        await self._real.close()
