"""Tables of the conversation: places, proposals, approvals, choices, switches and accounts."""

from sqlalchemy import Index
from sqlmodel import Field, SQLModel


class PlaceRow(SQLModel, table=True):
    """A place and the platform's ids that lead to it."""

    __tablename__ = "place"
    __table_args__ = (Index("ix_place_address", "platform", "tenant", "channel", "thread"),)
    id: str = Field(primary_key=True)
    platform: str
    tenant: str
    channel: str
    thread: str
    last_turn: str
    last_person: str
    last_seq: int


class HeardRow(SQLModel, table=True):
    """Where a person was heard last on a platform with nobody else there."""

    __tablename__ = "heard"
    person: str = Field(primary_key=True)
    platform: str = Field(primary_key=True)
    place: str
    seq: int


class ProposalRow(SQLModel, table=True):
    """One proposal; `doc` is the body of its entry."""

    __tablename__ = "proposal"
    id: str = Field(primary_key=True)
    correlation_id: str
    requester: str = Field(index=True)
    asked_in: str = Field(index=True)
    shown_in: str = Field(index=True)
    made_at: str = Field(index=True)
    made_seq: int
    replaced_by: str
    doc: str


class UntoldRow(SQLModel, table=True):
    """A proposal shown elsewhere than asked, until its end is told where it was asked."""

    __tablename__ = "untold"
    proposal: str = Field(primary_key=True)
    place: str


class ActionRow(SQLModel, table=True):
    """One action; `doc` holds its slots and verdict, `ending` how it ended."""

    __tablename__ = "action"
    id: str = Field(primary_key=True)
    proposal: str = Field(index=True)
    position: int
    target: str = Field(index=True)
    risk: str
    state: str = Field(index=True)
    route: str
    digest: str = Field(index=True)
    command: str
    grant_approval: str
    queued_at: str
    started_at: str
    ended_at: str = Field(index=True)
    doc: str
    ending: str


class ApprovalRow(SQLModel, table=True):
    """One approval and, once decided, who decided and how."""

    __tablename__ = "approval"
    id: str = Field(primary_key=True)
    proposal: str = Field(index=True)
    action: str = Field(index=True)
    state: str = Field(index=True)
    deadline_at: str
    phrase: str
    list_digest: str
    opened_seq: int
    decided_by: str
    decided_at: str
    doc: str


class VoteRow(SQLModel, table=True):
    """One person's yes to an approval that takes several; `doc` is the body of its entry."""

    __tablename__ = "vote"
    approval: str = Field(primary_key=True)
    person: str = Field(primary_key=True)
    seq: int
    at: str
    doc: str


class RungRow(SQLModel, table=True):
    """A step of the ladder that was taken for an approval; `doc` is the body of its entry."""

    __tablename__ = "rung"
    approval: str = Field(primary_key=True)
    rung: str = Field(primary_key=True)
    at: str
    doc: str


class ClarificationRow(SQLModel, table=True):
    """One pending choice."""

    __tablename__ = "clarification"
    id: str = Field(primary_key=True)
    place: str = Field(index=True)
    person: str
    state: str = Field(index=True)
    deadline_at: str
    doc: str


class WindowRow(SQLModel, table=True):
    """The open window of one person in one place (D2)."""

    __tablename__ = "window"
    place: str = Field(primary_key=True)
    person: str = Field(primary_key=True)
    proposal: str
    opened_by: str


class OwedRow(SQLModel, table=True):
    """A refusal whose reason is still owed (C1)."""

    __tablename__ = "owed"
    place: str = Field(primary_key=True)
    person: str = Field(primary_key=True)
    proposal: str
    until_at: str


class SwitchRow(SQLModel, table=True):
    """One kill switch or the posture, as last set at run time; `value` is JSON."""

    __tablename__ = "switch"
    name: str = Field(primary_key=True)
    value: str
    seq: int


class LooseningRow(SQLModel, table=True):
    """A loosening that waits for its phrase, and a second person where there is one (D19)."""

    __tablename__ = "loosening"
    id: str = Field(primary_key=True)
    place: str
    person: str
    state: str = Field(index=True)
    phrase: str
    deadline_at: str
    doc: str


class AccountRow(SQLModel, table=True):
    """An account that was linked to a person by a code."""

    __tablename__ = "account"
    id: str = Field(primary_key=True)
    person: str
    seq: int


class PairingRow(SQLModel, table=True):
    """A code that is open."""

    __tablename__ = "pairing"
    id: str = Field(primary_key=True)
    person: str
    mac: str
    deadline_at: str
    wrong: int
