"""Control words about what was learned: asking for it, the report of a run, taking a learned runbook back."""

import re

from bot.commands import RetireRunbook, ShowLearned, ShowReport

_LEARNED = frozenset(
    (
        "what have you learned",
        "what have you learnt",
        "what did you learn",
        "what have you learned so far",
        "what did you learn so far",
        "learning",
        "show learning",
        "how well do you do",
    )
)
_REPORT = re.compile(
    r"(?:(?:show|post)\s+(?:me\s+)?(?:the\s+)?)?(?:run\s+)?report(?:\s+(?:of|on|for))?(?:\s+run)?\s+"
    r"(?:#(?P<id>[a-z0-9]{4,8})|(?P<bare>(?=[a-z]*\d)[a-z0-9]{6}))[\s.!?]*",
    re.IGNORECASE,
)
_RETIRE = re.compile(
    r"(?:retire|unlearn|drop)\s+(?:the\s+)?runbook\s+(?P<name>[a-z0-9][a-z0-9._-]{0,63}?)[\s.!]*",
    re.IGNORECASE,
)


def parse(message: str, plain: str) -> ShowLearned | ShowReport | RetireRunbook | None:
    """Read a whole message; None for anything else.

    Args:
        plain: the message in lower case, without courtesies and closing marks.
    """
    if plain in _LEARNED:
        return ShowLearned()
    if match := _REPORT.fullmatch(message):
        return ShowReport(run=(match["id"] or match["bare"]).casefold())
    match = _RETIRE.fullmatch(message)
    return RetireRunbook(name=match["name"].casefold()) if match else None
