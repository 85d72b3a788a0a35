"""The Executor port over local processes and SSH, by the kind of the target.

What was approved is what runs (X1): right before starting, the target is identified once more, and one that
is no longer who it was when its digest was made is not touched. Faults of the world come back as ends.
"""

import asyncio
import os
import pwd
import secrets
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from bot.execution.asking import Learn, NotLetError, Passwords
from bot.execution.capture import Capture
from bot.execution.limits import Limits
from bot.execution.local import Self, run_local
from bot.execution.turns import Place
from bot.execution.unreached import StoppedError, Unreached, UnreachedError
from bot.execution.wrap import is_plain, problems, sweep, wrap
from bot.inventory.hostkeys import KnownHostsError
from bot.inventory.identity import asked, ssh_entry
from bot.inventory.model import Inventory
from bot.inventory.ssh_config import SshConfigError
from bot.ports import Ended, EndKind, OutputSink
from gate.domain import Action, Target, TargetState

if TYPE_CHECKING:  # 15 MB, which a fleet of this machine alone does not need
    from bot.execution.pool import Pool

_STOPPED = Ended(kind=EndKind.CANCELLED, note="stopped before it was sent; nothing ran")


class FleetExecutor:
    """Runs actions on every target of an inventory.

    Args:
        inventory: the targets, and how to identify them.
        limits: bounds on connections, time and memory.
        output_bytes: returns how much output of a command is kept, asked for each; None: as in `limits`.
        waiting: returns how many shells may wait for commands that only read; none by default.
        learn: told every password that is read, so that it is masked; None where nothing is shown.
    """

    def __init__(
        self,
        inventory: Inventory,
        *,
        limits: Limits | None = None,
        output_bytes: Callable[[], int] | None = None,
        waiting: Callable[[], int] = int,
        learn: Learn | None = None,
    ) -> None:
        self._inventory = inventory
        self._limits = limits or Limits()
        self._output_bytes = output_bytes
        self._waiting = waiting
        self._opened: Pool | None = None
        self._passwords = Passwords(inventory.identifier.passwords, learn=learn or (lambda _: None))
        self._under_way = asyncio.Semaphore(self._limits.commands)
        account = pwd.getpwuid(os.getuid())
        self._me = Self(user=account.pw_name, home=account.pw_dir)

    async def identify(self, target: Target) -> Target:
        """Return `target` as it would be reached right now; see `Inventory.identify`."""
        return self._inventory.identify(target)

    async def run(
        self, action: Action, *, on_output: OutputSink, cancel: asyncio.Event, reads: bool = False
    ) -> Ended:
        """Run `action`, whose target must be identified, and return its end; see the port."""
        head, tail = self._limits.head_bytes, self._limits.tail_bytes
        if self._output_bytes is not None:
            head = tail = self._output_bytes() // 2  # the bound is split between the two ends
        apart = action.runbook is not None  # a step may expect something of one stream
        capture = Capture(head_bytes=head, tail_bytes=tail, on_output=on_output, apart=apart)
        if cancel.is_set():
            return _STOPPED
        if action.act != "exec":
            return Ended(kind=EndKind.NOT_STARTED, note=f"{action.act} is nothing that runs")
        try:
            self._check_identity(action.target)
            return await self._let(action, capture=capture, cancel=cancel, reads=reads)
        except UnreachedError as error:
            return Ended(kind=EndKind.NOT_STARTED, note=error.note, cause=error.cause)
        except StoppedError:
            return _STOPPED

    async def close(self) -> None:
        """Close pooled connections."""
        if self._opened is not None:
            await self._opened.close()

    @property
    def waiting_shells(self) -> int:
        """How many shells wait for a command that only reads."""
        return 0 if self._opened is None else len(self._opened.shells)

    @property
    def _pool(self) -> "Pool":
        """Connections; there are none before the first command over SSH."""
        from bot.execution.pool import Pool  # noqa: PLC0415  # lazy: brings asyncssh

        if self._opened is None:
            self._opened = Pool(
                identifier=self._inventory.identifier, limits=self._limits, waiting=self._waiting
            )
        return self._opened

    def _check_identity(self, target: Target) -> None:
        try:
            now = self._inventory.identify(target)
        except (SshConfigError, KnownHostsError) as error:
            raise UnreachedError(Unreached.CONFIG, f"{target.id}: {error}") from error
        if now.state is TargetState.DESTROYED:
            raise UnreachedError(
                Unreached.DRIFTED, f"{target.id} is not in the inventory any more. Nothing ran."
            )
        # what a target is called or belongs to may change meanwhile; where a command goes may not
        if now != target and replace(now, tags=(), depends_on=(), never_auto_act=False) != replace(
            target, tags=(), depends_on=(), never_auto_act=False
        ):
            raise UnreachedError(
                Unreached.DRIFTED,
                f"{target.id} is reached differently than when this was asked (address, user, host key or "
                "wrapper). Nothing ran. Ask again to see what it is now.",
            )

    async def _let(self, action: Action, *, capture: Capture, cancel: asyncio.Event, reads: bool) -> Ended:
        """Run it, and put into words that sudo did not let it."""
        try:
            return await self._run(action, capture=capture, cancel=cancel, reads=reads)
        except NotLetError as error:
            host = asked(action.target, self._inventory.targets) or action.target.id
            raise self._passwords.refusal(host, error.said) from None

    async def _run(self, action: Action, *, capture: Capture, cancel: asyncio.Event, reads: bool) -> Ended:
        token, limits = secrets.token_hex(16), self._limits
        host = asked(action.target, self._inventory.targets)
        password = self._passwords.read(host)
        wrapped = wrap(action, token=token, kill_after_s=limits.kill_after_s, password=password)
        for problem in problems(action, wrapped, max_bytes=limits.command_bytes):
            raise UnreachedError(Unreached.UNUSABLE, problem)
        entry = ssh_entry(action.target, self._inventory.targets)
        place = Place(self._under_way)
        sweeper = partial(sweep, action, token, password=password)
        if entry is None:
            return await run_local(
                wrapped,
                place=place,
                sweep=sweeper,
                capture=capture,
                timeout_s=action.timeout_s,
                cancel=cancel,
                limits=limits,
                me=self._me,
            )
        from bot.execution.ssh import run_ssh  # noqa: PLC0415  # lazy: brings asyncssh
        from bot.execution.waiting import Reading  # noqa: PLC0415  # lazy: as above

        reading = None
        if reads and action.timeout_s <= limits.reading_s and is_plain(action, password=password):
            reading = Reading(
                command=action.command,
                apart=capture.apart,
                word=f"sayso-{secrets.token_hex(16)}",
                sweeper=lambda token: partial(sweep, action, token),
            )
        return await run_ssh(
            wrapped,
            pool=self._pool,
            endpoint=self._pool.endpoint(
                entry.address, name=action.target.id, user=entry.user, port=entry.port
            ),
            place=place,
            sweep=sweeper,
            capture=capture,
            timeout_s=action.timeout_s,
            cancel=cancel,
            limits=limits,
            reading=reading,
        )
