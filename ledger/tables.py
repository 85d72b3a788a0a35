"""The tables of the record as SQLModel: entry, payload, checkpoint, inbox, outbox.

They define the schema; `ledger.migrations` creates it, and a test holds the two together. The append path and
the readers use plain sqlite3 on these tables (D9), so nothing at run time imports this module: SQLModel alone
would break the start-up budget of the command line. The entry table never changes shape (D9). Triggers live
in the migrations, and `ledger.guards` knows them by name.
"""

from sqlalchemy import Index, LargeBinary, Text, text
from sqlmodel import Field, SQLModel


class EntryRow(SQLModel, table=True):
    """One entry: `hash` covers every other column (docs/ledger-format.md)."""

    __tablename__ = "entry"
    seq: int = Field(primary_key=True)
    kind: str = Field(sa_type=Text)
    at: str = Field(sa_type=Text)
    correlation_id: str = Field(sa_type=Text)
    body: str = Field(sa_type=Text)
    prev_hash: str = Field(sa_type=Text)
    hash: str = Field(sa_type=Text)


class PayloadRow(SQLModel, table=True):
    """Exact words, a command or output: `hash` = SHA-256(salt || content). Pruning takes salt and content.

    `content` stands last, so that reading the other columns never touches its overflow pages.
    """

    __tablename__ = "payload"
    hash: str = Field(primary_key=True, sa_type=Text)
    seq: int
    size: int
    pruned_at: str | None = Field(default=None, sa_type=Text)
    salt: bytes | None = Field(default=None, sa_type=LargeBinary)
    content: bytes | None = Field(default=None, sa_type=LargeBinary)


class CheckpointRow(SQLModel, table=True):
    """One signed tree head; `frontier` holds its peaks, so that the next one need not start over."""

    __tablename__ = "checkpoint"
    size: int = Field(primary_key=True)
    root: str = Field(sa_type=Text)
    at: str = Field(sa_type=Text)
    frontier: str = Field(sa_type=Text)
    note: str = Field(sa_type=Text)


class InboxRow(SQLModel, table=True):
    """One inbound event; `document` is emptied when it is done, `key` stays to recognise a redelivery."""

    __tablename__ = "inbox"
    __table_args__ = (
        Index("ix_inbox_pending", "id", sqlite_where=text("done_at IS NULL")),
        {"sqlite_autoincrement": True},
    )
    id: int = Field(primary_key=True)
    key: str = Field(sa_type=Text, unique=True)
    place_key: str = Field(sa_type=Text)
    document: str = Field(sa_type=Text)
    at: str = Field(sa_type=Text)
    done_at: str | None = Field(default=None, sa_type=Text)


class OutboxRow(SQLModel, table=True):
    """One effect to perform and what became of it; `ref` is the posted message's, as JSON."""

    __tablename__ = "outbox"
    __table_args__ = (
        Index("ix_outbox_pending", "id", sqlite_where=text("state = 'pending'")),
        Index("ix_outbox_subject", "subject", sqlite_where=text("subject != ''")),
        Index("ix_outbox_place", "place", "seq"),
        {"sqlite_autoincrement": True},
    )
    id: int = Field(primary_key=True)
    seq: int
    kind: str = Field(sa_type=Text)
    place: str = Field(sa_type=Text)
    subject: str = Field(sa_type=Text)
    body: str = Field(sa_type=Text)
    nonce: str = Field(sa_type=Text)
    state: str = Field(sa_type=Text)
    ref: str = Field(sa_type=Text)
    why: str = Field(sa_type=Text)
    at: str = Field(sa_type=Text)
    settled_at: str | None = Field(default=None, sa_type=Text)
