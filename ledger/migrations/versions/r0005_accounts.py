"""Accounts linked by a code."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create their tables; no ledger from before has any."""
    op.create_table(
        "account",
        sa.Column("id", sa.String(), primary_key=True, nullable=False),
        sa.Column("person", sa.String(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
    )
    op.create_table(
        "pairing",
        sa.Column("id", sa.String(), primary_key=True, nullable=False),
        sa.Column("person", sa.String(), nullable=False),
        sa.Column("mac", sa.String(), nullable=False),
        sa.Column("deadline_at", sa.String(), nullable=False),
        sa.Column("wrong", sa.Integer(), nullable=False),
    )
