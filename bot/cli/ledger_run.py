"""What `sayso ledger verify | export | checkpoint | key` do: proving the record to oneself and to others.

Reads with plain sqlite3 and no config, so that it starts fast and works where nothing else of sayso does.
It says what a verification can and cannot promise each time, since that is what it is for.
"""

import argparse
import contextlib
import json
import os
import secrets
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from bot.cli.options import ledger_path
from ledger import checkpoint as checkpoints
from ledger import keys
from ledger.audit import Report
from ledger.engine import WriterLock, reading, snapshot, writer_pid
from ledger.export import export as export_lines
from ledger.kinds import LedgerError
from ledger.note import Verifier
from ledger.verify import verify_export, verify_live

_WRONG = 1
_USAGE = 2


def verify(args: argparse.Namespace) -> int:
    """Verify a ledger or an export."""
    path = ledger_path(args)
    try:
        verifiers = _keys(args.key)
        held = {f"checkpoint {file}": file.read_text("utf-8") for file in args.checkpoint}
        if args.export is None:
            report = verify_live(path, keys=verifiers or keys.known_keys(keys.key_file(path)), held=held)
        elif verifiers:
            report = verify_export(args.export, keys=verifiers, held=held)
        else:
            print("An export is checked with the public key: --key VKEY, or a file of keys.", file=sys.stderr)
            return _USAGE
    except (OSError, UnicodeDecodeError) as error:
        print(f"Cannot read it: {error}.", file=sys.stderr)
        return _USAGE
    if args.json:
        print(json.dumps({"ok": report.ok, **asdict(report)}, ensure_ascii=False))
    else:
        print("\n".join(_told(report, held=bool(held))))
    return 0 if report.ok else _WRONG


def export(args: argparse.Namespace) -> int:
    """Write an export to a file, in one step, or to standard output."""
    path = ledger_path(args)
    signer = None
    try:
        signer = keys.load(keys.key_file(path))
    except LedgerError as error:
        print(f"The export ends without a fresh checkpoint: {error}", file=sys.stderr)
    with reading(path) as connection, snapshot(connection):
        lines = export_lines(connection, with_payloads=args.with_payloads, signer=signer)
        if args.file is None:
            sys.stdout.writelines(lines)
            return 0
        try:
            with _written(args.file) as out:
                out.writelines(lines)
        except OSError as error:
            print(f"Cannot write it: {error}.", file=sys.stderr)
            return _USAGE
    print(f"Wrote {args.file}. Check it anywhere: sayso ledger verify {args.file} --key VKEY")
    return 0


def checkpoint(args: argparse.Namespace) -> int:
    """Print the newest checkpoint, or check one that was kept."""
    path = ledger_path(args)
    if args.against is not None:
        return _against(path, args.against)
    with reading(path):  # says so when there is no ledger, instead of making one
        pass
    note = _stored(path) if writer_pid(path) is not None else _fresh(path)
    if not note:
        print(
            "There is nothing to sign yet: the ledger is empty or has no checkpoint so far.", file=sys.stderr
        )
        return _WRONG
    print(note, end="")
    return 0


def key(args: argparse.Namespace) -> int:
    """Print the public key, after making a new one if asked to."""
    path = ledger_path(args)
    file = keys.key_file(path)
    if args.new:
        print(_new_key(path, file).text)
        return 0
    known = keys.known_keys(file)
    if not known:
        print("There is no key yet. It is made when sayso starts for the first time.", file=sys.stderr)
        return _WRONG
    print(known[-1].text)
    return 0


def _keys(given: Sequence[str]) -> tuple[Verifier, ...]:
    found: list[Verifier] = []
    for one in given:
        lines = [one] if "+" in one and not Path(one).exists() else Path(one).read_text("utf-8").splitlines()
        found += [Verifier.parse(line) for line in lines if line.strip()]
    return tuple(found)


def _told(report: Report, *, held: bool) -> Iterator[str]:
    for finding in report.findings:
        yield f"✗ {finding.text}"
    if report.more:
        yield f"✗ and {report.more} more"
    if not report.ok:
        yield (
            f"  Entries 1 to {report.entries} are intact."
            if report.entries
            else "  No entry is known to be intact."
        )
        return
    yield f"✓ {_count(report.entries, 'entry', 'entries')}, unbroken from the first to the last"
    yield f"  head {report.head}"
    signed = f"{_count(report.checkpoints, 'checkpoint', 'checkpoints')}, the newest over {report.covered}"
    yield f"  {signed} of {report.entries}" if report.checkpoints else "  no checkpoint yet"
    words = f"{report.payloads} match, {report.pruned} pruned, {report.absent} not in this export"
    yield f"  words and output: {words}"
    if not held:
        yield (
            "  Compared with no checkpoint kept elsewhere: whoever holds the signing key could have rewritten"
            " all of it. Keep what `sayso ledger checkpoint` prints, and give it with --checkpoint FILE."
        )


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _against(path: Path, file: Path) -> int:
    try:
        held = {f"checkpoint {file}": file.read_text("utf-8")}
    except (OSError, UnicodeDecodeError) as error:
        print(f"Cannot read it: {error}.", file=sys.stderr)
        return _USAGE
    report = verify_live(path, keys=keys.known_keys(keys.key_file(path)), held=held)
    print("\n".join(_told(report, held=True)))
    return 0 if report.ok else _WRONG


def _stored(path: Path) -> str:
    with reading(path) as connection:
        found = checkpoints.newest(connection)
    return found[1] if found else ""


def _fresh(path: Path) -> str:
    """Make a checkpoint over everything, if there is none; nobody else writes."""
    from ledger.store import Ledger  # noqa: PLC0415  # lazy: only this verb writes

    ledger = Ledger.open(
        path,
        project=lambda *_: None,  # nothing is appended here
        holds=lambda *_: False,
        random_bytes=secrets.token_bytes,
        clock=lambda: datetime.now(UTC),
    )
    try:
        return ledger.checkpoint()
    finally:
        ledger.close()


def _new_key(path: Path, file: Path) -> Verifier:
    with reading(path) as connection:
        origin = checkpoints.stored_origin(connection)
    lock = WriterLock(path)
    lock.acquire()
    try:
        return keys.make(file, origin=origin, random_bytes=secrets.token_bytes).verifier
    finally:
        lock.release()


@contextlib.contextmanager
def _written(file: Path) -> Iterator[TextIO]:
    """Give a file to write to that takes its name only when it is whole; readable by its owner alone."""
    fresh = file.with_name(file.name + ".part")
    fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(fd, "w", encoding="utf-8", newline="\n") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        fresh.replace(file)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
