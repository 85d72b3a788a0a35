"""What a message asks to be sent, and where: words only (K14).

Reads whole messages such as `send "deploy starts at 10" to #ops`, `tell #ops that …`, `post the digest to
#ops`, `send this to #ops`. It looks nothing up but the names of places that it is handed. The rule it owns:
words count as a message to somebody only in quotes, after "that" or after a colon; others ("send the logs to
#ops") are `loose`, which is asked about, and without a "#" they are no message at all ("send HUP to nginx").
"""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from bot import history

#: Longer messages ask for nothing that is sent; it also bounds what the patterns below may cost.
MAX_CHARS = 4000
#: The one artifact with a name of its own; a period may follow it.
DIGEST = "digest"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sendable:
    """What is to be sent.

    Attributes:
        to: the place as said, "" where the message names none.
        text: the words; "" where something on record is meant.
        artifact: what is on record: "#k7f3a2", "digest", "digest yesterday"; "" for words, and for "this".
        loose: nothing marks the words as such.
    """

    to: str = ""
    text: str = ""
    artifact: str = ""
    loose: bool = False


def parse(message: str, *, places: Collection[str]) -> Sendable | None:
    """Return what a whole message asks to be sent; None where it asks for nothing of the kind.

    Args:
        places: the names of places that there are, in lower case.
    """
    said = message.strip()
    if not said or len(said) > MAX_CHARS:
        return None
    for pattern, build in _READINGS:
        match = pattern.fullmatch(said)
        found = None if match is None else build(match, places)
        if found is not None:
            return found
    return None


_PLEASE = r"(?:(?:please|pls)\s+|(?:can|could|would)\s+you\s+(?:please\s+)?)?"
_SEND = rf"{_PLEASE}(?:send|post|share|forward)"
_SAY = rf"{_PLEASE}(?:send|post|share|forward|announce|say)"
_TELL = rf"{_PLEASE}(?:tell|notify|message|let)"
_TO = r"\s+(?:to|in|into)\s+(?P<to>\S[^\n]*?)"
_END = r"[\s.!?]*"
_THIS = (
    r"(?:(?:this|that)(?:\s+(?:result|output|card|message|one))?|it"
    r"|the\s+(?:last\s+)?(?:result|output|card))"
)
_ID = (
    r"(?:(?:the\s+)?(?:result|output|card)\s+of\s+)?"
    r"(?:#(?P<id>[a-z0-9]{4,8})|(?P<bare>(?=[a-z]*\d)[a-z0-9]{6}))"
)
_DIGEST = (
    r"(?:the\s+|a\s+|my\s+)?(?:(?P<whose>today|yesterday)['\u2019]s\s+)?(?:digest|summary|recap)"
    r"(?:\s+(?:for|of|from))?(?P<period>(?:\s+(?!(?:to|in|into)\b)[\w-]+){0,4})"
)
_QUOTES = (
    ('"', '"'),
    ("\u201c", "\u201d"),
    ("'", "'"),
    ("\u2018", "\u2019"),
    ("\u00ab", "\u00bb"),
    ("```", "```"),
    ("`", "`"),
)
_QUOTED = "|".join(
    rf"{re.escape(left)}\s*(?P<quoted{number}>\S.*?)\s*{re.escape(right)}"
    for number, (left, right) in enumerate(_QUOTES)
)


def _place(said: str, places: Collection[str]) -> str | None:
    """Return a place as said where it can only be one: marked as such, or by a name that there is."""
    return said if said[:1] in ("#", "@") or said.casefold() in places else None


def _quoted(match: re.Match[str], _places: Collection[str]) -> Sendable | None:
    text = next(value for name, value in match.groupdict().items() if name.startswith("quoted") and value)
    return Sendable(to=match["to"] or "", text=text)


def _to_first(match: re.Match[str], places: Collection[str]) -> Sendable | None:
    to = _place(match["to"], places)
    return None if to is None else Sendable(to=to, text=_bare(match["text"]))


def _told_loosely(match: re.Match[str], _places: Collection[str]) -> Sendable:
    text = _bare(match["text"])
    return Sendable(to=match["to"], text=text, loose=text == match["text"])


def _bare(text: str) -> str:
    """Return words without quotes around all of them."""
    for left, right in _QUOTES:
        inner = text.removeprefix(left).removesuffix(right)
        if len(inner) == len(text) - len(left) - len(right) and inner.strip():
            return inner.strip()
    return text


def _recorded(match: re.Match[str], _places: Collection[str]) -> Sendable:
    return Sendable(to=match["to"] or "", artifact=f"#{(match['id'] or match['bare']).casefold()}")


def _digest(match: re.Match[str], _places: Collection[str]) -> Sendable | None:
    period = " ".join((match["whose"] or match["period"]).casefold().split())
    if not history.is_period(period):
        return None
    return Sendable(to=match["to"] or "", artifact=f"{DIGEST} {period}".strip())


def _this(match: re.Match[str], _places: Collection[str]) -> Sendable:
    return Sendable(to=match.groupdict().get("to") or "")


def _loosely(match: re.Match[str], _places: Collection[str]) -> Sendable:
    return Sendable(to=match["to"], text=match["text"], loose=True)


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE | re.DOTALL)


_READINGS: Sequence[tuple[re.Pattern[str], Callable[[re.Match[str], Collection[str]], Sendable | None]]] = (
    (_pattern(rf"{_SAY}\s+(?:{_QUOTED})(?:{_TO})?{_END}"), _quoted),
    (_pattern(rf"{_SAY}\s+(?:to|in|into)\s+(?P<to>\S+?)\s*:\s*(?P<text>\S.*)"), _to_first),
    (_pattern(rf"{_TELL}\s+(?P<to>\S+?)(?:\s+know)?(?:\s+that\s+|\s*:\s*)(?P<text>\S.*)"), _to_first),
    (_pattern(rf"{_TELL}\s+(?P<to>#[\w.-]+)(?:\s+know)?\s*,?\s+(?P<text>\S.*)"), _told_loosely),
    (_pattern(rf"{_SEND}\s+{_ID}(?:{_TO})?{_END}"), _recorded),
    (_pattern(rf"{_SEND}\s+{_DIGEST}(?:{_TO})?{_END}"), _digest),
    (_pattern(rf"{_SEND}\s+{_THIS}{_TO}{_END}"), _this),
    (_pattern(rf"{_SEND}\s+this{_END}"), _this),
    (_pattern(rf"{_SEND}\s+(?P<text>\S.*?)\s+(?:to|in|into)\s+(?P<to>#[\w.-]+){_END}"), _loosely),
)
