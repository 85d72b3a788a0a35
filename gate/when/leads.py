"""Lengths against an event or against now: "2 days before the reset", "in 2 days".

The two are kept apart by what stands between them; where a text allows both, both are offered.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from gate.when.local import past_gap, shifted, since, wall_of, walls
from gate.when.outcome import (
    REQUEST,
    Anchor,
    Ask,
    Grain,
    Impossible,
    Outcome,
    Reason,
    Resolved,
    Why,
)
from gate.when.pieces import Lead, Relation, Way, Word
from gate.when.points import choose
from gate.when.sentence import Sentence

#: Longest lead that is computed at all; whatever is longer is too far.
_LONGEST_DAYS = 3653
#: Events that are offered at once.
_OFFERED = 5
#: Words around a bare length that leave it one: "remind me 20 min".
_CARRIERS = frozenset({
    "remind", "me", "us", "please", "ping", "nudge", "notify", "a", "ذكرني", "ذكريني", "ذكرنا",
    "نبهني", "من", "فضلك", ".", ",", "!", "?",
})  # fmt: skip


def from_now(said: Sentence, lead: Lead) -> Outcome:  # noqa: PLR0911 one return a rule
    """Return the outcome of the sentence's only length, which no event governs."""
    refused = _uncountable(said, lead)
    if refused is not None:
        return refused
    if lead.way is Way.BACK or (lead.way is Way.BEFORE and len(said.pieces) == 1):
        asked = shifted(said.request_at, lead, -1, said.zone)
        return Impossible(reason=Reason.PAST, asked_at=next(iter(asked), None), nearest=said.request_at)
    if lead.way is Way.BEFORE:
        return Ask(options=(), why=Why.UNKNOWN_EVENT)
    outcome = _moved(said, said.request_at, REQUEST, lead, 1)
    if lead.way is Way.BY or (lead.way is Way.BARE and not _stands_alone(said)):
        return Ask(options=_options(outcome), why=Why.WHICH_READING)
    if said.anchors:
        return Ask(options=(*_memory(said, said.anchors, lead), *_options(outcome)), why=Why.EVENT_OR_NOW)
    near = _near(said, outcome)
    if near:
        return Ask(options=(*_memory(said, near, lead), *_options(outcome)), why=Why.NEAR_EVENT)
    return outcome


def beside_event(said: Sentence) -> Outcome:  # noqa: PLR0911 one return a rule
    """Return the outcome of "2 days before the reset": one length, one relation, one event."""
    place, event = said.governed_at, said.governed
    leads = said.of(Lead)
    if place is None or event is None:
        return Ask(options=_mentioned(said, leads), why=Why.UNKNOWN_EVENT)
    if len(said.anchors) > 1 or len(said.of(Relation)) > 1:
        return Ask(options=_mentioned(said, leads), why=Why.WHICH_EVENT)
    anchor = event.anchors[0]
    if anchor.at is None:
        return Ask(options=(), why=Why.EVENT_WITHOUT_DATE)
    if len(leads) != 1:
        return Ask(options=(), why=Why.UNREAD if leads else Why.WHICH_TIME)
    refused = _uncountable(said, leads[0])
    if refused is not None:
        return refused
    if not _belongs(said, place):
        now = _options(_moved(said, said.request_at, REQUEST, leads[0], 1))
        return Ask(options=(*_memory(said, (anchor,), leads[0]), *now), why=Why.EVENT_OR_NOW)
    return _from_event(said, anchor, anchor.at, leads[0])


def _from_event(said: Sentence, anchor: Anchor, at: datetime, lead: Lead) -> Outcome:
    outcome = _moved(said, at, anchor.name, lead, -1 if said.is_before else 1)
    passed = said.is_before and since(at, said.request_at) >= timedelta()
    if passed and isinstance(outcome, Impossible) and outcome.reason is Reason.PAST:
        return Impossible(reason=Reason.EVENT_PASSED, asked_at=outcome.asked_at, nearest=None)
    return outcome


def _belongs(said: Sentence, event_at: int) -> bool:
    """Whether the length goes with the relation: right before it, within it, or behind the event."""
    place = next(place for place, piece in enumerate(said.pieces) if isinstance(piece, Lead))
    way = said.of(Lead)[0].way
    if place > event_at:
        return way is Way.BY or (way is Way.FORWARD and said.is_before)
    return place == said.relation or (place + 1 == said.relation and way is Way.BARE)


def _uncountable(said: Sentence, lead: Lead) -> Outcome | None:
    if lead.about_days > _LONGEST_DAYS:
        nearest = said.request_at + timedelta(days=_LONGEST_DAYS)
        return Impossible(reason=Reason.TOO_FAR, asked_at=None, nearest=nearest)
    if not (lead.months or lead.days or lead.seconds):
        return Ask(options=(), why=Why.WHICH_TIME)
    return None


def _moved(said: Sentence, start: datetime, anchor: str, lead: Lead, sign: int) -> Outcome:
    times = shifted(start, lead, sign, said.zone)
    if not times:
        wall = walls(wall_of(start, said.zone), lead, sign)[0]
        return Impossible(reason=Reason.NO_SUCH_TIME, asked_at=None, nearest=past_gap(wall, said.zone))
    grain = Grain.SECOND if lead.seconds % 60 else Grain.MINUTE if lead.seconds else Grain.DAY
    outcome = choose(times, said.request_at, anchor=anchor, grain=grain)
    if len(times) > 1 and isinstance(outcome, Resolved):
        return Ask(options=(outcome,), why=Why.WHICH_READING)  # the other reading has passed: still two
    return outcome


def _options(outcome: Outcome) -> tuple[Resolved, ...]:
    match outcome:
        case Resolved():
            return (outcome,)
        case Ask():
            return outcome.options
        case _:
            return ()


def _memory(said: Sentence, anchors: Sequence[Anchor], lead: Lead) -> tuple[Resolved, ...]:
    """Return the events' own readings: each event less the length, where that lies ahead."""
    options = (
        option
        for anchor in anchors
        if anchor.at is not None
        for option in _options(_moved(said, anchor.at, anchor.name, lead, -1))
    )
    return tuple(sorted(options, key=lambda option: option.at.timestamp()))


def _mentioned(said: Sentence, leads: Sequence[Lead]) -> tuple[Resolved, ...]:
    countable = [lead for lead in leads if _uncountable(said, lead) is None]
    return _memory(said, said.anchors, countable[0]) if len(countable) == 1 and said.is_before else ()


def _near(said: Sentence, outcome: Outcome) -> tuple[Anchor, ...]:
    """Return the remembered events close to a time from now, the closest few."""
    window = timedelta(days=said.nearby_days)
    found = {
        anchor.name: anchor
        for option in _options(outcome)
        for anchor in said.remembered.near(option.at, window)
    }
    return tuple(found.values())[:_OFFERED]


def _stands_alone(said: Sentence) -> bool:
    return all(not isinstance(piece, Word) or piece.text in _CARRIERS for piece in said.pieces)
