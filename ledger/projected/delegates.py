"""The table of what agents asked for."""

from sqlalchemy import Index
from sqlmodel import Field, SQLModel


class DelegateCallRow(SQLModel, table=True):
    """One call of an agent; `subject` is the proposal or run that it became, "" for none."""

    __tablename__ = "delegate_call"
    __table_args__ = (Index("ix_delegate_call_agent", "agent", "at"),)
    seq: int = Field(primary_key=True)
    agent: str
    at: str
    how: str
    subject: str
