"""Attestations of runs: a report, the ledger entries behind it, and one statement that pins all of it (R23).

The statement names every entry by number, kind and hash, the digest chain over them, and the digest of the
report. It may be signed, with a key of the operator's own and never by itself (C18). `verify` needs nothing
but the file and a public key; it names each entry that was changed, removed, added or put elsewhere. What
that proves, and what it does not, is in docs/security.md. Nothing is sent from here.
"""

import hashlib
import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.runbooks import claims
from bot.runbooks.report import Told, document
from bot.runbooks.signing import fingerprint
from ledger.chain import GENESIS, entry_hash
from ledger.kinds import Entry, LedgerError
from ledger.note import NoteError, Signer, Verifier, open_note

FORMAT = "sayso-run-attestation/1"
#: The chain before its first entry, as in the ledger.
_START = GENESIS
_SEQ = re.compile(r"[0-9]{1,18}", re.ASCII)
_HEADER = ("run", "runbook", "outcome", "report", "entries", "chain")


class AttestationError(LedgerError):
    """This is no attested report of a run. Make one with `sayso runbook report RUN --format json`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What came of looking at an attested report.

    Attributes:
        problems: each names what is wrong; () for none.
        signed_by: the keys that were given and signed it, by name; by fingerprint where one has none.
        claims: names under which it says to be signed, checked or not.
    """

    run: str
    entries: int
    problems: tuple[str, ...]
    signed_by: tuple[str, ...]
    claims: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong; an unsigned one that is whole is ok, and proves little."""
        return not self.problems


# ---------------------------------------------------------------- making


def attested(told: Told, entries: Sequence[Entry], *, signer: Signer | None = None) -> str:
    """Return a report with its entries and its statement, as one JSON text.

    Args:
        signer: the operator's own key; None leaves the statement unsigned.
    """
    shown = document(told)
    text = _statement(shown, [_row(one.seq, one.kind, one.hash) for one in entries])
    whole = {
        "format": FORMAT,
        "report": shown,
        "entries": [one._asdict() for one in entries],
        "statement": text if signer is None else signer.sign(text),
    }
    return f"{json.dumps(whole, ensure_ascii=False, indent=1)}\n"


def _statement(shown: Mapping[str, Any], rows: Sequence[str]) -> str:
    """Return the text that is signed: a line for each fact and each entry."""
    head = (
        FORMAT,
        f"run {shown['run']}",
        f"runbook {shown['runbook']} {shown['digest']}",
        f"outcome {shown['outcome'] or 'open'}",
        f"report {_digest(shown)}",
        f"entries {len(rows)}",
        f"chain {_chain(rows)}",
    )
    return "".join(f"{line}\n" for line in (*head, *rows))


def _row(seq: int, kind: str, digest: str) -> str:
    return f"{seq} {kind} {digest}"


def _chain(rows: Iterable[str]) -> str:
    """Return the digest chain over the lines of entries: each digest covers the one before and its line."""
    digest = _START
    for row in rows:
        digest = hashlib.sha256(f"{digest}\n{row}".encode()).hexdigest()
    return digest


def _digest(shown: Mapping[str, Any]) -> str:
    text = json.dumps(shown, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


# ---------------------------------------------------------------- verifying


@dataclass(frozen=True, slots=True)
class _Named:
    """An entry as the statement names it."""

    seq: int
    kind: str
    hash: str

    def __str__(self) -> str:
        return f"entry {self.seq} ({self.kind})"


def verify(text: str, *, keys: Sequence[Verifier] = ()) -> Verification:
    """Look for everything that does not agree in an attested report.

    Args:
        keys: public keys; with any, one of them has to have signed it.

    Raises:
        AttestationError: it is none.
    """
    whole = _read(text)
    note, shown = whole["statement"], whole["report"]
    statement, names = _parts(note)
    signed_by, problems = _signatures(note, names, keys)
    found = [_entry(one) for one in whole["entries"]]
    header, named = _lines(statement)
    problems += _of_report(shown, header)
    problems += _of_entries(found, named, header)
    problems += claims.problems(shown, found)
    return Verification(
        run=str(header.get("run", "")),
        entries=len(found),
        problems=tuple(dict.fromkeys(problems)),
        signed_by=signed_by,
        claims=names,
    )


def _read(text: str) -> dict[str, Any]:
    try:
        whole = json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise AttestationError(f"{AttestationError.__doc__} It is no JSON: {error}.") from error
    shapes = {"format": str, "report": dict, "entries": list, "statement": str}
    if (
        not isinstance(whole, dict)
        or set(whole) != set(shapes)
        or not all(isinstance(whole[key], shape) for key, shape in shapes.items())
    ):
        raise AttestationError(f"{AttestationError.__doc__} It holds no report, entries and statement.")
    if whole["format"] != FORMAT:
        raise AttestationError(f"{AttestationError.__doc__} Its format is {whole['format']!r}.")
    try:
        json.dumps([whole["entries"], whole["statement"]], ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise AttestationError(f"{AttestationError.__doc__} What it holds is no text.") from error
    return whole


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; a key that stands there twice would show people one value and `verify` another."""
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key stands there twice")
    return made


