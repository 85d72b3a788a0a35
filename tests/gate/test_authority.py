"""Authority: who may decide what (C4, D2)."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.authority import covers, find, may_refuse, needs_second_person, objection, seconds, who_may
from gate.domain import AGENT, PendingApproval, PersonId, ReasonCode, Risk
from gate.policy import Operator, Permission, Policy
from tests.gate.makers import ANA, BO, DESTROY, KIM, POLICY, PVE1, RESTART, UPGRADE, VIEWER, WEB1, operator


def test_an_account_finds_its_one_person() -> None:
    linked = replace(ANA, accounts=("console::ana", "chat:t1:U1"))
    people = (linked, KIM)
    assert find(people, "chat:t1:U1") is linked
    assert find(people, "console::ana") is linked
    assert find(people, "console::kim") is KIM


@pytest.mark.parametrize("account", ["", "console::", "console::an", "CONSOLE::ANA", "chat:t2:U1"])
def test_everybody_else_is_a_stranger(account: str) -> None:
    assert find((ANA, KIM), account) is None


@pytest.mark.parametrize(
    ("names", "reaches_web1", "reaches_pve1"),
    [
        (("*",), True, True),
        (("web1",), True, False),
        (("@prod",), True, False),
        (("prod",), False, False),
        (("@web1",), False, False),
        (("web",), False, False),
        (("pve1", "@prod"), True, True),
        ((), False, False),
    ],
)
def test_a_permission_names_targets_tags_or_all(
    names: tuple[str, ...], *, reaches_web1: bool, reaches_pve1: bool
) -> None:
    person = Operator(id=PersonId("x"), may=(Permission(risk=Risk.DESTRUCTIVE, targets=names),))
    assert covers(person, target=WEB1, risk=Risk.READ_ONLY) is reaches_web1
    assert covers(person, target=PVE1, risk=Risk.READ_ONLY) is reaches_pve1


@pytest.mark.parametrize("allowed", Risk)
@pytest.mark.parametrize("asked", Risk)
def test_a_permission_reaches_up_to_its_risk(allowed: Risk, asked: Risk) -> None:
    assert covers(operator("x", (allowed, "*")), target=WEB1, risk=asked) is (asked.rank <= allowed.rank)


def test_an_empty_list_of_permissions_permits_nothing() -> None:
    assert not covers(VIEWER, target=WEB1, risk=Risk.READ_ONLY)


def test_a_risk_on_one_target_says_nothing_about_another() -> None:
    mixed = operator("x", (Risk.DESTRUCTIVE, "web1"), (Risk.READ_ONLY, "*"))
    assert covers(mixed, target=PVE1, risk=Risk.READ_ONLY)
    assert not covers(mixed, target=PVE1, risk=Risk.REVERSIBLE_LOW)


def test_who_may_is_in_the_order_of_the_configuration() -> None:
    people = (BO, KIM, VIEWER, ANA)
    assert who_may(people, target=WEB1, risk=Risk.REVERSIBLE_LOW) == ("bo", "kim", "ana")
    assert who_may(people, target=WEB1, risk=Risk.DESTRUCTIVE) == ("kim", "ana")


@pytest.mark.parametrize(
    ("separate", "people", "expected"),
    [
        (None, (ANA,), False),
        (None, (ANA, KIM), True),
        (None, (), False),
        (True, (ANA,), True),
        (False, (ANA, KIM), False),
    ],
)
def test_destruction_takes_a_second_person_where_there_is_one(
    separate: bool | None,  # noqa: FBT001 - a column of the table
    people: tuple[Operator, ...],
    *,
    expected: bool,
) -> None:
    policy = Policy(operators=people, separate_requester=separate)
    assert needs_second_person(policy, risk=Risk.DESTRUCTIVE) is expected
    assert not needs_second_person(policy, risk=Risk.CONFIG_MUTATION)


def _code(
    person: Operator | None, *, policy: Policy = POLICY, approval: PendingApproval = RESTART
) -> ReasonCode | None:
    found = objection(person, approval, policy)
    return None if found is None else found.code


def test_strangers_and_the_agent_decide_nothing() -> None:
    agent = operator(AGENT, (Risk.DESTRUCTIVE, "*"))
    assert _code(None) is ReasonCode.NOT_AN_OPERATOR
    assert _code(agent) is ReasonCode.NOT_AN_OPERATOR
    assert not may_refuse(None, RESTART)
    assert not may_refuse(agent, replace(RESTART, requester=AGENT))


@pytest.mark.parametrize(
    ("person", "restart", "upgrade"),
    [
        (ANA, None, None),
        (BO, None, ReasonCode.NOT_AUTHORISED),
        (VIEWER, ReasonCode.NOT_AUTHORISED, ReasonCode.NOT_AUTHORISED),
    ],
)
def test_permission_decides(person: Operator, restart: ReasonCode | None, upgrade: ReasonCode | None) -> None:
    assert _code(person) is restart
    assert _code(person, approval=UPGRADE) is upgrade
    assert may_refuse(person, UPGRADE) is (upgrade is None or person is ANA)


def test_the_objection_names_who_may() -> None:
    found = objection(BO, UPGRADE, POLICY)
    assert found is not None
    assert found.text == "bo may not approve config mutation work on web1. Who may: ana, kim."


def test_the_objection_says_how_to_help_where_nobody_may() -> None:
    found = objection(VIEWER, UPGRADE, Policy(operators=(VIEWER,)))
    assert found is not None
    assert found.text.endswith("Who may: nobody; add a line to `may` of an operator in the config.")


def test_the_requester_of_destruction_waits_for_somebody_else() -> None:
    policy = replace(POLICY, separate_requester=None)
    found = objection(ANA, DESTROY, policy)
    assert found is not None
    assert found.code is ReasonCode.SECOND_PERSON
    assert found.text == "#k7f3a2 destroys something, so another person decides: kim."
    assert _code(KIM, policy=policy, approval=DESTROY) is None
    assert _code(ANA, policy=Policy(operators=(ANA,)), approval=DESTROY) is None
    assert may_refuse(ANA, DESTROY)


@given(
    st.lists(st.builds(Permission, risk=st.sampled_from(Risk), targets=st.just(("*",))), max_size=3),
    st.sampled_from(Risk),
    st.sampled_from(Risk),
)
def test_who_may_more_may_less(lines: list[Permission], one: Risk, other: Risk) -> None:
    person = Operator(id=PersonId("x"), may=tuple(lines))
    if covers(person, target=WEB1, risk=one) and one.at_least(other):
        assert covers(person, target=WEB1, risk=other)


def test_who_decides_instead_of_the_requester_is_named() -> None:
    strict = replace(POLICY, separate_requester=True)
    for risk, policy, others in (
        (Risk.DESTRUCTIVE, strict, (KIM.id,)),
        (Risk.DESTRUCTIVE, replace(strict, separate_requester=False), ()),
        (Risk.CONFIG_MUTATION, strict, ()),
    ):
        assert seconds(policy, target=WEB1, risk=risk, requester=ANA.id) == others


def of_an_agent(target: str = "ana") -> PendingApproval:
    return replace(DESTROY, requester=PersonId("agent:claude"), on_behalf=PersonId(target))


def test_nobody_gets_around_a_second_person_by_having_an_agent_ask() -> None:
    policy = replace(POLICY, separate_requester=True)
    found = objection(ANA, of_an_agent(), policy)
    assert found is not None
    assert found.code is ReasonCode.SECOND_PERSON
    assert objection(KIM, of_an_agent(), policy) is None


def test_whoever_an_agent_works_for_may_drop_what_it_asked_for() -> None:
    assert may_refuse(VIEWER, of_an_agent(str(VIEWER.id)))
    assert not may_refuse(VIEWER, of_an_agent())


def test_an_agent_is_no_decider_whatever_it_is_called() -> None:
    agent = Operator(id=PersonId("agent:claude"))
    assert objection(agent, of_an_agent(), POLICY) is not None
