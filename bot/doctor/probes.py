"""Gathers the facts that doctor judges: from this machine, its ledger and its fleet.

Every probe only looks. The rule it owns: a target is tried through the very executor that actions use.
"""

import asyncio
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from bot import health
from bot.clock import SystemClock
from bot.doctor.examine import LedgerFacts, Probes
from bot.doctor.findings import Access
from bot.execution.check import Reach, check
from bot.execution.executor import FleetExecutor
from bot.local_socket import answers
from bot.ports import Clock
from bot.settings.config import Config
from bot.settings.inventory import inventory_of
from bot.settings.paths import config_file, state_paths
from gate.domain import Target, TargetId, TargetState
from ledger.engine import LedgerMissingError, open_reader, writer_pid
from ledger.keys import key_file, known_keys
from ledger.kinds import LedgerError
from ledger.reading import read_entries, read_head
from ledger.verify import verify_live

_AT_ONCE = 16


def probes_here(
    *,
    load: Callable[[], Config],
    config: Path | None,
    state: Path | None,
    clock: Clock | None = None,
    surfaces: Callable[[Config], Mapping[str, Sequence[str]]] = lambda _config: {},
) -> Probes:
    """Return the probes of this machine.

    Args:
        config, state: what the command line says.
        surfaces: what the settings of each adapter that is switched on lack; the command line knows adapters.
    """
    watch = clock or SystemClock()
    environ, home = dict(os.environ), Path.home()
    if config is not None:
        environ["SAYSO_CONFIG"] = str(config)
    if state is not None:
        environ["SAYSO_HOME"] = str(state)
    file, _ = config_file(environ, home)
    return Probes(
        python=sys.version_info[:2],
        uid=os.geteuid(),
        paths=state_paths(environ, home),
        file=file if file.exists() else None,
        load=load,
        access=access,
        free=free,
        writer=writer_pid,
        answers=answers,
        key=key_file,
        ledger=lambda path: ledger_facts(path, clock=watch),
        reach=lambda loaded: reach_all(loaded, clock=watch),
        surfaces=surfaces,
        health=lambda path: health.read(path, now=watch.now()),
    )


def access(path: Path) -> Access:
    """Look at who may get at `path`."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return Access(exists=False)
    return Access(exists=True, mode=found.st_mode, uid=found.st_uid)


def free(path: Path) -> tuple[int, int]:
    """Return free and total bytes where `path` lies, or would lie once it is made."""
    while not path.exists() and path != path.parent:
        path = path.parent
    usage = shutil.disk_usage(path)
    return usage.free, usage.total


def ledger_facts(path: Path, *, clock: Clock) -> LedgerFacts:
    """Verify the ledger at `path`, and see whether its newest entry lies in the future."""
    try:
        report = verify_live(path, keys=known_keys(key_file(path)), held={})
        newest_at = _newest_at(path)
    except LedgerMissingError:
        return LedgerFacts()
    except LedgerError as error:
        return LedgerFacts(problem=str(error))
    problem = None if report.ok else "; ".join(finding.text for finding in report.findings)
    ahead_s = (newest_at - clock.now()).total_seconds() if newest_at else 0.0
    return LedgerFacts(problem=problem, entries=report.entries, ahead_s=ahead_s)


def _newest_at(path: Path) -> datetime | None:
    connection = open_reader(path)
    try:
        seq = read_head(connection).seq
        return next((datetime.fromisoformat(e.at) for e in read_entries(connection, after=seq - 1)), None)
    except ValueError:
        return None  # a broken instant; verification has told of it
    finally:
        connection.close()


async def reach_all(
    config: Config, *, clock: Clock, only: frozenset[TargetId] | None = None
) -> Mapping[str, Reach]:
    """Try every active target, or `only` those, several at once; returned in the order of the config."""
    inventory = inventory_of(config)
    executor = FleetExecutor(inventory)
    gate = asyncio.Semaphore(_AT_ONCE)

    async def one(target: Target) -> Reach:
        async with gate:
            return await check(executor, target, clock=clock)

    active = [
        target
        for target in inventory.targets.values()
        if target.state is TargetState.ACTIVE and (only is None or target.id in only)
    ]
    try:
        found = await asyncio.gather(*map(one, active))
    finally:
        await executor.close()
    return {target.id: reach for target, reach in zip(active, found, strict=True)}
