"""Requests that hold the command itself: "run df -h on web1", "on @web: uptime", a fenced block.

Takes a command in backticks or a block byte for byte. Outside of them the quotes, dashes and blanks that
phones put in are folded back (bot.planning.typed); nothing else is trimmed inside or repaired. Where a text
can be read in two ways it asks; it never picks the reading that runs more.
It does not know what any command does.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.planning import grammar, groups, pacing, tails, typed, unclear
from bot.planning.drafts import ActionDraft, Option, Plan, PlanSource, Question
from bot.planning.grammar import Known
from bot.planning.words import PRONOUNS

MAX_OPTIONS = 10

_ADDRESS = re.compile(r"(?:hey[ \t]+|hi[ \t]+)?@?sayso(?:[ \t]*[,:])?[ \t]+(?=\S)", re.IGNORECASE)
_COURTESY = re.compile(
    r"(?:(?:please|pls|can you|could you|would you|then|and then|now)[ \t,]+)+"
    r"(?=(?:run|exec|execute|on)\b|`)",
    re.IGNORECASE,
)
_RUN = re.compile(r"(?:run|exec|execute)(?:[ \t]*:)?[ \t]+(?=\S)", re.IGNORECASE)
_ON_RUN = re.compile(
    rf"on[ \t]+({grammar.TARGET_LIST})(?:[ \t]*:[ \t]*|[ \t]*,?[ \t]+(?:run|exec|execute)[ \t]+)(?=\S)",
    re.IGNORECASE,
)
_LEAD_ON = re.compile(r"on[ \t]+(?=\S)", re.IGNORECASE)
_TO_COMMAND = re.compile(r"[ \t]*[,:]?[ \t]*(?=`|(?:run|exec|execute)\b[ \t:]+\S)", re.IGNORECASE)
_UP_TO_COLON = re.compile(r"[ \t,]*([^:`]{1,300}):[ \t]+(?=\S)")
_ON_SPAN = re.compile(rf"on[ \t]+({grammar.TARGET_LIST})[ \t]+(?=`)", re.IGNORECASE)
_COLON = re.compile(rf"({grammar.TARGET_LIST})[ \t]*:[ \t]+(?=\S)", re.IGNORECASE)
_ON = re.compile(r"[ \t]on[ \t]+", re.IGNORECASE)
_LEADING_ON = re.compile(r"[ \t,]*on[ \t]+", re.IGNORECASE)
#: What "run it" may be followed by without being a command.
_OF_PRONOUN = re.compile(r"[ \t]+(?:everywhere|(?:on|across)[ \t]+all\b.*)$", re.IGNORECASE)
_FENCE = re.compile(r"```(.*?)```", re.DOTALL)
_LANGUAGE = re.compile(r"(?:sh|bash|shell|console|zsh|text)?[ \t]*\r?\n")
_RUN_THIS = re.compile(r"(?:run|exec|execute)(?:[ \t]+(?:this|the following))?(?=[ \t]|$)", re.IGNORECASE)
_NOTE_LINE = re.compile(r"(?:and[ \t]+)?(?:then[ \t]+)?verify\b|because\b|with[ \t]|timeout\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Untargeted:
    """A command without a target; `_settle` gives it the default one or asks."""

    command: str
    clauses: grammar.Clauses


_Read = tuple[ActionDraft | _Untargeted, ...] | Question | None


def bare(text: str) -> str:
    """Return the message without its outer blanks and without "sayso," before it."""
    text = text.strip(" \t\r\n")
    return text[match.end() :] if (match := _ADDRESS.match(text)) else text


def parse(text: str, *, targets: Sequence[str], tags: Sequence[str] = ()) -> Plan | Question | None:
    """Read a literal request; None when the text is not one.

    Example inputs: "run df -h on web1", "`df -h` on web1", "on @web: uptime", "web1: uptime",
    "run apt upgrade -y on web1 with 2h timeout then verify `true`", several such lines, a fenced block.
    """
    known = Known(targets=tuple(targets), tags=tuple(tags))
    message = bare(text)
    try:
        read = _fenced(message, known) if "```" in message else _lines(message, known)
    except pacing.PaceError as error:
        return Question(text=str(error))
    if read is None or isinstance(read, Question):
        return read
    return _settle(read, purpose=text.strip(" \t\r\n"), known=known)


# ---------------------------------------------------------------- lines


def _lines(message: str, known: Known) -> _Read:
    drafts: list[ActionDraft | _Untargeted] = []
    for line in (typed.folded(line).strip(" \t\r") for line in message.split("\n")):
        if not line:
            continue
        if drafts and _is_note(line) and (noted := grammar.clauses(line)) and not noted.rest:
            drafts[-1] = _with_clauses(drafts[-1], noted)
            continue
        read = _line(line, known)
        if isinstance(read, Question):
            return read
        if read is None:
            return _half_read(line, drafts)
        drafts.extend(read)
    return tuple(drafts) or None


def _is_note(line: str) -> bool:
    return _NOTE_LINE.match(line) is not None or pacing.read(line) is not None


def _half_read(line: str, drafts: Sequence[ActionDraft | _Untargeted]) -> Question | None:
    if not drafts:
        return None
    requests = "\n".join(grammar.request_text(draft) for draft in drafts if isinstance(draft, ActionDraft))
    options = (Option(label="Only the lines before it", request=requests),) if requests else ()
    return Question(
        text=f'Nothing ran. This line is no request: "{line}". '
        "Write each line as: run <command> on <target>, or put several lines of one command in a ``` block.",
        options=options,
    )


def _line(line: str, known: Known) -> _Read:
    if match := _COURTESY.match(line):
        line = line[match.end() :]
    if match := _ON_RUN.match(line) or _ON_SPAN.match(line):
        return _addressed(grammar.target_words(match[1]), line[match.end() :], known)
    if (ahead := _grouped_ahead(line, known) or _paced_ahead(line, known)) is not None:
        words, said, rest = ahead
        return _addressed(words, rest, known, said=said)
    if (match := _COLON.match(line)) and all(map(known.spelling, words := grammar.target_words(match[1]))):
        return _addressed(words, line[match.end() :], known)
    if line.startswith("`"):
        return _spanned(line, known)
    if match := _RUN.match(line):
        command = line[match.end() :]
        return _spanned(command, known) if command.startswith("`") else _plain(command, known)
    return None


def _grouped_ahead(line: str, known: Known) -> tuple[tuple[str, ...], pacing.Said, str] | None:
    """Split "on all web servers: `uptime`"; without backticks or "run" it may be prose, and is not read."""
    lead = _LEAD_ON.match(line)
    listed = grammar.target_list(line, lead.end(), known=known) if lead else _alone(line, known)
    head = _TO_COMMAND.match(line, listed[1]) if listed else None
    return (listed[0], pacing.Said(), line[head.end() :]) if listed and head else None


def _alone(line: str, known: Known) -> tuple[tuple[str, ...], int] | None:
    """Split "everywhere", "all servers" from the front, which take no "on" there."""
    group = groups.at(line, 0, known.tags)
    return ((group[0].target,), group[1]) if group and group[0].sure is groups.Sureness.ALONE else None


def _paced_ahead(line: str, known: Known) -> tuple[tuple[str, ...], pacing.Said, str] | None:
    """Split "on @web, canary first: uptime" into its targets, what is said of the pace, and what follows."""
    lead = _LEAD_ON.match(line)
    listed = grammar.target_list(line, lead.end(), known=known) if lead else None
    head = _UP_TO_COLON.match(line, listed[1]) if listed else None
    said = pacing.whole(head[1]) if head else None
    if listed is None or head is None or said is None:
        return None
    return listed[0], said, line[head.end() :]


def _addressed(words: tuple[str, ...], rest: str, known: Known, *, said: pacing.Said | None = None) -> _Read:
    """Read what follows "on web1:"; only a code span may carry clauses beyond the unmistakable ones.

    Args:
        said: what was said about the pace before the command.
    """
    before = said or pacing.Said()
    if match := _RUN.match(rest):
        rest = rest[match.end() :]
    if (span := grammar.code_span(rest)) is not None:
        found = grammar.clauses(span[1])
        if found is None:
            return unclear.end(rest)
        found = replace(found, said=before.joined(found.said))
        return _chained((_draft(words, span[0], found),), found, known)
    command, found = grammar.trailing(rest)
    found = replace(found, said=before.joined(found.said))
    return _one(tails.paced(_draft(words, command, found))) if command else None


def _one(read: ActionDraft | _Untargeted | Question) -> tuple[ActionDraft | _Untargeted, ...] | Question:
    return read if isinstance(read, Question) else (read,)


def _spanned(text: str, known: Known) -> _Read:
    """Read "`command` on web1 …"; the span says where the command ends, so nothing in it is searched."""
    span = grammar.code_span(text)
    if span is None:
        return unclear.end(text)
    command, rest = span
    words, tail = _leading_targets(rest, known)
    found = grammar.clauses(tail)
    if found is None:
        return unclear.end(text)
    draft = _draft(words, command, found) if words else _Untargeted(command=command, clauses=found)
    return _chained((draft,), found, known)


def _leading_targets(text: str, known: Known) -> tuple[tuple[str, ...], str]:
    """Split "on web1 with …" into its targets and the rest; no targets where there is no "on"."""
    if (far := grammar.FAR_AND_WIDE.match(text)) and (group := groups.at(text, far.end(), known.tags)):
        return (group[0].target,), text[group[1] :]
    match = _LEADING_ON.match(text)
    listed = grammar.target_list(text, match.end(), known=known) if match else None
    return (listed[0], text[listed[1] :]) if listed else ((), text)


def _chained(drafts: tuple[ActionDraft | _Untargeted, ...], found: grammar.Clauses, known: Known) -> _Read:
    if not found.rest:
        return drafts
    following = _line(grammar.next_request(found.rest), known)
    if following is None or isinstance(following, Question):
        return following or unclear.end(found.rest)
    return drafts + following


def _plain(text: str, known: Known) -> _Read:
    """Read "command on web1 …" without backticks: the last " on NAME" that leaves a readable tail counts."""
    readings: list[tuple[ActionDraft, grammar.Clauses]] = []
    torn: list[tuple[ActionDraft, str]] = []
    for command, words, tail in _splits(text, known):
        found = grammar.clauses(tail)
        if found is not None:
            readings.append((_draft(words, command, found), found))
        elif known.holds(words):
            torn.append((_draft(words, command, grammar.Clauses()), tail))
    trusted = [reading for reading in readings if known.holds(reading[0].target_words)]
    if len(trusted) > 1 or (trusted and trusted[0][1].rest):
        return unclear.which(trusted)
    if trusted:
        return _one(tails.paced(trusted[0][0]))
    if torn:
        return unclear.torn(text, torn[0][0], tail=torn[0][1])
    if readings and not readings[0][1].rest:
        return (readings[0][0],)
    far = _far_and_wide(text, known)
    return _untargeted(text, known) if far is None else _one(far)


def _untargeted(text: str, known: Known) -> _Read:
    command, found = grammar.trailing(text)
    if _OF_PRONOUN.sub("", command).casefold().rstrip(".!?") in PRONOUNS:
        return None  # "run it" speaks of something else that was said
    return _one(_anywhere(command, found, known)) if command else None


def _far_and_wide(text: str, known: Known) -> ActionDraft | Question | None:
    """Read "command everywhere" where the command takes no such words; where it may, ask."""
    split = grammar.far_and_wide(text, known)
    found = grammar.clauses(split[2]) if split else None
    if split is None or found is None or found.rest:
        return None
    command, target, _ = split
    if command.casefold() in PRONOUNS:
        return None
    draft = _draft((target,), command, found)
    if pacing.takes_no_words(command):
        return draft
    whole, clauses = grammar.trailing(text)
    return unclear.everywhere(draft, [_draft((name,), whole, clauses) for name in _some(known)])


def _some(known: Known) -> tuple[str, ...]:
    return (known.default,) if known.default is not None else known.targets[: MAX_OPTIONS - 1]


def _anywhere(command: str, found: grammar.Clauses, known: Known) -> ActionDraft | _Untargeted | Question:
    """Return a command in plain words without a target; which one is asked with the whole of it in sight."""
    if known.default is not None:
        return tails.paced(_draft((known.default,), command, found))
    read = tails.paced(_draft(("",), command, found))
    if isinstance(read, Question) or read.command == command:
        return _Untargeted(command=command, clauses=found)
    said = pacing.Said(pace=read.pace)
    return _Untargeted(
        command=read.command,
        clauses=replace(found, said=said, timeout_s=read.timeout_s, verify=read.verify),
    )


def _splits(text: str, known: Known) -> list[tuple[str, tuple[str, ...], str]]:
    """Return (command, target words, tail) for every " on NAME" outside quotes, the last one first."""
    found = []
    quoted = typed.open_quotes(text)
    for match in _ON.finditer(text):
        command = text[: match.start()].rstrip(" \t")
        if not command or quoted[match.start()]:
            continue
        listed = grammar.target_list(text, match.end(), known=known)
        if listed and listed[0] == (groups.ALL,) and command.casefold() in PRONOUNS:
            continue  # "run it on all" speaks of what waits
        if listed:
            found.append((command, listed[0], text[listed[1] :]))
        elif (name := grammar.known_start(text, match.end(), known=known)) is not None:
            found.append((command, (name,), text[match.end() + len(name) :]))
    return found[::-1]


def _draft(words: tuple[str, ...], command: str, found: grammar.Clauses) -> ActionDraft:
    return ActionDraft(
        target_words=pacing.ordered(words, found.said.first),
        command=command,
        purpose=found.purpose,
        timeout_s=found.timeout_s,
        verify=found.verify,
        workdir=found.workdir,
        pace=found.said.pace,
    )


def _with_clauses(draft: ActionDraft | _Untargeted, more: grammar.Clauses) -> ActionDraft | _Untargeted:
    if isinstance(draft, _Untargeted):
        old = draft.clauses
        merged = replace(
            old,
            timeout_s=old.timeout_s if more.timeout_s is None else more.timeout_s,
            verify=more.verify or old.verify,
            purpose=more.purpose or old.purpose,
            workdir=more.workdir or old.workdir,
            said=old.said.joined(more.said),
        )
        return replace(draft, clauses=merged)
    said = pacing.Said(pace=draft.pace).joined(more.said)
    return replace(
        draft,
        target_words=pacing.ordered(draft.target_words, said.first),
        pace=said.pace,
        timeout_s=draft.timeout_s if more.timeout_s is None else more.timeout_s,
        verify=more.verify or draft.verify,
        purpose=more.purpose or draft.purpose,
        workdir=more.workdir or draft.workdir,
    )


# ---------------------------------------------------------------- fenced blocks


def _fenced(message: str, known: Known) -> _Read:
    blocks = list(_FENCE.finditer(message))
    if len(blocks) != 1:
        return Question(
            text="Nothing ran. One ``` block is one command: send one block in a message, closed with ```."
        )
    block = blocks[0]
    before = message[: block.start()].strip(" \t\r\n")
    after = message[block.end() :].strip(" \t\r\n")
    command = _block_command(block[1])
    if not command.strip(" \t\r\n"):
        return Question(text="Nothing ran. The ``` block is empty.")
    return _around(command, before, after, known)


def _block_command(body: str) -> str:
    if match := _LANGUAGE.match(body):
        body = body[match.end() :]
    return body.removesuffix("\n").removesuffix("\r") if body.endswith("\n") else body


def _around(command: str, before: str, after: str, known: Known) -> _Read:
    if match := _COURTESY.match(before):
        before = before[match.end() :]
    head = _RUN_THIS.sub("", before.rstrip(" \t:"))
    lead_words, lead_text = _leading_targets(head, known)
    tail_words, tail_text = _leading_targets(after, known)
    lead = grammar.clauses(lead_text)
    tail = grammar.clauses(tail_text.lstrip(":").replace("\n", ", "))
    if lead is None or tail is None or lead.rest or tail.rest or (lead_words and tail_words):
        return Question(
            text="Nothing ran. Around a ``` block only the target and options are read: "
            "on <target>, with <time> timeout, then verify `<command>`, because <purpose>."
        )
    words = lead_words or tail_words
    base = _draft(words, command, lead) if words else _Untargeted(command=command, clauses=lead)
    return (_with_clauses(base, tail),)


# ---------------------------------------------------------------- what is unclear


def _settle(read: Sequence[ActionDraft | _Untargeted], *, purpose: str, known: Known) -> Plan | Question:
    default = known.default
    drafts: list[ActionDraft] = []
    for item in read:
        if isinstance(item, _Untargeted):
            if default is None:
                return _where(item.command, item.clauses, known)
            drafts.append(_draft((default,), item.command, item.clauses))
        else:
            drafts.append(item)
    if not all(grammar.is_allowed_timeout(draft.timeout_s) for draft in drafts):
        return Question(text="Nothing ran. A timeout lies between 1s and 24h.")
    return Plan(
        drafts=tuple(
            replace(
                draft,
                purpose=draft.purpose or purpose,
                target_words=tuple(known.spelling(word) or word for word in draft.target_words),
            )
            for draft in drafts
        ),
        source=PlanSource.LITERAL,
    )


def _where(command: str, clauses: grammar.Clauses, known: Known) -> Question:
    return unclear.where(command, [_draft((name,), command, clauses) for name in known.targets[:MAX_OPTIONS]])
