"""No ledger write, no execution, for the whole bot: the disk gets full at each step, and has room again.

Three ways to be unwritable: files may not grow, the file is read-only, and, where this machine
lets a test mount one, a file system that is really full.
"""

import asyncio
import contextlib
import os
import resource
import subprocess
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Protocol

import pytest

from bot.ports import Ended, EndKind, NotCommittedError, OutputSink
from gate.domain import Action, ProposalId, Target
from ledger.kinds import LedgerUnwritableError
from ledger.store import Ledger
from tests.kit import Kit, conversation

RESTART = "run systemctl restart caddy on local"


class Counting:
    """An executor that counts what it runs."""

    def __init__(self, _inventory: object) -> None:
        self.ran: list[str] = []

    async def identify(self, target: Target) -> Target:
        return target

    async def run(
        self, action: Action, *, on_output: OutputSink, cancel: asyncio.Event, reads: bool = False
    ) -> Ended:
        self.ran.append(action.command)
        return Ended(kind=EndKind.EXITED, exit_code=0)

    async def close(self) -> None:
        return


class Disk(Protocol):
    """Where the state lies."""

    folder: Path

    def fill(self, ledger: Ledger) -> None:
        """Let nothing be written any more."""

    def free(self, ledger: Ledger) -> None:
        """Let everything be written again."""


class Limited:
    """Files that may not grow: the write-ahead log is only ever appended to in so short a life."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def fill(self, ledger: Ledger) -> None:
        size = ledger.path.with_name(ledger.path.name + "-wal").stat().st_size
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    def free(self, ledger: Ledger | None = None) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


class ReadOnly:
    """A file that may not be written; for root permissions say nothing, so SQLite is told."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def fill(self, ledger: Ledger) -> None:
        ledger._connection.execute("PRAGMA query_only = ON")

    def free(self, ledger: Ledger) -> None:
        ledger._connection.execute("PRAGMA query_only = OFF")


class Tiny:
    """A file system of four megabytes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._ballast = folder / "ballast"

    def fill(self, ledger: Ledger) -> None:
        with contextlib.suppress(OSError), self._ballast.open("wb", buffering=0) as ballast:
            while True:
                ballast.write(b"\0" * 4096)

    def free(self, ledger: Ledger) -> None:
        self._ballast.unlink()


@contextlib.contextmanager
def mounted() -> Iterator[Path]:
    """Mount a small file system; raises CalledProcessError where that is not allowed."""
    with tempfile.TemporaryDirectory(prefix="sayso-full-") as name:
        options = ["-t", "tmpfs", "-o", "size=4m", "sayso-full"]
        subprocess.run(["mount", *options, name], check=True, capture_output=True, timeout=20)
        try:
            yield Path(name)
        finally:
            subprocess.run(["umount", "-l", name], check=True, timeout=20)


def _may_mount() -> bool:
    if os.geteuid() != 0:
        return False
    try:
        with mounted():
            return True
    except (OSError, subprocess.SubprocessError):
        return False


DISKS = ["file size", "read-only", *(["tmpfs"] if _may_mount() else [])]


@pytest.fixture(params=DISKS)
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Disk]:
    match request.param:
        case "file size":
            limited = Limited(tmp_path)
            yield limited
            limited.free()
        case "read-only":
            yield ReadOnly(tmp_path)
        case _:
            with mounted() as folder:
                yield Tiny(folder)


class At:
    """Does something once, when the core passes a named moment for the n-th time from now."""

    def __init__(self) -> None:
        self._moment = ""
        self._nth = 0
        self._do: Callable[[], None] = lambda: None

    def set(self, moment: str, do: Callable[[], None], *, nth: int = 1) -> None:
        self._moment, self._do, self._nth = moment, do, nth

    def __call__(self, moment: str) -> None:
        if moment == self._moment:
            self._nth -= 1
            if self._nth == 0:
                self._do()


@contextlib.asynccontextmanager
async def talking(disk: Disk) -> AsyncIterator[tuple[Kit, At]]:
    at = At()
    async with conversation(disk.folder / "state", executor=Counting, probe=at) as kit:
        yield kit, at


def ran(kit: Kit) -> list[str]:
    return list(kit.core.executor.ran)  # type: ignore[attr-defined] # Counting


def fill(disk: Disk, kit: Kit, is_full: asyncio.Event) -> None:
    """Let nothing be written any more, and say so; called in the loop, as a run's own moments are."""
    disk.fill(kit.core.ledger)
    is_full.set()


async def works_again(kit: Kit) -> None:
    before = len(ran(kit))
    await kit.say("run uptime on local")
    await kit.say("run systemctl restart nginx on local")
    await kit.say(f"approve {kit.newest_id()}")
    assert ran(kit)[before:] == ["uptime", "systemctl restart nginx"]


