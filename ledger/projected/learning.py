"""The table of what was learned: runbooks that were kept, and whether they count still (N37)."""

from sqlmodel import Field, SQLModel


class CapabilityRow(SQLModel, table=True):
    """A runbook as it was kept; `words` is the hash of its document, `seq` the entry that kept it."""

    __tablename__ = "capability"
    id: str = Field(primary_key=True)
    runbook: str = Field(index=True)
    state: str = Field(index=True)
    seq: int
    words: str
    doc: str
