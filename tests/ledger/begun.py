"""An action under way, as the ledger is told of it."""

from ledger.kinds import Draft, Kind
from tests.ledger.entries.actions import queued, started
from tests.ledger.entries.proposals import Planned, decided, made, opened
from tests.ledger.story import Story


def run(tale: Story, one: Planned, *after: Draft, boot_id: str | None = None) -> None:
    """Write an action that was asked about, agreed to and started, and what came after."""
    tale.write(made(one), opened(one))
    tale.write(decided(one, Kind.APPROVAL_GRANTED, extra={"alone": True}), queued(one))
    tale.write(started(one, boot_id=boot_id))
    for draft in after:
        tale.write(draft)
