"""What people say about how a fan-out is to go: "canary first, 5 at a time, stop after 3 failures".

Reads such clauses and writes them back; what they mean is `gate.fanout`'s. A value out of bounds, and two
clauses that contradict each other, are refused in words: nothing is clamped and nothing is picked. At the end
of a command without backticks they count by themselves only where the command takes no such words.
"""

import functools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace

from bot.planning.lengths import DURATION, duration_s
from bot.planning.typed import open_quotes
from gate.fanout import MOST, Pace

MAX_PAUSE_S = 3600
_MAX_PERCENT = 100


class PaceError(ValueError):
    """What was said about the pace cannot be followed; say it otherwise, as the message tells."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A pace in words. `first` are the targets that are to go before the others, as typed."""

    pace: Pace = field(default_factory=Pace)
    first: tuple[str, ...] = ()

    def joined(self, more: "Said") -> "Said":
        """Return both as one.

        Raises:
            PaceError: they contradict each other.
        """
        ours, theirs = _kinds(self.pace), _kinds(more.pace)
        for kind in ours.keys() & theirs.keys():
            if ours[kind] != theirs[kind]:
                text = f"{words(self.pace)} and {words(more.pace)}"
                raise PaceError(f"Nothing ran. That says two things about the pace: {text}. Say one.")
        if self.first and more.first and self.first != more.first:
            raise PaceError("Nothing ran. That says twice which target goes first. Say it once.")
        said = {name: value for name, value in _values(more.pace) if value is not None}
        return Said(pace=replace(self.pace, **said), first=self.first or more.first)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tail:
    """A command with clauses at its end: what stands before the comma, and what was said after it."""

    before: str
    said: Said
    words: str


def _values(pace: Pace) -> Iterator[tuple[str, int | None]]:
    return ((one.name, getattr(pace, one.name)) for one in fields(Pace))


def _kinds(pace: Pace) -> dict[str, tuple[str, int]]:
    """Return what is said by what it is about: both ways to say when to stop are about the same."""
    return {
        name.partition("_")[0] if name.startswith("stop") else name: (name, value)
        for name, value in _values(pace)
        if value is not None
    }


# ---------------------------------------------------------------- reading

_SMALL = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
# In what follows "_" is a blank and "~" one that may be missing.
_N = rf"(?P<n>[0-9]{{1,6}}|{'|'.join(_SMALL)})"
_TIME = rf"(?P<time>{DURATION})"
_HOST = r"(?:hosts?|targets?|servers?|machines?)"
_BETWEEN = (
    rf"(?:between(?:_(?:(?:the|each)_)?(?:batch(?:es)?|{_HOST}|them|each))?"
    rf"|after_(?:each|every)(?:_(?:batch|{_HOST}|one))?)"
)
_FAILURE = r"(?:failures?|errors?)"
_OF_FAILURES = rf"(?:of_)?(?:the_)?(?:{_FAILURE}|failed|fail|{_HOST}(?:_fail)?)"
_STOP = r"stop_(?:after|at|on|when)"
_NEVER = r"(?:don['\u2019]?t|do_not|never)"
_ON = Pace(stop_after=0)
_ENDS = r"(?=~(?:[,;.!?]|$)|_(?:and|then|with|because|so|to|in|timeout|verify|please|pls|now|thanks)\b)"


def _blanks(pattern: str) -> str:
    return pattern.replace("_", r"[ \t]+").replace("~", r"[ \t]*")


def _number(match: re.Match[str]) -> int:
    said = match["n"].lower()
    return _SMALL.index(said) + 1 if said in _SMALL else int(said)


def _canaries(match: re.Match[str]) -> Pace:
    return Pace(canary=_within(_number(match), "canary", least=0, most=MOST))


def _batches(match: re.Match[str]) -> Pace:
    if _number(match) == 0:
        raise PaceError('Nothing ran. A batch of 0 is none: say "all at once", or how many at a time.')
    return Pace(batch=_within(_number(match), "batch", least=1, most=MOST))


def _failures(match: re.Match[str]) -> Pace:
    return Pace(stop_after=_within(_number(match), "number of failures", least=1, most=MOST))


def _percent(match: re.Match[str]) -> Pace:
    return Pace(stop_percent=_within(_number(match), "percentage", least=1, most=_MAX_PERCENT))


def _pause(match: re.Match[str]) -> Pace:
    seconds = duration_s(match["time"])
    if seconds is None or seconds > MAX_PAUSE_S:
        raise PaceError("Nothing ran. A pause between batches lies between 0s and 1h.")
    return Pace(pause_s=seconds)


