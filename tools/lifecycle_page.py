"""Writes docs/lifecycle.md from the tables of gate.lifecycle: `.venv/bin/python tools/lifecycle_page.py`.

The tables are the truth, the page is a picture of them; tests/tools/test_lifecycle_page.py fails when it is
stale. Every event needs a sentence here, so that a new one cannot be drawn without being explained.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "lifecycle.md"

if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from gate.lifecycle import (  # noqa: E402 - the path is set first, so that it runs from anywhere
    ACTION,
    APPROVAL,
    CLARIFICATION,
    COMMITMENT,
    COMMITMENT_BEGINS,
    JOB,
    PLAN,
    RUN,
    ActionEvent,
    ActionState,
    ApprovalEvent,
    ApprovalState,
    ClarificationEvent,
    ClarificationState,
    CommitmentEvent,
    E,
    JobEvent,
    JobState,
    PlanEvent,
    PlanState,
    RunEvent,
    RunStatus,
    S,
    terminal,
)

INTRO = """\
# Lifecycle

Generated from `gate/lifecycle.py` by `tools/lifecycle_page.py`; edit those, not this page.

Each machine is a table (state, event) → state. `gate.lifecycle.advance` is the only way a state changes. The
ledger applies it inside the transaction that records the event: an event that a state does not take is
refused, and nothing of its batch is written. What may happen at all is decided before, in `gate/decide.py`.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """One state machine and the words for it."""

    name: str
    about: str
    first: tuple[StrEnum, ...]
    table: Mapping[tuple[StrEnum, StrEnum], StrEnum]
    events: Mapping[StrEnum, str]


def _plain(table: Mapping[tuple[S, E], S]) -> dict[tuple[StrEnum, StrEnum], StrEnum]:
    return {(before, event): after for (before, event), after in table.items()}


