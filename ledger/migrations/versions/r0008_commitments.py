"""What sayso promised, remembers, was taught and was allowed."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create their tables; no ledger from before has any."""
    op.create_table(
        "commitment",
        sa.Column("id", sa.String(), primary_key=True, nullable=False),
        sa.Column("act", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("place", sa.String(), nullable=False),
        sa.Column("person", sa.String(), nullable=False),
        sa.Column("request_at", sa.String(), nullable=False),
        sa.Column("expires_at", sa.String(), nullable=False),
        sa.Column("made_seq", sa.Integer(), nullable=False),
        sa.Column("words", sa.String(), nullable=False),
        sa.Column("doc", sa.String(), nullable=False),
    )
    op.create_index("ix_commitment_state", "commitment", ["state"])
    op.create_index("ix_commitment_place", "commitment", ["place"])
    op.create_table(
        "job",
        sa.Column("id", sa.String(), primary_key=True, nullable=False),
        sa.Column("act", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("place", sa.String(), nullable=False),
        sa.Column("person", sa.String(), nullable=False),
        sa.Column("next_at", sa.String(), nullable=False),
        sa.Column("made_seq", sa.Integer(), nullable=False),
        sa.Column("words", sa.String(), nullable=False),
        sa.Column("doc", sa.String(), nullable=False),
    )
    op.create_index("ix_job_state", "job", ["state"])
    op.create_index("ix_job_place", "job", ["place"])
    op.create_index("ix_job_next_at", "job", ["next_at"])
    op.create_table(
        "occurrence",
        sa.Column("job", sa.String(), primary_key=True, nullable=False),
        sa.Column("fire_at", sa.String(), primary_key=True, nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("doc", sa.String(), nullable=False),
    )
    op.create_table(
        "belief",
        sa.Column("id", sa.String(), primary_key=True, nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("predicate", sa.String(), nullable=False),
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("functional", sa.Boolean(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("made_seq", sa.Integer(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("words", sa.String(), nullable=False),
        sa.Column("doc", sa.String(), nullable=False),
    )
    op.create_index("ix_belief_subject", "belief", ["subject"])
    op.create_index("ix_belief_state", "belief", ["state"])
    op.create_index("ix_belief_seq", "belief", ["seq"])
    op.create_table(
        "setting",
        sa.Column("key", sa.String(), primary_key=True, nullable=False),
        sa.Column("value", sa.String(), nullable=False),
        sa.Column("person", sa.String(), nullable=False),
        sa.Column("at", sa.String(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
    )
    op.create_table(
        "guidance",
        sa.Column("id", sa.String(), primary_key=True, nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("words", sa.String(), nullable=False),
        sa.Column("doc", sa.String(), nullable=False),
    )
    op.create_index("ix_guidance_state", "guidance", ["state"])
    op.create_table(
        "trust_rule",
        sa.Column("id", sa.String(), primary_key=True, nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("expires_at", sa.String(), nullable=False),
        sa.Column("used", sa.Integer(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("words", sa.String(), nullable=False),
        sa.Column("doc", sa.String(), nullable=False),
    )
    op.create_index("ix_trust_rule_state", "trust_rule", ["state"])