def _within(value: int, what: str, *, least: int, most: int) -> int:
    if not least <= value <= most:
        raise PaceError(f"Nothing ran. A {what} lies between {least} and {most}.")
    return value


def _always(pace: Pace) -> Callable[[re.Match[str]], Pace]:
    return lambda _match: pace


_CLAUSES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Pace]], ...] = tuple(
    (re.compile(_blanks(rf"(?:{pattern}){_ENDS}"), re.IGNORECASE), meaning)
    for pattern, meaning in (
        (r"(?:no|without(?:_an?|_any)?)_canar(?:y|ies)", _always(Pace(canary=0))),
        (rf"(?:with_)?{_N}_canar(?:y|ies)(?:_first)?", _canaries),
        (
            rf"(?:with_)?(?:an?_)?canar(?:y|ies)(?:_of|_size)?(?:~[:=]~|_){_N}(?:_{_HOST})?(?:_first)?",
            _canaries,
        ),
        (r"(?:with_)?(?:(?:an?|the)_)?canary(?:_first)?", _always(Pace(canary=1))),
        (r"(?:go_)?one_by_one|one_after_(?:the_other|another)", _always(Pace(batch=1))),
        (rf"{_N}(?:_{_HOST})?_at_(?:a_time|once|the_same_time)", _batches),
        (rf"(?:in_|with_)?batch(?:es)?(?:_of|_size)?(?:~[:=]~|_){_N}(?:_{_HOST})?", _batches),
        (r"(?:all|everything)_(?:at_once|at_the_same_time|together)", _always(Pace(batch=0))),
        (
            rf"(?:{_STOP}_(?:(?:the|an?)_)?(?:(?:first|1st|any)_)?|stop_on_){_FAILURE}",
            _always(Pace(stop_after=1)),
        ),
        (rf"{_STOP}_{_N}(?:_{_HOST})?_(?:{_FAILURE}|failed(?:_{_HOST})?|fail)", _failures),
        (rf"{_STOP}_(?:an?_)?(?:failure_rate_of_)?{_N}~(?:%|percent|per_cent)(?:_{_OF_FAILURES})?", _percent),
        (rf"keep_going|{_NEVER}_stop(?:_(?:on|at|for|after)(?:_any|_the|_an?)?_{_FAILURE})?", _always(_ON)),
        (rf"ignore_(?:the_|any_)?{_FAILURE}|go_on_(?:on|after|despite)_(?:any_)?{_FAILURE}", _always(_ON)),
        (r"(?:with_)?no_pauses?|without_(?:an?_|any_)?pauses?", _always(Pace(pause_s=0))),
        (rf"(?:pause|wait|sleep|rest)(?:_of|_for)?_{_TIME}(?:_{_BETWEEN}|_apart)?", _pause),
        (rf"(?:with_)?(?:an?_)?(?:pause_of_)?{_TIME}_(?:pause(?:_{_BETWEEN})?|apart|{_BETWEEN})", _pause),
        (rf"(?:with_)?(?:an?_)?pause_of_{_TIME}", _pause),
    )
)
_WORD = r"@?[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?"
_LIST = rf"{_WORD}(?:(?:~,~(?:and[ \t]+)?|[ \t]+and[ \t]+){_WORD}){{0,20}}"
_FIRST = re.compile(
    rf"(?:(?P<names>{_LIST})[ \t]+(?:goes?[ \t]+)?first"
    rf"|(?:start|begin)(?:n?ing)?[ \t]+with[ \t]+(?P<start>{_LIST}))".replace("~", r"[ \t]*")
    + _blanks(_ENDS),
    re.IGNORECASE,
)
_NAMES = re.compile(r"[ \t]*,[ \t]*(?:and[ \t]+)?|[ \t]+and[ \t]+", re.IGNORECASE)
_JOIN = re.compile(r"(?:and[ \t]+)?(?:then[ \t]+)?", re.IGNORECASE)
#: Words before "first" that name no target.
_NO_TARGETS = frozenset({"a", "and", "at", "canaries", "canary", "first", "it", "one", "the", "then"})
_GAP = re.compile(r"[ \t,;]*")
_COURTESY = re.compile(r"(?:please|pls|now|thanks|thank[ \t]+you)(?![\w-])|[.!?]+", re.IGNORECASE)


