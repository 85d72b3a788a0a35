"""What a sentence says about what: "the project sync is on Friday at 14:00", taken apart.

English and Arabic, by the verb that joins a thing to its time or to anything else. It takes words as they
are: whether the time in them is understood is `gate.when`'s to say, and a sentence that it cannot take apart
is kept whole. What happened in the past is nothing that times are counted from.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import tzinfo

from gate.when import Remembered
from gate.when.naming import bare, is_event
from gate.when.text import plain
from gate.when.wording import take_apart

#: What joins a thing to its time, and what it makes of the thing's name.
_NOUNS = {
    "expires": "expiry", "expire": "expiry", "ends": "end", "end": "end", "renews": "renewal",
    "renew": "renewal", "resets": "reset", "reset": "reset",
}  # fmt: skip
_JOINS = re.compile(
    r"\s(?P<verb>is|are|will be|starts?|begins?|happens?|takes? place|runs?|expires?|ends?|renews?|resets?"
    r"|will (?:start|begin|happen|take place|run|expire|end|renew|reset)"
    r"|(?:(?:was|were|is|are|has been|have been|got)\s)?(?:moved|rescheduled|postponed|pushed)\sto"
    r"|سيكون|ستكون|يكون|تكون|هو|هي|يبدا|يبدأ|تبدأ|ينتهي|تنتهي)(?=\s)",
    re.IGNORECASE,
)
#: What joins a thing to something else than a time.
_SAYS = re.compile(r"\s(?:is|are|was|were|هو|هي)\s|\s*=\s*|:\s+", re.IGNORECASE)
#: Between the verb and the time.
_FILLER = re.compile(
    r"(?:(?:now|always|scheduled|planned|due|set|back|held|usually)\s+)*(?:(?:for|to)\s+)?", re.IGNORECASE
)
_A_KIND = re.compile(r"(?:an?|our|my)\s+(?P<kind>[^\W\d_][\w:-]*)\s+(?P<rest>.+)", re.IGNORECASE | re.DOTALL)
_HAVE = re.compile(
    r"(?:i|we)\s+have\s+|i['\u2019]ve\s+(?:got\s+)?|there(?:\s+is|['\u2019]s)\s+", re.IGNORECASE
)
#: Before a verb, and no thing: "there is a party on Friday".
_NOBODY = frozenset({"", "there", "it", "that", "this"})
_LENGTH = re.compile(
    r"(?:about\s+|~\s*)?(?:\d+(?:[.,]\d+)?|an?|half an?|one|two|three|four|five|six|ten)\s*"
    r"(?:s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?|months?|years?)\b",
    re.IGNORECASE,
)
_DEFINITE = re.compile(r"(?:the|my|our|your|his|her|their|this)\s", re.IGNORECASE)
_POSSESSIVE = re.compile(r"['\u2019]s\s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A sentence taken apart.

    Attributes:
        subject: what it is about, as written, without articles: "project sync".
        kind: what it is said to be besides: "meeting"; "" for nothing.
        time: the words of its time; "" where it is no event.
        object: what else is said about it; the whole sentence where it cannot be taken apart.
        definite: there is one such thing, so that something else said about it takes the place of this.
        whole: it could not be taken apart.
    """

    subject: str
    kind: str = ""
    time: str = ""
    object: str = ""
    definite: bool = False
    whole: bool = False


def split(text: str, *, remembered: Remembered, zones: Mapping[str, tzinfo]) -> Told:
    """Take a sentence apart.

    Args:
        text: without what asks to remember it: "the 1:1 with Bo is a meeting on Wednesday at 10".
        remembered: the events that its time may be counted from.
        zones: zones by folded name.
    """
    sentence = " ".join(text.split()).rstrip(" .!")
    return (
        _event(sentence, remembered, zones)
        or _entered(sentence, remembered, zones)
        or _said(sentence)
        or Told(subject=sentence, object=sentence, whole=True)
    )


