"""One running command, whatever carries it: output, end, and the way from "stop" to "it has stopped".

`Progress` is what a carrier (SSH channel, local process) reports into; `supervise` waits for the end, for
the timeout or for a cancel, then terminates, kills and sweeps. An end that nobody reported is LOST,
never guessed.
"""

import asyncio
import time
from collections.abc import Coroutine
from enum import StrEnum
from typing import Protocol, TypeVar

from bot.execution.asking import NotLetError, Opening
from bot.execution.capture import Capture
from bot.execution.limits import Limits
from bot.execution.unreached import StoppedError
from bot.ports import Ended, EndKind

_T = TypeVar("_T")

_TIMEOUT_EXIT = 124  # coreutils `timeout`
_SIGNALLED_EXITS = frozenset({124, 137, 143})  # what `timeout` leaves: its own, or that of its KILL or TERM


class Progress:
    """What is known of a running command so far.

    Args:
        capture: where output goes.
        word: what the command says right before it starts, behind a sudo that asks; "" for nothing.

    Attributes:
        opening: waits for the word; None for none.
        whole: all output has come, for certain.
        exit_code: of the command, once reported; a signal is 128 + its number.
        exited: done when the exit code is known or never will be.
        drained: done when no more output can come.
        lost: why the end will never be known; "" while it may.
        began: clock before the command could run, so that what it took is never told too short.
    """

    def __init__(self, capture: Capture, *, word: str = "") -> None:
        loop = asyncio.get_running_loop()
        self.began = time.monotonic()
        self.capture = capture
        self.opening = Opening(word, self._take) if word else None
        self.whole = False
        self.exit_code: int | None = None
        self.exited: asyncio.Future[None] = loop.create_future()
        self.drained: asyncio.Future[None] = loop.create_future()
        self.lost = ""

    def feed(self, chunk: bytes, *, stderr: bool) -> None:
        """Take output."""
        if self.opening is None:
            self.capture.feed(chunk, stderr=stderr)
        else:
            self.opening.feed(chunk, stderr=stderr)

    def _take(self, chunk: bytes, stderr: bool) -> None:  # noqa: FBT001 -- called back
        self.capture.feed(chunk, stderr=stderr)

    @property
    def begun(self) -> bool:
        """Whether the command may run; not while a sudo in front of it still asks."""
        return self.opening is None or self.opening.started

    @property
    def refused(self) -> bool:
        """Whether it is certain that sudo ended without having started the command."""
        return (
            self.opening is not None
            and not self.opening.started
            and self.exit_code is not None
            and self.whole
        )

    def exit(self, code: int) -> None:
        """Report the exit code."""
        self.exit_code = code
        _done(self.exited)

    def end(self, *, lost: str) -> None:
        """Report that nothing more will come; `lost` says why, for when the exit code is still unknown."""
        self.lost = lost
        _done(self.exited)
        _done(self.drained)


def _done(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)


class Carrier(Protocol):
    """What can be done to a command that runs."""

    def signal(self, name: str) -> None:
        """Send "TERM" or "KILL" to the whole group, as far as it can be reached from outside."""

    async def sweep(self, name: str) -> None:
        """Send the signal to every process of the run, wherever it hides; swallows faults."""


class _Stop(StrEnum):
    TIMEOUT = "timeout"
    CANCEL = "cancel"


