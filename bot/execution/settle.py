"""Finding out how a command ended that cut its own connection: a reboot, a stop of SSH (D7).

Asks the target after it is back; it never repeats the command. None means that it could not be told, and the
action stays lost. Only read-only commands are sent.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable

from bot.execution.unreached import Unreached
from bot.inventory.hostkeys import KnownHostsError
from bot.inventory.ssh_config import SshConfigError
from bot.ports import Ended, EndKind, Executor
from gate.domain import Action, ActionId, Target

_BOOT_ID = "cat /proc/sys/kernel/random/boot_id"
_FIRST_PAUSE_S = 1.0
_LONGEST_PAUSE_S = 15.0

Sleep = Callable[[float], Awaitable[None]]


async def probe(executor: Executor, target: Target, command: str, *, timeout_s: int = 10) -> Ended:
    """Run one read-only command of ours on `target`, which is identified first."""
    action = Action(
        id=ActionId("probe"),
        index=1,
        target=await executor.identify(target),
        command=command,
        purpose="find out how an earlier command ended",
        timeout_s=timeout_s,
    )
    return await executor.run(action, on_output=_ignore, cancel=asyncio.Event())


def _ignore(chunk: bytes) -> None:
    del chunk


async def boot_id(executor: Executor, target: Target) -> str | None:
    """Return the id of the target's present boot; None when it cannot be asked."""
    try:
        ended = await probe(executor, target, _BOOT_ID)
    except (SshConfigError, KnownHostsError):
        return None
    text = ended.output.head.decode("ascii", "replace").strip()
    return text if ended.kind is EndKind.EXITED and ended.exit_code == 0 and text else None


async def settle_reboot(
    executor: Executor,
    target: Target,
    *,
    before: str | None,
    wait_s: float = 300.0,
    sleep: Sleep = asyncio.sleep,
) -> Ended | None:
    """Tell whether `target` has rebooted.

    Args:
        executor: asks the target.
        target: what was told to reboot.
        before: its boot id before that; None when unknown, and then nothing can be told.
        wait_s: seconds to wait for it to come back.
        sleep: how to wait; another one in tests.

    Returns:
        EXITED with 0 when it runs under another boot id, with 1 when it still answers under the old one after
        `wait_s`; None when it does not answer.
    """
    if before is None:
        return None
    began = time.monotonic()
    now: str | None = None
    async for _ in _attempts(wait_s, sleep):
        now = await boot_id(executor, target)
        if now is not None and now != before:
            took = time.monotonic() - began
            return Ended(
                kind=EndKind.EXITED, exit_code=0, note=f"rebooted: new boot id, back after {took:.0f} s"
            )
    if now is None:
        return None
    return Ended(
        kind=EndKind.EXITED, exit_code=1, note="did not reboot: it still answers under the same boot id"
    )


async def settle_verify(
    executor: Executor,
    target: Target,
    *,
    verify: str,
    refused_is_success: bool = False,
    wait_s: float = 60.0,
    sleep: Sleep = asyncio.sleep,
) -> Ended | None:
    """Tell how a command ended by running its verify command once the target answers again.

    Args:
        executor: asks the target.
        target: where it ran.
        verify: a read-only command; its exit code becomes the end.
        refused_is_success: the command was to stop SSH itself, so that a refused connection is its success.
        wait_s: seconds to wait for an answer.
        sleep: how to wait; another one in tests.
    """
    async for _ in _attempts(wait_s, sleep):
        ended = await probe(executor, target, verify, timeout_s=60)
        if ended.kind is EndKind.EXITED:
            return Ended(
                kind=EndKind.EXITED,
                exit_code=ended.exit_code,
                output=ended.output,
                note="connection lost; its end is that of the verify command, run after reconnecting",
            )
        if refused_is_success and ended.cause == Unreached.REFUSED:
            return Ended(
                kind=EndKind.EXITED, exit_code=0, note="connection lost; SSH there refuses new ones now"
            )
    return None


async def _attempts(wait_s: float, sleep: Sleep) -> AsyncIterator[None]:
    """Yield once for each attempt, with growing pauses in between, until `wait_s` are over."""
    spent, pause = 0.0, _FIRST_PAUSE_S
    began = time.monotonic()
    while True:
        yield None
        spent = max(time.monotonic() - began, spent)
        if spent >= wait_s:
            return
        pause = min(pause, wait_s - spent)
        await sleep(pause)
        spent += pause
        pause = min(pause * 1.5, _LONGEST_PAUSE_S)
