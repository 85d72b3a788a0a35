"""Tables of supervised runs: where each one is, its steps, and which entries tell of it (R19, R20)."""

from sqlmodel import Field, SQLModel


class RunRow(SQLModel, table=True):
    """One run; `seq` is the entry that changed it last.

    `number` counts the entries into its steps, `step` and `proposal` are those of the last one, "" for none.
    `until_at` is when its wait is over, "" where it does not wait. `undoes` is the run that it rolls back, ""
    for none. `doc` is the body of the entry that started it, `ending` that of the one that ended it.
    """

    __tablename__ = "run"
    id: str = Field(primary_key=True)
    runbook: str = Field(index=True)
    state: str = Field(index=True)
    place: str = Field(index=True)
    undoes: str = Field(index=True)
    step: str
    number: int
    proposal: str
    until_at: str
    deviations: int
    started_seq: int
    seq: int
    doc: str
    ending: str


class RunStepRow(SQLModel, table=True):
    """One entry into a step; `proposal` is the newest one that it made, "" for none."""

    __tablename__ = "run_step"
    run: str = Field(primary_key=True)
    number: int = Field(primary_key=True)
    step: str
    attempt: int
    state: str
    proposal: str = Field(index=True)
    entered_seq: int
    doc: str


class RunEventRow(SQLModel, table=True):
    """One entry of a run, so that they are found without reading all others."""

    __tablename__ = "run_event"
    run: str = Field(primary_key=True)
    seq: int = Field(primary_key=True)