MACHINES = (
    Machine(
        name="Approval",
        about="One question to people about one action. It is decided once.\n"
        "Only a grant lets anything run, and a grant is consumed by one start.",
        first=(ApprovalState.PENDING,),
        table=_plain(APPROVAL),
        events={
            ApprovalEvent.NUDGE: "nobody answered for a while, and it was said so once where the card is",
            ApprovalEvent.ESCALATE: "nobody answered after that, and whoever is next got the card, once",
            ApprovalEvent.VOTE: "one of several people who have to agree did; more are needed",
            ApprovalEvent.GRANT: "an authorised person agreed, in words, by a button or by the typed phrase",
            ApprovalEvent.REFUSE: "a person said no; the reason may follow",
            ApprovalEvent.EXPIRE: "its deadline passed; that is neither a yes nor a no",
            ApprovalEvent.SUPERSEDE: "another proposal took its place",
            ApprovalEvent.WITHDRAW: "the request was taken back",
        },
    ),
    Machine(
        name="Action",
        about="One command on one target. It starts only from `queued`, and what ended never starts again.\n"
        "`lost` is the only word for an unknown end; that of a change freezes its target until a person "
        "settles it.",
        first=(ActionState.PROPOSED,),
        table=_plain(ACTION),
        events={
            ActionEvent.ASK: "an approval was opened for it",
            ActionEvent.QUEUE: "it was granted, or needs no consent",
            ActionEvent.UNQUEUE: "what ran before it did not succeed; it needs a new yes",
            ActionEvent.START: "it starts, consuming its grant",
            ActionEvent.SUCCEED: "it ended with exit code 0",
            ActionEvent.FAIL: "it ended otherwise, ran out of time, or never came to run",
            ActionEvent.CANCEL: "it was dropped before it started, or stopped while it ran",
            ActionEvent.LOSE: "the connection or sayso itself went away, so its end is unknown",
            ActionEvent.SETTLE_RAN: "a person found that it ran",
            ActionEvent.SETTLE_DID_NOT_RUN: "a person found that it did not run",
        },
    ),
    Machine(
        name="Clarification",
        about="One choice between readings of a request.\n"
        "Picking one is never consent: it is handled as if it had been typed.",
        first=(ClarificationState.PENDING,),
        table=_plain(CLARIFICATION),
        events={
            ClarificationEvent.ANSWER: "the person picked one",
            ClarificationEvent.CANCEL: "the person dropped it",
            ClarificationEvent.EXPIRE: "its deadline passed",
            ClarificationEvent.SUPERSEDE: "the person asked for something else",
        },
    ),
    Machine(
        name="Commitment",
        about="One act other than a command, from how it was resolved to what became of it.\n"
        "It is made in one of several states; what expired is never taken up again.",
        first=tuple(COMMITMENT_BEGINS.values()),
        table=_plain(COMMITMENT),
        events={
            CommitmentEvent.CLARIFY: "it has to be said which is meant, or its time passed while it waited",
            CommitmentEvent.CONFIRM: "it is clear, and takes a typed phrase",
            CommitmentEvent.ALLOW: "it is clear and may be done, or its phrase was typed",
            CommitmentEvent.DENY: "what was answered cannot be done; the reason was said",
            CommitmentEvent.COMMIT: "it was done",
            CommitmentEvent.ABORT: "it was dropped before it was done",
            CommitmentEvent.EXPIRE: "its deadline passed; that is neither a yes nor a no",
        },
    ),
    Machine(
        name="Job",
        about="A reminder, a scheduled command or a scheduled post.\n"
        "Each time that it is due is claimed once, in the record, before anything is said or done.",
        first=(JobState.PENDING,),
        table=_plain(JOB),
        events={
            JobEvent.CLAIM: "it was due, and is done now or asked for",
            JobEvent.MISS: "it was due while sayso could not do it, and that is not made up",
            JobEvent.END: "nothing of it is due any more",
            JobEvent.CANCEL: "a person took it back",
        },
    ),
    Machine(
        name="Run",
        about="One supervised run of a runbook, step by step.\n"
        "A step runs only from `permitted` or `granted`, once for each time it is entered.",
        first=(RunStatus.NEW,),
        table=_plain(RUN),
        events={
            RunEvent.START: "its inputs are bound, and its document and envelope are pinned",
            RunEvent.ENTER: "the next step is begun; whatever was granted before is gone",
            RunEvent.PROPOSE: "what the step runs was proposed, and nobody has to be asked",
            RunEvent.ASK: "what the step runs was proposed, and a person is asked",
            RunEvent.GRANT: "a person who is not the agent agreed",
            RunEvent.CONSUME: "the one invocation was let go",
            RunEvent.TAKE_BACK: "it did not start in time, or the gate became stricter; it is proposed anew",
            RunEvent.BEGIN_WAIT: "the step is a wait; nothing is asked before it is over",
            RunEvent.END_WAIT: "its time has come, or a person cut it short",
            RunEvent.JUDGE: "what came of the step was compared with what was expected",
            RunEvent.END: "its document ended it, or a person, a refusal, an expiry, a budget, a deviation",
        },
    ),
    Machine(
        name="Plan",
        about="What a model composes for one request, call by call.\n"
        "Each call is counted in the record before it is made, and each answer is taken once.",
        first=(PlanState.NEW,),
        table=_plain(PLAN),
        events={
            PlanEvent.ASK: "an operator's words were read by no other planner",
            PlanEvent.CALL: "a call of the model is counted against the budgets, and then made",
            PlanEvent.ANSWER: "the model answered; what it wants is proposed in the same transaction",
            PlanEvent.CONTINUE: "what came of all of that is recorded, and the model is told",
            PlanEvent.END: "it answered, a person dropped it or said no, a budget is used up, or it failed",
        },
    ),
)


def page() -> str:
    """Return the whole page."""
    return "\n".join([INTRO, *map(_section, MACHINES)])


def _section(machine: Machine) -> str:
    rows = [
        f"| `{before}` | {event} | `{after}` | {machine.events[event]} |"
        for (before, event), after in machine.table.items()
    ]
    ends = ", ".join(f"`{state}`" for state in sorted(terminal(machine.table)))
    return "\n".join(
        [
            f"## {machine.name}\n",
            f"{machine.about}\n",
            "```mermaid",
            *_diagram(machine),
            "```\n",
            "| state | event | becomes | when |",
            "|---|---|---|---|",
            *rows,
            f"\nEnds: {ends}.\n",
        ]
    )


def _diagram(machine: Machine) -> list[str]:
    arrows = [f"    {before} --> {after}: {event}" for (before, event), after in machine.table.items()]
    ends = [f"    {state} --> [*]" for state in sorted(terminal(machine.table))]
    begins = [f"    [*] --> {first}" for first in machine.first]
    return ["stateDiagram-v2", *begins, *arrows, *ends]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
