"""Proposals shown elsewhere than asked, whose end is still to be told."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create their table; a ledger from before has none that somebody waits for."""
    op.create_table(
        "untold",
        sa.Column("proposal", sa.String(), primary_key=True, nullable=False),
        sa.Column("place", sa.String(), nullable=False),
    )
