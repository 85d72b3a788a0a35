"""What happened to runs, as entries and back: exactly the supervisor's events (gate.supervise.events).

A field of an event is a key of the entry's body of the same name, and instants are written as everywhere.
What people or programs wrote, and may therefore be secret, stands among the words instead: `_WORDS` names
those fields. Of an event whose words were pruned the rest reads as before, with PRUNED where text was.
"""

import dataclasses
import functools
import json
import types
import typing
from collections.abc import Callable, Mapping
from datetime import datetime
from enum import Enum
from typing import Any

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
from ledger.codec import Doc, instant, items, mapping, parse_instant
from ledger.kinds import Draft, Json, Kind
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
    body = mapping(_packed(event))
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
    made = KINDS[kind]
    doc = dict(body)
    apart: Mapping[str, Json] = {}
    if words is not None:
        apart = _WORDS[made] if words == PRUNED else json.loads(words)
    for path, value in apart.items():
        holder, key = _holder(doc, path)
        if holder is not None:
            holder[key] = value
    return typing.cast("Event", _of_fields(made, doc))


def words_of(body: Mapping[str, Json]) -> Json:
    """Return the reference to the words of an event's entry; None where it has none."""
    return body.get(_KEY)


def _holder(body: Doc, path: str) -> tuple[Doc | None, str]:
    """Return the object that holds the field at `path`, and its key; None where that is null."""
    *outer, key = path.split(".")
    holder: Json = body
    for name in outer:
        holder = mapping(holder)[name]
    return (None if holder is None else mapping(holder)), key


# ---------------------------------------------------------------- values


def _packed(value: object) -> Json:
    match value:
        case Enum():
            return str(value.value)
        case None | bool() | int() | float() | str():
            return value
        case datetime():
            return instant(value)
        case Mapping():
            return {str(key): _packed(one) for key, one in value.items()}
        case tuple():
            return [_packed(one) for one in value]
        case _:
            made: Any = type(value)
            return {name: _packed(getattr(value, name)) for name in _readers(made)}


@functools.cache
def _readers(made: Any) -> Mapping[str, Callable[[Json], object]]:  # noqa: ANN401 - a dataclass
    """Return what reads each field of a dataclass, in order."""
    hints = typing.get_type_hints(made)
    return {one.name: _reader(hints[one.name]) for one in dataclasses.fields(made)}


def _of_fields(made: Any, doc: Mapping[str, Json]) -> object:  # noqa: ANN401 - a dataclass
    return made(**{name: read(doc[name]) for name, read in _readers(made).items()})


def _reader(hint: Any) -> Callable[[Json], object]:  # noqa: ANN401 - a type, as an annotation holds it
    """Return what reads a value of the type `hint`; what JSON holds as it is passes."""
    hint = getattr(hint, "__supertype__", hint)  # what a NewType is made of
    arms = [one for one in typing.get_args(hint) if one is not types.NoneType]
    if isinstance(hint, types.UnionType) and len(arms) == 1:
        read = _reader(arms[0])
        return lambda value: None if value is None else read(value)
    if typing.get_origin(hint) is tuple:
        return lambda value: tuple(items(value))
    if hint is datetime:
        return lambda value: parse_instant(str(value))
    if dataclasses.is_dataclass(hint):
        return lambda value: _of_fields(hint, mapping(value))
    return hint if isinstance(hint, type) and issubclass(hint, Enum) else lambda value: value
