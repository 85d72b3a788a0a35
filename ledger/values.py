"""Frozen values as JSON and back, by their types: dataclasses of the gate that are stored whole.

A dataclass is an object of its fields, in which what holds its default is left out where that is asked for.
Which of several dataclasses an object is, its fields tell. Strict both ways: an unknown value of an enum
raises, and so does a missing field.
"""

import collections.abc
import dataclasses
import functools
import types
import typing
from collections.abc import Callable, Mapping
from datetime import datetime
from enum import Enum
from typing import Any

from ledger.codec import instant, items, mapping, parse_instant
from ledger.kinds import Json


def packed(value: object, *, sparse: bool = False) -> Json:
    """Return `value` as JSON values.

    Args:
        sparse: leave out fields that hold their default.
    """
    match value:
        case Enum():
            return str(value.value)
        case None | bool() | int() | float() | str():
            return value
        case datetime():
            return instant(value)
        case Mapping():
            return {str(key): packed(one, sparse=sparse) for key, one in value.items()}
        case tuple():
            return [packed(one, sparse=sparse) for one in value]
        case _:
            made: Any = type(value)
            left_out = _defaults(made) if sparse else {}
            found = {name: getattr(value, name) for name in _readers(made)}
            return {
                name: packed(one, sparse=sparse)
                for name, one in found.items()
                if name not in left_out or one != left_out[name]
            }


def unpacked(made: Any, doc: Json) -> Any:  # noqa: ANN401 - a type, and what is of it
    """Return the value of the type `made` that `packed` wrote."""
    return _reader(made)(doc)


@functools.cache
def _readers(made: Any) -> Mapping[str, Callable[[Json], object]]:  # noqa: ANN401 - a dataclass
    """Return what reads each field of a dataclass, in order."""
    hints = typing.get_type_hints(made)
    return {one.name: _reader(hints[one.name]) for one in dataclasses.fields(made)}


@functools.cache
def _defaults(made: Any) -> Mapping[str, object]:  # noqa: ANN401 - a dataclass
    found = {}
    for one in dataclasses.fields(made):
        if one.default_factory is not dataclasses.MISSING:
            found[one.name] = one.default_factory()
        elif one.default is not dataclasses.MISSING:
            found[one.name] = one.default
    return found


def _of_fields(made: Any, doc: Mapping[str, Json]) -> object:  # noqa: ANN401 - a dataclass
    readers = _readers(made)
    return made(**{name: readers[name](value) for name, value in doc.items()})


@functools.cache
def _reader(hint: Any) -> Callable[[Json], object]:  # noqa: ANN401 - a type, as an annotation holds it
    """Return what reads a value of the type `hint`; what JSON holds as it is passes."""
    hint = getattr(hint, "__supertype__", hint)  # what a NewType is made of
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in {types.UnionType, typing.Union}:  # a NewType gives the second
        return _of_union([one for one in inner if one is not types.NoneType])
    if origin is tuple:
        each = _reader(inner[0])
        return lambda value: tuple(map(each, items(value)))
    if origin is collections.abc.Mapping:
        of_value = _reader(inner[1])
        return lambda value: {key: of_value(one) for key, one in mapping(value).items()}
    return _of_class(hint)


def _of_class(made: Any) -> Callable[[Json], object]:  # noqa: ANN401 - a class
    if made is datetime:
        return lambda value: parse_instant(str(value))
    if dataclasses.is_dataclass(made):
        return lambda value: _of_fields(made, mapping(value))
    is_enum = isinstance(made, type) and issubclass(made, Enum)
    return made if is_enum else lambda value: value


def _of_union(arms: list[Any]) -> Callable[[Json], object]:
    """Return what reads one of several types, or none; several dataclasses have different fields."""
    if len(arms) == 1:
        read = _reader(arms[0])
        return lambda value: None if value is None else read(value)
    known: list[Any] = [one for one in arms if dataclasses.is_dataclass(one)]

    def one_of(value: Json) -> object:
        if not isinstance(value, dict):
            return value
        said = set(value)
        made = next(
            one for one in known if set(_readers(one)) - set(_defaults(one)) <= said <= set(_readers(one))
        )
        return _of_fields(made, value)

    return one_of
