"""The runbook of a run as it was when the run began: its words, in pieces that a payload can hold (R18).

A run is replayed from this, so what happens to the document afterwards changes nothing about it. What holds
its default is left out, since most of a document does.
"""

import json
from collections.abc import Iterator

from gate.supervise.domain import RunbookSpec
from ledger.codec import Doc
from ledger.kinds import Json
from ledger.values import packed, unpacked

#: Characters of one piece; of up to four bytes each, a payload holds them.
PIECE = 200_000
_NAME = "document"


def texts_of(spec: RunbookSpec) -> dict[str, str]:
    """Return the words, by their names, that `spec_of` reads."""
    text = json.dumps(packed(spec, sparse=True), ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    pieces = [text[at : at + PIECE] for at in range(0, len(text), PIECE)]
    return {f"{_NAME}_{number}": piece for number, piece in enumerate(pieces, start=1)}


def references(body: Doc) -> Iterator[Json]:
    """Give the references to those words in the body of an entry, in order."""
    number = 1
    while (name := f"{_NAME}_{number}") in body:
        yield body[name]
        number += 1


def spec_of(text: str) -> RunbookSpec | None:
    """Return the runbook that the pieces, joined, hold; None where one of them was pruned."""
    try:
        doc = json.loads(text)
    except ValueError:
        return None
    spec: RunbookSpec = unpacked(RunbookSpec, doc)
    return spec
