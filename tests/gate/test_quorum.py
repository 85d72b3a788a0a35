"""Quorum: how many people have to say yes, and whose yes counts (X4, C4)."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.decide import Challenged, Choice, Decision, Granted, Refused, Rejected, Utterance, Voted, decide
from gate.domain import Assent, AssentVerdict, Manner, PendingApproval, PersonId, ReasonCode, Risk
from gate.policy import Operator, Policy
from gate.quorum import counted, missing, needed, required
from tests.gate.makers import (
    ANA,
    BO,
    DESTROY,
    KIM,
    NOW,
    P1,
    PHRASE,
    POLICY,
    PVE1,
    RESTART,
    UPGRADE,
    VIEWER,
    WEB1,
    facts,
)

YES = Assent(verdict=AssentVerdict.GRANT, because="so")


def policy(**quorum: int) -> Policy:
    names = {"prod": "@prod"}
    return replace(POLICY, quorum=tuple((names.get(name, name), count) for name, count in quorum.items()))


def voted(one: PendingApproval, *names: str, quorum: int = 1) -> PendingApproval:
    return replace(one, votes=tuple(PersonId(name) for name in names), quorum=quorum)


def approve(*live: PendingApproval, by: Operator, rules: Policy, text: str = "") -> Decision:
    """Press Approve, or type `text` as a reply."""
    said = Utterance(
        person=by,
        text=text,
        refers_to=P1,
        choice=None if text else Choice.APPROVE,
        manner=Manner.REPLY if text else Manner.BUTTON,
    )
    return decide(facts(*live), said, policy=rules, read=lambda *_: YES, now=NOW)


# ---------------------------------------------------------------- how many


@pytest.mark.parametrize(
    ("quorum", "on_web1", "on_pve1", "destroys_pve1"),
    [
        ({}, 1, 1, 1),
        ({"destructive": 2}, 1, 1, 2),
        ({"reversible_low": 2}, 2, 2, 2),
        ({"read_only": 3, "destructive": 2}, 3, 3, 3),
        ({"prod": 2}, 2, 1, 1),
        ({"web1": 2, "pve1": 3}, 2, 3, 3),
        ({"prod": 2, "web1": 4, "reversible_low": 3}, 4, 3, 3),
        ({"nowhere": 9}, 1, 1, 1),
    ],
)
def test_the_largest_that_applies_counts(
    quorum: dict[str, int], on_web1: int, on_pve1: int, destroys_pve1: int
) -> None:
    rules = policy(**quorum)
    assert required(rules, target=WEB1, risk=Risk.REVERSIBLE_LOW) == on_web1
    assert required(rules, target=PVE1, risk=Risk.REVERSIBLE_LOW) == on_pve1
    assert required(rules, target=PVE1, risk=Risk.DESTRUCTIVE) == destroys_pve1


def test_a_list_takes_what_its_strictest_takes_then_or_now() -> None:
    assert needed([RESTART, UPGRADE], policy(config_mutation=2)) == 2
    assert needed([RESTART], policy(config_mutation=2)) == 1
    assert needed([voted(RESTART, quorum=3)], policy(prod=2)) == 3
    assert needed([voted(RESTART, quorum=1)], policy(prod=2)) == 2


def test_votes_of_those_who_may_not_decide_any_more_count_for_nothing() -> None:
    one = voted(UPGRADE, "kim", "bo", "viewer", "gone", "kim", "ana")
    assert counted(one, POLICY) == ("kim", "ana")
    separate = replace(POLICY, separate_requester=True)
    assert counted(voted(DESTROY, "kim", "ana"), separate) == ("kim",)


def test_who_is_missing_may_decide_and_has_not() -> None:
    assert missing(voted(RESTART, "kim"), POLICY) == ("ana", "bo")
    assert missing(voted(DESTROY, "kim"), replace(POLICY, separate_requester=True)) == ()


# ---------------------------------------------------------------- decisions


def test_the_first_yes_is_a_vote_and_the_second_grants() -> None:
    rules = policy(prod=2)
    first = approve(RESTART, by=ANA, rules=rules)
    assert first == Voted(approvals=(RESTART,), manner=Manner.BUTTON, needed=2)
    second = approve(voted(RESTART, "ana"), by=KIM, rules=rules)
    assert isinstance(second, Granted)
    assert (second.needed, second.alone) == (2, False)


def test_the_same_person_counts_once() -> None:
    found = approve(voted(RESTART, "ana"), by=ANA, rules=policy(prod=2))
    assert isinstance(found, Rejected)
    assert found.reason.code is ReasonCode.ALREADY_VOTED
    assert found.reason.text == "Your yes counts already: 1 of 2. Who may say the next one: kim or bo."


def test_where_nobody_is_left_it_says_so() -> None:
    rules = replace(policy(prod=2), operators=(ANA, VIEWER))
    found = approve(voted(RESTART, "ana"), by=ANA, rules=rules)
    assert isinstance(found, Rejected)
    assert "nobody; see quorum in the config" in found.reason.text


def test_a_list_is_granted_when_all_of_it_is() -> None:
    rules = policy(config_mutation=2)
    half = (voted(RESTART, "kim"), UPGRADE)
    found = approve(*half, by=KIM, rules=rules)
    assert found == Voted(approvals=(UPGRADE,), manner=Manner.BUTTON, needed=2)
    found = approve(*half, by=ANA, rules=rules)
    assert isinstance(found, Voted)
    assert found.approvals == half
    both = (voted(RESTART, "kim"), voted(UPGRADE, "kim"))
    found = approve(*both, by=ANA, rules=rules)
    assert isinstance(found, Granted)
    assert found.approvals == both


def test_the_phrase_is_typed_by_each() -> None:
    rules = replace(policy(destructive=2), separate_requester=False)
    assert isinstance(approve(DESTROY, by=ANA, rules=rules), Challenged)
    first = approve(DESTROY, by=ANA, rules=rules, text=PHRASE)
    assert first == Voted(approvals=(DESTROY,), manner=Manner.PHRASE, needed=2)
    once = voted(DESTROY, "ana")
    assert isinstance(approve(once, by=KIM, rules=rules), Challenged)
    second = approve(once, by=KIM, rules=rules, text=PHRASE)
    assert isinstance(second, Granted)
    assert second.manner is Manner.PHRASE


def test_a_requester_who_may_not_decide_does_not_count() -> None:
    rules = replace(policy(destructive=2), separate_requester=True)
    found = approve(DESTROY, by=ANA, rules=rules, text=PHRASE)
    assert isinstance(found, Rejected)
    assert found.reason.code is ReasonCode.SECOND_PERSON
    # A vote from before the rule was set counts for nothing either.
    assert isinstance(approve(voted(DESTROY, "ana"), by=KIM, rules=rules, text=PHRASE), Voted)


@pytest.mark.parametrize("by", [BO, VIEWER])
def test_who_may_not_approve_does_not_vote(by: Operator) -> None:
    found = approve(UPGRADE, by=by, rules=policy(prod=2))
    assert isinstance(found, Rejected)
    assert found.reason.code is ReasonCode.NOT_AUTHORISED


def test_one_no_ends_it_whatever_was_voted() -> None:
    said = Utterance(person=ANA, text="", refers_to=P1, choice=Choice.DENY, manner=Manner.BUTTON)
    live = facts(voted(RESTART, "kim", quorum=3))
    found = decide(live, said, policy=policy(prod=3), read=lambda *_: YES, now=NOW)
    assert isinstance(found, Refused)


def test_policy_that_asks_for_fewer_later_does_not_lower_what_was_asked() -> None:
    assert isinstance(approve(voted(RESTART, quorum=2), by=ANA, rules=POLICY), Voted)


@given(
    st.lists(st.sampled_from(["ana", "kim", "bo", "viewer", "gone"]), max_size=6),
    st.integers(1, 4),
    st.sampled_from([ANA, KIM, BO]),
)
def test_a_grant_takes_that_many_distinct_people_who_may(votes: list[str], count: int, by: Operator) -> None:
    found = approve(voted(RESTART, *votes), by=by, rules=policy(prod=count))
    able = {*votes, by.id} & {"ana", "kim", "bo"}
    assert isinstance(found, Granted) is (len(able) >= count)
    if isinstance(found, Voted):
        assert by.id not in votes
