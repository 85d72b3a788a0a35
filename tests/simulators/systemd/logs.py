"""What the simulated journalctl and logrotate do to files; the files are real, those of the test's room."""

import sys
from pathlib import Path

from state import Machine


def _archived() -> list[Path]:
    return sorted(Path("/var/log/journal").rglob("*@*.journal"))


def disk_usage() -> int:
    """Play `journalctl --disk-usage`."""
    size = sum(file.stat().st_size for file in _archived()) / 2**20
    print(f"Archived and active journals take up {size:.1f}M in the file system.")
    return 0


def vacuum(size: str) -> int:
    """Delete archived journals, oldest first, until no more than `size` is left; really."""
    most = int(size[:-1]) * {"M": 2**20, "G": 2**30}[size[-1]]
    files = _archived()
    freed, left = 0, sum(file.stat().st_size for file in files)
    for file in files:
        if left <= most:
            break
        left, freed = left - file.stat().st_size, freed + file.stat().st_size
        file.unlink()
    print(
        f"Vacuuming done, freed {freed / 2**20:.1f}M of archived journals from /var/log/journal.",
        file=sys.stderr,
    )
    return 0


def logrotate(machine: Machine, argv: list[str]) -> int:
    """Play logrotate: it finds unknown words in the configuration, and notes that it ran."""
    lines = Path(argv[-1]).read_text().splitlines()
    known = ("#", "weekly", "daily", "rotate ", "create", "include ", "/", "{", "}", "missingok", "compress")
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.strip().startswith(known):
            word = line.split()[0]
            print(f"error: {argv[-1]}:{number} unknown option '{word}' -- ignoring line", file=sys.stderr)
            return 1
    if argv[0] != "--debug":
        Path("/var/lib/logrotate/status").write_text('logrotate state -- version 2\n"/var/log/app.log" now\n')
        for log in machine.state["rotated"]:
            Path(log).rename(f"{log}.1")
    return 0
