"""Several requests in one sentence: "disk and memory on web1", "tail the log of caddy and restart it if …".

Parts that are each certain become ordered drafts of one proposal. A condition ("if it flaps") is never turned
into one: the parts are offered one by one, the reading ones first, so that a person looks and then decides.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bot.planning.drafts import Option, Plan, Question, RunbookPlan
from bot.planning.matching import Match
from bot.planning.titles import Context, certain, request_of, service_of, settle
from bot.planning.words import PRONOUNS, Token, tokens

_MAX_PARTS = 8
_JOIN = re.compile(r"\s*(?:[,;]|\b(?:and then|and also|and|then)\b)\s*", re.IGNORECASE)
_IF = re.compile(r"\b(?:only if|if|unless|whenever|when|in case|until|as soon as|once)\b\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """One piece: `conditional` hangs on a condition, `checks` is that condition."""

    text: str
    conditional: bool = False
    checks: bool = False
    matches: tuple[Match, ...] = ()
    targets: tuple[str, ...] = ()


def take_apart(text: str, *, context: Context) -> Plan | Question | None:
    """Read a sentence of several requests; None when it is not made of parts that can be placed."""
    pieces = _split(text)
    if not 1 < len(pieces) <= _MAX_PARTS:
        return None
    parts = _shared_targets(_placed(pieces, context=context))
    clear = [part for part in parts if part.matches]
    if not clear:
        return None
    if any(part.conditional for part in parts):
        return _offer("Nothing ran. A condition is for a person to judge: start with one of these.", clear)
    if len(clear) < len(parts):
        unclear = next(part.text for part in parts if not part.matches)
        return _offer(f'Nothing ran. Unclear: "{unclear}". The rest can be asked alone:', clear)
    return _joined(parts, context=context)


def _split(text: str) -> list[_Part]:
    parts: list[_Part] = []
    for piece in _JOIN.split(text.strip(" \t\r\n.!?")):
        head, *condition = _IF.split(piece, maxsplit=1)
        held = bool(condition)
        if head.strip():
            parts.append(_Part(text=head.strip(), conditional=held))
        if held and condition[0].strip():
            parts.append(_Part(text=condition[0].strip(), checks=True))
    return parts


def _placed(pieces: Sequence[_Part], *, context: Context) -> list[_Part]:
    service: str | None = None
    placed = []
    for piece in pieces:
        words = _without_pronouns(tokens(piece.text), service)
        found = certain(words, context=context)
        if found is None:
            placed.append(piece)
            continue
        matches, targets = found
        service = next((name for match in matches if (name := service_of(match))), service)
        placed.append(
            _Part(
                text=piece.text,
                conditional=piece.conditional,
                checks=piece.checks,
                matches=matches,
                targets=targets,
            )
        )
    return placed


def _without_pronouns(words: Sequence[Token], service: str | None) -> tuple[Token, ...]:
    if service is None:
        return tuple(words)
    return tuple(Token(service, service.casefold()) if word.folded in PRONOUNS else word for word in words)


def _shared_targets(parts: Sequence[_Part]) -> list[_Part]:
    """Give parts without a target the one that another part names, if all agree on it."""
    named = {part.targets for part in parts if part.targets}
    if len(named) != 1:
        return list(parts)
    (targets,) = named
    return [
        _Part(
            text=part.text,
            conditional=part.conditional,
            checks=part.checks,
            matches=part.matches,
            targets=part.targets or targets,
        )
        for part in parts
    ]


def _offer(text: str, parts: Sequence[_Part]) -> Question:
    order = sorted(parts, key=lambda part: (part.conditional, part.checks))
    requests = dict.fromkeys(request_of(part.matches[0], part.targets) for part in order)
    options = tuple(Option(label=request, request=request) for request in requests)
    return Question(text=text, options=options, partly=True)


def _joined(parts: Sequence[_Part], *, context: Context) -> Plan | Question:
    plans = []
    for part in parts:
        outcome = settle(part.matches, part.targets, context=context)
        if isinstance(outcome, Question):
            return outcome
        if isinstance(outcome, RunbookPlan):
            return _offer("Nothing ran. A runbook runs by itself: start with one of these.", parts)
        plans.append(outcome)
    return Plan(
        drafts=tuple(draft for plan in plans for draft in plan.drafts),
        source=plans[0].source,
        confidence=min(plan.confidence for plan in plans),
    )
