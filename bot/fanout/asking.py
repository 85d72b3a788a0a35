"""Asking: what a person weighs before a yes to a fan-out, about all of its targets together.

The strictest comes first: nothing that is so for one target only is left out because most are milder. What is
said of one action alone is in `bot.cards`, the question itself in `bot.card_question`.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

from bot import card_words
from bot.card_words import DEPENDED_ON, NO_UNDO, Lines
from bot.fanout.folding import folded
from bot.fanout.look import Look
from bot.fanout.pacing import plan
from bot.fanout.tally import names
from bot.phrasing import RISK_WORDS, listed, plural, shortened
from bot.text import Span, muted
from gate import blast
from gate.domain import Risk, RouteKind, strictest
from gate.fanout import Brake
from ledger.views import ActionView

K = TypeVar("K", bound=Hashable)

#: Dependants named before the rest becomes a number; all of them where it is they that ask for the phrase.
_FEW, _MANY = 3, 20


def before(rest: Sequence[ActionView], brake: Brake, look: Look) -> Lines:
    """Return what is to be weighed about `rest`, all of which waits for the same yes."""
    phrased = any(one.route is RouteKind.PHRASE for one in rest)
    in_full = phrased and strictest(*(one.verdict.risk for one in rest)) is not Risk.DESTRUCTIVE
    lines: Lines = [*_judged(rest, look)]
    facts = [_dependants(rest, most=_MANY if in_full else _FEW), *_undo(rest)]
    if said := " · ".join(filter(None, facts)):
        lines.append(said)
    lines.append(plan(brake, names(rest)))
    for verify in dict.fromkeys(one.action.verify for one in rest if one.action.verify is not None):
        lines.append(["then checks each: ", Span(look.command(verify))])
    if any(one.verdict.reads_secrets for one in rest):
        lines.append("shows secrets; what is recognised is masked here and in the record")
    because = by(rest, lambda one: one.because)
    lines += [
        muted(f"waits because of: {look.shown(why)}{some(members, rest)}")
        for why, members in because.items()
        if why
    ]
    return lines


def by(actions: Iterable[ActionView], key: Callable[[ActionView], K]) -> dict[K, list[ActionView]]:
    """Return `actions` by what `key` says of them, in order."""
    found: dict[K, list[ActionView]] = {}
    for one in actions:
        found.setdefault(key(one), []).append(one)
    return found


def _judged(rest: Sequence[ActionView], look: Look) -> Iterable[str]:
    """Yield how bad it is and why, the strictest first; with the targets where it is not so for all."""
    risks = by(rest, lambda one: one.verdict.risk)
    for risk in sorted(risks, key=lambda one: -one.rank):
        reasons = by(risks[risk], lambda one: one.verdict.reasons[0])
        first = next(iter(reasons))
        others = f", and {plural(len(reasons) - 1, 'other reason')}" if len(reasons) > 1 else ""
        yield f"{RISK_WORDS[risk]}: {look.shown(shortened(first))}{others}{some(risks[risk], rest)}"
    unseen = by(rest, lambda one: card_words.unseen(one.verdict.reasons[1:]))
    for reason, members in unseen.items():
        if reason:
            yield f"{look.shown(reason)}{some(members, rest)}"


def some(members: Sequence[ActionView], rest: Sequence[ActionView]) -> str:
    """Return " (3 of 12: web1 to web3)"; "" where it is all of them."""
    if len(members) == len(rest):
        return ""
    return f" ({len(members)} of {len(rest)}: {folded(names(members), most=4)})"


def _dependants(rest: Sequence[ActionView], *, most: int) -> str:
    radius = blast.union(one.radius for one in rest)
    touched = any(touch.kind in DEPENDED_ON for one in rest for touch in one.verdict.touches)
    if not (radius.known or touched or radius.count):
        return ""
    if not radius.count:
        return "nothing known depends on them" if radius.known else "unknown what depends on them"
    counts = [
        plural(len(found), noun)
        for found, noun in ((radius.services, "service"), (radius.targets, "target"))
        if found
    ]
    verb = "depends" if radius.count == 1 else "depend"
    named = listed([*radius.services, *map(str, radius.targets)], most=most)
    return f"{' and '.join(counts)} {verb} on them ({named}){'' if radius.known else ', maybe more'}"


def _undo(rest: Sequence[ActionView]) -> Iterable[str]:
    for undo, members in by(rest, lambda one: one.verdict.undo).items():
        if undo is not None and undo != NO_UNDO:
            yield f"{card_words.undo_words(undo)}{some(members, rest)}"
