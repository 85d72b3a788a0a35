"""The ladder in the ledger: steps taken once, what is next, and where people were heard."""

import pytest

from gate.domain import ApprovalId, PersonId, PlaceId
from gate.errors import TransitionError
from gate.ladder import Rung
from ledger.kinds import Effect, EffectKind, Kind, LostRaceError, NotYet
from ledger.waiting import climbing, heard_in, shown_in
from tests.gate.makers import HERE, NOW, P1, THERE
from tests.ledger.entries.proposals import climbed, decided, made, opened, planned
from tests.ledger.entries.turns import received
from tests.ledger.story import LATER, Story

ONE = planned()
APPROVAL = ApprovalId(f"{ONE.action.id}/a")
ANA, KIM = PersonId("ana"), PersonId("kim")


@pytest.mark.parametrize("rung", Rung)
def test_a_step_is_taken_once_and_only_while_it_is_pending(tale: Story, rung: Rung) -> None:
    tale.write(made(ONE), opened(ONE))
    tale.write(climbed(ONE, rung), expects=(NotYet(APPROVAL, rung),))
    with pytest.raises(LostRaceError):
        tale.write(climbed(ONE, rung), expects=(NotYet(APPROVAL, rung),))
    for wrong in (climbed(ONE, rung), climbed(ONE, rung, name="nothing")):
        with pytest.raises(TransitionError):
            tale.write(wrong)
    tale.write(decided(ONE, Kind.APPROVAL_REFUSED))
    for any_rung in Rung:
        with pytest.raises(TransitionError):
            tale.write(climbed(ONE, any_rung))


def test_what_climbs_is_what_is_pending_with_its_steps(tale: Story) -> None:
    tale.write(made(ONE), opened(ONE))
    (one,) = climbing(tale.ledger.reader())
    assert (one.opened_at, one.deadline_at, one.taken) == (NOW, LATER, ())
    tale.write(climbed(ONE, Rung.NUDGE))
    tale.write(climbed(ONE, Rung.ESCALATE))
    (one,) = climbing(tale.ledger.reader())
    assert sorted(one.taken) == ["escalate", "nudge"]
    tale.write(decided(ONE, Kind.APPROVAL_EXPIRED))
    assert climbing(tale.ledger.reader()) == ()


def test_steps_are_read_in_their_order_with_whom_they_reached(tale: Story) -> None:
    tale.write(made(ONE), opened(ONE))
    tale.write(climbed(ONE, Rung.NUDGE))
    tale.write(climbed(ONE, Rung.ESCALATE, extra={"to": ["kim"], "where": "oncall on chat"}))
    approval = tale.queries.action(ONE.action.id).approval
    assert approval is not None
    assert approval.opened_at == NOW
    assert [(one.rung, one.to, one.where) for one in approval.rungs] == [
        (Rung.NUDGE, (), ""),
        (Rung.ESCALATE, ("kim",), "oncall on chat"),
    ]


def test_a_person_is_reached_where_they_spoke_last_alone(tale: Story) -> None:
    reader = tale.ledger.reader()
    assert heard_in(reader, ANA) is None
    tale.write(received("t1", person="ana", direct=True), received("t2", person="kim", direct=True))
    assert heard_in(reader, ANA) == heard_in(reader, KIM) == HERE
    tale.write(received("t3", person="ana", place=THERE), received("t4", person="", direct=True))
    assert (heard_in(reader, ANA), heard_in(reader, KIM)) == (HERE, HERE)  # there, others read too
    tale.write(received("t5", person="ana", place=THERE, direct=True))
    assert (heard_in(reader, ANA), heard_in(reader, KIM)) == (THERE, HERE)
    assert heard_in(reader, PersonId("")) is None


def test_a_card_is_shown_where_it_was_sent(tale: Story) -> None:
    def card(place: PlaceId, kind: EffectKind) -> Effect:
        return Effect(kind=kind, place=place, body={"subject": P1}, nonce=f"{place}{kind}")

    effects = (card(HERE, EffectKind.CARD), card(THERE, EffectKind.REFRESH))
    made_of = tale.write(made(ONE), opened(ONE), effects=effects)
    assert shown_in(tale.ledger.reader(), P1) == {HERE}
    tale.ledger.outbox.failed(made_of.outbox[0], "no adapter")
    assert shown_in(tale.ledger.reader(), P1) == frozenset()
