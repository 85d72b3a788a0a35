"""How long `sayso --help` and `--version` take, as a ratio to a bare interpreter of the same run.

Aim: at most 6. Rounds alternate, so that a busy machine disturbs both alike; the median of each counts. Also
prints the memory of an idle `sayso serve`; aim: below 120 MB.

    .venv/bin/python benchmarks/start.py [rounds]
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
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


def idle_rss_mb() -> float:
    """Start a daemon in a scratch folder, leave it alone, and return what it holds in memory."""
    with tempfile.TemporaryDirectory() as scratch:
        environ = {**os.environ, "SAYSO_HOME": scratch, "SAYSO_CONFIG": ""}
        daemon = subprocess.Popen([BIN / "sayso", "serve"], env=environ, stderr=subprocess.DEVNULL)
        try:
            socket = Path(scratch) / "sayso.sock"
            deadline = time.monotonic() + 30
            while not socket.exists():
                if daemon.poll() is not None or time.monotonic() > deadline:
                    raise SystemExit("sayso serve did not start")
                time.sleep(0.05)
            time.sleep(IDLE_S)
            status = Path(f"/proc/{daemon.pid}/status").read_text()
        finally:
            daemon.terminate()
            daemon.wait(20)
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


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
