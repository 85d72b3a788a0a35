"""What agents asked for."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create its table; no ledger from before has any."""
    op.create_table(
        "delegate_call",
        sa.Column("seq", sa.Integer(), primary_key=True, nullable=False),
        sa.Column("agent", sa.String(), nullable=False),
        sa.Column("at", sa.String(), nullable=False),
        sa.Column("how", sa.String(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
    )
    op.create_index("ix_delegate_call_agent", "delegate_call", ["agent", "at"])
