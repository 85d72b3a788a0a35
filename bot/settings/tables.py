"""Settings that are small tables: how they are written, checked and put together.

A table of the file, `{ destructive = 2, "@prod" = 2 }`, becomes the sorted lines "@prod=2", "destructive=2";
an environment variable or a flag writes them so too ("destructive=2,@prod=2"). Every line is checked here;
whether the names in it exist is checked by bot.settings.checks.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator

from gate.policy import Posture

_PEOPLE = re.compile(r"(?P<name>@?[a-z0-9][a-z0-9._-]{0,62})=(?P<count>[1-9]|[1-9][0-9])")

_STEPS = frozenset(f"{posture}.{step}" for posture in Posture for step in ("nudge_s", "escalate_s"))
_DAY_S = 86_400


def _lines(value: object) -> object:
    """Return a table as lines; anything else as it is, for the type to judge."""
    if isinstance(value, list):
        return tuple(value)
    if not isinstance(value, Mapping):
        return value
    return tuple(sorted(f"{name}={_plain(number)}" for name, number in _flat(value)))


def _flat(table: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Yield the values of a table, those of tables in it under "outer.inner"."""
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from ((f"{name}.{inner}", one) for inner, one in _flat(value))
        else:
            yield name, value


def _plain(value: object) -> str:
    """Return a number as text, and anything else as what no line allows."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else f"({value!r})"


def _people(lines: tuple[str, ...]) -> tuple[str, ...]:
    for line in lines:
        if _PEOPLE.fullmatch(line) is None:
            raise ValueError(
                f'"{line}": write a risk, a target or "@tag", and a number of people from 1 to 99'
            )
    return lines


def _ages(lines: tuple[str, ...]) -> tuple[str, ...]:
    for line in lines:
        name, _, number = line.partition("=")
        if name not in _STEPS or not number.isascii() or not number.isdigit() or int(number) > _DAY_S:
            raise ValueError(
                f'"{line}": write nudge_s or escalate_s, 0 to {_DAY_S}, of a posture: {", ".join(Posture)}'
            )
    return lines


#: Seconds, by posture and step.
LADDER = Annotated[tuple[str, ...], BeforeValidator(_lines), AfterValidator(_ages)]
#: How many people, by name.
QUORUM = Annotated[tuple[str, ...], BeforeValidator(_lines), AfterValidator(_people)]


def numbers(lines: Sequence[str]) -> dict[str, int]:
    """Return checked lines as a table again; of a name that stands twice the last line counts."""
    return {name: int(number) for name, _, number in (line.partition("=") for line in lines)}


def largest_of_each(values: Sequence[object]) -> tuple[str, ...]:
    """Return the largest number of each name over all layers."""
    return _merged(values, max)


def soonest_of_each(values: Sequence[object]) -> tuple[str, ...]:
    """Return the smallest number of each name over all layers; 0, which is never, only where all say so."""
    return _merged(values, lambda one, other: min(one, other) or max(one, other))


def _merged(values: Sequence[object], pick: Callable[[int, int], int]) -> tuple[str, ...]:
    merged: dict[str, int] = {}
    for value in values:
        for line in value if isinstance(value, tuple) else ():
            ((name, number),) = numbers([line]).items()
            merged[name] = pick(number, merged.get(name, number))
    return tuple(sorted(f"{name}={number}" for name, number in merged.items()))
