"""Acts that were resolved: what each entry does to them, and what can be asked."""

import json
from datetime import timedelta

import pytest

from gate.domain import PersonId, PlaceId
from gate.errors import TransitionError
from gate.lifecycle import CommitmentState
from ledger.codec import instant
from ledger.kinds import Draft, Json, Kind, LostRaceError, RowIs, SettingsAre
from ledger.views import PRUNED
from tests.gate.makers import HERE, NOW, THERE
from tests.ledger.entries.commitments import commitment_made
from tests.ledger.story import LATER, Story

ENDS = {
    Kind.COMMITMENT_ABORTED: CommitmentState.ABORTED,
    Kind.COMMITMENT_EXPIRED: CommitmentState.EXPIRED,
    Kind.COMMITMENT_CONFIRMED: CommitmentState.READY,
}


def moved(kind: Kind, **more: Json) -> Draft:
    return Draft(kind=kind, correlation_id="m1", body={"commitment": "m1", **more})


def answered(decision: str, *, phrase: str = "", until: str = "") -> Draft:
    words = {"slots": json.dumps({"text": "tea", "when": "at 9"}).encode()}
    if phrase:
        words["phrase"] = phrase.encode()
    body: dict[str, Json] = {"commitment": "m1", "decision": decision, "expires_at": until}
    return Draft(kind=Kind.COMMITMENT_CLARIFIED, correlation_id="m1", body=body, words=words)


def state(tale: Story) -> CommitmentState:
    view = tale.queries.commitment("m1")
    assert view is not None
    return view.state


def test_an_act_is_read_back_whole(tale: Story) -> None:
    assert tale.queries.commitment("m1") is None
    tale.write(commitment_made("clarify"))
    view = tale.queries.commitment("m1")
    assert view is not None
    assert (view.act, view.tool, view.place, view.person) == ("remind", "remind", HERE, PersonId("ana"))
    assert (view.said, view.slots, view.phrase) == ("remind me of tea", {"text": "tea"}, "")
    assert (view.request_at, view.expires_at) == (NOW, LATER)


@pytest.mark.parametrize(
    ("decision", "begins"),
    [
        ("allow", CommitmentState.READY),
        ("clarify", CommitmentState.NEEDS_CLARIFY),
        ("confirm", CommitmentState.NEEDS_CONFIRM),
        ("deny", CommitmentState.ABORTED),
    ],
)
def test_it_begins_as_it_was_resolved(tale: Story, decision: str, begins: CommitmentState) -> None:
    tale.write(commitment_made(decision))
    assert state(tale) is begins


def test_what_is_done_at_once_stands_as_done(tale: Story) -> None:
    tale.write(commitment_made("allow"), moved(Kind.COMMITMENT_COMMITTED))
    assert state(tale) is CommitmentState.COMMITTED
    assert tale.queries.open_commitments() == ()


@pytest.mark.parametrize("kind", ENDS)
def test_what_waits_ends_once(tale: Story, kind: Kind) -> None:
    tale.write(commitment_made("confirm"), moved(kind))
    assert state(tale) is ENDS[kind]
    view = tale.queries.commitment("m1")
    assert view is not None
    assert view.expires_at is None
    with pytest.raises(TransitionError):
        tale.write(moved(Kind.COMMITMENT_CONFIRMED))


def test_an_answer_binds_slots_and_may_ask_for_a_phrase(tale: Story) -> None:
    tale.write(commitment_made("clarify"))
    seq = tale.write(
        answered("confirm", phrase="set it", until=instant(LATER + timedelta(minutes=5)))
    ).last_seq
    view = tale.queries.commitment("m1")
    assert view is not None
    assert (view.state, view.phrase, view.asked_seq) == (CommitmentState.NEEDS_CONFIRM, "set it", seq)
    assert view.slots == {"text": "tea", "when": "at 9"}
    assert view.expires_at == LATER + timedelta(minutes=5)
    tale.write(answered("clarify", until=instant(LATER)))
    again = tale.queries.commitment("m1")
    assert again is not None
    assert (again.state, again.phrase) == (CommitmentState.NEEDS_CLARIFY, "")


def test_an_answer_to_nothing_is_refused(tale: Story) -> None:
    with pytest.raises(TransitionError):
        tale.write(answered("allow"))


def test_a_late_answer_is_recorded_and_changes_nothing(tale: Story) -> None:
    tale.write(commitment_made("clarify"), moved(Kind.COMMITMENT_EXPIRED))
    tale.write(moved(Kind.COMMITMENT_REVIVE_REFUSED, by="ana", place=HERE))
    assert state(tale) is CommitmentState.EXPIRED


def test_open_ones_are_listed_oldest_first_and_by_place(tale: Story) -> None:
    tale.write(commitment_made("clarify"), commitment_made("confirm", commitment="m2", place=THERE))
    tale.write(commitment_made("deny", commitment="m3"), commitment_made("clarify", commitment="m4"))
    assert [one.id for one in tale.queries.open_commitments()] == ["m1", "m2", "m4"]
    assert [one.id for one in tale.queries.open_commitments(HERE)] == ["m1", "m4"]
    assert tale.queries.open_commitments(PlaceId("nowhere")) == ()


def test_expired_ones_are_found_by_when_they_were_asked_for(tale: Story) -> None:
    tale.write(commitment_made("clarify"), moved(Kind.COMMITMENT_EXPIRED))
    assert [one.id for one in tale.queries.expired_commitments(since=NOW)] == ["m1"]
    assert tale.queries.expired_commitments(since=NOW + timedelta(seconds=1)) == ()


def test_pruned_words_leave_no_slots(tale: Story) -> None:
    tale.write(commitment_made("clarify"))
    tale.ledger.prune(before=NOW + timedelta(days=1))
    view = tale.queries.commitment("m1")
    assert view is not None
    assert (view.slots, view.said) == ({}, PRUNED)


def test_a_decision_on_another_state_loses_its_race(tale: Story) -> None:
    tale.write(commitment_made("clarify"), expects=(RowIs("commitment", "m1", None),))
    tale.write(moved(Kind.COMMITMENT_ABORTED), expects=(RowIs("commitment", "m1", "needs_clarify"),))
    with pytest.raises(LostRaceError):
        tale.write(commitment_made("deny"), expects=(RowIs("commitment", "m1", None),))


def test_settings_are_expected_by_their_newest_entry(tale: Story) -> None:
    tale.write(commitment_made("deny"), expects=(SettingsAre(0),))
    with pytest.raises(LostRaceError):
        tale.write(commitment_made("deny", commitment="m2"), expects=(SettingsAre(7),))
