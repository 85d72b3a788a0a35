"""Plans that a model composes."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create their tables; no ledger from before has any."""
    op.create_table(
        "plan",
        sa.Column("id", sa.String(), primary_key=True, nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("place", sa.String(), nullable=False),
        sa.Column("person", sa.String(), nullable=False),
        sa.Column("asked_seq", sa.Integer(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("doc", sa.String(), nullable=False),
        sa.Column("ending", sa.String(), nullable=False),
    )
    op.create_index("ix_plan_state", "plan", ["state"])
    op.create_index("ix_plan_place", "plan", ["place"])
    op.create_table(
        "plan_event",
        sa.Column("plan", sa.String(), primary_key=True, nullable=False),
        sa.Column("seq", sa.Integer(), primary_key=True, nullable=False),
    )
    op.create_table(
        "plan_made",
        sa.Column("name", sa.String(), primary_key=True, nullable=False),
        sa.Column("plan", sa.String(), nullable=False),
    )
    op.create_index("ix_plan_made_plan", "plan_made", ["plan"])
    op.create_table(
        "plan_told",
        sa.Column("plan", sa.String(), primary_key=True, nullable=False),
        sa.Column("belief", sa.String(), primary_key=True, nullable=False),
    )
    op.create_index("ix_plan_told_belief", "plan_told", ["belief"])
