"""Decisions about phrases and lists, and that the agent never decides (C4, C15, D2, D4)."""

from dataclasses import replace

import pytest

from gate.decide import (
    Challenged,
    Choice,
    Granted,
    Open,
    Refused,
    Rejected,
    Which,
)
from gate.domain import (
    AGENT,
    Manner,
    ReasonCode,
    Risk,
)
from gate.policy import Operator
from tests.gate.deciding import (
    AGENT_OPERATOR,
    LIST,
    MIXED,
    MIXED_LIST,
    OTHER,
    code,
    granted,
    reply,
    say,
)
from tests.gate.makers import (
    ANA,
    BO,
    DESTROY,
    KIM,
    P2,
    PHRASE,
    POLICY,
    PVE1,
    RESTART,
    UPGRADE,
    VIEWER,
    facts,
    pending,
    window,
)

# ---------------------------------------------------------------- phrases


@pytest.mark.parametrize("typed", [PHRASE, f"  {PHRASE}\n", f"`{PHRASE}`", f"\u201c{PHRASE}\u201d"])
def test_the_exact_phrase_grants(typed: str) -> None:
    for decision in (say(facts(DESTROY), typed), reply(facts(DESTROY), typed)):
        assert decision == Granted(approvals=(DESTROY,), manner=Manner.PHRASE, alone=True)


def test_a_phrase_that_crossed_its_card_on_the_way_runs_nothing() -> None:
    decision = say(facts(DESTROY), PHRASE, unread=frozenset({DESTROY.proposal}))
    assert isinstance(decision, Rejected)
    assert (decision.reason.code, decision.approvals) == (ReasonCode.STALE_WORDS, (DESTROY,))


def test_who_may_not_type_it_is_told_that_first() -> None:
    decision = say(facts(DESTROY), PHRASE, by=VIEWER, unread=frozenset({DESTROY.proposal}))
    assert isinstance(decision, Rejected)
    assert decision.reason.code is ReasonCode.NOT_AUTHORISED


@pytest.mark.parametrize("typed", ["Destroy ct-112 on pve1", "destroy ct-113 on pve1", "destroy ct-112"])
def test_a_near_phrase_is_asked_for_again(typed: str) -> None:
    for decision in (say(facts(DESTROY, opened=window()), typed), reply(facts(DESTROY), typed)):
        assert decision == Challenged(approval=DESTROY, near=True)


@pytest.mark.parametrize("explicit", [Choice.APPROVE, None])
def test_a_yes_is_not_enough_for_a_phrase(explicit: Choice | None) -> None:
    assert reply(facts(DESTROY), "yes", choice=explicit) == Challenged(approval=DESTROY)
    assert say(facts(DESTROY, opened=window()), "yes") == Challenged(approval=DESTROY)


def test_a_no_refuses_what_waits_for_a_phrase() -> None:
    assert isinstance(say(facts(DESTROY, opened=window()), "no"), Refused)


def test_a_wrong_phrase_and_other_words_grant_nothing() -> None:
    assert say(facts(DESTROY, opened=window()), "uptime on web2", read=OTHER) == Open()


@pytest.mark.parametrize(
    ("phrase", "request_", "mistyped"),
    [
        ("run k7f3a2.1 on web1", "run uptime on web1", "run k7f3a1.1 on web1"),
        ("run k7f3a2.1 on web1", "run ls /k7f on web1", "Run k7f3a2.1 on web1"),
        ("change 8 on web1", "change the timezone on web1", "change 9 on web1"),
    ],
)
def test_another_request_is_not_taken_for_a_mistyped_phrase(
    phrase: str, request_: str, mistyped: str
) -> None:
    odd = pending("rm -rf '/srv/my docs'", risk=Risk.DESTRUCTIVE, phrase=phrase)
    live = facts(odd, opened=window())
    assert say(live, request_, read=OTHER) == Open()
    assert say(live, mistyped, read=OTHER) == Challenged(approval=odd, near=True)
    assert granted(say(live, phrase)) == (odd,)


def test_the_requester_needs_a_second_person_for_destruction() -> None:
    strict = replace(POLICY, separate_requester=True)
    live = facts(DESTROY, opened=window())
    for decision in (say(live, PHRASE, policy=strict), reply(live, "yes", policy=strict)):
        assert code(decision) is ReasonCode.SECOND_PERSON
    decision = say(live, PHRASE, by=KIM, policy=strict)
    assert decision == Granted(approvals=(DESTROY,), manner=Manner.PHRASE, alone=False)


@pytest.mark.parametrize("person", [BO, VIEWER])
def test_a_phrase_of_somebody_without_permission_grants_nothing(person: Operator) -> None:
    assert code(say(facts(DESTROY), PHRASE, by=person)) is ReasonCode.NOT_AUTHORISED
    assert code(reply(facts(DESTROY), choice=Choice.APPROVE, by=person)) is ReasonCode.NOT_AUTHORISED


def test_a_phrase_that_two_wait_for_asks_which() -> None:
    twin = pending("pct destroy 112 --purge", proposal=P2, target=PVE1, risk=Risk.DESTRUCTIVE, phrase=PHRASE)
    live = facts(DESTROY, twin)
    assert say(live, PHRASE) == Which(approvals=(DESTROY, twin), choice=Choice.APPROVE)
    assert granted(reply(live, PHRASE, to=P2)) == (twin,)


# ---------------------------------------------------------------- lists


def test_a_yes_grants_exactly_the_list() -> None:
    assert granted(say(LIST, "yes")) == (RESTART, UPGRADE)


def test_a_yes_to_a_mixed_list_grants_the_rest_and_asks_for_the_phrase() -> None:
    decision = say(MIXED, "yes")
    assert decision == Granted(
        approvals=MIXED_LIST[:1], manner=Manner.WORDS, alone=True, challenge=MIXED_LIST[1]
    )


def test_the_phrase_of_a_mixed_list_grants_only_its_own() -> None:
    assert granted(say(MIXED, "delete /srv/x on web1")) == MIXED_LIST[1:]


def test_who_may_not_approve_all_of_a_list_approves_none_of_it() -> None:
    decision = reply(LIST, "yes", by=BO)
    assert code(decision) is ReasonCode.NOT_AUTHORISED
    assert isinstance(decision, Rejected)
    assert decision.approvals == (UPGRADE,)


# ---------------------------------------------------------------- the agent never decides


def test_the_agent_never_decides_whatever_the_list_of_operators_says() -> None:
    policy = replace(POLICY, operators=(AGENT_OPERATOR, ANA))
    mine = replace(RESTART, requester=AGENT)
    live = facts(mine, opened=window(AGENT))
    for decision in (
        say(live, "yes", by=AGENT_OPERATOR, policy=policy),
        reply(live, choice=Choice.APPROVE, by=AGENT_OPERATOR, policy=policy),
    ):
        assert code(decision) is ReasonCode.NOT_AN_OPERATOR
    assert (
        code(reply(live, choice=Choice.DENY, by=AGENT_OPERATOR, policy=policy)) is ReasonCode.NOT_AUTHORISED
    )
    destroy = facts(replace(DESTROY, requester=AGENT))
    assert code(say(destroy, PHRASE, by=AGENT_OPERATOR, policy=policy)) is ReasonCode.NOT_AN_OPERATOR