async def test_a_message_that_is_not_stored_is_not_acknowledged(disk: Disk) -> None:
    async with talking(disk) as (kit, _):
        disk.fill(kit.core.ledger)
        kinds = kit.kinds()
        lost = kit.inbound("run uptime on local")
        with pytest.raises(NotCommittedError, match="space"):
            await kit.hand_over(lost)
        assert kit.kinds() == kinds
        disk.free(kit.core.ledger)
        await kit.send(lost)  # a platform that saw no acknowledgement delivers it again
        assert ran(kit) == ["uptime"]
        await works_again(kit)


async def test_a_turn_that_is_not_recorded_is_said_and_never_counts(disk: Disk) -> None:
    async with talking(disk) as (kit, at):
        await kit.say(RESTART)
        at.set("inbox.committed", lambda: disk.fill(kit.core.ledger))
        said = await kit.say("go ahead")
        assert "cannot be written, so nothing runs" in said
        assert kit.states() == ["waiting"]
        disk.free(kit.core.ledger)
        assert "did not count" in await kit.say("pending")
        assert kit.states() == ["waiting"]
        assert ran(kit) == []
        assert not kit.core.ledger.inbox.pending()
        await works_again(kit)


async def test_what_was_said_into_a_full_disk_is_closed_by_the_timer(disk: Disk) -> None:
    async with talking(disk) as (kit, at):
        await kit.say(RESTART)
        at.set("inbox.committed", lambda: disk.fill(kit.core.ledger))
        await kit.say("go ahead")
        disk.free(kit.core.ledger)
        await kit.look()
    async with talking(disk) as (kit, _):
        assert kit.states() == ["waiting"]
        assert ran(kit) == []


async def test_a_start_that_is_not_recorded_does_not_happen_until_it_can_be(disk: Disk) -> None:
    async with talking(disk) as (kit, at):
        await kit.say(RESTART)
        at.set("turn.recorded", lambda: disk.fill(kit.core.ledger))
        said = await kit.say("go ahead")
        assert kit.states() == ["queued"]
        assert ran(kit) == []
        assert "until the ledger can be written again" in said
        disk.free(kit.core.ledger)
        await kit.look()
        await kit.app.conversation._work.quiet([ProposalId(kit.newest_id())])
        assert kit.states() == ["succeeded"]
        assert ran(kit) == ["systemctl restart caddy"]
        await works_again(kit)


async def test_an_end_is_recorded_as_soon_as_there_is_room(disk: Disk) -> None:
    async with talking(disk) as (kit, at):
        await kit.say(RESTART)
        is_full = asyncio.Event()
        at.set("run.after", lambda: fill(disk, kit, is_full))
        receipt = await kit.hand_over(kit.inbound("go ahead"))
        await is_full.wait()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(receipt.settled), timeout=1.0)
        assert kit.states() == ["started"]
        disk.free(kit.core.ledger)
        await asyncio.wait_for(receipt.settled, timeout=60)
        assert kit.states() == ["succeeded"]
        assert kit.kinds().count("action:succeeded") == 1
        await works_again(kit)


async def test_a_bot_that_stops_while_an_end_cannot_be_recorded_calls_it_lost(disk: Disk) -> None:
    ledgers: list[Ledger] = []
    with contextlib.suppress(LedgerUnwritableError):
        async with talking(disk) as (kit, at):
            ledgers.append(kit.core.ledger)
            await kit.say(RESTART)
            is_full = asyncio.Event()
            at.set("run.after", lambda: fill(disk, kit, is_full))
            await kit.hand_over(kit.inbound("go ahead"))
            await is_full.wait()
    if not isinstance(disk, ReadOnly):
        disk.free(ledgers[0])
    async with talking(disk) as (kit, _):
        assert kit.states() == ["lost"]
        assert ran(kit) == []
        assert "frozen" in await kit.say(RESTART)
        await kit.say(f"settle {kit.newest_id()} ran, because the unit is up")
        await works_again(kit)


async def test_what_was_shown_and_not_recorded_as_shown_is_not_shown_again(disk: Disk) -> None:
    async with talking(disk) as (kit, at):
        at.set("outbox.before", lambda: disk.fill(kit.core.ledger))
        await kit.say("make me a sandwich")
        assert len(kit.port.screen) == 1
        posts = dict(kit.port.screen)
        assert kit.core.ledger.outbox.pending()
        disk.free(kit.core.ledger)
        await kit.say("make me a sandwich")
        assert not kit.core.ledger.outbox.pending()
        first = next(iter(posts))
        assert kit.port.screen[first] is posts[first]
        await works_again(kit)


async def test_nothing_starts_on_a_state_that_cannot_be_written(tmp_path: Path) -> None:
    state = tmp_path / "state"
    async with conversation(state, executor=Counting):
        pass
    (state / "ledger.db").unlink()
    (state / "ledger.db").mkdir()
    with pytest.raises(LedgerUnwritableError):
        async with conversation(state, executor=Counting):
            pass