def read(text: str, start: int = 0) -> tuple[Said, int] | None:
    """Read one clause at `start`: what it says and where it ends; None where there is none.

    Raises:
        PaceError: it names a value that is out of bounds.
    """
    at = _JOIN.match(text, start)
    begins = start if at is None else at.end()
    for pattern, pace in _CLAUSES:
        if match := pattern.match(text, begins):
            return Said(pace=pace(match)), match.end()
    if begins > _last_hint(text):
        return None  # long lists of names are common, and this is asked at each of them
    match = _FIRST.match(text, begins)
    if match is None:
        return None
    names = tuple(dict.fromkeys(_NAMES.split(match["names"] or match["start"])))
    return None if _NO_TARGETS & {name.lower() for name in names} else (Said(first=names), match.end())


@functools.lru_cache(maxsize=8)
def _last_hint(text: str) -> int:
    """Return where the last word stands without which no target goes first."""
    return max(map(text.lower().rfind, ("first", "start", "begin")))


def whole(text: str, start: int = 0) -> Said | None:
    """Read all from `start` as clauses, courtesies aside; None where it is not that.

    Raises:
        PaceError: see `read` and `Said.joined`.
    """
    found: list[Said] = []
    at = _over(_GAP, text, start)
    while at < len(text):
        polite = _COURTESY.match(text, at) if found else None
        clause = read(text, at) if polite is None else None
        if clause is not None:
            found.append(clause[0])
        elif polite is None:
            return None
        at = _over(_GAP, text, polite.end() if clause is None and polite else clause[1] if clause else at)
    return functools.reduce(Said.joined, found) if found else None


def _over(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return at if match is None else match.end()


def ordered(targets: Sequence[str], first: Sequence[str]) -> tuple[str, ...]:
    """Return `targets` with those at the front that are to go first.

    Raises:
        PaceError: one of them is not named among the targets, where it would be one more.
    """
    named = {word.casefold(): word for word in targets}
    for name in first:
        if name.casefold() not in named:
            how = f"on {name},{','.join(targets)}"
            raise PaceError(
                f"Nothing ran. {name} goes first only where it is named as a target, as in:  {how}"
            )
    leading = tuple(dict.fromkeys(named[name.casefold()] for name in first))
    return (*leading, *(word for word in targets if word not in leading))


# ---------------------------------------------------------------- at the end of plain words

#: No longer run of clauses is looked for at the end of a command.
_MAX_TAIL = 300
_COMMA = re.compile(r"(?<=\S),[ \t]+(?=\S)")
_PLAIN = re.compile(r"[A-Za-z0-9_@%+=:./~-]+")
#: Commands whose arguments never end in a comma before a few words of English. Those that write or run what
#: they are given (echo, logger, wall, docker) are not among them; what is missing is asked about.
_NO_WORDS_TO = """apk apt apt-get certbot chmod chown df dmesg dnf dpkg du free hostname journalctl last ls
    lsblk mount nginx nproc pacman poweroff ps reboot restorecon rpm service ss swapoff swapon sync sysctl
    systemctl timedatectl ufw umount uname uptime vmstat w who yum zypper"""
_TAKES_NO_WORDS = frozenset(_NO_WORDS_TO.split())
_LEADS = frozenset({"sudo", "doas"})


def tail(text: str) -> Tail | None:
    """Split the longest run of clauses after a comma off the end of `text`; None where there is none.

    Raises:
        PaceError: they are clauses, and cannot be followed.
    """
    commas = list(_COMMA.finditer(text, max(len(text) - _MAX_TAIL, 0)))
    quoted = open_quotes(text) if commas else ()
    for comma in commas:
        if not quoted[comma.start()] and (said := whole(text, comma.end())) is not None:
            before = text[: comma.start()].rstrip(" \t")
            return Tail(before=before, said=said, words=text[comma.end() :])
    return None


def takes_no_words(command: str) -> bool:
    """Whether `command` would never be followed by a comma and words that belong to it."""
    parts = command.split()
    if not all(map(_PLAIN.fullmatch, parts)):
        return False
    name = next((part for part in parts if part not in _LEADS), "")
    return name.rpartition("/")[2] in _TAKES_NO_WORDS


# ---------------------------------------------------------------- writing


def words(pace: Pace) -> str:
    """Write a pace as clauses that read back as the same: "canary 2, 5 at a time, keep going"."""
    said = [
        _said(pace.canary, none="no canary", some="canary {}"),
        _said(pace.batch, none="all at once", some="{} at a time"),
        _said(pace.stop_after, none="keep going", some="stop after {} failures"),
        _said(pace.stop_percent, none="", some="stop at {} % failures"),
        _said(pace.pause_s, none="no pause", some="pause {}s between batches"),
    ]
    return ", ".join(filter(None, said))


def _said(value: int | None, *, none: str, some: str) -> str:
    if value is None:
        return ""
    return some.format(value) if value else none
