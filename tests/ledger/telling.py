"""How many tests of projections begin: a proposal that was made, asked about, granted, started."""

from gate.domain import PersonId
from gate.lifecycle import ActionState
from ledger.kinds import Draft, Kind
from tests.ledger.entries.actions import queued, started
from tests.ledger.entries.proposals import Planned, decided, made, opened, planned
from tests.ledger.story import Story

ONE = planned()
ANA, KIM = PersonId("ana"), PersonId("kim")


def asked(tale: Story, *actions: Planned) -> None:
    """Write a proposal of `actions` and an approval for each."""
    tale.write(made(*actions), *map(opened, actions))


def ran_until(tale: Story, *more: Draft) -> None:
    """Write a proposal of ONE, its grant, its start and what follows."""
    asked(tale, ONE)
    tale.write(decided(ONE, Kind.APPROVAL_GRANTED), queued(ONE))
    tale.write(started(ONE))
    for draft in more:
        tale.write(draft)


def state(tale: Story, one: Planned = ONE) -> ActionState:
    return tale.queries.action(one.action.id).state
