"""Whether what a decision read is still so when its batch is written (D11). Reads the projections only."""

import sqlite3

from gate.lifecycle import ActionState
from ledger.kinds import (
    ActionIs,
    ApprovalIs,
    ClarificationIs,
    Expectation,
    FailuresAre,
    JobIsDue,
    LastTurnIs,
    NotYet,
    PairingIsOpen,
    PlanIsAt,
    ProposalIsNew,
    RowIs,
    RunIsAt,
    SettingsAre,
    SignalsAre,
    SwitchesAre,
    Untold,
    VotesAre,
)

SETTINGS_SEQ = "SELECT coalesce(max(seq), 0) FROM setting"
#: The newest entry that changed anything about signals.
SIGNALS_SEQ = (
    "SELECT max(coalesce((SELECT max(seq) FROM signal), 0), coalesce((SELECT max(seq) FROM signal_act), 0))"
)

_FAILED = (ActionState.FAILED, ActionState.CANCELLED, ActionState.LOST)
_FAILURES = "SELECT count(*) FROM action WHERE proposal=? AND state IN (?, ?, ?)"

#: A query, its values, and the one answer that is expected; no row answers None.
_Question = tuple[str, tuple[str, ...], object]


def holds(connection: sqlite3.Connection, expectation: Expectation) -> bool:
    """Whether `expectation` holds in the transaction of `connection`."""
    query, key, wanted = _question(expectation)
    row = connection.execute(query, key).fetchone()
    return (None if row is None else row[0]) == wanted


def _question(expectation: Expectation) -> _Question:
    asked: _Question
    match expectation:
        case ApprovalIs() | VotesAre() | NotYet():
            asked = _of_approval(expectation)
        case ActionIs() | FailuresAre():
            asked = _of_action(expectation)
        case ClarificationIs(clarification, choice_state):
            asked = ("SELECT state FROM clarification WHERE id=?", (clarification,), choice_state)
        case LastTurnIs(place, turn):
            asked = ("SELECT last_turn FROM place WHERE id=?", (place,), turn)
        case SwitchesAre(seq):
            asked = ("SELECT coalesce(max(seq), 0) FROM switch", (), seq)
        case PairingIsOpen(pairing):
            asked = ("SELECT id FROM pairing WHERE id=?", (pairing,), pairing)
        case Untold(proposal):
            asked = ("SELECT proposal FROM untold WHERE proposal=?", (proposal,), proposal)
        case RowIs() | JobIsDue() | RunIsAt() | PlanIsAt() | SettingsAre() | SignalsAre():
            asked = _of_commitment(expectation)
        case ProposalIsNew(proposal):  # pragma: no branch - mypy checks that no other kind is left
            asked = ("SELECT id FROM proposal WHERE id=?", (proposal,), None)
    return asked


def _of_action(expectation: ActionIs | FailuresAre) -> _Question:
    match expectation:
        case ActionIs(action, state):
            return ("SELECT state FROM action WHERE id=?", (action,), state)
        case FailuresAre(proposal, count):  # pragma: no branch - mypy checks that no other kind is left
            return (_FAILURES, (proposal, *_FAILED), count)


def _of_commitment(
    expectation: RowIs | JobIsDue | RunIsAt | PlanIsAt | SettingsAre | SignalsAre,
) -> _Question:
    if isinstance(expectation, JobIsDue):
        return ("SELECT next_at FROM job WHERE id=?", (expectation.job,), expectation.fire_at)
    if isinstance(expectation, RunIsAt):
        return ("SELECT seq FROM run WHERE id=?", (expectation.run,), expectation.seq)
    if isinstance(expectation, PlanIsAt):
        return ("SELECT seq FROM plan WHERE id=?", (expectation.plan,), expectation.seq)
    if isinstance(expectation, SettingsAre | SignalsAre):
        settings = isinstance(expectation, SettingsAre)
        return (SETTINGS_SEQ if settings else SIGNALS_SEQ, (), expectation.seq)
    query = f"SELECT state FROM {expectation.table} WHERE id=?"  # noqa: S608 - the table is a Literal
    return (query, (expectation.id,), expectation.state)


def _of_approval(expectation: ApprovalIs | VotesAre | NotYet) -> _Question:
    asked: _Question
    match expectation:
        case ApprovalIs(approval, approval_state):
            asked = ("SELECT state FROM approval WHERE id=?", (approval,), approval_state)
        case VotesAre(approval, count):
            asked = ("SELECT count(*) FROM vote WHERE approval=?", (approval,), count)
        case _:
            key = (expectation.approval, expectation.rung)
            asked = ("SELECT at FROM rung WHERE approval=? AND rung=?", key, None)
    return asked
