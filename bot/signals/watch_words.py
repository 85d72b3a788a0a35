"""Watches in words: "tell me when /var on web1 passes 90 %", "watch failed units on @web every 5 minutes".

Reads whole messages, and writes the sentence that reads back as the same watch, which is what is kept of one.
English; in Arabic the simple forms.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass, replace

from gate.resolve.watch import LIMITS, USUAL_S, Watched
from gate.when.text import plain

_MAX_CHARS = 300
_TELL = re.compile(
    r"(?:(?:please|pls|can\s+you|could\s+you)\s+)*(?:tell|notify|alert|warn|ping|inform)\s+(?:me|us)\s+"
    r"(?:when(?:ever)?|if|once|as\s+soon\s+as)\s+",
    re.IGNORECASE,
)
_WATCH = re.compile(
    r"(?:(?:please|pls|can\s+you|could\s+you)\s+)*(?:watch|monitor|keep\s+an\s+eye\s+on)\s+(?:for\s+)?",
    re.IGNORECASE,
)
_EVERY = re.compile(
    r"[\s,]+every\s+(?:(?P<count>\d{1,4})\s*)?(?P<unit>minutes?|mins?|m|hours?|hrs?|h)[\s.!]*$", re.IGNORECASE
)
_TARGET = r"(?P<target>@?[A-Za-z0-9][A-Za-z0-9._-]*)"
_ON = rf"(?:\s+on\s+{_TARGET})?"
_OVER = (
    r"\s+(?:passes|reaches|exceeds|hits|tops|(?:is|goes|gets|rises|grows)\s+(?:over|above|past|to|at|beyond|more\s+than"
    r"|higher\s+than|fuller\s+than))\s+"
)
_PERCENT = r"(?P<limit>\d{1,3})\s*(?:%|percent|per\s*cent)"
_DISK = (
    r"(?:the\s+)?(?:disks?(?:\s+(?:space|usage))?)?(?:(?:\s+(?:of\s+)?)?(?P<about>/[^\s,]*))?"
    rf"(?:\s+usage)?{_ON}"
)
_MEMORY = rf"(?:the\s+)?(?:memory|ram)(?:\s+usage)?{_ON}"
_NAME = r"(?P<about>[A-Za-z0-9][A-Za-z0-9@._-]*)"
_STOPS = (
    r"(?:stops(?:\s+running)?|goes\s+down|is\s+down|fails|dies|crashes|is\s+not\s+running|isn'?t\s+running"
    r"|is\s+(?:dead|inactive|failed))"
)
_GONE = (
    r"(?:is\s+(?:down|unreachable|offline|not\s+reachable|gone)|goes\s+(?:down|offline)|can(?:not|'t)\s+be\s+reached"
    r"|stops\s+(?:responding|answering)|disappears)"
)
_CERTIFICATE = (
    rf"(?:the\s+)?cert(?:ificate)?\s+(?:file\s+)?(?:in\s+|of\s+|at\s+)?(?P<about>/\S+|[\w.-]+\.[\w.-]+){_ON}"
)

#: (what begins it, the rest, what is watched); the first that fits counts.
_FORMS: tuple[tuple[re.Pattern[str], re.Pattern[str], Watched], ...] = tuple(
    (begins, re.compile(rest + r"[\s.!]*", re.IGNORECASE), watched)
    for begins, rest, watched in (
        (
            _TELL,
            rf"{_CERTIFICATE}\s+expires(?:\s+(?:with)?in(?:\s+less\s+than)?\s+(?P<limit>\d{{1,4}})\s*days?)?",
            Watched.CERTIFICATE,
        ),
        (_TELL, rf"{_MEMORY}{_OVER}{_PERCENT}", Watched.MEMORY),
        (_TELL, rf"{_DISK}{_OVER}{_PERCENT}", Watched.DISK),
        (_TELL, rf"{_DISK}\s+(?:is|gets|runs)\s+full", Watched.DISK),
        (_TELL, rf"(?:a|any|some)?\s*(?:units?|services?)\s+fails?{_ON}", Watched.FAILED_UNITS),
        (_TELL, rf"there\s+(?:are|is)\s+(?:a\s+)?failed\s+(?:units?|services?){_ON}", Watched.FAILED_UNITS),
        (_TELL, rf"{_TARGET}\s+{_GONE}", Watched.REACHABLE),
        (_TELL, rf"(?:the\s+)?{_NAME}(?:\s+service)?{_ON}\s+{_STOPS}", Watched.SERVICE),
        (_TELL, rf"(?:the\s+)?{_NAME}(?:\s+service)?\s+{_STOPS}{_ON}", Watched.SERVICE),
        (_WATCH, rf"{_CERTIFICATE}(?:\s+for\s+(?P<limit>\d{{1,4}})\s*days?)?", Watched.CERTIFICATE),
        (_WATCH, rf"{_MEMORY}(?:\s+(?:for|at|over)\s+{_PERCENT})?", Watched.MEMORY),
        (_WATCH, rf"{_DISK}(?:\s+(?:for|at|over)\s+{_PERCENT})?", Watched.DISK),
        (_WATCH, rf"(?:the\s+)?fail(?:ed|ing)\s+(?:units?|services?){_ON}", Watched.FAILED_UNITS),
        (
            _WATCH,
            rf"(?:whether\s+|that\s+|if\s+)?{_TARGET}(?:\s+(?:is\s+)?(?:reachable|up|answers))?",
            Watched.REACHABLE,
        ),
        (
            _WATCH,
            rf"(?:the\s+)?(?:(?:service|unit)\s+)?{_NAME}(?:\s+(?:service|unit))?\s+on\s+{_TARGET}",
            Watched.SERVICE,
        ),
    )
)
_ARABIC_EVERY = re.compile(r"\s+كل\s+(?:(?P<count>\d{1,4})\s+)?(?P<unit>دقيقه|دقايق|دقائق|ساعه|ساعات)$")
_ARABIC_DISK = (
    r"(?:اخبرني|نبهني|اعلمني) (?:عندما|اذا|متي) (?:يتجاوز|تجاوز|يبلغ) (?P<about>/\S*) "
    rf"(?:علي|في) {_TARGET} (?P<limit>\d{{1,3}}) ?%"
)
_ARABIC: tuple[tuple[re.Pattern[str], Watched], ...] = tuple(
    (re.compile(words), watched)
    for words, watched in (
        (
            _ARABIC_DISK,
            Watched.DISK,
        ),
        (rf"راقب (?:الوحدات|الخدمات) الفاشله (?:علي|في) {_TARGET}", Watched.FAILED_UNITS),
        (rf"راقب (?:القرص|المساحه) (?:علي|في) {_TARGET}", Watched.DISK),
        (rf"راقب {_TARGET}", Watched.REACHABLE),
    )
)
#: What is no name of a service, and no target.
_OTHER_WORDS = """it this that they everything anything something someone somebody he she
    disk disks memory ram load cpu"""
_NO_NAMES = frozenset(_OTHER_WORDS.split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A watch as it was asked for.

    Attributes:
        target: a name or @tag as typed; "" where none was said.
        about: the path, service or host that it is about; "" where it is about the target itself.
        limit: in the unit of what is watched.
    """

    watched: Watched
    target: str
    about: str = ""
    limit: int
    every_s: int = USUAL_S

    def on(self, target: str) -> "Wanted":
        """Return this watch on a target."""
        return replace(self, target=target)

    @property
    def text(self) -> str:
        """Return the sentence that reads back as this watch."""
        every = f"every {self.every_s // 60} minutes"
        return f"{self.sentence}, {every}"

    @property
    def sentence(self) -> str:
        """Return what is asked for, without how often."""
        on = f" on {self.target}" if self.target else ""
        match self.watched:
            case Watched.DISK:
                return f"tell me when {self.about or '/'}{on} passes {self.limit} %"
            case Watched.MEMORY:
                return f"tell me when memory{on} passes {self.limit} %"
            case Watched.FAILED_UNITS:
                return f"watch failed units{on}"
            case Watched.SERVICE:
                return f"tell me when {self.about}{on} stops"
            case Watched.CERTIFICATE:
                return f"tell me when the certificate {self.about}{on} expires within {self.limit} days"
            case Watched.REACHABLE:
                return f"tell me when {self.target} is unreachable"


