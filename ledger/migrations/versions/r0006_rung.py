"""The steps of the ladder that were taken, and where each person is reached alone."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create their tables; a ledger from before does not tell who listened, so nobody was heard alone yet."""
    op.create_table(
        "rung",
        sa.Column("approval", sa.String(), primary_key=True, nullable=False),
        sa.Column("rung", sa.String(), primary_key=True, nullable=False),
        sa.Column("at", sa.String(), nullable=False),
        sa.Column("doc", sa.String(), nullable=False),
    )
    op.create_table(
        "heard",
        sa.Column("person", sa.String(), primary_key=True, nullable=False),
        sa.Column("platform", sa.String(), primary_key=True, nullable=False),
        sa.Column("place", sa.String(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
    )
