"""Decisions about utterances: whose words count, when, and for what (D2, C4, C13, C16, D18, X2)."""

from dataclasses import replace
from datetime import timedelta

import pytest

from gate.decide import (
    AskedAgain,
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
    AssentVerdict,
    Facts,
    Manner,
    ProposalId,
    ReasonCode,
)
from tests.gate.deciding import (
    AMBIGUOUS,
    CHANGE,
    GRANT,
    LIST,
    OPEN,
    OTHER,
    OTHER_QUESTION,
    PARTIAL_1,
    QUESTION,
    SHUT,
    TWO,
    code,
    granted,
    reads,
    real,
    reply,
    say,
)
from tests.gate.makers import (
    ANA,
    BO,
    DESTROY,
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
    pending,
    routed,
    window,
)

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


def test_in_a_cards_own_thread_anybodys_next_words_grant() -> None:
    decision = say(facts(RESTART, opened=window("kim")), "yes", by=KIM, own_thread=True)
    assert decision == Granted(approvals=(RESTART,), manner=Manner.WORDS, alone=False)


def test_in_a_cards_own_thread_too_they_need_the_window() -> None:
    assert code(say(SHUT, "yes", by=KIM, own_thread=True)) is ReasonCode.STALE_WORDS


def test_a_routed_card_takes_no_bare_words_in_its_own_thread_either() -> None:
    routed = replace(RESTART, asked_in=THERE)
    assert code(say(facts(routed, opened=window("kim")), "yes", by=KIM, own_thread=True)) is (
        ReasonCode.STALE_WORDS
    )


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


@pytest.mark.parametrize("index", [1, 2])
def test_one_action_of_a_list_that_is_named_is_played_back(index: int) -> None:
    assert named(LIST, index, Choice.APPROVE) == PlayedBack(approvals=(RESTART, UPGRADE), selects=(index,))


def test_a_part_of_a_list_is_not_refused_nor_a_part_that_is_not_there_approved() -> None:
    assert code(named(LIST, 2, Choice.DENY)) is ReasonCode.PART_ONLY
    assert code(named(LIST, 7, Choice.APPROVE)) is ReasonCode.PART_ONLY


def test_the_only_action_may_be_named_by_its_number() -> None:
    assert granted(named(OPEN, 1, Choice.APPROVE)) == (RESTART,)


def named(live: Facts, index: int, choice: Choice) -> Decision:
    """Decide about "approve <id>.<index>" or "deny <id>.<index>"."""
    utterance = Utterance(
        person=ANA, text="", refers_to=P1, index=index, choice=choice, manner=Manner.COMMAND
    )
    return decide(live, utterance, policy=POLICY, read=real, now=NOW)


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
