"""Expectations: what a decision read still stands when it is written, or nothing is (D11)."""

import pytest

from gate.domain import ActionId, ApprovalId, TurnId
from gate.lifecycle import ActionState, ApprovalState, ClarificationState
from ledger.kinds import (
    ActionIs,
    ApprovalIs,
    ClarificationIs,
    Expectation,
    FailuresAre,
    Kind,
    LastTurnIs,
    LostRaceError,
    PairingIsOpen,
    ProposalIsNew,
    SwitchesAre,
    Untold,
    VotesAre,
)
from tests.gate.makers import HERE, P1, P2, THERE
from tests.ledger.entries.actions import ended, queued, started
from tests.ledger.entries.operators import offered, switched
from tests.ledger.entries.proposals import decided, made, opened, planned, told, voted
from tests.ledger.entries.turns import clarified, received
from tests.ledger.story import Story

ONE = planned()
APPROVAL, ACTION = ApprovalId(f"{ONE.action.id}/a"), ONE.action.id
EXPECTATIONS: list[tuple[Expectation, bool]] = [
    (ApprovalIs(APPROVAL, ApprovalState.PENDING), True),
    (ApprovalIs(APPROVAL, ApprovalState.GRANTED), False),
    (ApprovalIs(ApprovalId("nobody"), ApprovalState.PENDING), False),
    (VotesAre(APPROVAL, 0), True),
    (VotesAre(APPROVAL, 1), False),
    (ActionIs(ACTION, ActionState.WAITING), True),
    (ActionIs(ACTION, ActionState.QUEUED), False),
    (ActionIs(ActionId("nobody"), ActionState.WAITING), False),
    (FailuresAre(P1, 0), True),
    (FailuresAre(P1, 1), False),
    (ClarificationIs("c1", ClarificationState.PENDING), True),
    (ClarificationIs("c1", ClarificationState.ANSWERED), False),
    (ClarificationIs("c2", ClarificationState.PENDING), False),
    (LastTurnIs(HERE, TurnId("t1")), True),
    (LastTurnIs(HERE, TurnId("t0")), False),
    (LastTurnIs(HERE, None), False),
    (LastTurnIs(THERE, None), True),
    (LastTurnIs(THERE, TurnId("t1")), False),
    (SwitchesAre(5), True),
    (SwitchesAre(0), False),
    (PairingIsOpen("c1"), True),
    (PairingIsOpen("c2"), False),
    (Untold(P1), False),
    (ProposalIsNew(P1), False),
    (ProposalIsNew(P2), True),
]


@pytest.mark.parametrize(("expectation", "stands"), EXPECTATIONS)
def test_an_expectation_holds_or_nothing_is_written(
    tale: Story, expectation: Expectation, *, stands: bool
) -> None:
    tale.write(
        received("t1"),
        made(ONE),
        opened(ONE),
        clarified(Kind.CLARIFICATION_ASKED),
        switched("stopped", value=True),
        offered(),
    )
    head = tale.ledger.head()
    if stands:
        tale.write(received("t2"), expects=(expectation,))
        assert tale.ledger.head().seq == head.seq + 1
        return
    with pytest.raises(LostRaceError) as caught:
        tale.write(received("t2"), expects=(expectation,))
    assert caught.value.expectation == expectation
    assert tale.ledger.head() == head


def test_no_switch_was_ever_changed_is_zero(tale: Story) -> None:
    tale.write(received(), expects=(SwitchesAre(0),))


def test_a_vote_that_came_meanwhile_is_seen(tale: Story) -> None:
    tale.write(received("t1"), made(ONE), opened(ONE))
    tale.write(voted(ONE, "ana"), expects=(VotesAre(APPROVAL, 0),))
    with pytest.raises(LostRaceError):
        tale.write(voted(ONE, "kim"), expects=(VotesAre(APPROVAL, 0),))
    tale.write(voted(ONE, "kim"), expects=(VotesAre(APPROVAL, 1),))


@pytest.mark.parametrize("end", [Kind.ACTION_FAILED, Kind.ACTION_CANCELLED, Kind.ACTION_LOST])
def test_a_failure_that_came_meanwhile_is_seen(tale: Story, end: Kind) -> None:
    tale.write(made(ONE), opened(ONE), decided(ONE, Kind.APPROVAL_GRANTED), queued(ONE), started(ONE))
    tale.write(ended(ONE, end))
    with pytest.raises(LostRaceError):
        tale.write(received("t2"), expects=(FailuresAre(P1, 0),))
    tale.write(received("t2"), expects=(FailuresAre(P1, 1), FailuresAre(P2, 0)))


def test_what_was_told_meanwhile_is_not_told_again(tale: Story) -> None:
    tale.write(made(ONE, shown_in=THERE))
    tale.write(told(ONE), expects=(Untold(P1),))
    with pytest.raises(LostRaceError):
        tale.write(told(ONE), expects=(Untold(P1),))
