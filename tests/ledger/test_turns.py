"""Turns: whose was the last one, whose window is open and what closes it, which choice waits."""

from dataclasses import replace

import pytest

from gate.domain import PersonId, PlaceId, ProposalId
from gate.errors import TransitionError
from ledger.kinds import Kind
from tests.gate.makers import HERE, P1, P2, THERE
from tests.ledger.entries.turns import answered, clarified, received
from tests.ledger.story import Story
from tests.ledger.telling import ANA, KIM


@pytest.mark.parametrize("kind", [Kind.TURN_RECEIVED, Kind.TURN_CRASHED])
def test_a_turn_names_its_place_and_person(tale: Story, kind: Kind) -> None:
    assert tale.queries.last_turn(HERE) is None
    tale.write(received("t1", kind=kind))
    tale.write(received("t2", person="kim", kind=kind))
    assert tale.queries.last_turn(HERE) == ("t2", "kim")
    assert tale.queries.place(HERE) == ("console", "", "here", "")
    assert tale.queries.place(THERE) is None


def _window(tale: Story, person: PersonId = ANA, place: PlaceId = HERE) -> ProposalId | None:
    found = tale.queries.facts(place, person).window
    return None if found is None else found.proposal


def test_a_window_opens_for_one_person_in_one_place(tale: Story) -> None:
    tale.write(answered("t1", shows=[P1], window=("ana", P1)))
    assert _window(tale) == P1
    assert _window(tale, KIM) is None
    assert _window(tale, ANA, THERE) is None
    assert tale.queries.facts(HERE, None).window is None
    window = tale.queries.facts(HERE, ANA).window
    assert window is not None
    assert window.opened_by == "t1"


def test_the_next_message_of_its_person_closes_it(tale: Story) -> None:
    tale.write(answered("t1", shows=[P1], window=("ana", P1)))
    tale.write(received("t2", person="kim"))
    tale.write(received("t3", place=THERE))
    tale.write(received("t4", consumes=False))
    assert _window(tale) == P1
    tale.write(received("t5"))
    assert _window(tale) is None


def test_what_is_said_to_everybody_closes_every_window_of_the_place(tale: Story) -> None:
    tale.write(answered("t1", shows=[P1], window=("ana", P1)))
    tale.write(answered("t2", shows=[P2], window=("ana", P2), place=THERE))
    told = received("t3", person="kim")
    tale.write(replace(told, body={**told.body, "consumes_window": "everybody's"}))
    assert _window(tale) is None
    assert _window(tale, place=THERE) == P2


def test_showing_another_proposal_closes_every_window_of_the_place(tale: Story) -> None:
    tale.write(answered("t1", shows=[P1], window=("ana", P1)))
    tale.write(answered("t2", window=("kim", P1)))
    tale.write(answered("t3", shows=[P2], place=THERE))
    assert (_window(tale), _window(tale, KIM)) == (P1, P1)
    tale.write(answered("t4"))
    assert _window(tale) == P1
    tale.write(answered("t5", shows=[P2]))
    assert (_window(tale), _window(tale, KIM)) == (None, None)


def test_what_was_said_in_between_closes_the_windows_of_its_place(tale: Story) -> None:
    tale.write(answered("t1", shows=[P1], window=("ana", P1)))
    tale.write(answered("t2", place=THERE, closes_windows=True))
    assert _window(tale) == P1
    tale.write(answered("t3", closes_windows=True))
    assert _window(tale) is None


def test_a_window_can_open_anew(tale: Story) -> None:
    tale.write(answered("t1", shows=[P1], window=("ana", P1)))
    tale.write(received("t2"), answered("t2", shows=[P2], window=("ana", P2)))
    assert _window(tale) == P2


@pytest.mark.parametrize(
    "kind",
    [
        Kind.CLARIFICATION_ANSWERED,
        Kind.CLARIFICATION_CANCELLED,
        Kind.CLARIFICATION_EXPIRED,
        Kind.CLARIFICATION_SUPERSEDED,
    ],
)
def test_a_choice_ends_once(tale: Story, kind: Kind) -> None:
    tale.write(clarified(Kind.CLARIFICATION_ASKED))
    assert tale.queries.clarification("c1") is not None
    tale.write(clarified(kind))
    assert tale.queries.clarification("c1") is None
    with pytest.raises(TransitionError):
        tale.write(clarified(kind))
