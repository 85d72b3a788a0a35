"""Shells that wait, as tests look at them: a fleet of which some have one, and who ran a command."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace

from tests.bot.execution.conftest import QUICK, Fleet

SOON = replace(QUICK, quiet_s=0.02)
#: A host has to give a sign of life before anything is handed to its shell, however lately that came to wait.
ASKED = replace(SOON, fresh_s=0.0)
#: The parent of a command is `timeout`: that of a shell that waited allows five minutes more.
WHOSE = "tr '\\0' ' ' < /proc/$PPID/cmdline"
WAITED, ALONE = (f"timeout -k {QUICK.kill_after_s:g} {limit_s} ".encode() for limit_s in (900, 600))


async def until(holds: Callable[[], bool], *, within_s: float = 30.0) -> None:
    deadline = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)


async def ready(fleet: Fleet, *targets: str) -> None:
    """Have a shell wait on each of the targets."""
    for target in targets or ("box",):
        assert (await fleet.run(target, "true", reads=True)).exit_code == 0
    await until(lambda: fleet.executor.waiting_shells == len(targets or ("box",)))
