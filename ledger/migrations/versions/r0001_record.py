"""The tables of the record and their guards.

The triggers are written out here and in `ledger.guards`; a test holds the two together, since a released
revision is never edited and must not follow a constant that is.
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create entry, payload, checkpoint, inbox and outbox."""
    op.create_table(
        "entry",
        sa.Column("seq", sa.Integer(), primary_key=True, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.Column("correlation_id", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("prev_hash", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
    )
    op.create_table(
        "payload",
        sa.Column("hash", sa.Text(), primary_key=True, nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("pruned_at", sa.Text(), nullable=True),
        sa.Column("salt", sa.LargeBinary(), nullable=True),
        sa.Column("content", sa.LargeBinary(), nullable=True),
    )
    op.create_table(
        "checkpoint",
        sa.Column("size", sa.Integer(), primary_key=True, nullable=False),
        sa.Column("root", sa.Text(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.Column("frontier", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
    )
    _create_boxes()
    for guard in _GUARDS:
        op.execute(guard)


def _create_boxes() -> None:
    op.create_table(
        "inbox",
        sa.Column("id", sa.Integer(), primary_key=True, nullable=False),
        sa.Column("key", sa.Text(), nullable=False, unique=True),
        sa.Column("place_key", sa.Text(), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.Column("done_at", sa.Text(), nullable=True),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_inbox_pending", "inbox", ["id"], sqlite_where=sa.text("done_at IS NULL"))
    op.create_table(
        "outbox",
        sa.Column("id", sa.Integer(), primary_key=True, nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("nonce", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("ref", sa.Text(), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.Column("settled_at", sa.Text(), nullable=True),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_outbox_pending", "outbox", ["id"], sqlite_where=sa.text("state = 'pending'"))
    op.create_index("ix_outbox_subject", "outbox", ["subject"], sqlite_where=sa.text("subject != ''"))


_GUARDS = (
    """
CREATE TRIGGER entry_follows BEFORE INSERT ON entry
WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM entry)
BEGIN SELECT RAISE(ABORT, 'an entry is only added at the end'); END""",
    """
CREATE TRIGGER entry_stays BEFORE UPDATE ON entry
BEGIN SELECT RAISE(ABORT, 'an entry is never changed'); END""",
    """
CREATE TRIGGER entry_remains BEFORE DELETE ON entry
BEGIN SELECT RAISE(ABORT, 'an entry is never removed'); END""",
    """
CREATE TRIGGER checkpoint_follows BEFORE INSERT ON checkpoint
WHEN NEW.size <= (SELECT coalesce(max(size), 0) FROM checkpoint)
  OR NEW.size IS NOT (SELECT max(seq) FROM entry)
BEGIN SELECT RAISE(ABORT, 'a checkpoint is only added at the end'); END""",
    """
CREATE TRIGGER checkpoint_stays BEFORE UPDATE ON checkpoint
BEGIN SELECT RAISE(ABORT, 'a checkpoint is never changed'); END""",
    """
CREATE TRIGGER checkpoint_remains BEFORE DELETE ON checkpoint
BEGIN SELECT RAISE(ABORT, 'a checkpoint is never removed'); END""",
    """
CREATE TRIGGER payload_once BEFORE INSERT ON payload
WHEN EXISTS (SELECT 1 FROM payload WHERE hash = NEW.hash)
BEGIN SELECT RAISE(ABORT, 'a payload is only added once'); END""",
    """
CREATE TRIGGER payload_prunes BEFORE UPDATE ON payload
WHEN OLD.pruned_at IS NOT NULL OR NEW.pruned_at IS NULL OR NEW.content IS NOT NULL OR NEW.salt IS NOT NULL
  OR NEW.hash IS NOT OLD.hash OR NEW.seq IS NOT OLD.seq OR NEW.size IS NOT OLD.size
BEGIN SELECT RAISE(ABORT, 'a payload is only pruned'); END""",
    """
CREATE TRIGGER payload_remains BEFORE DELETE ON payload
BEGIN SELECT RAISE(ABORT, 'a payload is never removed'); END""",
)
