"""Questions about the past, read into a query: "who restarted caddy last week?", "history failed on web1".

Reads words only; the ledger answers. Times are computed from the `now` and the time zone that are given.
Where a period is loose ("last week") the query reaches a little further rather than missing something: the
reply names the period it covers.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta, tzinfo

from bot.origin import Origin
from gate.domain import Risk

DEFAULT_LIMIT = 20
MAX_LIMIT = 500
MAX_CHARS = 1000

Span = tuple[datetime | None, datetime | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryQuery:
    """What to look for; every field that is set narrows.

    Attributes:
        target: a slug or @tag, as typed.
        words: each must occur in the command, the purpose or the deed.
        person: as typed; who asked, or with a `verb` of deciding ("approve", "deny") who decided.
        outcome: "succeeded", "failed", "cancelled", "lost", "refused", "expired", "waiting" or "running".
        since, until: aware UTC, since inclusive, until exclusive; None is open.
        verb: what was done, in its base form ("restart"); "run" and "do" mean anything and give "".
        who: the question asks for persons, so the reply names them first.
        origin: what asked for it; None for whatever.
    """

    target: str | None = None
    words: tuple[str, ...] = ()
    risk: Risk | None = None
    person: str | None = None
    outcome: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    verb: str = ""
    limit: int = DEFAULT_LIMIT
    who: bool = False
    origin: Origin | None = None


# ---------------------------------------------------------------- words

#: Past forms -> base form. "" means any deed.
_VERBS = {
    "ran": "", "run": "", "did": "", "do": "", "done": "", "happened": "", "executed": "", "changed": "",
    "asked": "ask", "requested": "ask", "ask": "ask", "request": "ask",
    "approved": "approve", "approve": "approve", "granted": "approve", "allowed": "approve",
    "denied": "deny", "deny": "deny", "refused": "deny", "rejected": "deny",
    "restarted": "restart", "restart": "restart", "rebooted": "reboot", "reboot": "reboot",
    "stopped": "stop", "stop": "stop", "started": "start", "start": "start",
    "reloaded": "reload", "reload": "reload", "deleted": "delete", "delete": "delete",
    "removed": "remove", "remove": "remove", "destroyed": "destroy", "destroy": "destroy",
    "installed": "install", "install": "install", "upgraded": "upgrade", "upgrade": "upgrade",
    "updated": "update", "update": "update", "enabled": "enable", "enable": "enable",
    "disabled": "disable", "disable": "disable", "edited": "edit", "killed": "kill", "kill": "kill",
    "settled": "settle", "cancelled": "cancel", "canceled": "cancel", "touched": "", "broke": "",
}  # fmt: skip
_OUTCOMES = {
    "ok": "succeeded", "succeeded": "succeeded", "successful": "succeeded", "fine": "succeeded",
    "failed": "failed", "failing": "failed", "failures": "failed", "failure": "failed", "errors": "failed",
    "cancelled": "cancelled", "canceled": "cancelled", "lost": "lost", "unknown": "lost",
    "refused": "refused", "denied": "refused", "rejected": "refused", "expired": "expired",
    "pending": "waiting", "waiting": "waiting", "running": "running",
}  # fmt: skip
_RISKS = {
    "read_only": Risk.READ_ONLY, "read-only": Risk.READ_ONLY, "readonly": Risk.READ_ONLY,
    "reversible": Risk.REVERSIBLE_LOW, "reversible_low": Risk.REVERSIBLE_LOW,
    "config": Risk.CONFIG_MUTATION, "config_mutation": Risk.CONFIG_MUTATION, "mutating": Risk.CONFIG_MUTATION,
    "destructive": Risk.DESTRUCTIVE, "destruction": Risk.DESTRUCTIVE,
}  # fmt: skip
#: Who or what asked, where a question names all of a kind: "history agents", "what did alerts do today".
_ORIGINS = {
    "people": Origin.PERSON, "persons": Origin.PERSON, "operators": Origin.PERSON, "humans": Origin.PERSON,
    "agent": Origin.AGENT, "agents": Origin.AGENT, "model": Origin.MODEL, "planner": Origin.MODEL,
    "alert": Origin.ALERT, "alerts": Origin.ALERT, "schedules": Origin.SCHEDULE, "scheduled": Origin.SCHEDULE,
    "runbooks": Origin.RUNBOOK,
}  # fmt: skip
_FILLER = frozenset(
    {
        "a",
        "all",
        "an",
        "and",
        "any",
        "anything",
        "as",
        "at",
        "by",
        "command",
        "commands",
        "did",
        "entries",
        "ever",
    }
    | {
        "everything",
        "for",
        "from",
        "has",
        "have",
        "history",
        "i",
        "is",
        "last",
        "list",
        "me",
        "of",
        "on",
        "our",
    }
    | {"please", "recent", "recently", "show", "that", "the", "there", "thing", "things", "to", "was", "were"}
    | {"what", "when", "which", "who", "with", "you", "your", "only", "actions", "action", "in", "it", "log"}
    | {"runs", "service", "services", "host", "hosts", "target", "so", "far", "work", "been", "got", "get"}
)

_HISTORY = re.compile(r"(?:show\s+(?:me\s+)?)?(?:the\s+|my\s+)?history\b", re.IGNORECASE)
_WHO = re.compile(r"(?:who|when\s+(?:was|were|did)|(?:what|which\s+\w+)\s+(?:was|were))\b", re.IGNORECASE)
_WHAT = re.compile(
    r"what\s+(?:(?:did|has|have)\s+(?!you\b|u\b|sayso\b)\S+\s+|(?:ran|failed|happened|got|was|were|has|went)\b|changed\b)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[\w@#][\w@#:./+-]*")
_BY_SPEAKER = re.compile(r"\b(?:i|by me|my)\b", re.IGNORECASE)
_LIMIT = re.compile(
    r"\b(?:(?:last|latest|newest|top|first)\s+(\d{1,4})|(\d{1,4})\s+(?:last|latest))\b(?!\s*(?:s|m|h|d|sec|min|hour|day|week|month)\w*)",
    re.IGNORECASE,
)


def is_query(text: str) -> bool:
    """Whether `text` asks about the past, as opposed to about a host ("who is logged in")."""
    if len(text) > MAX_CHARS:
        return False
    message = " ".join(text.split()).casefold().rstrip(" .!?")
    if _HISTORY.match(message):
        return not message.startswith("history of the")
    words = _WORD.findall(message)
    past = any(word in _OUTCOMES or (word in _VERBS and word not in {"run", "do", "did"}) for word in words)
    if _WHO.match(message):
        return past
    if message.startswith("what changed"):
        return "/" not in message  # "what changed recently in /etc" is a look at files
    return _WHAT.match(message) is not None and (past or " did " in f" {message} ")


def parse(
    text: str,
    *,
    now: datetime,
    zone: tzinfo = UTC,
    targets: Sequence[str] = (),
    people: Sequence[str] = (),
    speaker: str = "",
) -> HistoryQuery | None:
    """Read a question about the past; None when `text` is none.

    Args:
        text: such as "history", "history failed last week", "what did ana approve today".
        now: the instant of asking, aware.
        zone: of the person who asks; days and weeks begin in it.
        targets: known slugs, so that "history web1" is about a host.
        people: known operators and agents, so that "history ana" is about a person.
        speaker: who asks, meant by "I", "me" and "my"; with "" these say nothing.
    """
    if not is_query(text):
        return None
    message = " ".join(text.split()).rstrip(" .!?")
    query = HistoryQuery(who=message.casefold().startswith("who"))
    if speaker and _BY_SPEAKER.search(message):
        query = replace(query, person=speaker)
    if match := _LIMIT.search(message):
        query = replace(query, limit=max(1, min(MAX_LIMIT, int(match[1] or match[2]))))
        message = message[: match.start()] + message[match.end() :]
    message, (since, until) = _cut_period(message, now=now, zone=zone)
    reader = _Reader(query=replace(query, since=since, until=until), targets=targets, people=people)
    return reader.read(message)


class _Reader:
    """Assigns what is left of a question, word by word."""

    def __init__(self, *, query: HistoryQuery, targets: Sequence[str], people: Sequence[str]) -> None:
        self._query = query
        self._targets = {name.casefold(): name for name in targets}
        self._people = {name.casefold(): name for name in people}

    def read(self, message: str) -> HistoryQuery:
        words = _WORD.findall(message)
        folded = [word.casefold().rstrip(".:") for word in words]
        for index, word in enumerate(folded):
            before = folded[index - 1] if index else ""
            self._take(words[index].rstrip(".:"), word, before)
        return self._query

    def _take(self, typed: str, word: str, before: str) -> None:
        query = self._query
        if word in _ORIGINS and before not in {"on", "at"} and word not in self._people:
            self._query = replace(query, origin=_ORIGINS[word])
        elif (
            word in self._people
            or (before == "by" and word != "me")
            or (before == "did" and query.person is None and word not in _FILLER)
        ):
            self._query = replace(query, person=self._people.get(word, typed))
        elif word in self._targets or word.startswith("@"):
            self._query = replace(query, target=self._targets.get(word, typed))
        elif before in {"on", "at"} and word not in _FILLER:
            self._query = replace(query, target=typed)
        elif word in _RISKS:
            self._query = replace(query, risk=_RISKS[word])
        elif word in _OUTCOMES and not (query.who and word in _VERBS):
            self._query = replace(query, outcome=_OUTCOMES[word])
        elif word in _VERBS:
            self._query = replace(query, verb=query.verb or _VERBS[word])
        elif word not in _FILLER:
            self._query = replace(query, words=(*query.words, typed))


# ---------------------------------------------------------------- periods

_UNITS = {
    "minute": 60,
    "min": 60,
    "hour": 3600,
    "hr": 3600,
    "h": 3600,
    "day": 86_400,
    "d": 86_400,
    "week": 604_800,
}
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAY = r"(mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?"
_DATE = r"(\d{4}-\d{2}-\d{2})"
_UNIT = r"(minute|min|hour|hr|h|day|d|week)s?"


def _midnight(now: datetime, zone: tzinfo, *, days: int = 0) -> datetime:
    """Return local midnight `days` from today, as UTC. Local days have 23 to 25 hours."""
    day = now.astimezone(zone).date() + timedelta(days=days)
    return datetime.combine(day, time(), tzinfo=zone).astimezone(UTC)


def _days(first: int, end: int | None) -> Callable[[re.Match[str], datetime, tzinfo], Span]:
    return lambda _, now, zone: (
        _midnight(now, zone, days=first),
        None if end is None else _midnight(now, zone, days=end),
    )


def _week(back: int) -> Callable[[re.Match[str], datetime, tzinfo], Span]:
    return lambda _, now, zone: (
        _midnight(now, zone, days=-now.astimezone(zone).weekday() - 7 * back),
        None,
    )


def _month(back: int) -> Callable[[re.Match[str], datetime, tzinfo], Span]:
    def span(_: re.Match[str], now: datetime, zone: tzinfo) -> Span:
        local = now.astimezone(zone)
        months = local.year * 12 + local.month - 1 - back
        first = datetime(months // 12, months % 12 + 1, 1, tzinfo=zone)
        return first.astimezone(UTC), None

    return span


def _ago(match: re.Match[str], now: datetime, _: tzinfo) -> Span:
    count = int(match[1]) if match[1] else 1
    return now.astimezone(UTC) - timedelta(seconds=min(count, 10_000) * _UNITS[match[2].casefold()]), None


def _weekday(match: re.Match[str], now: datetime, zone: tzinfo) -> Span:
    wanted = next(index for index, name in enumerate(_DAYS) if name.startswith(match[2][:3].casefold()))
    back = (now.astimezone(zone).weekday() - wanted) % 7
    if back == 0 and match[1].casefold() == "last":
        back = 7
    since = _midnight(now, zone, days=-back)
    return since, None if match[1].casefold() == "since" else _midnight(now, zone, days=1 - back)


def _date(match: re.Match[str], now: datetime, zone: tzinfo) -> Span:
    try:
        day = datetime.strptime(match[2], "%Y-%m-%d").replace(tzinfo=zone)
    except ValueError:
        return None, None
    offset = (day.date() - now.astimezone(zone).date()).days
    start, end = _midnight(now, zone, days=offset), _midnight(now, zone, days=offset + 1)
    word = (match[1] or "").casefold()
    if word in {"since", "after", "from"}:
        return start, None
    return (None, start) if word in {"before", "until"} else (start, end)


_PERIODS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], datetime, tzinfo], Span]], ...] = tuple(
    (re.compile(rf"\b{pattern}\b", re.IGNORECASE), span)
    for pattern, span in (
        (rf"(?:(since|after|from|before|until|on)\s+)?{_DATE}", _date),
        (r"(?:since\s+)?the day before yesterday", _days(-2, -1)),
        (r"since\s+yesterday", _days(-1, None)),
        (r"yesterday", _days(-1, 0)),
        (r"(?:earlier\s+|since\s+)?today|this\s+(?:morning|afternoon|evening)|tonight", _days(0, None)),
        (r"last\s+night", _days(-1, None)),
        (r"this\s+week", _week(0)),
        (r"(?:in\s+the\s+|since\s+)?(?:last|previous)\s+week", _week(1)),
        (r"this\s+month", _month(0)),
        (r"(?:in\s+the\s+|since\s+)?(?:last|previous)\s+month", _month(1)),
        (rf"(?:in\s+|over\s+|within\s+|for\s+)?(?:the\s+)?(?:last|past)\s+(?:(\d{{1,5}})\s*)?{_UNIT}", _ago),
        (rf"(?:since\s+)?(\d{{1,5}})\s*{_UNIT}\s+ago", _ago),
        (rf"(last|on|since|this)\s+{_DAY}", _weekday),
    )
)


def _cut_period(message: str, *, now: datetime, zone: tzinfo) -> tuple[str, Span]:
    for pattern, span in _PERIODS:
        if match := pattern.search(message):
            return message[: match.start()] + message[match.end() :], span(match, now, zone)
    return message, (None, None)


def is_period(words: str) -> bool:
    """Whether `words` are nothing but a period ("yesterday", "in the last 3 hours"), or empty."""
    words = words.strip()
    return not words or any(pattern.fullmatch(words) for pattern, _ in _PERIODS)


def period(words: str, *, now: datetime, zone: tzinfo = UTC) -> Span:
    """Return (since, until) in UTC for the words of a period; (None, None) for "" and for no period."""
    return _cut_period(words, now=now, zone=zone)[1]
