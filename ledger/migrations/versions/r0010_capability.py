"""Runbooks that were learned."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create their table; no ledger from before has any."""
    op.create_table(
        "capability",
        sa.Column("id", sa.String(), primary_key=True, nullable=False),
        sa.Column("runbook", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("words", sa.String(), nullable=False),
        sa.Column("doc", sa.String(), nullable=False),
    )
    op.create_index("ix_capability_runbook", "capability", ["runbook"])
    op.create_index("ix_capability_state", "capability", ["state"])
