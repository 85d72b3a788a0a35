"""Decisions about a fan-out: all of it or nothing, by one phrase, and part of it only by name (D4, X13)."""

from dataclasses import replace

import pytest

from gate.decide import (
    ChangeAsked,
    Choice,
    Decision,
    Granted,
    Refused,
    Rejected,
    Utterance,
    Which,
    decide,
)
from gate.digest import list_digest
from gate.domain import AssentVerdict, Manner, PendingApproval, ReasonCode, Risk, Target, TargetId, TargetKind
from tests.gate.deciding import PARTIAL_1, code, reads, real, say
from tests.gate.makers import BO, KIM, NOW, P1, P2, POLICY, PVE1, WEB1, facts, operator, pending, window

PHRASE = "reboot 3 hosts"
TARGETS = (WEB1, PVE1, Target(id=TargetId("web2"), kind=TargetKind.SSH, address="10.0.0.2"))


def many(*, phrase: str | None = None, risk: Risk = Risk.DESTRUCTIVE) -> tuple[PendingApproval, ...]:
    """Return the live approvals of one command on three targets."""
    made = [
        pending("reboot", index=index, target=target, risk=risk, phrase=phrase)
        for index, target in enumerate(TARGETS, start=1)
    ]
    digest = list_digest([one.action_digest for one in made])
    return tuple(replace(one, list_digest=digest, fanout=True) for one in made)


REBOOT = many(phrase=PHRASE)


def test_one_phrase_runs_all_of_it() -> None:
    decision = say(facts(*REBOOT), PHRASE, by=KIM)
    assert decision == Granted(approvals=REBOOT, manner=Manner.PHRASE, alone=False)


def test_who_may_decide_about_a_part_decides_about_none_of_it() -> None:
    lena = operator("lena", (Risk.DESTRUCTIVE, "web1"))
    assert code(say(facts(*REBOOT), PHRASE, by=lena)) is ReasonCode.NOT_AUTHORISED


def test_who_may_decide_about_a_part_decides_about_none_of_it_from_elsewhere() -> None:
    lena = operator("lena", (Risk.DESTRUCTIVE, "web1"))
    away = [replace(one, asked_in="elsewhere", shown_in="elsewhere") for one in REBOOT]
    assert not isinstance(say(facts(*away), PHRASE, by=lena), Granted)
    assert isinstance(say(facts(*away), PHRASE, by=KIM), Granted)


def test_the_same_phrase_of_two_fan_outs_names_neither() -> None:
    other = [replace(one, proposal=P2, approval=f"{one.approval}2") for one in REBOOT]
    assert isinstance(say(facts(*REBOOT, *other), PHRASE, by=KIM), Which)


def test_a_yes_takes_all_of_it_or_nothing() -> None:
    restart = many(risk=Risk.REVERSIBLE_LOW)
    mine = facts(*restart, opened=window())
    assert say(mine, "go ahead") == Granted(approvals=restart, manner=Manner.WORDS, alone=True)
    assert isinstance(say(replace(mine, window=window("bo")), "go ahead", by=BO), Rejected)


def test_what_an_answer_can_speak_of_is_one_thing() -> None:
    read = reads(AssentVerdict.AMBIGUOUS)
    say(facts(*many(risk=Risk.REVERSIBLE_LOW), opened=window()), "hm", read=read)
    assert read.asked == [("hm", ("reboot on web1",))]


def test_a_number_names_no_part_of_it() -> None:
    restart = many(risk=Risk.REVERSIBLE_LOW)
    decision = say(facts(*restart, opened=window()), "only the first", read=PARTIAL_1)
    assert decision == ChangeAsked(approvals=restart)


@pytest.mark.parametrize("text", ["all but web1?", "not sure about web2", "is web1 in it?"])
def test_doubt_starts_nothing(text: str) -> None:
    decision = say(facts(*many(risk=Risk.REVERSIBLE_LOW), opened=window()), text)
    assert not isinstance(decision, Granted)


def test_a_yes_from_before_it_was_asked_anew_is_none_to_the_rest() -> None:
    restart = many(risk=Risk.REVERSIBLE_LOW)
    old = Utterance(person=KIM, text="go ahead", refers_to=P1, manner=Manner.REPLY, outdated=True)
    for said in (old, replace(old, text="", choice=Choice.APPROVE)):
        assert code(judged(restart, said)) is ReasonCode.STALE_WORDS
        assert isinstance(judged(restart, replace(said, outdated=False)), Granted)
    assert code(judged(REBOOT, replace(old, text=PHRASE))) is ReasonCode.STALE_WORDS


def test_a_no_from_before_it_was_asked_anew_counts() -> None:
    old = Utterance(person=KIM, text="", refers_to=P1, choice=Choice.DENY, outdated=True)
    assert isinstance(judged(REBOOT, old), Refused)


def judged(waiting: tuple[PendingApproval, ...], said: Utterance) -> Decision:
    return decide(facts(*waiting), said, policy=POLICY, read=real, now=NOW)
