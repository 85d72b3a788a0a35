"""Runs every probe and judges what it found.

What cannot be probed is a finding too, never a crash: a doctor that dies of the illness helps nobody. The
rule it owns: a broken config stops only what needs it.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.doctor import findings
from bot.doctor.findings import Access, Finding, Status
from bot.execution.check import Reach
from bot.ports import Health
from bot.settings.config import Config
from bot.settings.errors import ConfigError
from bot.settings.inventory import inventory_of
from bot.settings.paths import Paths


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerFacts:
    """What verification said.

    Attributes:
        problem: the first fault in words; None for none.
        ahead_s: seconds that the newest entry lies in the future.
    """

    problem: str | None = None
    entries: int = 0
    ahead_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Probes:
    """How facts are gathered; every one may raise OSError.

    Attributes:
        file: the config file, whether or not it can be used; None when there is none.
        free: free and total bytes where a path lies, or would.
        writer: id of the process that holds the lock of a ledger.
        reach: tries every target of a config.
        surfaces: what the settings of each adapter that is switched on lack.
        health: how the running process says its surfaces are.
    """

    python: tuple[int, int]
    uid: int
    paths: Paths
    file: Path | None
    load: Callable[[], Config]
    access: Callable[[Path], Access]
    free: Callable[[Path], tuple[int, int]]
    writer: Callable[[Path], int | None]
    answers: Callable[[Path], bool]
    key: Callable[[Path], Path]
    ledger: Callable[[Path], LedgerFacts]
    reach: Callable[[Config], Awaitable[Mapping[str, Reach]]]
    surfaces: Callable[[Config], Mapping[str, Sequence[str]]] = lambda _config: {}
    health: Callable[[Path], Mapping[str, Health]] = lambda _path: {}


async def examine(probes: Probes) -> AsyncIterator[Finding]:
    """Look at everything, quick things first."""
    yield findings.python(probes.python)
    config: Config | None = None
    try:
        loaded = probes.load()
        inventory_of(loaded)
        config = loaded
        judged = findings.config((), str(config.file) if config.file else "no config file, defaults")
    except ConfigError as error:
        judged = findings.config(tuple(map(str, error.problems)), "")
    for finding in judged:
        yield finding
    for name, look in _local(probes):
        try:
            judged = look()
        except OSError as error:
            judged = (_unreadable(name, error),)
        for finding in judged:
            yield finding
    if config is not None:
        for finding in _configured(probes, config):
            yield finding
        for name, reach in (await probes.reach(config)).items():
            yield findings.target(name, reach)


def _local(probes: Probes) -> list[tuple[str, Callable[[], tuple[Finding, ...]]]]:
    paths, file, uid = probes.paths, probes.file, probes.uid
    key = probes.key(paths.ledger)

    def config_access() -> tuple[Finding, ...]:
        access = probes.access(file) if file else Access(exists=False)
        return (findings.config_access(access, str(file), uid=uid),)

    def state_access() -> tuple[Finding, ...]:
        return (findings.state_access(probes.access(paths.state), str(paths.state), uid=uid),)

    def key_access() -> tuple[Finding, ...]:
        return (findings.key_access(probes.access(key), str(key)),)

    def disk() -> tuple[Finding, ...]:
        free, total = probes.free(paths.state)
        return (findings.disk(free=free, total=total, path=str(paths.state)),)

    def instance() -> tuple[Finding, ...]:
        writer, answers = probes.writer(paths.ledger), probes.answers(paths.socket)
        return (findings.instance(writer=writer, answers=answers, socket=str(paths.socket)),)

    def ledger() -> tuple[Finding, ...]:
        facts = probes.ledger(paths.ledger)
        return findings.ledger(facts.problem, entries=facts.entries), findings.own_clock(facts.ahead_s)

    return [
        ("config access", config_access),
        ("state folder", state_access),
        ("signing key", key_access),
        ("disk", disk),
        ("instance", instance),
        ("ledger", ledger),
    ]


def _configured(probes: Probes, config: Config) -> Iterator[Finding]:
    yield from _passwords(probes, config)
    running = probes.writer(probes.paths.ledger) is not None
    live = probes.health(probes.paths.health) if running else {}
    for name, problems in probes.surfaces(config).items():
        yield findings.surface(name, live.get(name), problems, running=running)
    if address := config.text("metrics.listen"):
        yield findings.metrics(address, live.get("metrics"), running=running)


def _passwords(probes: Probes, config: Config) -> Iterator[Finding]:
    for name, table in config.targets.items():
        if table.become_password_file is None:
            continue
        file = Path(table.become_password_file).expanduser()
        try:
            yield findings.password_access(name, probes.access(file), str(file))
        except OSError as error:
            yield _unreadable(f"password of {name}", error)


def _unreadable(name: str, error: OSError) -> Finding:
    return Finding(
        name=name,
        status=Status.FAIL,
        code="not_readable",
        what=f"cannot be looked at: {error}",
        mend="Run sayso doctor as the user that runs sayso.",
    )
