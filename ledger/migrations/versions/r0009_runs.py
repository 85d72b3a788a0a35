"""Supervised runs of runbooks."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create their tables; no ledger from before has any."""
    op.create_table(
        "run",
        sa.Column("id", sa.String(), primary_key=True, nullable=False),
        sa.Column("runbook", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("place", sa.String(), nullable=False),
        sa.Column("undoes", sa.String(), nullable=False),
        sa.Column("step", sa.String(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("proposal", sa.String(), nullable=False),
        sa.Column("until_at", sa.String(), nullable=False),
        sa.Column("deviations", sa.Integer(), nullable=False),
        sa.Column("started_seq", sa.Integer(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("doc", sa.String(), nullable=False),
        sa.Column("ending", sa.String(), nullable=False),
    )
    for column in ("runbook", "state", "place", "undoes"):
        op.create_index(f"ix_run_{column}", "run", [column])
    op.create_table(
        "run_step",
        sa.Column("run", sa.String(), primary_key=True, nullable=False),
        sa.Column("number", sa.Integer(), primary_key=True, nullable=False),
        sa.Column("step", sa.String(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("proposal", sa.String(), nullable=False),
        sa.Column("entered_seq", sa.Integer(), nullable=False),
        sa.Column("doc", sa.String(), nullable=False),
    )
    op.create_index("ix_run_step_proposal", "run_step", ["proposal"])
    op.create_table(
        "run_event",
        sa.Column("run", sa.String(), primary_key=True, nullable=False),
        sa.Column("seq", sa.Integer(), primary_key=True, nullable=False),
    )
