"""Posting something that is on record: it is named by its id, and its text is what is stored (K16).

Where to is `send_outbound`'s business. The rule it owns: the id beats whatever words came with it, so that
nobody can post other words in the name of a record; without a record nothing is posted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from gate.domain import Reason, ReasonCode
from gate.resolve import send_outbound
from gate.resolve.decision import Clarify, Decision, Deny, Option, Slots

#: The slot that names it; "" where the request only said "this".
ARTIFACT = "artifact"
#: The slots that are rewritten to what is stored.
TEXT, OUTPUT = send_outbound.TEXT, "output"


class Unreadable(StrEnum):
    """Why a record cannot be posted."""

    UNKNOWN = "unknown"  # no record has that id
    UNFINISHED = "unfinished"  # what it is about is not over
    BROKEN = "broken"  # the store cannot be read, or its words are gone


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What is stored under an id.

    Attributes:
        label: what a button calls it, as "#k7f3a2 uptime on web1".
        text: the lines that are posted.
        output: what is posted verbatim below them; "" for nothing.
    """

    label: str
    text: str
    output: str = ""


_WHY = {
    Unreadable.UNKNOWN: (ReasonCode.UNKNOWN_ID, "{id} is not on record here."),
    Unreadable.UNFINISHED: (ReasonCode.CANNOT_PLACE, "{id} is not over, so it has no result yet."),
    Unreadable.BROKEN: (ReasonCode.UNHEALTHY, "What is on record of {id} cannot be read."),
}
_NOTHING_MEANT = Reason(
    code=ReasonCode.CANNOT_PLACE,
    text="Nothing was sent: no result of yours is meant by that here. Name it, as in  send #k7f3a2 to #ops,\n"
    'or say the words, as in  send "deploy starts at 10" to #ops.',
)


def resolve(
    slots: Slots,
    *,
    records: Mapping[str, Record | Unreadable],
    this: Sequence[str],
    places: Sequence[str],
    allowed: Sequence[str],
    strict: bool,
) -> Decision:
    """Resolve which record is to be posted, with which text, and where.

    Args:
        slots: `artifact` is an id; where to as in `send_outbound`.
        records: what is stored, by id; an id that is not in there is unknown.
        this: the ids that a request without one may mean, newest first.
        places, allowed, strict: as in `send_outbound`.

    Returns:
        What `send_outbound` resolves to, with the text of the record; Clarify where several may be meant;
        Deny where there is none.
    """
    meant = (slots[ARTIFACT],) if slots.get(ARTIFACT) else tuple(dict.fromkeys(this))
    if not meant:
        return Deny(reason=_NOTHING_MEANT, slots=dict(slots), because="no record meant")
    if len(meant) > 1:
        return _which(slots, meant, records)
    record = records.get(meant[0], Unreadable.UNKNOWN)
    if isinstance(record, Unreadable):
        code, why = _WHY[record]
        reason = Reason(code=code, text=f"Nothing was sent. {why.format(id=meant[0])}")
        return Deny(reason=reason, slots=dict(slots), because=record.value)
    rewritten = {
        name: value for name, value in slots.items() if name not in (TEXT, OUTPUT, send_outbound.LOOSE)
    }
    rewritten |= {ARTIFACT: meant[0], TEXT: record.text}
    if record.output:
        rewritten[OUTPUT] = record.output
    return send_outbound.resolve(rewritten, places=places, allowed=allowed, strict=strict)


def _which(slots: Slots, meant: Sequence[str], records: Mapping[str, Record | Unreadable]) -> Clarify:
    options = tuple(
        Option(id=f"artifact_{name}", label=_label(name, records.get(name)), patch={ARTIFACT: name})
        for name in meant[: send_outbound.MOST]
    )
    return Clarify(
        question="Send which one?", slots=dict(slots), options=options, free=ARTIFACT, because="several"
    )


def _label(name: str, record: Record | Unreadable | None) -> str:
    return record.label if isinstance(record, Record) else name
