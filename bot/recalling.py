"""Telling what is remembered: about one thing, or all of it.

Shows each person what they may see, and where others listen nothing that was told in private. It changes
nothing, and nothing of what it says stays in the outbox, so that forgetting a fact takes it all.
"""

from datetime import datetime, tzinfo

from bot import memory
from bot.answering import Speaker
from bot.core import Core
from bot.outcome import Outcome
from bot.phrasing import ago, plural
from bot.text import Span, Text, muted
from gate.redact import redact
from gate.resolve import facts
from gate.resolve.facts import AT
from gate.trust import Source
from ledger.beliefs import BeliefState, BeliefView

#: What an answer has room for.
_MOST, _BEFORE = 20, 3
_UNREADABLE = "What is remembered cannot be read right now. Nothing of it counts until it can."
_TEACH = 'Say it like "remember that the project sync is on Friday at 14:00".'
_SOURCES = {Source.SYSTEM_TOOL: "read by a tool", Source.LLM_INFERRED: "inferred, nobody said so"}

Line = str | Span | list[Span | str]


def show(core: Core, outcome: Outcome, speaker: Speaker, words: str) -> None:
    """Tell what is known about `words`; "" for everything."""
    if memory.recall(core, speaker.operator.id, alone=speaker.alone).failed:
        outcome.say(Text.of(_UNREADABLE))
        return
    told = _found(core, speaker, words, alone=speaker.alone)
    hidden = len(_found(core, speaker, words, alone=True)) - len(told) if not speaker.alone else 0
    lines: list[Line] = []
    for one in told[-_MOST:]:
        lines += _lines(core, outcome, speaker, one, alone=bool(words))
    if len(told) > _MOST:
        lines.append(muted(f"and {len(told) - _MOST} more:  what do you know about <name>?"))
    if hidden > 0:
        lines.append(muted(f"{plural(hidden, 'more fact')} told in private; ask in a direct message."))
    if not lines:
        what = f"about {_masked(core, words)}" if words else "yet"
        lines = [f"Nothing is remembered {what}. {_TEACH}"]
    outcome.say(Text.of(*lines), fleeting=True)


def _found(core: Core, speaker: Speaker, words: str, *, alone: bool) -> list[BeliefView]:
    person = speaker.operator.id
    if words:
        return list(memory.about(core, person, words, alone=alone))
    return [one for one in memory.recall(core, person, alone=alone).beliefs if one.fact is not None]


def _lines(core: Core, outcome: Outcome, speaker: Speaker, one: BeliefView, *, alone: bool) -> list[Line]:
    """Return a fact, who told it and when; what it was before where it is asked about by name."""
    notes = [_who(one, speaker), ago(one.at, outcome.at)]
    told = told_in_words(core, one, now=outcome.at, zone=speaker.zone)
    lines: list[Line] = [[f"{told}  ", muted(" · ".join(notes))]]
    if alone and one.fact is not None and one.predicate == AT:
        lines.append(muted(f'  "{_masked(core, one.fact.said)}"'))
    if alone:
        before = [
            old
            for old in core.queries.beliefs_about(one.subject, one.predicate)
            if old.state is BeliefState.SUPERSEDED and old.fact is not None
        ]
        lines += [
            muted(f"  before: {told_in_words(core, old, now=outcome.at, zone=speaker.zone)}")
            for old in before[-_BEFORE:]
        ]
    return lines


def told_in_words(core: Core, one: BeliefView, *, now: datetime, zone: tzinfo) -> str:
    """Return "project sync: Tue 1 Dec 14:00 CET", with what is secret in it masked."""
    if one.fact is None:
        return "(forgotten)"
    return _masked(
        core, facts.wording(one.fact.about, one.predicate, one.fact.object, one.fact.said, now=now, zone=zone)
    )


def _who(one: BeliefView, speaker: Speaker) -> str:
    if one.source is not Source.USER_EXPLICIT:
        return _SOURCES[one.source]
    return "told by you" if one.person == speaker.operator.id else f"told by {one.person}"


def _masked(core: Core, text: str) -> str:
    return redact(text, extra=core.secrets).text