async def supervise(
    progress: Progress,
    carrier: Carrier,
    *,
    timeout_s: float,
    cancel: asyncio.Event,
    limits: Limits,
    connect_s: float,
    ends_itself: bool = True,
) -> Ended:
    """Wait for the end of a command that has been started, stopping it where it has to be stopped.

    Args:
        progress: what the carrier reports into.
        carrier: how to stop it.
        timeout_s: what the action allows.
        cancel: set to stop it.
        limits: bounds.
        connect_s: passed on.
        ends_itself: `timeout` beside the command keeps to `timeout_s`, so our own clock waits longer.

    Raises:
        NotLetError: sudo did not let it start.
    """
    patience = timeout_s + (limits.kill_after_s + limits.grace_s if ends_itself else 0)
    stop = await _first(progress.exited, cancel, patience)
    if stop is not None:
        await _stop(progress, carrier, limits=limits)
    run_s = time.monotonic() - progress.began
    if stop is None and run_s >= timeout_s and progress.exit_code in _SIGNALLED_EXITS:
        stop = _Stop.TIMEOUT
        await _sweep(progress, carrier, "KILL")
    held = await _drain(progress, limits)
    if progress.opening is not None:
        if stop is None and progress.refused:
            raise NotLetError(progress.opening.said)
        progress.opening.flush()
    kind, code, note = _verdict(progress, stop, timeout_s, held=held)
    return Ended(
        kind=kind,
        exit_code=code,
        output=progress.capture.result(),
        note=note,
        connect_s=connect_s,
        run_s=run_s,
    )


async def _first(exited: "asyncio.Future[None]", cancel: asyncio.Event, patience_s: float) -> _Stop | None:
    if exited.done():
        return None
    waiter = asyncio.create_task(_set(cancel))
    try:
        await asyncio.wait({exited, waiter}, timeout=patience_s, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiter.cancel()
    if exited.done():
        return None
    return _Stop.CANCEL if cancel.is_set() else _Stop.TIMEOUT


async def _set(event: asyncio.Event) -> None:
    await event.wait()


async def unless(cancel: asyncio.Event, work: Coroutine[object, object, _T]) -> _T:
    """Return the outcome of `work`, which is given up as soon as `cancel` is set.

    Raises:
        StoppedError: `cancel` was set first.
    """
    task = asyncio.create_task(work)
    waiter = asyncio.create_task(_set(cancel))
    try:
        await asyncio.wait({task, waiter}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiter.cancel()
        if not task.done():
            task.cancel()
    if not task.done() or task.cancelled():
        raise StoppedError
    return task.result()


async def _stop(progress: Progress, carrier: Carrier, *, limits: Limits) -> None:
    for name in ("TERM", "KILL"):
        carrier.signal(name)
        await asyncio.wait({progress.exited}, timeout=min(0.2, limits.kill_after_s))
        # even when the command itself has ended: what it left behind in other groups is stopped too
        await _sweep(progress, carrier, name)
        await asyncio.wait({progress.exited}, timeout=limits.kill_after_s)
        if progress.exited.done():
            break
    await _sweep(progress, carrier, "KILL")


async def _sweep(progress: Progress, carrier: Carrier, name: str) -> None:
    """Sweep what runs; while sudo still asks, that would be one more try at its password."""
    if progress.begun:
        await carrier.sweep(name)


async def _drain(progress: Progress, limits: Limits) -> bool:
    """Wait for the last output; True when something still holds the pipe, silent or talking on and on."""
    give_up_at = time.monotonic() + limits.drain_s
    while not progress.drained.done() and time.monotonic() < give_up_at:
        before = progress.capture.total
        await asyncio.wait({progress.drained}, timeout=limits.linger_s)
        if progress.capture.total == before:
            break
    return not progress.drained.done()


def _verdict(
    progress: Progress, stop: _Stop | None, timeout_s: float, *, held: bool
) -> tuple[EndKind, int | None, str]:
    code = progress.exit_code
    if code is None:
        why = progress.lost or "asked to stop, it gave no sign of having done so"
        return EndKind.LOST, None, why
    match stop:
        case _Stop.TIMEOUT:
            return EndKind.TIMED_OUT, _TIMEOUT_EXIT, f"stopped after its timeout of {timeout_s:g} s"
        case _Stop.CANCEL:
            return EndKind.CANCELLED, code, "stopped on request; what it did until then stays done"
        case None:
            note = "a process that it left in the background still runs" if held else ""
            return EndKind.EXITED, code, note
