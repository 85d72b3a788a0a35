"""Repacing: how an answer wants a fan-out to go: "yes, but no canary", "ok, 2 at a time", "web3 first".

Pure. What it reads is no consent: it is asked about anew, with the pace that was named. Words that also mean
something else where a yes is waited for ("wait 5 minutes", "keep going") are none of its business.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace

from bot.fanout.picking import BUT, Unclear
from bot.planning import pacing
from bot.planning.pacing import PaceError, Said
from gate.fanout import Pace

_MAX_CHARS = 300
_LEAD = re.compile(rf"(?:{BUT}[ \t]+)?(?:(?:do[ \t]+it|go|with)[ \t]+)?", re.IGNORECASE)
_GAP = re.compile(rf"[\s,;.:\u2013\u2014-]+{_LEAD.pattern}", re.IGNORECASE)
#: Without one of these, words about a pause are about when to begin, and words about going on are a yes.
_PAUSES = re.compile(r"\b(?:between|apart|after)\b", re.IGNORECASE)
_FAILURES = re.compile(r"\b(?:failures?|errors?)\b", re.IGNORECASE)
_QUESTION = re.compile("[?\u061f\u00bf]")
#: Without one of these, "canary first" names no number.
_NUMBER = re.compile(r"\b(?:1|one)\b", re.IGNORECASE)
#: The word for one, twice with at most two words between: "one by one", "de uno en uno".
_ONE = r"(?:one|eins?|eine[mnrs]?|un[aeo]?|uma?|[eé]{1,2}n|واحد\w*)"
_ONE_BY_ONE = re.compile(rf"(?<!\w){_ONE}[\s,-]+(?:\w+[\s-]+){{0,2}}{_ONE}(?!\w)", re.IGNORECASE)


def read(
    said: str, targets: Sequence[str], *, canaries: int, agrees: Callable[[str], bool]
) -> Said | Unclear | None:
    """Return how an answer wants `targets` to go; None where it speaks of something else, or asks.

    Args:
        targets: what waits, in the order of the card.
        canaries: how many of them would go first; "canary first" is no wish for fewer.
        agrees: whether words are a yes and nothing besides.
    """
    text = said.strip()
    if len(text) > _MAX_CHARS or _QUESTION.search(text):
        return None
    for before, at in _splits(text):
        if before and not agrees(before):
            continue
        try:
            found = pacing.whole(text, at)
        except PaceError as error:
            return Unclear(why=str(error).removeprefix("Nothing ran. "))
        if found is not None and found.pace.canary == 1 < canaries and not _NUMBER.search(text):
            found = replace(found, pace=replace(found.pace, canary=canaries))
        if found is not None:
            return found if _is_meant(found, text, targets) else None
    return None


def is_spoken_of(said: str) -> bool:
    """Whether a yes says "one by one", in a language we know: it may be to that alone, so it is none yet."""
    return _ONE_BY_ONE.search(said) is not None


def changed(pace: Pace, said: Said) -> Pace:
    """Return `pace` with what was said about it."""
    named = {name: value for name, value in asdict(said.pace).items() if value is not None}
    if "stop_percent" in named:  # else the number would win
        pace = replace(pace, stop_after=None)
    return replace(pace, **named)


def _splits(text: str) -> Iterator[tuple[str, int]]:
    """Yield where clauses may begin, with what stands before."""
    lead = _LEAD.match(text)
    yield "", 0 if lead is None else lead.end()
    for gap in _GAP.finditer(text):
        if gap.start():
            yield text[: gap.start()], gap.end()


def _is_meant(said: Said, text: str, targets: Sequence[str]) -> bool:
    pace = said.pace
    if pace.pause_s and not _PAUSES.search(text):
        return False
    if pace.stop_after == 0 and not _FAILURES.search(text):
        return False
    return {name.casefold() for name in said.first} <= {name.casefold() for name in targets}
