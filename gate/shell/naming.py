"""What a card calls a command: its deed, what it touches, how to undo it and how to try it first.

Fills the templates of a rule with what the command was given. Nothing here weighs on a verdict; what is known
only when the line runs is not named.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gate.domain import Deed, Touch
from gate.shell.model import Clause, Known
from gate.shell.words import UNKNOWN, Word

_SLOT = re.compile(r"\{(\*|\d|--?[\w-]+)\}")
_PLAIN = re.compile(r"[\w@%+=:,./-]*", re.ASCII)
#: Options that change nothing of what a command does, so that a dry run may leave them out.
_SAYS_NOTHING = frozenset({"-y", "--yes", "--assume-yes", "-q", "--quiet", "-v", "--verbose"})


class Names(NamedTuple):
    """What there is to say of one command; None where a rule says nothing."""

    deed: Deed | None = None
    undo: str | None = None
    dry_run: str | None = None


NAMELESS = Names()


class Given(NamedTuple):
    """What templates are filled with: `{1}` and `{*}` are operands, `{--name}` is an option's value.

    `before` are the options given ahead of a sub-verb, no template names them; `path` is the sub-verbs.
    """

    operands: Sequence[Word]
    options: Mapping[str, Sequence[str]]
    before: Mapping[str, Sequence[str]] = {}
    path: Sequence[str] = ()


def names(known: Known, clauses: Sequence[Clause], given: Given) -> Names:
    """Name a command; the first clause that says something wins over the rule."""
    undo = next((clause.undo for clause in clauses if clause.undo), known.undo)
    dry_run = next((clause.dry_run for clause in clauses if clause.dry_run), known.dry_run)
    return Names(
        deed=_deed(next((clause.deed for clause in clauses if clause.deed), known.deed), given),
        undo=_fill(undo, given) if undo else None,
        dry_run=_fill(dry_run, given) if dry_run and _tells_all(dry_run, given) else None,
    )


def touches(known: Known, given: Given) -> tuple[Touch, ...]:
    """Return what the command acts on."""
    found: list[Touch] = []
    for kind, template in known.touches:
        every = [word.text for word in given.operands] if template == "{*}" else [_fill(template, given)]
        found += [Touch(kind=kind, name=name) for name in every if name and UNKNOWN not in name]
    return tuple(found)


def _tells_all(template: str, given: Given) -> bool:
    """Whether a dry run made of `template` tries just what was given: another one misleads."""
    slots = set(_SLOT.findall(template))
    left_out = {*given.before, *(option for option in given.options if option not in slots)}
    if left_out - _SAYS_NOTHING or not set(given.path) <= set(template.split()):
        return False
    count = len(given.operands)
    told = count == 0 or "*" in slots or {str(number + 1) for number in range(count)} <= slots
    values = [value for option in slots for value in given.options.get(option, ())]
    return (
        told
        and all(word.certain and word.text == word.raw for word in given.operands)
        and all(map(_PLAIN.fullmatch, values))
    )


def _deed(said: tuple[str, str] | None, given: Given) -> Deed | None:
    if said is None:
        return None
    verb, template = said
    filled = _fill(template, given)
    return Deed(verb=verb, object="" if UNKNOWN in filled else filled)


def _fill(template: str, given: Given) -> str:
    if "{" not in template:
        return template.strip()
    operands = [word.text for word in given.operands]

    def slot(found: re.Match[str]) -> str:
        key = found[1]
        if key == "*":
            return " ".join(operands)
        if key.isdigit():
            return operands[int(key) - 1] if 0 < int(key) <= len(operands) else ""
        return " ".join(given.options.get(key, ()))

    return _SLOT.sub(slot, template).strip()
