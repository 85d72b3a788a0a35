"""How long `sayso --help` and `--version` take, as a ratio to a bare interpreter of the same run.

Aim: at most 6. Rounds alternate, so that a busy machine disturbs both alike; the median of each counts. Also
prints the memory of an idle `sayso serve`; aim: below 120 MB. benchmarks/memory.py has it with everything on.

    .venv/bin/python benchmarks/start.py [rounds]
"""

import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

BIN = Path(sys.executable).parent
COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "sayso --version": [BIN / "sayso", "--version"],
    "sayso --help": [BIN / "sayso", "--help"],
}
IDLE_S = 3.0


def once(command: list[str | Path]) -> float:
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


@contextlib.contextmanager
def serving(
    home: Path, config: Path | None = None, *, log: Path | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a daemon whose state is in `home`, from when it listens."""
    environ = {**os.environ, "SAYSO_HOME": str(home), "SAYSO_CONFIG": "" if config is None else str(config)}
    with (log or Path(os.devnull)).open("ab") as errors:
        daemon = subprocess.Popen([BIN / "sayso", "serve"], env=environ, stdout=errors, stderr=errors)
    try:
        deadline = time.monotonic() + 30
        while not (home / "sayso.sock").exists():
            if daemon.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(
                    "sayso serve did not start" + ("" if log is None else f":\n{log.read_text()}")
                )
            time.sleep(0.05)
        yield daemon
    finally:
        daemon.terminate()
        daemon.wait(20)


def rss_mb(pid: int) -> float:
    """Return what a process holds in memory."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def idle_rss_mb() -> float:
    """Start a daemon in a scratch folder, leave it alone, and return what it holds in memory."""
    with tempfile.TemporaryDirectory() as scratch, serving(Path(scratch)) as daemon:
        time.sleep(IDLE_S)
        return rss_mb(daemon.pid)


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for command in COMMANDS.values():
        once(command)  # warm the caches
    for _ in range(rounds):
        for name, command in COMMANDS.items():
            times[name].append(once(command))
    bare = statistics.median(times["python -c pass"])
    for name, taken in times.items():
        median = statistics.median(taken)
        print(
            f"{name:<16} {median * 1000:6.1f} ms [{min(taken) * 1000:.1f}-{max(taken) * 1000:.1f}]"
            f"  {median / bare:.2f} x bare"
        )
    print(f"sayso serve idle {idle_rss_mb():.0f} MB")


if __name__ == "__main__":
    main()
