"""The projection tables: the present state, derived from entries."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the projections."""
    for create in (
        _place,
        _proposal,
        _action,
        _approval,
        _clarification,
        _window,
        _owed,
        _switch,
        _loosening,
    ):
        create()


def _place() -> None:
    op.create_table(
        "place",
        sa.Column("id", sa.String(), primary_key=True, nullable=False),
        sa.Column("platform", sa.String(), nullable=False),
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("channel", sa.String(), nullable=False),
        sa.Column("thread", sa.String(), nullable=False),
        sa.Column("last_turn", sa.String(), nullable=False),
        sa.Column("last_person", sa.String(), nullable=False),
        sa.Column("last_seq", sa.Integer(), nullable=False),
    )


def _proposal() -> None:
    op.create_table(
        "proposal",
        sa.Column("id", sa.String(), primary_key=True, nullable=False),
        sa.Column("correlation_id", sa.String(), nullable=False),
        sa.Column("requester", sa.String(), nullable=False),
        sa.Column("asked_in", sa.String(), nullable=False),
        sa.Column("shown_in", sa.String(), nullable=False),
        sa.Column("made_at", sa.String(), nullable=False),
        sa.Column("made_seq", sa.Integer(), nullable=False),
        sa.Column("replaced_by", sa.String(), nullable=False),
        sa.Column("doc", sa.String(), nullable=False),
    )
    op.create_index("ix_proposal_asked_in", "proposal", ["asked_in"])
    op.create_index("ix_proposal_made_at", "proposal", ["made_at"])
    op.create_index("ix_proposal_requester", "proposal", ["requester"])


def _action() -> None:
    op.create_table(
        "action",
        sa.Column("id", sa.String(), primary_key=True, nullable=False),
        sa.Column("proposal", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("target", sa.String(), nullable=False),
        sa.Column("risk", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("route", sa.String(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("command", sa.String(), nullable=False),
        sa.Column("grant_approval", sa.String(), nullable=False),
        sa.Column("queued_at", sa.String(), nullable=False),
        sa.Column("started_at", sa.String(), nullable=False),
        sa.Column("ended_at", sa.String(), nullable=False),
        sa.Column("doc", sa.String(), nullable=False),
        sa.Column("ending", sa.String(), nullable=False),
    )
    op.create_index("ix_action_ended_at", "action", ["ended_at"])
    op.create_index("ix_action_proposal", "action", ["proposal"])
    op.create_index("ix_action_state", "action", ["state"])
    op.create_index("ix_action_target", "action", ["target"])


def _approval() -> None:
    op.create_table(
        "approval",
        sa.Column("id", sa.String(), primary_key=True, nullable=False),
        sa.Column("proposal", sa.String(), nullable=False),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("deadline_at", sa.String(), nullable=False),
        sa.Column("phrase", sa.String(), nullable=False),
        sa.Column("list_digest", sa.String(), nullable=False),
        sa.Column("opened_seq", sa.Integer(), nullable=False),
        sa.Column("decided_by", sa.String(), nullable=False),
        sa.Column("decided_at", sa.String(), nullable=False),
        sa.Column("doc", sa.String(), nullable=False),
    )
    op.create_index("ix_approval_proposal", "approval", ["proposal"])
    op.create_index("ix_approval_state", "approval", ["state"])


def _clarification() -> None:
    op.create_table(
        "clarification",
        sa.Column("id", sa.String(), primary_key=True, nullable=False),
        sa.Column("place", sa.String(), nullable=False),
        sa.Column("person", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("deadline_at", sa.String(), nullable=False),
        sa.Column("doc", sa.String(), nullable=False),
    )
    op.create_index("ix_clarification_place", "clarification", ["place"])
    op.create_index("ix_clarification_state", "clarification", ["state"])


def _window() -> None:
    op.create_table(
        "window",
        sa.Column("place", sa.String(), primary_key=True, nullable=False),
        sa.Column("person", sa.String(), primary_key=True, nullable=False),
        sa.Column("proposal", sa.String(), nullable=False),
        sa.Column("opened_by", sa.String(), nullable=False),
    )


def _owed() -> None:
    op.create_table(
        "owed",
        sa.Column("place", sa.String(), primary_key=True, nullable=False),
        sa.Column("person", sa.String(), primary_key=True, nullable=False),
        sa.Column("proposal", sa.String(), nullable=False),
        sa.Column("until_at", sa.String(), nullable=False),
    )


def _switch() -> None:
    op.create_table(
        "switch",
        sa.Column("name", sa.String(), primary_key=True, nullable=False),
        sa.Column("value", sa.String(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
    )


def _loosening() -> None:
    op.create_table(
        "loosening",
        sa.Column("id", sa.String(), primary_key=True, nullable=False),
        sa.Column("place", sa.String(), nullable=False),
        sa.Column("person", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("phrase", sa.String(), nullable=False),
        sa.Column("deadline_at", sa.String(), nullable=False),
        sa.Column("doc", sa.String(), nullable=False),
    )
    op.create_index("ix_loosening_state", "loosening", ["state"])
