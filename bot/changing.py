"""A yes with a change in it: "yes, but on web2", "go ahead, but with port 8081" (X14).

What it can compose without guessing is asked for anew and replaces the card: another place, another number,
nothing else. Every word of the change has to be understood, what comes before it has to be a yes, and a
number has to have one place to go; everything else is left to the answer that asks for the whole request.
The new request passes the gate like any other, so nothing runs from this.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace

from bot import asking, forms
from bot.answering import Speaker
from bot.controls import may_drop
from bot.core import Core
from bot.outcome import Outcome
from bot.planning.drafts import ActionDraft
from bot.planning.grammar import request_text
from gate import assent
from gate.decide import ChangeAsked
from gate.domain import AssentVerdict
from ledger.views import ProposalView

_BUT = r"(?:but|aber|pero|mais|mas|maar|ma|و?لكن|بس)"
_PLEASE = r"(?:please|bitte|por\s+favor|alstublieft|per\s+favore|من\s+فضلك)"
_AT = r"(?:on|at|auf|en|em|sur|op|su|على)"
_WITH = r"(?:with|use|using|mit|con|com|avec|met|for|مع)"
_PORT = r"(?:port|puerto|porta|poort|المنفذ|منفذ|بورت)"
_CHANGE = re.compile(
    rf"(?:(?P<yes>.*?)[\s,;.،]+)?{_BUT}\s+(?:{_PLEASE}\s+)?(?:(?:run|do)\s+it\s+)?"
    rf"(?:{_AT}\s+(?P<place>@?[a-z0-9][a-z0-9._-]*)"
    rf"|(?:(?:{_AT}|{_WITH})\s+)?(?:the\s+)?(?:{_PORT}\s+)?(?P<new>\d+)"
    r"(?:\s+(?:instead\s+of|rather\s+than|not|statt|بدل)\s+(?P<old>\d+))?)"
    rf"(?:\s+(?:instead|{_PLEASE}))?\s*[.!]*",
    re.IGNORECASE | re.DOTALL,
)
_NUMBER = re.compile(r"(?<![\w.])[0-9]+(?![\w.])")


def take(core: Core, outcome: Outcome, speaker: Speaker, decision: ChangeAsked) -> bool:
    """Ask anew for what `speaker` wants instead; False where that cannot be told for certain."""
    view = core.queries.proposal(decision.approvals[0].proposal)
    if view is None or not may_drop(speaker.operator, view):
        return False
    drafts = changed(core, view, speaker.said)
    if drafts is None:
        return False
    request = "\n".join(map(request_text, drafts))
    asking.instead(core, outcome, speaker, view, request, purpose=speaker.said)
    return True


def changed(core: Core, view: ProposalView, said: str) -> list[ActionDraft] | None:
    """Return what has not started of `view`, with the change that `said` names; None where it names none."""
    match = _CHANGE.fullmatch(said.strip())
    drafts = [] if match is None else forms.drafts_of(core, view)
    if match is None or not drafts or not _is_yes(core, match["yes"]):
        return None
    if match["place"] is not None and not match["place"].isdigit():
        return _elsewhere(core, drafts, match["place"])
    return _renumbered(drafts, new=_ascii(match["new"] or match["place"]), old=_ascii(match["old"]))


def _is_yes(core: Core, words: str | None) -> bool:
    """Whether what was said before the change is a yes and nothing besides; nothing at all will do."""
    if not words:
        return True
    return assent.read(words, lexicons=core.lexicons).verdict is AssentVerdict.GRANT


def _ascii(number: str | None) -> str:
    """Return a number in the digits that commands have: "٨٠٨١" is 8081; "" for none."""
    return "".join(str(unicodedata.digit(digit)) for digit in number or "")


def _elsewhere(core: Core, drafts: Sequence[ActionDraft], place: str) -> list[ActionDraft] | None:
    found = core.inventory.select(place)
    if not isinstance(found, tuple):
        return None
    names = tuple(str(target.id) for target in found)
    if all(draft.target_words == names for draft in drafts):
        return None
    return [replace(draft, target_words=names) for draft in drafts]


def _renumbered(drafts: Sequence[ActionDraft], *, new: str, old: str) -> list[ActionDraft] | None:
    """Put `new` where the only number of a single command stands, which is `old` where that was said."""
    if len(drafts) != 1:
        return None
    numbers = _NUMBER.findall(drafts[0].command)
    wanted = [one for one in numbers if one == old] if old else numbers
    if len(wanted) != 1 or wanted[0] == new:
        return None
    command = _NUMBER.sub(lambda one: new if one[0] == wanted[0] else one[0], drafts[0].command)
    return [replace(drafts[0], command=command)]
