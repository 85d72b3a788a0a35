"""How fast the ledger appends and verifies, as ratios to what disk and processor do in the same run.

Appends: batches of one entry through `Ledger.append`, from canonical JSON and salted hashes to the commit,
against a probe that appends 4 KiB to a fresh file and calls fdatasync, just before and just after each
measurement. Producers are threads that append as fast as they can; their batches are made beforehand, since
deciding what to write is not the ledger's work. Verify: `verify_live`, checkpoints included, against a bare
select and sha256 of the same rows, in turns. Absolute rates differ from machine to machine and from minute to
minute; ratios are what is aimed at.

    python -m benchmarks.ledger [--rounds 5] [--folder DIR]
"""

import argparse
import os
import secrets
import sqlite3
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from ledger.kinds import Batch, Draft, Json, Kind
from ledger.projections import holds, project
from ledger.store import Ledger
from ledger.verify import verify_live

PRODUCERS = {1: (600, 0.6), 8: (2400, 2.5), 64: (6400, 7.0)}  # threads: appends in all, ratio aimed at
PROBES = 300
VERIFY_ENTRIES = 40_000
VERIFY_AIM = 0.6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", type=Path, help="where to write; default: the temporary folder")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=args.folder) as name:
        folder = Path(name)
        bench_appends(folder, "without projections", plain, args.rounds, real=False)
        bench_appends(folder, "with projections", turn, args.rounds, real=True)
        bench_verify(folder, args.rounds)


def open_ledger(folder: Path, *, real: bool) -> Ledger:
    return Ledger.open(
        folder / "ledger.db",
        project=project if real else lambda *_: None,
        holds=holds if real else lambda *_: True,
        random_bytes=secrets.token_bytes,
        clock=lambda: datetime.now(UTC),
    )


def plain(number: int) -> Draft:
    body: dict[str, Json] = {
        "action": "k7f3a2.1",
        "by": "ana",
        "digest": f"{number:064x}",
        "risk": "read_only",
    }
    return Draft(kind=Kind.ACTION_QUEUED, correlation_id="k7f3a2", body=body)


def turn(number: int) -> Draft:
    """A message that arrived, as the bot records it: a projection changes, one payload is kept."""
    body: dict[str, Json] = {
        "place": f"p{number % 8}",
        "place_ref": {"platform": "bench", "tenant": "", "channel": "c", "thread": ""},
        "turn": f"t{number}",
        "person": "ana",
        "consumes_window": False,
    }
    return Draft(kind=Kind.TURN_RECEIVED, body=body, words={"text": b"run df -h on web1"})


def bench_appends(
    folder: Path, title: str, draft: Callable[[int], Draft], rounds: int, *, real: bool
) -> None:
    ratios: dict[int, list[float]] = {threads: [] for threads in PRODUCERS}
    rates: dict[int, list[float]] = {threads: [] for threads in PRODUCERS}
    disks: dict[int, list[float]] = {threads: [] for threads in PRODUCERS}
    home = folder / title.replace(" ", "-")
    with closing(open_ledger(home, real=real)) as ledger:
        for _ in range(rounds):
            for threads, (appends, _aim) in PRODUCERS.items():
                before = probe(folder)
                rate = produce(ledger, draft, threads=threads, appends=appends)
                disk = statistics.harmonic_mean((before, probe(folder)))
                disks[threads].append(disk)
                rates[threads].append(rate)
                ratios[threads].append(rate / disk)
    print(f"appends {title}; medians of {rounds} rounds")
    for threads, (_appends, aim) in PRODUCERS.items():
        low, high = min(ratios[threads]), max(ratios[threads])
        print(
            f"  {threads:>2} producers  {statistics.median(rates[threads]):>8,.0f}/s"
            f"   {statistics.median(ratios[threads]):5.2f} x fdatasync [{low:.2f} to {high:.2f}]"
            f" at {statistics.median(disks[threads]):,.0f}/s   aim {aim}"
        )


def probe(folder: Path) -> float:
    """Return fdatasyncs a second, each after 4 KiB appended to a fresh file."""
    path = folder / "probe"
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    block = b"\0" * 4096
    try:
        start = time.perf_counter()
        for _ in range(PROBES):
            os.write(fd, block)
            os.fdatasync(fd)
        return PROBES / (time.perf_counter() - start)
    finally:
        os.close(fd)
        path.unlink()


def produce(ledger: Ledger, draft: Callable[[int], Draft], *, threads: int, appends: int) -> float:
    """Return appends a second over all producers."""
    each = appends // threads
    barrier = threading.Barrier(threads + 1)

    def work(first: int) -> None:
        batches = [
            Batch(at=datetime.now(UTC), drafts=(draft(number),)) for number in range(first, first + each)
        ]
        barrier.wait()
        for batch in batches:
            ledger.append(batch)

    running = [threading.Thread(target=work, args=(number * each,)) for number in range(threads)]
    for thread in running:
        thread.start()
    barrier.wait()
    start = time.perf_counter()
    for thread in running:
        thread.join()
    return each * threads / (time.perf_counter() - start)


def bench_verify(folder: Path, rounds: int) -> None:
    home = folder / "verify"
    with closing(open_ledger(home, real=False)) as ledger:
        for start in range(0, VERIFY_ENTRIES, 500):
            drafts = tuple(plain(number) for number in range(start, start + 500))
            ledger.append(Batch(at=datetime.now(UTC), drafts=drafts))
    path, keys = home / "ledger.db", [ledger.verifier]
    rates, ratios = [], []
    for _ in range(rounds):
        bare = VERIFY_ENTRIES / timed(lambda: select_and_hash(path))
        full = VERIFY_ENTRIES / timed(lambda: check(path, keys))
        rates.append(full)
        ratios.append(full / bare)
    print(
        f"verify  {statistics.median(rates):,.0f} entries/s   {statistics.median(ratios):.2f} x bare select +"
        f" sha256 [{min(ratios):.2f} to {max(ratios):.2f}]   aim {VERIFY_AIM}"
    )


def check(path: Path, keys: list) -> None:  # type: ignore[type-arg]  # verifiers
    report = verify_live(path, keys=keys, held={})
    if not report.ok or report.covered != VERIFY_ENTRIES:
        raise SystemExit(f"the benchmark's own ledger does not verify: {report}")


def select_and_hash(path: Path) -> None:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        connection.text_factory = bytes
        rows = connection.execute(
            "SELECT seq, kind, at, correlation_id, body, prev_hash, hash FROM entry ORDER BY seq"
        )
        for seq, *fields in rows:
            sha256(b"%d%b%b%b%b%b%b" % (seq, *fields)).digest()


def timed(work: Callable[[], None]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
