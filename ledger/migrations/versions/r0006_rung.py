"""The steps of the ladder that were taken, and where each person was heard last."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables; who spoke last in a place was heard there."""
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
    op.execute(
        "INSERT OR REPLACE INTO heard (person, platform, place, seq)"
        " SELECT last_person, platform, id, last_seq FROM place WHERE last_person<>'' ORDER BY last_seq"
    )
