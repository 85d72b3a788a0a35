"""Runbooks by name: "run runbook provision-lxc on pve1 with package=nginx, vmid=120", read and written.

This is the literal form of a run: titles lead to the same plan, and every question about a run has answers in
this form. It checks that values are of their type and binds nothing.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rapidfuzz import process

from bot.planning import grammar
from bot.planning.drafts import Option, Question, RunbookPlan
from bot.planning.grammar import Known
from bot.planning.library import Document, Library

MAX_OPTIONS = 10
_NEAR = 60.0

_ID = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
_HEAD = re.compile(
    rf"(?:(?:please|pls|can you|could you)[ \t,]+)*(?:run|start|execute)[ \t]+(?:the[ \t]+)?runbook[ \t]+"
    rf"(?P<id>{_ID})(?=[ \t,:.!?]|$)",
    re.IGNORECASE,
)
_ON = re.compile(rf"[ \t,:]*on[ \t]+({grammar.TARGET_LIST})(?=[ \t,.!?]|$)", re.IGNORECASE)
_WITH = re.compile(r"[\s,:]*(?:with|where)\s+(?=[A-Za-z_][A-Za-z0-9_]*[ \t]*[=:])", re.IGNORECASE)
#: In a sentence the values come last; before them stands what is wanted.
_LAST_WITH = re.compile(r"[ \t,]+(?:with|where)[ \t]+(?=[A-Za-z_][A-Za-z0-9_]*[ \t]*=)", re.IGNORECASE)
_NAME = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)[ \t]*[=:][ \t]*")
_BARE = re.compile(r"[^ \t\n,;\"']+(?=[ \t\n,;]|$)")
_JOIN = re.compile(r"[ \t]*(?:[,;\n]|\band\b)?\s*", re.IGNORECASE)
_PLAIN = re.compile(r"[A-Za-z0-9_@%+:./-]+(?<![.!?])", re.ASCII)
_QUOTES = str.maketrans({"\u201c": '"', "\u201d": '"', "\u201e": '"'})
_END = re.compile(r"[ \t\n.!?,]*(?:please|pls|thanks|thank you)?[ \t\n.!?]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """Values that were said by name, and where in the text they end."""

    values: Mapping[str, str]
    end: int


def parse(text: str, *, library: Library, known: Known) -> RunbookPlan | Question | None:
    """Read the literal form; None where the text is not one.

    Example inputs: "run runbook free-vmid", "run runbook backup on db1 with keep=7, note='before upgrade'".
    """
    match = _HEAD.match(text)
    if match is None:
        return None
    document = library.documents.get(match["id"].casefold())
    if document is None:
        return _unknown(match["id"], library)
    at = match.end()
    targets: tuple[str, ...] = ()
    values: Mapping[str, str] = {}
    while True:
        if not targets and (on := _ON.match(text, at)):
            targets, at = grammar.target_words(on[1]), on.end()
        elif not values and (lead := _WITH.match(text, at)):
            given = pairs(text, lead.end())
            if given is None:
                return _unread(text[lead.end() :], document)
            values, at = given.values, given.end
        else:
            break
    if not _END.fullmatch(text, at):
        return _unread(text[at:], document)
    return filled(document, values, targets=tuple(known.spelling(word) or word for word in targets))


def filled(
    document: Document, values: Mapping[str, str], *, targets: tuple[str, ...], confidence: float = 1.0
) -> RunbookPlan | Question:
    """Return the plan of `document` with `values`, or say which of them it does not know."""
    strange = [name for name in values if name not in document.inputs]
    if strange:
        names = ", ".join(document.inputs) or "none"
        return Question(text=f"Nothing ran. {document.id} has no input {strange[0]}. Its inputs: {names}.")
    fitting = {name: value for name, value in values.items() if document.inputs[name].accepts(value)}
    return RunbookPlan(
        document=document,
        inputs=fitting,
        missing=tuple(
            name
            for name, declared in document.inputs.items()
            if name not in fitting
            and declared.required
            and declared.default is None
            and name not in document.captured
        ),
        wrong=tuple(name for name in values if name not in fitting),
        target_words=targets,
        confidence=confidence,
    )


def request(plan: RunbookPlan) -> str:
    """Write a plan as a literal request that reads back as the same."""
    return written(plan.document, plan.inputs, targets=plan.target_words)


def written(document: Document, values: Mapping[str, str], *, targets: Sequence[str] = ()) -> str:
    """Write a literal request for `document`."""
    where = f" on {','.join(targets)}" if targets else ""
    told = ", ".join(f"{name}={_quoted(value)}" for name, value in values.items())
    return f"run runbook {document.id}{where}{f' with {told}' if told else ''}"


def shown(plan: RunbookPlan) -> str:
    """Write a plan for people: secret values are masked."""
    masked = {
        name: "***" if plan.document.inputs[name].secret else value for name, value in plan.inputs.items()
    }
    return written(plan.document, masked, targets=plan.target_words)


def _quoted(value: str) -> str:
    return value if _PLAIN.fullmatch(value) else json.dumps(value, ensure_ascii=False)


def pairs(text: str, start: int = 0) -> Given | None:
    """Read `name=value` pairs at `start`, with commas or lines between; None where there are none.

    A value in double quotes is written as in JSON; what stands in quotes is taken as it is otherwise.
    """
    values: dict[str, str] = {}
    at = start
    while match := _NAME.match(text, at):
        read = _value(text, match.end())
        if read is None or match[1] in values:
            return None
        values[match[1]], at = read
        following = _JOIN.match(text, at)
        after = at if following is None else following.end()
        if not _NAME.match(text, after):
            break
        at = after
    return Given(values=values, end=at) if values else None


def lines(text: str) -> Mapping[str, str]:
    """Read one `name: value` or `name=value` a line, values as they stand; {} unless every line is one.

    A name without a value says nothing. A value in double quotes is read as in `pairs`.
    """
    found: dict[str, str] = {}
    for line in (one.strip() for one in text.splitlines()):
        match = _NAME.match(line)
        if line and (match is None or match[1] in found):
            return {}
        if match is not None and (said := line[match.end() :].strip()):
            quoted = _in_quotes(said, 0) if said[0].translate(_QUOTES) == '"' else None
            found[match[1]] = quoted[0] if quoted is not None and quoted[1] == len(said) else said
    return found


def said_by_name(text: str) -> Mapping[str, str]:
    """Return the values that a whole message says by name, in pairs or a line each; {} for other words."""
    given = pairs(text.strip())
    if given is not None and _END.fullmatch(text.strip(), given.end):
        return given.values
    return lines(text)


def says(text: str, value: str) -> bool:
    """Whether `value` stands in a text: as it is, or as it may be written behind a name, with escapes."""
    if value in text:
        return True
    read = (_value(text, match.end()) for match in _NAME.finditer(text))
    return any(one is not None and one[0] == value for one in read)


def _value(text: str, at: int) -> tuple[str, int] | None:
    first = text[at : at + 1].translate(_QUOTES)
    if first == '"':
        return _in_quotes(text, at)
    if first == "'":
        end = text.find("'", at + 1)
        return None if end < 0 else (text[at + 1 : end], end + 1)
    match = _BARE.match(text, at)
    if match is None:
        return None
    word = match[0].rstrip(".!?") if match.end() == len(text.rstrip()) else match[0]
    return word, at + len(word)


def _in_quotes(text: str, at: int) -> tuple[str, int] | None:
    if text[at] != '"':
        text = text[:at] + text[at:].translate(_QUOTES)
    try:
        value, end = _DECODER.raw_decode(text, at)
    except ValueError:
        return None
    return (value, end) if isinstance(value, str) else None


#: Lines and tabs may stand in quotes as they are.
_DECODER = json.JSONDecoder(strict=False)


def split(text: str) -> tuple[str, Mapping[str, str]]:
    """Cut "with vmid=120, name=web7" off the end of a sentence; no values where it ends otherwise.

    What follows the values may only name the target: "… with vmid=120 on pve1".
    """
    lead = _LAST_WITH.search(text)
    given = None if lead is None else pairs(text, lead.end())
    if lead is None or given is None:
        return text, {}
    rest = text[given.end :]
    on = _ON.match(rest)
    if not _END.fullmatch(rest, on.end() if on else 0):
        return text, {}
    return f"{text[: lead.start()]}{on[0] if on else ''}", given.values


def _unknown(name: str, library: Library) -> Question:
    found = process.extract(name.casefold(), list(library.documents), limit=3, score_cutoff=_NEAR)
    options = tuple(
        Option(label=f"{one}: {library.documents[one].title}", request=f"run runbook {one}")
        for one, _, _ in found
    )
    return Question(text=f"Nothing ran. There is no runbook {name}. runbooks lists them.", options=options)


def _unread(rest: str, document: Document) -> Question:
    return Question(
        text=f'Nothing ran. This is unclear: "{rest.strip()}". '
        f'Say  run runbook {document.id} on <target> with name=value, other="two words".'
    )
