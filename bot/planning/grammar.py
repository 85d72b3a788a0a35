"""The small grammar around a command: targets, quotes, clauses and their way back to text.

Knows how a request is written, not what any command means. Only spaces and tabs separate words here: other
white space and invisible characters belong to the command and reach the gate as they are.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile

from bot.planning import groups, pacing
from bot.planning.drafts import ActionDraft
from bot.planning.lengths import DURATION, duration_s
from bot.planning.typed import folded, open_quotes

MIN_TIMEOUT_S = 1
MAX_TIMEOUT_S = 86_400

_NAME = r"@?[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
#: One or more target words: "web1", "@web", "web1,web2", "web1, db1 and @web".
TARGET_LIST = rf"{_NAME}(?:(?:[ \t]*,[ \t]*(?:and[ \t]+)?|[ \t]+and[ \t]+){_NAME})*"
_TARGET_SPLIT = re.compile(r"[ \t]*,[ \t]*(?:and[ \t]+)?|[ \t]+and[ \t]+", re.IGNORECASE)

_TARGET_LIST_AT = re.compile(TARGET_LIST + r"(?![\w/@-])", re.IGNORECASE)
_NAME_AT = re.compile(_NAME)
#: What stands before a group that needs no "on".
FAR_AND_WIDE = re.compile(r"[ \t]+(?:across[ \t]+(?=all|every|each)|(?=everywhere))", re.IGNORECASE)
_JOINER = re.compile("and", re.IGNORECASE)
#: Words of this grammar, which are no target unless the inventory says so.
RESERVED = frozenset(
    {"and", "because", "exec", "execute", "in", "now", "on", "please", "pls", "purpose"}
    | {"run", "so", "thanks", "then", "timeout", "to", "verify", "with"}
)

_WITH = r"with[ \t]+(?:an?[ \t]+)?"
_TIMEOUT = re.compile(
    rf"(?:{_WITH})?(?:timeout(?:[ \t]+of)?[ \t=:]+({DURATION})|({DURATION})[ \t]+timeout\b)",
    re.IGNORECASE,
)
_TRAILING_TIMEOUT = re.compile(
    rf"[ \t]+{_WITH}(?:timeout(?:[ \t]+of)?[ \t]+({DURATION})|({DURATION})[ \t]+timeout)[ \t]*$",
    re.IGNORECASE,
)
_WORKDIR = re.compile(r"in[ \t]+(/[^ \t,;'\"`]*)(?=[ \t,;]|$)", re.IGNORECASE)
_VERIFY_HEAD = re.compile(
    r"(?:and[ \t]+)?(?:then[ \t]+)?verify(?:[ \t]*:|[ \t]+with\b|[ \t]+that\b)?[ \t]*", re.IGNORECASE
)
_THEN_VERIFY = re.compile(
    r"[ \t,;]+(?:and[ \t]+)?then[ \t]+verify(?:[ \t]*:|[ \t]+with\b)?[ \t]+", re.IGNORECASE
)
_PURPOSE = re.compile(r"(?:because|so[ \t]+that|to|purpose:)[ \t]+(?=\S)", re.IGNORECASE)
_POLITE = re.compile(r"(?:please|pls|now|thanks|thank you)(?![\w-])|[.!?]+(?=[ \t]|$)", re.IGNORECASE)
_GAP = " \t,;"


@dataclass(frozen=True, slots=True, kw_only=True)
class Clauses:
    """What may follow a command and its targets.

    `said` is about the pace; `rest` is what a further request begins with, or "".
    """

    timeout_s: int | None = None
    verify: str | None = None
    workdir: str = ""
    purpose: str = ""
    said: pacing.Said = field(default_factory=pacing.Said)
    rest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """The names a request may address."""

    targets: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()

    def spelling(self, word: str) -> str | None:
        """Return `word` as the inventory spells it ("WEB1" -> "web1"); None when it knows no such name."""
        folded = word.casefold()
        names = (*self.targets, *(f"@{tag.removeprefix('@')}" for tag in self.tags))
        return next((name for name in names if name.casefold() == folded), None)

    def holds(self, words: Sequence[str]) -> bool:
        """Whether every word is a known target, an @tag, or means all of them."""
        return all(word == groups.ALL or self.spelling(word) for word in words)

    @property
    def default(self) -> str | None:
        """What a request without a target means: the only target, else "local", else unclear (None)."""
        if len(self.targets) == 1:
            return self.targets[0]
        return "local" if "local" in self.targets else None


def target_words(text: str) -> tuple[str, ...]:
    """Split a target list: "web1, @db and web2" -> ("web1", "@db", "web2"). Case is kept."""
    return tuple(dict.fromkeys(_TARGET_SPLIT.split(text.strip(" \t"))))


def target_list(text: str, start: int, *, known: Known) -> tuple[tuple[str, ...], int] | None:
    """Read a target list at `start`: its words and where it ends.

    The longest list of known names wins, so that "web1 and restart" ends after web1; where none is known,
    the longest one without a word of this grammar is taken, to be refused by name. A group in plain words,
    "every web server", is the one that it means.
    """
    if (group := groups.at(text, start, known.tags)) is not None:
        return (group[0].target,), group[1]
    match = _TARGET_LIST_AT.match(text, start)
    if match is None:
        return None
    names = _names(text, start, match.end())
    known_names = list(takewhile(lambda found: known.spelling(found[0]), names))
    plain_names = list(takewhile(lambda found: found[0].casefold() not in RESERVED, names))
    listed = known_names or plain_names
    return (tuple(dict.fromkeys(found[0] for found in listed)), listed[-1].end()) if listed else None


def far_and_wide(text: str, known: Known) -> tuple[str, str, str] | None:
    """Split " everywhere" or " across all servers" from what stands around it; None where nothing is so.

    Returns:
        The command, the target word, and what follows.
    """
    quoted = open_quotes(text)
    for match in reversed(list(FAR_AND_WIDE.finditer(text))):
        group = groups.at(text, match.end(), known.tags)
        command = text[: match.start()].rstrip(" \t,")
        if group is not None and command and not quoted[match.start()]:
            return command, group[0].target, text[group[1] :]
    return None


def _names(text: str, start: int, end: int) -> list[re.Match[str]]:
    """Return the names of a list up to where the pace is told, as in "@web, canary first"."""
    names: list[re.Match[str]] = []
    cut: int | None = None
    for found in _NAME_AT.finditer(text, start, end):
        clause = pacing.read(text, found.start()) if names else None
        if clause is not None:
            cut = len(names)
            # "web1,web2, web2 first": the last name before "first", or all that were listed before.
            if {name.casefold() for name in clause[0].first} <= {one[0].casefold() for one in names}:
                break
        if not _JOINER.fullmatch(found[0]):
            names.append(found)
    return names[:cut]


def known_start(text: str, start: int, *, known: Known) -> str | None:
    """Return the known name that stands at `start` with something odd attached ("web1/x"), else None."""
    match = _NAME_AT.match(text, start)
    return match[0] if match and known.spelling(match[0]) else None


def is_allowed_timeout(seconds: int | None) -> bool:
    """Whether a timeout lies between one second and a day; None says nothing and is allowed."""
    return seconds is None or MIN_TIMEOUT_S <= seconds <= MAX_TIMEOUT_S


def code_span(text: str) -> tuple[str, str] | None:
    """Split a leading `code span` from what follows; None when there is none, or an empty one.

    Two backticks may enclose a command that holds single ones: ``echo `date` ``.
    """
    fence = "``" if text.startswith("``") else "`"
    if not text.startswith(fence):
        return None
    end = text.find(fence, len(fence))
    inner = text[len(fence) : end]
    if end < 0 or not inner.strip(" \t"):
        return None
    return (inner.strip(" ") if len(fence) > 1 else inner), text[end + len(fence) :]


def clauses(tail: str) -> Clauses | None:
    """Read what follows the targets: timeout, pace, verify, working directory, purpose, courtesies.

    Returns:
        None when some of it cannot be read, so that nobody guesses; a `rest` starts with the words of a
        further request ("then run …", "and `…`").

    Raises:
        PaceError: it says a pace that cannot be followed.
    """
    found = Clauses()
    while tail := tail.lstrip(_GAP):
        step = _one_clause(tail, found)
        if step is None:
            return replace(found, rest=tail) if _starts_request(tail) else None
        found, tail = step
    return found


def _one_clause(tail: str, found: Clauses) -> tuple[Clauses, str] | None:
    if option := _option(tail, found):
        return option
    if match := _VERIFY_HEAD.match(tail):
        return _verify(tail[match.end() :], found)
    if match := _PURPOSE.match(tail):
        words = tail[match.end() :]
        cut = _THEN_VERIFY.search(words)
        end = cut.start() if cut else len(words)
        if paced := pacing.tail(words[:end]):
            found = replace(found, said=found.said.joined(paced.said))
        purpose = paced.before if paced else words[:end]
        return replace(found, purpose=purpose.strip(" \t")), words[end:]
    if match := _POLITE.match(tail):
        return found, tail[match.end() :]
    return None


def _option(tail: str, found: Clauses) -> tuple[Clauses, str] | None:
    if match := _TIMEOUT.match(tail):
        return replace(found, timeout_s=duration_s(match[1] or match[2])), tail[match.end() :]
    if match := _WORKDIR.match(tail):
        return replace(found, workdir=match[1]), tail[match.end() :]
    if pace := pacing.read(tail):
        return replace(found, said=found.said.joined(pace[0])), tail[pace[1] :]
    return None


def _verify(text: str, found: Clauses) -> tuple[Clauses, str] | None:
    span = code_span(text)
    if span is not None:
        return replace(found, verify=span[0]), span[1]
    command = text.strip(" \t")
    if paced := pacing.tail(command):
        if not pacing.takes_no_words(paced.before):
            raise pacing.PaceError(
                f'Nothing ran. "{paced.words}" may belong to the verify command. '
                f"Write that in backticks: then verify `{paced.before}`, {paced.words}"
            )
        return replace(found, verify=paced.before, said=found.said.joined(paced.said)), ""
    return (replace(found, verify=command), "") if command else None


_NEXT = re.compile(
    r"(?:and[ \t]+then|and|then)[ \t]+(?=(?:run|exec|execute)[ \t]|`|on[ \t])|(?=`)", re.IGNORECASE
)


def _starts_request(tail: str) -> bool:
    return _NEXT.match(tail) is not None


def next_request(rest: str) -> str:
    """Return the request that a `Clauses.rest` holds, without the word that joined it on."""
    match = _NEXT.match(rest)
    return rest[match.end() :] if match else rest


def trailing(command: str) -> tuple[str, Clauses]:
    """Cut " with 2h timeout" and " then verify …" off a command that has no target after it.

    Only these two, which no shell command plausibly ends with: everything else stays part of the command.
    """
    found = Clauses()
    if (match := _THEN_VERIFY.search(command)) and not open_quotes(command)[match.start()]:
        after = clauses("verify " + command[match.end() :])
        if after is not None and not after.rest and after.verify:
            found, command = after, command[: match.start()]
    if match := _TRAILING_TIMEOUT.search(command):
        found = replace(found, timeout_s=duration_s(match[1] or match[2]))
        command = command[: match.start()]
    return command.strip(" \t"), found


def request_text(draft: ActionDraft) -> str:
    """Write a draft as a literal request that reads back as the same command, targets and options."""
    parts = [f"on {','.join(draft.target_words)}"]
    if draft.workdir:
        parts.append(f"in {draft.workdir}")
    if draft.timeout_s is not None:
        parts.append(f"with {draft.timeout_s}s timeout")
    pace = pacing.words(draft.pace)
    tail = ", ".join(filter(None, (" ".join(parts), pace)))
    if "\n" in draft.command or "`" in draft.command or not draft.command.strip(" "):
        head = f"```\n{draft.command}\n```\n{tail}"
    else:
        head = f"`{draft.command}` {tail}"
    if draft.verify is None:
        return head
    bare = "`" in draft.verify or (folded(draft.verify) == draft.verify and "," not in draft.verify)
    return f"{head}\nverify: {draft.verify if bare else f'`{draft.verify}`'}"
