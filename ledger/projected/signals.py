"""Tables of what machines reported, and of watches (N40, D20).

Words of senders are in payloads; `words` is the hash of them. What decides is in columns: who, since when,
and what was done about it.
"""

from sqlmodel import Field, SQLModel


class SignalRow(SQLModel, table=True):
    """What is known of one fingerprint of one source; `held` is why its changes are not shown, or ""."""

    __tablename__ = "signal"
    id: str = Field(primary_key=True)
    source: str
    state: str = Field(index=True)
    grp: str = Field(index=True)
    held: str = Field(index=True)
    starts_at: str
    seq: int = Field(index=True)
    words: str
    doc: str


class SignalChangeRow(SQLModel, table=True):
    """One time that a signal began or ended, by which flapping is seen."""

    __tablename__ = "signal_change"
    signal: str = Field(primary_key=True)
    seq: int = Field(primary_key=True)
    at: str = Field(index=True)


class SignalGroupRow(SQLModel, table=True):
    """Signals that share a card, from the first that fired until all are over.

    `storm` is the id of the storm that it came in, "" outside of one.
    """

    __tablename__ = "signal_group"
    id: str = Field(primary_key=True)
    key: str = Field(index=True)
    source: str
    place: str
    state: str = Field(index=True)
    held: str
    until_at: str
    storm: str = Field(index=True)
    opened_at: str = Field(index=True)
    closed_at: str
    seq: int


class SignalActRow(SQLModel, table=True):
    """What was done about a signal: `how` is noted, asked, proposed, run or denied; `ref` names it."""

    __tablename__ = "signal_act"
    seq: int = Field(primary_key=True)
    grp: str = Field(index=True)
    how: str
    ref: str = Field(index=True)
    at: str = Field(index=True)
    doc: str


class StormRow(SQLModel, table=True):
    """A time in which too many groups began at once, with one card for all of them."""

    __tablename__ = "storm"
    id: str = Field(primary_key=True)
    place: str
    state: str = Field(index=True)
    began_at: str
    ended_at: str
    seq: int


class WatchRow(SQLModel, table=True):
    """What a watch saw last on one target; `state` is clear, raised or blind, which cannot tell."""

    __tablename__ = "watch"
    job: str = Field(primary_key=True)
    target: str = Field(primary_key=True)
    state: str
    at: str
    seq: int
    doc: str