def parse(text: str, *, known: Collection[str], services: Collection[str]) -> Wanted | None:
    """Read a whole message as a watch; None for anything else.

    Args:
        known: names of targets, and tags with their "@", in lower case.
        services: declared services, in lower case.
    """
    said = " ".join(text.split())
    if not said or len(said) > _MAX_CHARS or "\n" in text.strip():
        return None
    body, every_s = _without_every(said, _EVERY)
    for begins, rest, watched in _FORMS:
        start = begins.match(body)
        found = rest.fullmatch(body, start.end()) if start else None
        wanted = None if found is None else _wanted(found, watched, every_s, known=known, services=services)
        if wanted is not None:
            return wanted
    body, every_s = _without_every(plain(said).rstrip(" .!"), _ARABIC_EVERY)
    for pattern, watched in _ARABIC:
        match = pattern.fullmatch(body)
        if match and (match.groupdict().get("about") or "") in said:  # the folding changes a path's case
            return _wanted(match, watched, every_s, known=known, services=services)
    return None


def _without_every(said: str, every: re.Pattern[str]) -> tuple[str, int]:
    """Return a message without how often, and that in seconds."""
    match = every.search(said)
    if match is None:
        return said.rstrip(" ,.!"), USUAL_S
    hours = match["unit"][0] in ("h", "H") or match["unit"].startswith("ساع")
    return said[: match.start()], int(match["count"] or 1) * (3600 if hours else 60)


def _wanted(
    match: re.Match[str], watched: Watched, every_s: int, *, known: Collection[str], services: Collection[str]
) -> Wanted | None:
    groups = match.groupdict()
    target, about = (groups.get("target") or "").lower(), groups.get("about") or ""
    if watched is Watched.REACHABLE and target not in known:
        if target not in services:
            return None  # nothing here has that name, so something else is meant
        watched, about, target = Watched.SERVICE, target, ""
    if watched is Watched.SERVICE and (about.lower() in _NO_NAMES or about.lower() in known):
        return None
    if watched is Watched.SERVICE and not target and about.lower() not in services:
        return None
    if watched is Watched.DISK and not about and "disk" not in match[0].lower() and "القرص" not in match[0]:
        return None
    return Wanted(
        watched=watched,
        target=target,
        about=about if watched is not Watched.DISK or len(about) == 1 else about.rstrip("/"),
        limit=int(groups.get("limit") or LIMITS[watched].usual),
        every_s=every_s,
    )
