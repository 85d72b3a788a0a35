"""Indexes for what every message looks up, so that a turn costs the same however long the ledger is."""

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create them."""
    op.create_index("ix_place_address", "place", ["platform", "tenant", "channel", "thread"])
    op.create_index("ix_proposal_shown_in", "proposal", ["shown_in"])
    op.create_index("ix_action_digest", "action", ["digest"])
    op.create_index("ix_approval_action", "approval", ["action"])
    op.create_index("ix_outbox_place", "outbox", ["place", "seq"])
