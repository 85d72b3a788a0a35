"""Outputs: what the targets of a fan-out printed, as few lines that a phone shows.

Most alike: what they print, and in what the others differ. All different: one line for each. What is left out
stands in the file beside the card, or in what `details` shows; it says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from bot import card_words
from bot.fanout import grouping
from bot.fanout.folding import folded
from bot.fanout.grouping import Group
from bot.fanout.look import Look
from bot.fanout.tally import counted, names
from bot.phrasing import shortened
from bot.text import Span, block
from ledger.views import ActionView

FILE = "output.txt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How much is shown: lines of a block, of a difference, rows, other groups, characters of a line."""

    lines: int
    changes: int
    rows: int
    others: int
    wide: int = 120


ON_CARD = Bounds(lines=12, changes=8, rows=12, others=3)
IN_DETAILS = Bounds(lines=40, changes=40, rows=100, others=20)

#: The widest column of names; what is longer moves its own row only.
_NAMES_WIDE = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """Lines about output; `whole` where nothing of it was left out."""

    lines: card_words.Lines
    whole: bool


def printed(actions: Sequence[ActionView], look: Look, *, where: str, bounds: Bounds = ON_CARD) -> Printed:
    """Return what `actions` printed, which have ended.

    Args:
        where: where the rest of it is, in words.
    """
    found = grouping.groups(actions)
    if not any(one.text for one in found):
        return Printed(lines=[], whole=True)
    if (usual := grouping.majority(found)) is not None:
        return _most_agree(usual, found[1:], look, where=where, bounds=bounds)
    if sum(grouping.line_count(one.text) + 1 for one in found) <= 2 * bounds.lines:
        return _each_whole(found, look, where=where, bounds=bounds)
    return _rows(found, look, where=where, bounds=bounds)


def _most_agree(usual: Group, others: Sequence[Group], look: Look, *, where: str, bounds: Bounds) -> Printed:
    many = counted(usual.members)
    lines: card_words.Lines = []
    if not usual.text:
        lines.append(f"{many} print nothing")
    else:
        lines += [f"{many} agree:", _block(usual.text, look, bounds)]
    for other in others[: bounds.others]:
        who = folded(names(other.members), most=4, counts=True)
        differs = "differs" if len(other.members) == 1 else "differ"
        if not usual.text:
            lines += [f"{who}:", _block(other.text, look, bounds)]
        elif not other.text:
            lines.append(f"{who} {differs}: nothing printed")
        else:
            changes = grouping.difference(usual.text, other.text)
            lines += [f"{who} {differs}:", _cut(changes, bounds.changes, look, wide=bounds.wide)]
    left = sum(len(one.members) for one in others[bounds.others :])
    if left:
        lines.append(f"… {left} more {'differs' if left == 1 else 'differ'}, {where}")
    whole = not left and (not usual.text or not others) and _fits([usual, *others], bounds)
    return Printed(lines=lines, whole=whole)


def _each_whole(found: Sequence[Group], look: Look, *, where: str, bounds: Bounds) -> Printed:
    if all(grouping.line_count(one.text) <= 1 for one in found):
        return _rows(found, look, where=where, bounds=bounds)
    lines: card_words.Lines = []
    for one in found:
        lines.append(f"{folded(names(one.members), most=4, counts=True)}:")
        lines.append(_block(one.text, look, bounds) if one.text else "nothing printed")
    return Printed(lines=lines, whole=_fits(found, bounds))


def _rows(found: Sequence[Group], look: Look, *, where: str, bounds: Bounds) -> Printed:
    """Return one line for each group, the names as far as they fit in a column of their own."""
    shown = found[: bounds.rows]
    left = sum(len(one.members) for one in found[bounds.rows :])
    who = [folded(names(one.members), most=3, counts=True) for one in shown]
    wide = min(max(map(len, who)), _NAMES_WIDE)
    rows = []
    for name, line, one in zip(who, grouping.telling(shown), shown, strict=True):
        more = grouping.line_count(one.text) - 1
        said = shortened(line.strip(), most=bounds.wide) or "nothing printed"
        rows.append(f"{name:<{wide}}  {said}{f' (+{more})' if more > 0 else ''}")
    lines: card_words.Lines = [block(look.shown("\n".join(rows)))]
    if left:
        lines.append(f"… {left} more, {where}")
    one_line = all(grouping.line_count(one.text) <= 1 for one in shown)
    return Printed(lines=lines, whole=not left and one_line and _fits(shown, bounds))


def _fits(found: Sequence[Group], bounds: Bounds) -> bool:
    """Whether each of these is shown to its last character where it is shown at all."""
    return all(
        grouping.line_count(one.text) <= bounds.lines
        and all(len(line) <= bounds.wide for line in one.text.splitlines())
        for one in found
    )


def _block(text: str, look: Look, bounds: Bounds) -> Span:
    return _cut(text.splitlines(), bounds.lines, look, wide=bounds.wide)


def _cut(lines: Sequence[str], most: int, look: Look, *, wide: int) -> Span:
    kept = [shortened(line, most=wide) for line in lines[:most]]
    if len(lines) > most:
        kept.append(f"… {len(lines) - most} more lines")
    return block(look.shown("\n".join(kept)))
