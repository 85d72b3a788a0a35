"""Overheard: whether talk in a shared place may mean sayso at all (P11).

What is said to sayso, and presses and forms, always do. Of people's talk among themselves nothing is kept,
except where it may be an answer that needs no address: of an operator who has something open there. What
tightens acts wherever sayso is (D19). Nothing here decides what words mean.
"""

from collections.abc import Container

from bot import control_words, pairing
from bot.core import Core
from bot.ports import Inbound, InboundKind
from gate import phrases
from gate.domain import PlaceId
from gate.policy import Operator

_TALK = (InboundKind.MESSAGE, InboundKind.EDIT)


def concerns(core: Core, inbound: Inbound, *, own_threads: Container[str] = ()) -> bool:
    """Whether a message may mean sayso; False for talk of which nothing is to be kept.

    Args:
        own_threads: the platforms where a request gets a thread of its own; there the next words may be
            anybody's who is an operator (D2).
    """
    if inbound.addressed or inbound.kind not in _TALK:
        return True
    if core.subject_of(inbound.reply_to) is not None or pairing.said_in(core, inbound.text) is not None:
        return True  # a code is over once it is said where others read, whoever says it
    operator = None if inbound.account.is_bot else core.find(inbound.account.key)
    if operator is None:
        return False
    place = core.place_of(inbound.place)
    if inbound.place.thread and inbound.place.platform in own_threads and core.queries.windows(place):
        return True
    return _may_answer(core, place, operator, inbound.text)


def _may_answer(core: Core, place: PlaceId, operator: Operator, text: str) -> bool:
    last = core.queries.last_turn(place)
    if last is not None and last[1] == operator.id:
        return True
    if control_words.tightens(text) and (last is not None or place in core.known_places):
        return True
    return _has_something_open(core, place, operator) or any(
        phrases.matches(text, one.phrase) for one in core.queries.loosenings()
    )


def _has_something_open(core: Core, place: PlaceId, operator: Operator) -> bool:
    facts = core.queries.facts(place, operator.id)
    return (
        facts.window is not None
        or any(
            one.requester == operator.id and place in (one.asked_in, one.shown_in) for one in facts.pending
        )
        or core.queries.owed(place, operator.id, core.now()) is not None
    )
