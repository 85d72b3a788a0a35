"""Tables of what sayso promised, remembers, was taught and was allowed (K30, D22, X8, X15).

`doc` is the body of the entry that made the row, so that a column stands only for what is searched by.
"""

from sqlmodel import Field, SQLModel


class CommitmentRow(SQLModel, table=True):
    """One act that was resolved, and what became of it; `words` is the hash of its slots."""

    __tablename__ = "commitment"
    id: str = Field(primary_key=True)
    act: str
    state: str = Field(index=True)
    place: str = Field(index=True)
    person: str
    request_at: str
    expires_at: str
    made_seq: int
    words: str
    doc: str


class JobRow(SQLModel, table=True):
    """A reminder, a scheduled command or post; `next_at` is "" once nothing is due any more."""

    __tablename__ = "job"
    id: str = Field(primary_key=True)
    act: str
    state: str = Field(index=True)
    place: str = Field(index=True)
    person: str
    next_at: str = Field(index=True)
    made_seq: int
    words: str
    doc: str


class OccurrenceRow(SQLModel, table=True):
    """One time that a job was due, claimed once (D20): the key is what keeps it from firing twice."""

    __tablename__ = "occurrence"
    job: str = Field(primary_key=True)
    fire_at: str = Field(primary_key=True)
    state: str
    seq: int
    doc: str


class BeliefRow(SQLModel, table=True):
    """A remembered fact; `words` is the hash of its words.

    `subject` is a keyed hash of what it is about, so that forgetting it leaves no word of it; `seq` is the
    entry that changed the row last, so that the highest of them is the revision of the memory.
    """

    __tablename__ = "belief"
    id: str = Field(primary_key=True)
    subject: str = Field(index=True)
    predicate: str
    source: str
    functional: bool
    state: str = Field(index=True)
    made_seq: int
    seq: int = Field(index=True)
    words: str
    doc: str


class SettingRow(SQLModel, table=True):
    """A setting as last set at run time; `value` is JSON."""

    __tablename__ = "setting"
    key: str = Field(primary_key=True)
    value: str
    person: str
    at: str
    seq: int


class GuidanceRow(SQLModel, table=True):
    """An instruction that sayso was taught, held until an operator confirms it; `words` is its hash."""

    __tablename__ = "guidance"
    id: str = Field(primary_key=True)
    state: str = Field(index=True)
    seq: int
    words: str
    doc: str


class TrustRuleRow(SQLModel, table=True):
    """A rule that lets an exact command run unasked for a while, and how often it did."""

    __tablename__ = "trust_rule"
    id: str = Field(primary_key=True)
    state: str = Field(index=True)
    expires_at: str
    used: int
    seq: int
    words: str
    doc: str
