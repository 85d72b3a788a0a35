"""Answers: who may give them, in which order they are checked, and for how long (R9 to R12)."""

from dataclasses import replace

import pytest

from gate.domain import AGENT
from gate.policy import Operator
from gate.supervise.approval import (
    DEFAULT_EXPIRY_S,
    MAX_EXPIRY_S,
    ApprovalRequest,
    Decision,
    Identities,
    grant,
    has_expired,
    refuse,
)
from gate.supervise.binding import command_digest
from gate.supervise.domain import Limits, RunId, StepId, StepRisk
from gate.supervise.errors import (
    NoReasonError,
    SelfApprovalError,
    StaleDecisionError,
    SupervisionError,
    UnknownDeciderError,
    WrongRequestError,
)
from tests.gate.supervise.runs import ANA, BOT, KIM, NOW, RUN, WHO, after

REQUEST = ApprovalRequest(
    id="a@1",
    run=RUN,
    step_id=StepId("a"),
    number=1,
    title="do a",
    risk=StepRisk.MUTATING,
    command="true",
    command_digest=command_digest(tool="run", target="web1", command="true"),
    target="web1",
    capabilities=("run",),
    rollback_to=None,
    expires_in_s=60,
    issued_at=NOW,
)
YES = Decision(run=RUN, request_id="a@1", decided_by="ana")
NO = replace(YES, reason="not now")


def test_a_yes_pins_what_was_asked_about() -> None:
    made = grant(REQUEST, YES, agent=BOT, identities=WHO, now=NOW)
    assert (made.run, made.request_id, made.step_id, made.number) == (RUN, "a@1", "a", 1)
    assert made.decided_by == ANA
    assert made.command_digest == REQUEST.command_digest


def test_accounts_are_people() -> None:
    account = replace(YES, decided_by="slack:T1:U7")
    assert grant(REQUEST, account, agent=BOT, identities=WHO, now=NOW).decided_by == ANA
    assert refuse(REQUEST, replace(account, reason="no"), agent=BOT, identities=WHO).decided_by == ANA


ALIASES = [
    "agent-7",
    "Agent-7",
    " agent-7 ",
    "@agent-7",
    "agent\u200b-7",
    "ａｇｅｎｔ-7",
    "AGENT-７",
    "helper",
    "HELPER",
    "slack:T1:U9",
    "discord::99",
    "deploy bot",
    "DeployBot",
    "sayso",
    "Sayso",
    AGENT,
]


@pytest.mark.parametrize("name", ALIASES)
def test_the_agent_decides_under_no_name(name: str) -> None:
    with pytest.raises(SelfApprovalError):
        grant(REQUEST, replace(YES, decided_by=name), agent=BOT, identities=WHO, now=NOW)
    with pytest.raises(SelfApprovalError):
        refuse(REQUEST, replace(NO, decided_by=name), agent=BOT, identities=WHO)


@pytest.mark.parametrize("name", ["", "nobody", "slack:T2:U7", "anna"])
def test_who_is_not_known_does_not_decide(name: str) -> None:
    with pytest.raises(UnknownDeciderError):
        grant(REQUEST, replace(YES, decided_by=name), agent=BOT, identities=WHO, now=NOW)


def test_a_person_who_has_a_bots_name_is_a_bot() -> None:
    who = Identities(people={"bob": ANA}, machines=frozenset({"bob"}))
    assert who.is_machine("bob", agent=BOT)
    assert who.is_machine("Ana", agent=ANA)


def test_operators_are_known_by_name_and_account() -> None:
    who = Identities.of([Operator(id=ANA, accounts=("slack:T1:U7",))], machines=["slack:T1:B1"])
    assert who.person("ana") == who.person("slack:T1:U7") == ANA
    assert who.is_machine("slack:T1:B1", agent=BOT)
    assert who.person("kim") is None


def test_one_name_for_two_is_nobody() -> None:
    who = Identities(people={"a": ANA, " A": KIM, "b": ANA, "B": BOT})
    assert who.person("a") is None
    assert not who.is_machine("a", agent=BOT)
    assert who.is_machine("b", agent=BOT)


def test_a_yes_to_another_question_is_none() -> None:
    for other in (replace(YES, request_id="a@2"), replace(YES, run=RunId("r2"))):
        with pytest.raises(WrongRequestError, match="one invocation of one step"):
            grant(REQUEST, other, agent=BOT, identities=WHO, now=NOW)
    with pytest.raises(WrongRequestError):
        grant(None, YES, agent=BOT, identities=WHO, now=NOW)


def test_a_no_to_another_question_is_none() -> None:
    for other in (replace(NO, request_id="a@2"), replace(NO, run=RunId("r2"))):
        with pytest.raises(WrongRequestError, match="answers one request"):
            refuse(REQUEST, other, agent=BOT, identities=WHO)
    with pytest.raises(WrongRequestError):
        refuse(None, NO, agent=BOT, identities=WHO)


@pytest.mark.parametrize(("seconds", "expired"), [(0, False), (60, False), (60.001, True), (61, True)])
def test_expiry_is_strict(seconds: float, *, expired: bool) -> None:
    assert has_expired(REQUEST, now=after(seconds)) is expired


def test_a_late_yes_is_stale_and_a_late_no_counts() -> None:
    with pytest.raises(StaleDecisionError, match="stale decision"):
        grant(REQUEST, YES, agent=BOT, identities=WHO, now=after(61))
    assert refuse(REQUEST, NO, agent=BOT, identities=WHO).reason == "not now"


@pytest.mark.parametrize("reason", ["", "  ", "\n"])
def test_a_no_needs_a_reason(reason: str) -> None:
    with pytest.raises(NoReasonError, match="needs a reason"):
        refuse(REQUEST, replace(NO, reason=reason), agent=BOT, identities=WHO)


def test_a_reason_may_be_owed() -> None:
    assert refuse(REQUEST, replace(NO, reason=None), agent=BOT, identities=WHO).reason is None


def test_checks_come_in_order() -> None:
    late = after(1000)
    wrong = replace(YES, request_id="x", decided_by="agent-7", reason=" ")
    with pytest.raises(SelfApprovalError):
        grant(REQUEST, wrong, agent=BOT, identities=WHO, now=late)
    with pytest.raises(WrongRequestError):
        grant(REQUEST, replace(wrong, decided_by="ana"), agent=BOT, identities=WHO, now=late)
    with pytest.raises(SelfApprovalError):
        refuse(REQUEST, wrong, agent=BOT, identities=WHO)
    with pytest.raises(WrongRequestError):
        refuse(REQUEST, replace(wrong, decided_by="ana"), agent=BOT, identities=WHO)


def test_every_error_says_what_to_do() -> None:
    for error in SupervisionError.__subclasses__():
        assert str(error()).endswith((".", ";"))


def test_the_usual_deadline() -> None:
    assert Limits().approval_s == DEFAULT_EXPIRY_S == 900
    assert MAX_EXPIRY_S == 3600