def _event(sentence: str, remembered: Remembered, zones: Mapping[str, tzinfo]) -> Told | None:
    """Read "X is at T", by the last verb that a time follows."""
    for join in reversed(list(_JOINS.finditer(sentence))):
        subject = sentence[: join.start()].strip()
        rest = sentence[join.end() :].lstrip()
        rest = rest[_FILLER.match(rest).end() :]  # type: ignore[union-attr] # it matches the empty string too
        kind = _A_KIND.fullmatch(rest)
        if kind is not None:
            rest = kind["rest"]
        time = _beginning(rest, remembered, zones)
        if not time or _LENGTH.fullmatch(time) or subject.casefold() in _NOBODY:
            continue
        noun = _NOUNS.get(join["verb"].casefold().removeprefix("will "), "")
        name = subject if not noun or subject.casefold().endswith(noun) else f"{subject} {noun}"
        return _told(name, kind="" if kind is None else kind["kind"], time=time)
    return None


def _beginning(rest: str, remembered: Remembered, zones: Mapping[str, tzinfo]) -> str:
    """Return the time that `rest` begins with; all of it where more time follows: "Friday or Monday"."""
    found = take_apart(rest, remembered=remembered, zones=zones)
    more = take_apart(found.after_head, remembered=remembered, zones=zones).time
    return rest if found.head and more else found.head


def _entered(sentence: str, remembered: Remembered, zones: Mapping[str, tzinfo]) -> Told | None:
    """Read "we have a meeting with Bo on Friday", "the project sync on Friday at 14:00"."""
    have = _HAVE.match(sentence)
    found = take_apart(sentence[have.end() :] if have else sentence, remembered=remembered, zones=zones)
    time, subject = found.tail, found.before_tail
    if not time or not subject or _LENGTH.fullmatch(time) or (_SAYS.search(f" {subject} ") and not have):
        return None
    return _told(subject, time=time) if have or is_event(subject) else None


def _said(sentence: str) -> Told | None:
    """Read "X is Y"."""
    says = _SAYS.search(sentence)
    if says is None or not sentence[: says.start()].strip() or not sentence[says.end() :].strip():
        return None
    past = says[0].strip().casefold() in {"was", "were"}
    said = sentence[says.end() :].strip()
    told = _told(sentence[: says.start()].strip())
    return Told(
        subject=told.subject,
        object=f"{says[0].strip()} {said}" if past else said,
        definite=told.definite and not past,
    )


def _told(subject: str, *, kind: str = "", time: str = "") -> Told:
    definite = _DEFINITE.match(subject) is not None or _POSSESSIVE.search(subject) is not None
    return Told(subject=bare(subject), kind=kind, time=time, definite=definite or bool(time))


# ---------------------------------------------------------------- secrets

_TELLING = (
    r"(?:pass(?:word|phrase|code|wd)s?|pwd|secrets?|tokens?|credentials?|api[ _-]?keys?|private[ _-]?keys?"
    r"|pins?|pin[ _-]?codes?|(?:door|access|alarm|recovery|backup)[ _-]?codes?"
    r"|كلمه (?:السر|المرور)|الرمز السري)"
)
_ENDS_TELLING = re.compile(rf"(?:^|.*[\s_-]){_TELLING}(?:\s(?:of|for|to)\s.*|\s(?:ل|الخاص).*)?")
#: What says where it is, or what about it, instead of what it is.
_ELSEWHERE = re.compile(
    r"(?:in|at|on|under|with|inside|behind|kept|stored|saved|not|no|unknown|known|valid|wrong|right|the same"
    r"|required|needed|too|very|changed|rotated|expired|managed|set|called|named|only|never|always|up"
    r"|في|عند|مع)\b"
)
_BESIDE = re.compile(rf"\b{_TELLING}\s+(?:is\s+|are\s+|was\s+)?(?=\S*[\d!@#$%^&*])\S{{4,}}")


def tells_secret(told: Told, sentence: str) -> bool:
    """Whether a sentence says what a secret is: "the wifi password is hunter2", not where it is kept."""
    if _BESIDE.search(plain(sentence)):
        return True
    is_secret = _ENDS_TELLING.fullmatch(plain(told.subject)) is not None
    return (
        is_secret
        and not told.time
        and not told.whole
        and _ELSEWHERE.match(plain(told.object).removeprefix("was ")) is None
    )
