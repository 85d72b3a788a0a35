"""What happened to runs, as entries and back: exactly the supervisor's events (gate.supervise.events).

A field of an event is a key of the entry's body of the same name, and instants are written as everywhere.
What people or programs wrote, and may therefore be secret, stands among the words instead: `_WORDS` names
those fields. Of an event whose words were pruned the rest reads as before, with PRUNED where text was.
"""

import dataclasses
import functools
import json
from collections.abc import Mapping
from typing import Any, cast

from gate.supervise.domain import RunId
from gate.supervise.events import (
    Consumed,
    Deviated,
    Ended,
    Entered,
    Event,
    Granted,
    Judged,
    Proposed,
    Started,
    TakenBack,
    WaitBegan,
    WaitEnded,
)
from ledger.codec import Doc, mapping
from ledger.kinds import Draft, Json, Kind
from ledger.values import packed, unpacked
from ledger.views import PRUNED

KINDS: Mapping[Kind, type[Event]] = {
    Kind.RUN_STARTED: Started,
    Kind.RUN_ENTERED: Entered,
    Kind.RUN_PROPOSED: Proposed,
    Kind.RUN_GRANTED: Granted,
    Kind.RUN_CONSUMED: Consumed,
    Kind.RUN_TAKEN_BACK: TakenBack,
    Kind.RUN_WAITING: WaitBegan,
    Kind.RUN_WAITED: WaitEnded,
    Kind.RUN_JUDGED: Judged,
    Kind.RUN_DEVIATED: Deviated,
    Kind.RUN_ENDED: Ended,
}
_KIND_OF = {made: kind for kind, made in KINDS.items()}

#: Fields that are words, and what each reads as once it was pruned.
_WORDS: Mapping[type[Event], Mapping[str, Json]] = {
    Started: {"inputs": {}},
    Proposed: {"command": PRUNED, "request.command": PRUNED},
    TakenBack: {"why": PRUNED},
    Judged: {"why": PRUNED, "captured": None},
    Deviated: {"tool": PRUNED, "target": PRUNED, "command": PRUNED},
    Ended: {"why": PRUNED, "refusal.reason": PRUNED},
}
#: The words of an event, under one name.
_KEY = "words"


def draft_of(
    event: Event,
    *,
    run: RunId,
    more: Mapping[str, Json] | None = None,
    words: Mapping[str, str] | None = None,
) -> Draft:
    """Return the entry that `event` of `run` becomes.

    Args:
        more, words: what the entry says beside the event.
    """
    body = mapping(packed(event))
    apart: Doc = {}
    for path in _WORDS.get(type(event), ()):
        holder, key = _holder(body, path)
        if holder is not None:
            apart[path] = holder.pop(key)
    texts = dict(words or {})
    if apart:
        texts[_KEY] = json.dumps(apart, ensure_ascii=False, sort_keys=True)
    return Draft(
        kind=_KIND_OF[type(event)],
        correlation_id=run,
        body={**(more or {}), **body, "run": run},
        words={name: text.encode("utf-8", "surrogateescape") for name, text in texts.items()},
    )


def event_of(kind: Kind, body: Mapping[str, Json], words: str | None) -> Event:
    """Return the event that `draft_of` wrote.

    Args:
        words: its words as stored; None where it has none, PRUNED where they were pruned.
    """
    made: Any = KINDS[kind]
    doc = dict(body)
    apart: Mapping[str, Json] = {}
    if words is not None:
        apart = _WORDS[made] if words == PRUNED else json.loads(words)
    for path, value in apart.items():
        holder, key = _holder(doc, path)
        if holder is not None:
            holder[key] = value
    return cast("Event", unpacked(made, {name: doc[name] for name in _fields(made)}))


def words_of(body: Mapping[str, Json]) -> Json:
    """Return the reference to the words of an event's entry; None where it has none."""
    return body.get(_KEY)


@functools.cache
def _fields(made: Any) -> tuple[str, ...]:  # noqa: ANN401 - a dataclass
    return tuple(one.name for one in dataclasses.fields(made))


def _holder(body: Doc, path: str) -> tuple[Doc | None, str]:
    """Return the object that holds the field at `path`, and its key; None where that is null."""
    *outer, key = path.split(".")
    holder: Json = body
    for name in outer:
        holder = mapping(holder)[name]
    return (None if holder is None else mapping(holder)), key
