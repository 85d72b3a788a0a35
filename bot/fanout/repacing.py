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
_STOPS = re.compile(r"\b(?:stop|ignore|despite)\b", re.IGNORECASE)


def read(said: str, targets: Sequence[str], *, agrees: Callable[[str], bool]) -> Said | Unclear | None:
    """Return how an answer wants `targets` to go; None where it speaks of something else.

    Args:
        targets: what waits, in the order of the card.
        agrees: whether words are a yes and nothing besides.
    """
    text = said.strip()
    if len(text) > _MAX_CHARS:
        return None
    for before, at in _splits(text):
        if before and not agrees(before):
            continue
        try:
            found = pacing.whole(text, at)
        except PaceError as error:
            return Unclear(why=str(error).removeprefix("Nothing ran. "))
        if found is not None:
            return found if _is_meant(found, text, targets) else None
    return None


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
    if pace.stop_after == 0 and not _STOPS.search(text):
        return False
    return {name.casefold() for name in said.first} <= {name.casefold() for name in targets}
