"""Decisions: what holds for every utterance, reader and policy (D2, C4)."""

from dataclasses import replace
from typing import get_args

from hypothesis import assume, given
from hypothesis import strategies as st

from gate import authority
from gate.decide import (
    Choice,
    Decision,
    Granted,
    Refused,
    Utterance,
    decide,
)
from gate.domain import (
    AGENT,
    Assent,
    AssentVerdict,
    Facts,
    Manner,
    ProposalId,
)
from gate.phrases import matches
from gate.policy import Operator, Policy
from tests.gate.deciding import (
    AGENT_OPERATOR,
    GRANT,
    MIXED_LIST,
    Reads,
    say,
)
from tests.gate.makers import (
    ANA,
    BO,
    DESTROY,
    HERE,
    KIM,
    NOW,
    OTHER_RESTART,
    P1,
    P2,
    PHRASE,
    POLICY,
    RESTART,
    THERE,
    UPGRADE,
    VIEWER,
    facts,
    routed,
    window,
)

POOL = (
    RESTART,
    UPGRADE,
    OTHER_RESTART,
    DESTROY,
    MIXED_LIST[1],
    routed(RESTART),
    replace(UPGRADE, asked_in=THERE, shown_in=THERE),
    replace(OTHER_RESTART, requester=KIM.id),
    replace(RESTART, deadline_at=NOW),
)
TEXTS = (
    "yes",
    "go ahead",
    "no",
    "maybe",
    PHRASE,
    "Destroy ct-112 on pve1",
    "what is it?",
    "run uptime on web1",
)

people = st.sampled_from([ANA, KIM, BO, VIEWER, AGENT_OPERATOR, None])
assents = st.builds(
    Assent,
    verdict=st.sampled_from(AssentVerdict),
    because=st.just("so"),
    selects=st.lists(st.integers(0, 4), max_size=3).map(tuple),
    question=st.booleans(),
)
windows = st.none() | st.builds(
    window,
    st.sampled_from(["ana", "kim", "bo"]),
    proposal=st.sampled_from([P1, P2]),
    place=st.sampled_from([HERE, THERE]),
)
all_facts = st.builds(
    lambda live, opened: facts(*live, opened=opened),
    st.lists(st.sampled_from(POOL), max_size=4, unique_by=lambda one: one.approval),
    windows,
)
policies = st.sampled_from([POLICY, replace(POLICY, separate_requester=None), Policy()])
utterances = st.builds(
    Utterance,
    person=people,
    text=st.sampled_from(TEXTS) | st.text(max_size=12),
    ordinary=st.sampled_from([True, True, True, False]),
    refers_to=st.sampled_from([None, None, P1, P2, ProposalId("zzzzzz")]),
    choice=st.none(),
    engaged=st.booleans(),
) | st.builds(
    Utterance,
    person=people,
    text=st.just(""),
    refers_to=st.sampled_from([P1, P2]),
    choice=st.sampled_from(Choice),
    manner=st.sampled_from([Manner.BUTTON, Manner.COMMAND]),
)


@given(all_facts, utterances, assents, policies)
def test_nobody_grants_without_permission(
    live: Facts, said: Utterance, meant: Assent, policy: Policy
) -> None:
    decision = decide(live, said, policy=policy, read=Reads(meant), now=NOW)
    if isinstance(decision, Granted):
        assert said.person is not None
        assert said.person.id != AGENT
        assert all(authority.objection(said.person, one, policy) is None for one in decision.approvals)


@given(all_facts, utterances, assents, policies)
def test_what_is_granted_was_live_and_needed_no_other_phrase(
    live: Facts, said: Utterance, meant: Assent, policy: Policy
) -> None:
    decision = decide(live, said, policy=policy, read=Reads(meant), now=NOW)
    if isinstance(decision, Granted):
        assert decision.approvals
        assert len({one.proposal for one in decision.approvals}) == 1
        assert all(one in live.pending and one.deadline_at > NOW for one in decision.approvals)
        for one in decision.approvals:
            assert one.phrase is None or matches(said.text, one.phrase)
            assert decision.manner is Manner.PHRASE or one.phrase is None


@given(all_facts, utterances, assents, policies)
def test_nothing_is_granted_by_words_that_are_no_grant(
    live: Facts, said: Utterance, meant: Assent, policy: Policy
) -> None:
    assume(meant.verdict is not AssentVerdict.GRANT)
    assume(said.choice is not Choice.APPROVE)
    assume(not any(one.phrase and matches(said.text, one.phrase) for one in live.pending))
    assert not isinstance(decide(live, said, policy=policy, read=Reads(meant), now=NOW), Granted)


@given(all_facts, utterances, policies)
def test_words_without_a_reference_grant_only_the_requesters_own_card_here(
    live: Facts, said: Utterance, policy: Policy
) -> None:
    said = replace(said, refers_to=None, choice=None)
    decision = decide(live, said, policy=policy, read=GRANT, now=NOW)
    if isinstance(decision, Granted) and decision.manner is not Manner.PHRASE:
        assert live.window is not None
        assert said.person is not None
        for one in decision.approvals:
            assert (one.proposal, one.requester) == (live.window.proposal, said.person.id)
            assert live.window.person == said.person.id
            assert (one.asked_in, one.shown_in) == (HERE, HERE)
        here = {
            one.proposal
            for one in live.pending
            if one.deadline_at > NOW and HERE in (one.asked_in, one.shown_in)
        }
        assert len(here) == 1


@given(all_facts, utterances, assents, policies)
def test_a_refusal_is_a_persons_who_may(live: Facts, said: Utterance, meant: Assent, policy: Policy) -> None:
    decision = decide(live, said, policy=policy, read=Reads(meant), now=NOW)
    if isinstance(decision, Refused):
        assert said.choice is Choice.DENY or meant.verdict is AssentVerdict.REFUSE
        assert any(authority.may_refuse(said.person, one) for one in decision.approvals)


@given(all_facts, utterances, assents)
def test_a_named_refusal_of_who_may_is_never_swallowed(live: Facts, said: Utterance, meant: Assent) -> None:
    said = replace(said, ordinary=True, refers_to=P1, choice=Choice.DENY)
    mine = tuple(one for one in live.pending if one.proposal == P1 and one.deadline_at > NOW)
    assume(any(authority.may_refuse(said.person, one) for one in mine))
    decision = decide(live, said, policy=POLICY, read=Reads(meant), now=NOW)
    assert isinstance(decision, Refused)
    assert decision.approvals == mine


@given(all_facts, utterances, assents, policies)
def test_the_same_facts_give_the_same_decision(
    live: Facts, said: Utterance, meant: Assent, policy: Policy
) -> None:
    first = decide(live, said, policy=policy, read=Reads(meant), now=NOW)
    assert first == decide(live, said, policy=policy, read=Reads(meant), now=NOW)
    assert isinstance(first, get_args(Decision))


@given(all_facts, st.text(max_size=40) | st.sampled_from(TEXTS), people)
def test_the_real_reader_keeps_these_rules_too(live: Facts, text: str, person: Operator | None) -> None:
    decision = say(live, text, by=person)
    if isinstance(decision, Granted):
        assert person is not None
        assert all(authority.objection(person, one, POLICY) is None for one in decision.approvals)
