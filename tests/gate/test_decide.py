"""Decisions about utterances: whose words count, when, and for what (D2, C4, C13, C15, C16, D18, X2)."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import get_args

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bot.loading.lexicon import load_lexicons
from gate import assent, authority
from gate.decide import (
    AskedAgain,
    Challenged,
    ChangeAsked,
    Choice,
    Decision,
    Granted,
    Ignored,
    Open,
    PlayedBack,
    Reader,
    Refused,
    Rejected,
    Utterance,
    Which,
    decide,
    describe,
)
from gate.domain import (
    AGENT,
    Assent,
    AssentVerdict,
    Facts,
    Manner,
    PendingApproval,
    ProposalId,
    ReasonCode,
    Risk,
)
from gate.phrases import matches
from gate.policy import Operator, Policy
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
    PVE1,
    RESTART,
    THERE,
    UPGRADE,
    VIEWER,
    facts,
    operator,
    pending,
    routed,
    window,
)


@dataclass
class Reads:
    """A reader that gives one prepared answer and remembers what it was asked."""

    answer: Assent
    asked: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)

    def __call__(self, text: str, descriptions: Sequence[str]) -> Assent:
        self.asked.append((text, tuple(descriptions)))
        return self.answer


def reads(verdict: AssentVerdict, *selects: int, reason: str = "", question: bool = False) -> Reads:
    return Reads(Assent(verdict=verdict, because="so", selects=selects, reason=reason, question=question))


def real(text: str, descriptions: Sequence[str]) -> Assent:
    return assent.read(text, pending=descriptions, lexicons=load_lexicons())


GRANT = reads(AssentVerdict.GRANT)
NO = reads(AssentVerdict.REFUSE)
AMBIGUOUS = reads(AssentVerdict.AMBIGUOUS)
QUESTION = reads(AssentVerdict.AMBIGUOUS, question=True)
OTHER = reads(AssentVerdict.OTHER)
OTHER_QUESTION = reads(AssentVerdict.OTHER, question=True)
PARTIAL_1 = reads(AssentVerdict.PARTIAL, 1)
CHANGE = reads(AssentVerdict.CHANGE)


def say(
    live: Facts, text: str, *, by: Operator | None = ANA, read: Reader = real, policy: Policy = POLICY
) -> Decision:
    """Decide about an ordinary message."""
    return decide(live, Utterance(person=by, text=text), policy=policy, read=read, now=NOW)


def reply(
    live: Facts,
    text: str = "",
    *,
    by: Operator = ANA,
    to: ProposalId = P1,
    choice: Choice | None = None,
    read: Reader = real,
    policy: Policy = POLICY,
) -> Decision:
    """Decide about a message or a press that names its proposal."""
    utterance = Utterance(person=by, text=text, refers_to=to, choice=choice, manner=Manner.REPLY)
    return decide(live, utterance, policy=policy, read=read, now=NOW)


def code(decision: Decision) -> ReasonCode:
    assert isinstance(decision, Rejected)
    assert decision.reason.text
    return decision.reason.code


def granted(decision: Decision) -> tuple[PendingApproval, ...]:
    assert isinstance(decision, Granted)
    return decision.approvals


OPEN = facts(RESTART, opened=window())
SHUT = facts(RESTART)
TWO = facts(RESTART, OTHER_RESTART, opened=window())
LIST = facts(RESTART, UPGRADE, opened=window())
MIXED_LIST = (
    RESTART,
    pending("rm -rf /srv/x", index=2, risk=Risk.DESTRUCTIVE, phrase="delete /srv/x on web1"),
)
MIXED = facts(*MIXED_LIST, opened=window())


# ---------------------------------------------------------------- who is heard at all


def test_a_stranger_is_ignored() -> None:
    assert say(OPEN, "yes", by=None) == Ignored(why="not an operator")


@pytest.mark.parametrize("text", ["yes", PHRASE])
@pytest.mark.parametrize("refers_to", [None, P1])
def test_an_edited_message_never_counts(text: str, refers_to: ProposalId | None) -> None:
    edited = Utterance(person=ANA, text=text, ordinary=False, refers_to=refers_to)
    live = facts(DESTROY, opened=window())
    assert isinstance(decide(live, edited, policy=POLICY, read=GRANT, now=NOW), Ignored)


# ---------------------------------------------------------------- words in the window


def test_the_next_words_of_the_requester_grant() -> None:
    decision = say(OPEN, "go ahead")
    assert decision == Granted(approvals=(RESTART,), manner=Manner.WORDS, alone=True)


def test_words_are_read_against_what_the_window_shows() -> None:
    reader = reads(AssentVerdict.GRANT)
    say(facts(RESTART, UPGRADE, OTHER_RESTART, opened=window()), "yes", read=reader)
    assert reader.asked == [("yes", (describe(RESTART), describe(UPGRADE)))]
    assert describe(RESTART) == "systemctl restart caddy on web1"


def test_without_a_window_they_are_read_against_all_that_waits_here() -> None:
    reader = reads(AssentVerdict.GRANT)
    say(facts(RESTART, OTHER_RESTART), "yes", read=reader)
    assert reader.asked == [("yes", (describe(RESTART), describe(OTHER_RESTART)))]


def test_a_yes_without_a_window_is_stale() -> None:
    decision = say(SHUT, "yes")
    assert code(decision) is ReasonCode.STALE_WORDS
    assert isinstance(decision, Rejected)
    assert decision.approvals == (RESTART,)


def test_a_yes_in_somebody_elses_window_is_stale() -> None:
    assert code(say(facts(RESTART, opened=window("kim")), "yes")) is ReasonCode.STALE_WORDS


def test_a_yes_in_a_window_of_another_place_is_stale() -> None:
    assert code(say(facts(RESTART, opened=window(place=THERE)), "yes")) is ReasonCode.STALE_WORDS


def test_a_bare_yes_of_another_person_is_stale_even_in_a_window_of_their_own() -> None:
    # Asking about the card opens a window for who asked, but a bare yes is the requester's (D2).
    assert code(say(facts(RESTART, opened=window("kim")), "yes", by=KIM)) is ReasonCode.STALE_WORDS


def test_another_person_may_refuse_in_a_window_of_their_own() -> None:
    assert isinstance(say(facts(RESTART, opened=window("kim")), "no", by=KIM), Refused)


def test_a_bare_yes_never_counts_for_a_routed_card() -> None:
    live = facts(routed(RESTART), opened=window())
    assert code(say(live, "yes")) is ReasonCode.STALE_WORDS
    assert granted(reply(live, "yes")) == (routed(RESTART),)


def test_an_approval_of_another_place_is_not_meant() -> None:
    elsewhere = replace(RESTART, asked_in=THERE, shown_in=THERE)
    assert code(say(facts(elsewhere), "yes")) is ReasonCode.NOTHING_PENDING
    assert granted(say(facts(elsewhere, replace(RESTART), opened=window()), "yes")) == (RESTART,)


def test_with_two_pending_a_bare_yes_asks_which() -> None:
    assert say(TWO, "yes") == Which(approvals=(RESTART, OTHER_RESTART), choice=Choice.APPROVE)


def test_with_two_pending_a_no_in_the_window_refuses_what_it_shows() -> None:
    assert say(TWO, "no") == Refused(approvals=(RESTART,), manner=Manner.WORDS)


def test_with_two_pending_and_no_window_words_ask_which() -> None:
    live = facts(RESTART, OTHER_RESTART)
    assert say(live, "yes") == Which(approvals=live.pending, choice=Choice.APPROVE)
    assert say(live, "no") == Which(approvals=live.pending, choice=Choice.DENY)


@pytest.mark.parametrize("seconds", [0, 1])
def test_what_expires_now_is_over(seconds: int) -> None:
    over = replace(RESTART, deadline_at=NOW - timedelta(seconds=seconds))
    live = facts(over, opened=window())
    assert code(say(live, "yes")) is ReasonCode.EXPIRED
    assert code(reply(live, choice=Choice.APPROVE)) is ReasonCode.ALREADY_DECIDED
    assert code(reply(live, choice=Choice.DENY)) is ReasonCode.ALREADY_DECIDED


def test_an_expired_phrase_grants_nothing() -> None:
    over = replace(DESTROY, deadline_at=NOW)
    assert isinstance(say(facts(over, opened=window()), PHRASE), Open)


def test_what_expires_in_a_moment_still_counts() -> None:
    soon = replace(RESTART, deadline_at=NOW + timedelta(microseconds=1))
    assert granted(say(facts(soon, opened=window()), "yes")) == (soon,)


# ---------------------------------------------------------------- nothing waits


@pytest.mark.parametrize("text", ["yes", "no", "maybe later"])
def test_an_answer_to_nothing_is_told_so(text: str) -> None:
    assert code(say(facts(), text)) is ReasonCode.NOTHING_PENDING


def test_a_question_where_nothing_waits_is_for_the_planner() -> None:
    assert say(facts(), "?", read=QUESTION) == Open()


def test_an_unclear_word_after_the_end_is_for_the_planner() -> None:
    assert say(facts(opened=window()), "hm", read=AMBIGUOUS) == Open()


def test_a_second_yes_finds_nothing() -> None:
    assert code(say(facts(opened=window()), "yes")) is ReasonCode.EXPIRED
    assert code(say(facts(), "yes")) is ReasonCode.NOTHING_PENDING


def test_other_peoples_chatter_is_ignored() -> None:
    overheard = Utterance(person=KIM, text="yes", engaged=False)
    for live in (facts(), SHUT):
        assert decide(live, overheard, policy=POLICY, read=real, now=NOW) == Ignored(
            why="answers somebody else"
        )


def test_the_requester_is_heard_without_being_engaged() -> None:
    said = Utterance(person=ANA, text="no", engaged=False)
    assert isinstance(decide(SHUT, said, policy=POLICY, read=real, now=NOW), Refused)


def test_a_request_is_for_the_planner() -> None:
    for live in (facts(), SHUT, OPEN):
        assert say(live, "uptime on web2", read=OTHER) == Open()


# ---------------------------------------------------------------- no


def test_a_no_needs_no_window() -> None:
    assert say(SHUT, "no") == Refused(approvals=(RESTART,), manner=Manner.WORDS)


def test_a_no_of_another_person_without_a_reference_asks_which() -> None:
    assert say(SHUT, "no", by=KIM) == Which(approvals=(RESTART,), choice=Choice.DENY)


def test_a_reason_goes_with_the_refusal() -> None:
    refusing = reads(AssentVerdict.REFUSE, reason="a backup is running")
    decision = say(OPEN, "no, a backup is running", read=refusing)
    assert decision == Refused(approvals=(RESTART,), manner=Manner.WORDS, reason="a backup is running")


def test_the_rest_of_an_explicit_no_is_its_reason() -> None:
    decision = reply(SHUT, "  too early ", choice=Choice.DENY)
    assert decision == Refused(approvals=(RESTART,), manner=Manner.REPLY, reason="too early")


def test_a_requester_without_permission_may_still_refuse() -> None:
    asked = replace(RESTART, requester=VIEWER.id)
    assert isinstance(reply(facts(asked), choice=Choice.DENY, by=VIEWER), Refused)


def test_who_neither_asked_nor_may_approve_cannot_refuse() -> None:
    assert code(reply(SHUT, choice=Choice.DENY, by=VIEWER)) is ReasonCode.NOT_AUTHORISED
    assert code(reply(SHUT, "no", by=VIEWER)) is ReasonCode.NOT_AUTHORISED


def test_who_may_refuse_a_part_refuses_the_whole_card() -> None:
    # Half a refused card would leave approvals open whose actions can never run.
    decision = reply(LIST, "no", by=BO)
    assert decision == Refused(approvals=(RESTART, UPGRADE), manner=Manner.REPLY)


# ---------------------------------------------------------------- a reply, a button, an id


def test_an_explicit_yes_counts_until_the_deadline_for_every_decider() -> None:
    for person in (ANA, KIM, BO):
        decision = reply(SHUT, choice=Choice.APPROVE, by=person)
        assert decision == Granted(approvals=(RESTART,), manner=Manner.REPLY, alone=person is ANA)


def test_a_reply_counts_with_two_pending() -> None:
    assert granted(reply(TWO, "yes", to=P2)) == (OTHER_RESTART,)


def test_a_reference_to_what_is_decided_is_told_so() -> None:
    assert code(reply(OPEN, "yes", to=P2)) is ReasonCode.ALREADY_DECIDED


def test_the_named_proposal_is_the_only_one_meant() -> None:
    reader = reads(AssentVerdict.GRANT)
    reply(TWO, "yes", to=P2, read=reader)
    assert reader.asked == [("yes", (describe(OTHER_RESTART),))]


def test_a_reply_that_answers_nothing_is_for_the_planner() -> None:
    assert reply(SHUT, "uptime on web2", read=OTHER) == Open()


def test_a_reply_that_asks_keeps_it_open() -> None:
    decision = reply(SHUT, "what depends on it?", read=OTHER_QUESTION)
    assert decision == AskedAgain(approvals=(RESTART,), because="so", question=True)


# ---------------------------------------------------------------- neither yes nor no


@pytest.mark.parametrize("text", ["maybe after lunch", "hold on", "if the backup is done, yes"])
def test_a_hedge_asks_again(text: str) -> None:
    decision = say(OPEN, text)
    assert isinstance(decision, AskedAgain)
    assert not decision.question
    assert decision.because


def test_a_question_in_the_window_keeps_it_open() -> None:
    decision = say(OPEN, "what depends on it?")
    assert isinstance(decision, AskedAgain)
    assert decision.question
    assert isinstance(say(OPEN, "disk?", read=OTHER_QUESTION), AskedAgain)


def test_a_question_without_a_window_is_for_the_planner() -> None:
    assert say(SHUT, "disk?", read=OTHER_QUESTION) == Open()


def test_a_change_runs_nothing() -> None:
    assert say(OPEN, "yes but port 8081", read=CHANGE) == ChangeAsked(approvals=(RESTART,))


def test_a_part_is_played_back() -> None:
    assert say(LIST, "only the restart", read=PARTIAL_1) == PlayedBack(
        approvals=(RESTART, UPGRADE), selects=(1,)
    )


@pytest.mark.parametrize("selects", [(), (1, 2), (0, 3), (9,)])
def test_a_part_that_selects_nothing_or_all_asks_again(selects: tuple[int, ...]) -> None:
    decision = say(LIST, "hm", read=reads(AssentVerdict.PARTIAL, *selects))
    assert decision == AskedAgain(approvals=(RESTART, UPGRADE), because="so")


def test_numbers_of_a_card_whose_first_action_is_past_waiting_ask_again() -> None:
    late = facts(pending(index=2), pending("apt upgrade -y", index=3), opened=window())
    assert isinstance(say(late, "only 2", read=reads(AssentVerdict.PARTIAL, 2)), AskedAgain)
    assert isinstance(say(late, "only the upgrade", read=reads(AssentVerdict.PARTIAL, 2)), PlayedBack)


def test_positions_that_do_not_exist_are_dropped() -> None:
    decision = say(LIST, "hm", read=reads(AssentVerdict.PARTIAL, 0, 2, 7))
    assert decision == PlayedBack(approvals=(RESTART, UPGRADE), selects=(2,))


@pytest.mark.parametrize("reader", [PARTIAL_1, CHANGE, AMBIGUOUS])
def test_what_is_no_clear_answer_is_stale_without_a_window(reader: Reader) -> None:
    assert code(say(SHUT, "hm", read=reader)) is ReasonCode.STALE_WORDS


# ---------------------------------------------------------------- phrases


@pytest.mark.parametrize("typed", [PHRASE, f"  {PHRASE}\n", f"`{PHRASE}`", f"\u201c{PHRASE}\u201d"])
def test_the_exact_phrase_grants(typed: str) -> None:
    for decision in (say(facts(DESTROY), typed), reply(facts(DESTROY), typed)):
        assert decision == Granted(approvals=(DESTROY,), manner=Manner.PHRASE, alone=True)


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


AGENT_OPERATOR = operator(AGENT, (Risk.DESTRUCTIVE, "*"))


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


# ---------------------------------------------------------------- what holds for all of it

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
