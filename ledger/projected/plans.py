"""Tables of plans that a model composes: where each one is, its entries, and what it waits for."""

from sqlmodel import Field, SQLModel


class PlanRow(SQLModel, table=True):
    """One plan; `seq` is the entry that changed it last.

    `doc` is the body of the entry that asked for it, `ending` that of the one that ended it.
    """

    __tablename__ = "plan"
    id: str = Field(primary_key=True)
    state: str = Field(index=True)
    place: str = Field(index=True)
    person: str
    asked_seq: int
    seq: int
    doc: str
    ending: str


class PlanEventRow(SQLModel, table=True):
    """One entry of a plan, so that they are found without reading all others."""

    __tablename__ = "plan_event"
    plan: str = Field(primary_key=True)
    seq: int = Field(primary_key=True)


class PlanMadeRow(SQLModel, table=True):
    """A proposal, a run or a choice that a plan made, by its id."""

    __tablename__ = "plan_made"
    name: str = Field(primary_key=True)
    plan: str = Field(index=True)


class PlanToldRow(SQLModel, table=True):
    """A remembered fact that the model of a plan was told, so that forgetting it takes what it led to."""

    __tablename__ = "plan_told"
    plan: str = Field(primary_key=True)
    belief: str = Field(primary_key=True, index=True)
