"""The votes of approvals that take more than one person."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create their table; no ledger from before has any."""
    op.create_table(
        "vote",
        sa.Column("approval", sa.String(), primary_key=True, nullable=False),
        sa.Column("person", sa.String(), primary_key=True, nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("at", sa.String(), nullable=False),
        sa.Column("doc", sa.String(), nullable=False),
    )
