"""When a person means: times in English and Arabic, relative to the message's own time or absolute.

`resolve` returns one certain time, a question with options, or why there is none; it never returns a time
that the words do not plainly name. It reads no clock, no memory and no time zone database: events and named
zones are given as values. What a dated belief says is read by `event_time`. Which acts need
a time, and what is done at it, is decided elsewhere.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo

from gate.when.events import Remembered, remember
from gate.when.naming import names_of
from gate.when.outcome import (
    ABSOLUTE,
    REQUEST,
    Anchor,
    Ask,
    Grain,
    Impossible,
    NoTime,
    Outcome,
    Reason,
    Resolved,
    Why,
)
from gate.when.remembered import event_time
from gate.when.rules import judge
from gate.when.scan import scan
from gate.when.sentence import Sentence
from gate.when.text import names_in, plain

#: A remembered event this close to a time from now is asked about (K23); 30 where rules are strict.
NEARBY_DAYS = 7
#: Longer texts are no request for a time; they are asked about, not searched.
_MAX_CHARS = 2000

_NO_ZONES: Mapping[str, tzinfo] = {}


def resolve(
    text: str,
    *,
    request_at: datetime,
    zone: tzinfo,
    anchors: Sequence[Anchor] | Remembered = (),
    zones: Mapping[str, tzinfo] = _NO_ZONES,
    nearby_days: int = NEARBY_DAYS,
) -> Outcome:
    """Read the time that a message names.

    Args:
        text: what the person wrote, whole: "remind me two days before the reset".
        request_at: when they wrote it, aware; never the time of an approval (K25).
        zone: the zone their wall clock is in.
        anchors: the remembered events, in any order; where there are many, `remember` them once.
        zones: zones by folded name ("cairo"), for times said in another one.
        nearby_days: how close a remembered event may lie to a time from now; 0 asks only where they meet.

    Raises:
        ValueError: `request_at` or an anchor's time is not aware.
    """
    if request_at.tzinfo is None:
        raise ValueError("Give aware times.")
    if len(text) > _MAX_CHARS:
        return Ask(options=(), why=Why.UNREAD)
    remembered = anchors if isinstance(anchors, Remembered) else remember(anchors)
    return judge(
        Sentence(
            pieces=tuple(scan(plain(text), remembered, zones, names_in(text))),
            request_at=request_at.astimezone(zone),
            zone=zone,
            nearby_days=nearby_days,
            remembered=remembered,
        )
    )


__all__ = [
    "ABSOLUTE",
    "NEARBY_DAYS",
    "REQUEST",
    "Anchor",
    "Ask",
    "Grain",
    "Impossible",
    "NoTime",
    "Outcome",
    "Reason",
    "Remembered",
    "Resolved",
    "Why",
    "event_time",
    "names_of",
    "remember",
    "resolve",
]