def _entry(one: object) -> Entry:
    """Return an entry of the file; one that lacks a field, or has another, is no entry."""
    if not isinstance(one, dict) or set(one) != set(Entry._fields):
        raise AttestationError(f"{AttestationError.__doc__} One of its entries is none.")
    entry = Entry(**one)
    texts = (entry.kind, entry.at, entry.correlation_id, entry.body, entry.prev_hash, entry.hash)
    if type(entry.seq) is not int or not all(isinstance(field, str) for field in texts):
        raise AttestationError(f"{AttestationError.__doc__} One of its entries is none.")
    return entry


def _parts(note: str) -> tuple[str, tuple[str, ...]]:
    """Return the statement of a note, and the names of those who say that they signed it."""
    text, blank, lines = note.rpartition("\n\n")
    if not blank:
        return note, ()
    names = [line.split(" ")[1] for line in lines.splitlines() if line.count(" ") == 2]  # noqa: PLR2004 - dash, name, code
    return f"{text}\n", tuple(names)


def _signatures(
    note: str, names: Sequence[str], keys: Sequence[Verifier]
) -> tuple[tuple[str, ...], list[str]]:
    """Return who of `keys` signed a note, and what is wrong about that."""
    if not keys:
        return (), []
    if not names:
        return (), ["The statement is not signed."]
    # A key of SSH or PEM carries no name of its own: it counts under whatever name the note gives it. That
    # name is its holder's word, so the key itself is told beside it.
    given = [
        (each, key.name or f"{fingerprint(key.public)} under the name {each.name}")
        for key in keys
        for each in ([key] if key.name else [Verifier(name, key.public) for name in names])
    ]
    signed: list[str] = []
    why = ""
    for key, called in given:
        try:
            open_note(note, [key])
        except NoteError as error:
            why = str(error)
        else:
            signed.append(called)
    return tuple(dict.fromkeys(signed)), [] if signed else [f"The signature does not hold. {why}"]


def _lines(statement: str) -> tuple[dict[str, str], list[_Named]]:
    """Return the facts and the entries that a statement names.

    Raises:
        AttestationError: a line is neither.
    """
    first, *lines = statement.splitlines() or [""]
    header: dict[str, str] = {}
    named: list[_Named] = []
    for line in lines:
        match line.split(" "):
            case [seq, kind, digest] if _SEQ.fullmatch(seq):
                named.append(_Named(int(seq), kind, digest))
            case [key, *rest] if key in _HEADER and key not in header and rest:
                header[key] = " ".join(rest)
            case _:
                raise AttestationError(f"{AttestationError.__doc__} Its statement says {line[:80]!r}.")
    if first != FORMAT or set(header) != set(_HEADER):
        raise AttestationError(f"{AttestationError.__doc__} Its statement is not whole.")
    return header, named


def _of_report(shown: Mapping[str, Any], header: Mapping[str, str]) -> list[str]:
    if _digest(shown) != header["report"]:
        return ["The report was changed: its digest is another one than in the statement."]
    same = {
        "run": str(shown.get("run")),
        "runbook": f"{shown.get('runbook')} {shown.get('digest')}",
        "outcome": str(shown.get("outcome") or "open"),
    }
    return [
        f"The statement is about {key} {header[key]}, and the report about {value}."
        for key, value in same.items()
        if header[key] != value
    ]


def _of_entries(found: Sequence[Entry], named: Sequence[_Named], header: Mapping[str, str]) -> list[str]:
    """Return what is wrong with the entries, each by its number."""
    problems = list(_of_statement(named, header))
    wanted = {one.seq: one for one in named}
    seen: dict[int, int] = {}
    highest = 0
    for place, entry in enumerate(found):
        name = f"Entry {entry.seq} ({entry.kind})"
        if entry.seq in seen:
            problems.append(f"{name} stands there twice.")
            continue
        seen[entry.seq] = place
        if entry.seq not in wanted:
            problems.append(f"{name} was added: the statement does not name it.")
        elif _hash(entry) != entry.hash or (entry.kind, entry.hash) != (
            wanted[entry.seq].kind,
            wanted[entry.seq].hash,
        ):
            problems.append(f"{name} was changed: its hash is another one than in the statement.")
        if entry.seq < highest:
            problems.append(f"{name} stands in another place than it was written in.")
        highest = max(highest, entry.seq)
    problems += [f"E{str(one)[1:]} was removed." for one in named if one.seq not in seen]
    return [*problems, *_of_links(found)]


def _of_statement(named: Sequence[_Named], header: Mapping[str, str]) -> Iterator[str]:
    """Yield where the statement does not agree with itself."""
    rows = [_row(one.seq, one.kind, one.hash) for one in named]
    if header["entries"] != str(len(rows)) or header["chain"] != _chain(rows):
        yield "The statement was changed: its entries do not come to its chain."
    for before, after in itertools.pairwise(named):
        if after.seq <= before.seq:
            yield f"The statement names {after} after {before}, which is not the order of a ledger."


def _of_links(found: Sequence[Entry]) -> Iterator[str]:
    """Yield where an entry does not go on from the one that stood right before it in the ledger."""
    by_seq = {one.seq: one for one in found}
    for entry in by_seq.values():
        before = by_seq.get(entry.seq - 1)
        if before is not None and before.hash != entry.prev_hash:
            yield f"Entry {entry.seq} ({entry.kind}) does not follow entry {before.seq} ({before.kind})."


def _hash(entry: Entry) -> str:
    return entry_hash(
        prev_hash=entry.prev_hash,
        seq=entry.seq,
        kind=entry.kind,
        at=entry.at,
        correlation_id=entry.correlation_id,
        body=entry.body,
    )
