"""Queries: facts for decisions, views for cards, what is due; words that are gone read as pruned."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from gate.digest import action_digest
from gate.domain import ActionId, Digest, PersonId, PlaceId, Risk, RouteKind, TurnId
from gate.lifecycle import ActionState, ApprovalState
from gate.policy import Switches
from ledger.kinds import Effect, EffectKind, Kind
from ledger.tally import waiting
from ledger.views import PRUNED, EndingView
from tests.gate.makers import HERE, NOW, P1, P2, PVE1, THERE, WEB1, facts
from tests.ledger.begun import run
from tests.ledger.entries.actions import ended, queued, settled, unqueued, verified
from tests.ledger.entries.operators import switched
from tests.ledger.entries.proposals import decided, made, opened, planned, voted
from tests.ledger.entries.turns import answered, clarified, received
from tests.ledger.story import LATER, Story

ONE = planned()
TWO = planned(index=2, command="apt upgrade -y", risk=Risk.CONFIG_MUTATION)
OTHER = planned(proposal=P2, command="systemctl restart nginx")
ANA = PersonId("ana")


def prune(tale: Story) -> None:
    assert tale.ledger.prune(before=NOW + timedelta(days=1)) > 0


# ---------------------------------------------------------------- facts


def test_a_new_ledger_knows_nothing(tale: Story) -> None:
    assert tale.queries.facts(HERE, ANA) == replace(facts(), head=0)
    assert tale.queries.switch_seq() == 0
    assert tale.queries.last_turn(HERE) is None
    assert tale.queries.next_deadline() is None
    assert tale.queries.unfinished() == ()
    assert tale.queries.proposal(P1) is None


def test_facts_are_all_of_it_at_the_head(tale: Story) -> None:
    tale.write(received(), made(ONE), opened(ONE), answered(shows=[P1], window=("ana", P1)))
    read = tale.queries.facts(HERE, ANA)
    assert read.head == 4
    assert [one.proposal for one in read.pending] == [P1]
    assert read.window is not None


def test_the_windows_of_a_place_are_everybodys(tale: Story) -> None:
    assert tale.queries.windows(HERE) == ()
    tale.write(made(ONE), opened(ONE), answered(shows=[P1], window=(ANA, P1)))
    tale.write(answered("t2", window=("kim", P1)), answered("t3", place=THERE, window=("bo", P1)))
    assert sorted(one.person for one in tale.queries.windows(HERE)) == ["ana", "kim"]
    assert {one.proposal for one in tale.queries.windows(HERE)} == {P1}


def test_an_answer_is_younger_than_what_stood_before_it(tale: Story) -> None:
    tale.write(received("t1"))
    tale.write(answered("t1"), received("t2"))
    turn = TurnId("t1")
    assert [tale.queries.answered_after(turn, seq) for seq in (0, 1, 2)] == [True, True, False]
    assert not tale.queries.answered_after(TurnId("t2"), 0)


def test_pending_approvals_are_oldest_first_and_whole(tale: Story) -> None:
    tale.write(made(ONE, TWO), opened(TWO, phrase="upgrade web1"), opened(ONE))
    first, second = tale.queries.pending()
    assert (first.action, first.phrase, first.risk) == (TWO.action, "upgrade web1", Risk.CONFIG_MUTATION)
    assert (second.action, second.phrase) == (ONE.action, None)
    assert second.action_digest == action_digest(ONE.action)
    assert (second.requester, second.asked_in, second.shown_in) == ("ana", HERE, HERE)
    assert (second.approval, second.proposal, second.deadline_at) == (f"{ONE.action.id}/a", P1, LATER)


def test_switches_are_typed(tale: Story) -> None:
    assert tale.queries.switches() == Switches()
    tale.write(
        switched("stopped", value=True),
        switched("auto_off", value=True),
        switched("approve_everything", value=True),
        switched("never_auto_act", ["web1", "pve1"]),
    )
    assert tale.queries.switches() == Switches(
        stopped=True, auto_off=True, approve_everything=True, never_auto_act=(WEB1.id, PVE1.id)
    )


def test_reading_freezes_nothing(tale: Story) -> None:
    looks = planned(risk=Risk.READ_ONLY)
    run(tale, looks, ended(looks, Kind.ACTION_LOST, exit_code=None))
    assert tale.queries.frozen() == ()
    assert waiting(tale.ledger.reader()).actions[ActionState.LOST] == 0
    run(tale, OTHER, ended(OTHER, Kind.ACTION_LOST, exit_code=None))
    assert tale.queries.frozen() == ("web1",)
    assert waiting(tale.ledger.reader()).actions[ActionState.LOST] == 1
    freezes = {one.action.id: one.freezes for one in tale.queries.in_state(ActionState.LOST)}
    assert freezes == {looks.action.id: False, OTHER.action.id: True}
    tale.write(settled(OTHER, ran=True))
    assert not tale.queries.action(OTHER.action.id).freezes


# ---------------------------------------------------------------- views


def test_a_proposal_is_seen_whole(tale: Story) -> None:
    checked = replace(ONE, action=replace(ONE.action, verify="systemctl is-active caddy"))
    tale.write(made(checked, TWO), opened(checked), opened(TWO))
    view = tale.queries.proposal(P1)
    assert view is not None
    assert [one.action for one in view.actions] == [checked.action, TWO.action]
    assert (view.correlation_id, view.requester, view.asked_in, view.shown_in) == (P1, "ana", HERE, HERE)
    assert (view.source, view.purpose, view.policy_revision) == ("literal", "as asked", "r1")
    assert (view.made_at, view.replaced_by) == (NOW, None)
    first = view.actions[0]
    assert (first.verdict, first.route, first.state) == (ONE.verdict, RouteKind.APPROVAL, ActionState.WAITING)
    assert first.radius.services == ("blog",)
    assert (first.queued_at, first.started_at, first.ended_at, first.ending) == (None, None, None, None)
    assert view.pending == view.actions


def test_only_what_waits_is_pending(tale: Story) -> None:
    tale.write(made(ONE, TWO), opened(ONE))
    view = tale.queries.proposal(P1)
    assert view is not None
    assert [one.action.index for one in view.pending] == [1]
    tale.write(decided(ONE, Kind.APPROVAL_GRANTED))
    view = tale.queries.proposal(P1)
    assert view is not None
    assert view.pending == ()


def test_an_unknown_action_is_a_lookup_error(tale: Story) -> None:
    with pytest.raises(LookupError, match=r"no action zzzzzz\.1"):
        tale.queries.action(ActionId("zzzzzz.1"))


def test_a_proposal_without_a_purpose_has_an_empty_one(tale: Story) -> None:
    tale.write(made(ONE, purpose=None))
    view = tale.queries.proposal(P1)
    assert view is not None
    assert view.purpose == ""
    assert view.actions[0].action.purpose == ""


def test_the_newest_approval_of_an_action_is_shown(tale: Story) -> None:
    tale.write(made(ONE))
    assert tale.queries.action(ONE.action.id).approval is None
    tale.write(opened(ONE), opened(ONE, name="b", phrase="do it"))
    approval = tale.queries.action(ONE.action.id).approval
    assert approval is not None
    assert (approval.id, approval.phrase) == (f"{ONE.action.id}/b", "do it")
    assert (approval.decided_by, approval.decided_at, approval.said, approval.why) == (None, None, "", "")


def test_a_decision_is_shown_with_its_words(tale: Story) -> None:
    tale.write(made(ONE), opened(ONE))
    tale.write(decided(ONE, Kind.APPROVAL_GRANTED, by="kim", extra={"alone": True}))
    approval = tale.queries.action(ONE.action.id).approval
    assert approval is not None
    assert (approval.state, approval.decided_by, approval.decided_at) == (ApprovalState.GRANTED, "kim", NOW)
    assert (approval.said, approval.why, approval.alone) == ("go ahead", "", True)


def test_a_refusals_reason_and_another_ends_cause_are_shown(tale: Story) -> None:
    tale.write(made(ONE, TWO), opened(ONE), opened(TWO))
    tale.write(decided(ONE, Kind.APPROVAL_REFUSED, words={"reason": b"too early"}))
    tale.write(decided(TWO, Kind.APPROVAL_EXPIRED, by="", extra={"why": "its deadline passed"}))
    views = [tale.queries.action(one.action.id).approval for one in (ONE, TWO)]
    assert [view and view.why for view in views] == ["too early", "its deadline passed"]
    assert [view and view.decided_by for view in views] == ["ana", None]


def test_an_end_is_shown(tale: Story) -> None:
    run(tale, ONE, ended(ONE, output=b"all good\xff"), verified(ONE, exit_code=3))
    view = tale.queries.action(ONE.action.id)
    assert (view.queued_at, view.started_at, view.ended_at) == (NOW, NOW, NOW)
    assert view.ending == EndingView(
        note="",
        exit_code=0,
        run_s=1.5,
        output="all good\udcff",
        total_bytes=7,
        dropped_bytes=2,
        verify_exit=3,
        settled="",
        checked=True,
    )


def test_an_unknown_end_and_its_settling_are_shown(tale: Story) -> None:
    run(tale, ONE, ended(ONE, Kind.ACTION_LOST, exit_code=None), verified(ONE, exit_code=None))
    ending = tale.queries.action(ONE.action.id).ending
    assert ending is not None
    assert (ending.exit_code, ending.verify_exit, ending.settled, ending.output) == (None, None, "", "")
    tale.write(settled(ONE, ran=True))
    ending = tale.queries.action(ONE.action.id).ending
    assert ending is not None
    assert ending.settled == "the log says so"


def test_words_that_were_pruned_read_so(tale: Story) -> None:
    checked = replace(ONE, action=replace(ONE.action, verify="true"))
    run(tale, checked, ended(ONE, Kind.ACTION_LOST, output=b"secret"), settled(ONE, ran=True))
    tale.write(clarified(Kind.CLARIFICATION_ASKED))
    prune(tale)
    view = tale.queries.proposal(P1)
    assert view is not None
    one = view.actions[0]
    assert (view.purpose, one.action.command, one.action.verify) == (PRUNED, PRUNED, PRUNED)
    assert one.approval is not None
    assert one.ending is not None
    assert (one.approval.said, one.ending.output, one.ending.settled) == (PRUNED, PRUNED, PRUNED)
    choice = tale.queries.clarification("c1")
    assert choice is not None
    assert (choice.question, choice.options) == (PRUNED, ())


@pytest.mark.parametrize("output", ["secret", "secret" * 1000])
def test_words_that_were_read_before_are_pruned_too(tale: Story, output: str) -> None:
    checked = replace(ONE, action=replace(ONE.action, verify="true"))
    run(tale, checked, ended(ONE, Kind.ACTION_LOST, output=output.encode()), settled(ONE, ran=True))
    before = [tale.queries.action(ONE.action.id) for _ in range(2)]
    assert before[0] == before[1]
    assert before[0].action == checked.action
    assert before[0].ending is not None
    assert (before[0].ending.output, before[0].ending.settled) == (output, "the log says so")
    prune(tale)
    after = tale.queries.action(ONE.action.id)
    assert (after.action.command, after.action.purpose, after.action.verify) == (PRUNED, PRUNED, PRUNED)
    assert after.ending is not None
    assert (after.ending.output, after.ending.settled) == (PRUNED, PRUNED)


def test_a_choice_remembers_the_request_that_an_answer_completes(tale: Story) -> None:
    asked = clarified(Kind.CLARIFICATION_ASKED)
    words = {**asked.words, "so_far": b"run runbook rotate on web1"}
    tale.write(replace(asked, body={**asked.body, "free": "user"}, words=words))
    choice = tale.queries.clarification("c1")
    assert choice is not None
    assert (choice.free, choice.so_far) == ("user", "run runbook rotate on web1")
    prune(tale)
    choice = tale.queries.clarification("c1")
    assert choice is not None
    assert choice.so_far == PRUNED


def test_a_person_is_found_where_they_were_heard_last_alone(tale: Story) -> None:
    crowded = received("t4", place=PlaceId("canteen"))
    tale.write(received("t1", direct=True), received("t2", place=THERE, direct=True), crowded)
    tale.write(received("t3", person="kim", place=HERE))
    assert tale.queries.place_of(ANA, like=HERE) == THERE
    assert tale.queries.place_of(PersonId("kim"), like=HERE) is None
    assert tale.queries.place_of(PersonId("bo"), like=HERE) is None


def test_the_newest_proposal_of_a_place_is_found(tale: Story) -> None:
    tale.write(made(ONE), made(OTHER))
    assert tale.queries.newest_in(HERE) == P2
    assert tale.queries.newest_in(THERE) is None


# ---------------------------------------------------------------- runs


def test_the_last_run_is_the_newest_of_exactly_this_action(tale: Story) -> None:
    digest = action_digest(ONE.action)
    assert tale.queries.last_run(digest) is None
    run(tale, ONE, ended(ONE))
    again = planned(proposal=P2)
    assert action_digest(again.action) == digest
    tale.at = LATER
    run(tale, again, ended(again, Kind.ACTION_FAILED, exit_code=1))
    last = tale.queries.last_run(digest)
    assert last is not None
    assert (last.ended_at, last.state, last.run_s) == (LATER, ActionState.FAILED, 1.5)
    assert tale.queries.last_run(Digest("0" * 64)) is None


def test_what_ended_without_a_start_is_no_run(tale: Story) -> None:
    tale.write(made(ONE), ended(ONE, Kind.ACTION_CANCELLED, exit_code=None))
    assert tale.queries.last_run(action_digest(ONE.action)) is None


@pytest.mark.parametrize("ran", [True, False])
def test_a_lost_run_counts_unless_it_was_settled_as_not_run(tale: Story, *, ran: bool) -> None:
    digest = action_digest(ONE.action)
    run(tale, ONE, ended(ONE))
    tale.at = LATER
    again = planned(proposal=P2)
    run(tale, again, ended(again, Kind.ACTION_LOST, exit_code=None))
    last = tale.queries.last_run(digest)
    assert last is not None
    assert (last.ended_at, last.state) == (LATER, ActionState.LOST)
    tale.write(settled(again, ran=ran))
    last = tale.queries.last_run(digest)
    assert last is not None
    assert (last.ended_at, last.state) == (LATER if ran else NOW, ActionState.SUCCEEDED)


def test_what_was_never_reached_is_no_run(tale: Story) -> None:
    failed = ended(ONE, Kind.ACTION_FAILED, exit_code=None)
    run(tale, ONE, replace(failed, body={**failed.body, "end": "not_started"}))
    assert tale.queries.last_run(action_digest(ONE.action)) is None


# ---------------------------------------------------------------- posted messages


def test_a_posted_card_leads_to_its_proposal(tale: Story) -> None:
    def card(subject: str, nonce: str) -> Effect:
        return Effect(kind=EffectKind.CARD, place=HERE, body={"subject": subject}, nonce=nonce)

    said = Effect(kind=EffectKind.SAY, place=HERE, body={"text": "hello"}, nonce="n3")
    rows = tale.write(received(), effects=(card(P1, "n1"), card(P2, "n2"), said, card("unsent", "n4"))).outbox
    for row, message in zip(rows[:3], ("m1", "m2", "m3"), strict=True):
        tale.ledger.outbox.done(row, json.dumps(["console", "", "here", "", message]))
    assert tale.queries.subject_of("m1", HERE) == P1
    assert tale.queries.subject_of("m2", HERE) == P2
    for message, place in (("m3", HERE), ("m1", THERE), ("m9", HERE)):
        assert tale.queries.subject_of(message, place) is None


# ---------------------------------------------------------------- votes


def test_votes_are_read_in_their_order_with_their_words(tale: Story) -> None:
    tale.write(made(ONE), opened(ONE))
    assert tale.queries.pending()[0].votes == ()
    assert tale.queries.pending()[0].quorum == 1
    tale.write(voted(ONE, "kim", needed=3))
    tale.write(voted(ONE, "ana", needed=2))
    (pending,) = tale.queries.pending()
    assert (pending.votes, pending.quorum) == (("kim", "ana"), 3)
    approval = tale.queries.action(ONE.action.id).approval
    assert approval is not None
    assert [(one.person, one.said) for one in approval.votes] == [("kim", "go ahead"), ("ana", "go ahead")]
    assert approval.quorum == 3


def test_votes_die_with_their_approval(tale: Story) -> None:
    tale.write(made(ONE), opened(ONE), voted(ONE, "kim"))
    tale.write(decided(ONE, Kind.APPROVAL_GRANTED), queued(ONE), unqueued(ONE), opened(ONE, name="b"))
    (pending,) = tale.queries.pending()
    assert pending.votes == ()


def test_words_that_were_never_said_read_as_nothing(tale: Story) -> None:
    word = tale.queries._words([None])
    assert word(None) == ""
