"""Cancelling: which job is meant, and who may."""

from typing import Any

import pytest

from gate.domain import PersonId, PlaceId, ReasonCode
from gate.resolve.cancel_job import Asker, PendingJob, resolve
from gate.resolve.decision import Act, Allow, Clarify, Decision, Deny

OPS, DM = PlaceId("ops"), PlaceId("dm")


def job(
    name: str, *, by: str = "ana", place: PlaceId = OPS, act: Act = Act.REMIND, text: str = ""
) -> PendingJob:
    return PendingJob(id=name, act=act, place=place, person=PersonId(by), text=text or f"text of {name}")


def cancels(
    slots: dict[str, str], *jobs: PendingJob, by: str = "ana", place: PlaceId = OPS, **asker: Any
) -> Decision:
    return resolve(slots, jobs=jobs, asker=Asker(person=PersonId(by), place=place, **asker))


def ids(decision: Decision) -> list[str]:
    assert isinstance(decision, Clarify)
    return [one.id for one in decision.options]


@pytest.mark.parametrize("named", ["k00001", "#K00001", " k00001 "])
def test_an_exact_id_is_that_job(named: str) -> None:
    decision = cancels({"job": named}, job("k00001"), job("k00002"))
    assert decision == Allow(slots={"job": "k00001"}, because="")


def test_their_own_of_another_place_is_named_as_such() -> None:
    decision = cancels({"job": "k00001"}, job("k00001", place=DM))
    assert isinstance(decision, Allow)
    assert decision.because == "cross-place"


def test_anothers_job_elsewhere_does_not_exist() -> None:
    decision = cancels({"job": "k00001"}, job("k00001", by="bo", place=DM), job("k00002"))
    assert ids(decision) == ["job_k00002"]
    assert isinstance(decision, Clarify)
    assert (decision.free, decision.question) == ("job", "No k00001 waits. Which one?")


def test_an_id_that_waits_nowhere_is_asked_about_once() -> None:
    first = cancels({"job": "k00009"})
    assert isinstance(first, Clarify)
    assert first.options == ()
    second = cancels({**first.slots, "job": "thanks"})
    assert isinstance(second, Deny)
    assert second.reason.code is ReasonCode.UNKNOWN_ID


def test_the_only_one_of_that_person_here_is_meant() -> None:
    jobs = (job("k00001"), job("k00002", by="bo"), job("k00003", place=DM), job("k00004", act=Act.SCHEDULE))
    decision = cancels({"kind": "remind"}, *jobs)
    assert isinstance(decision, Allow)
    assert decision.slots == {"job": "k00001"}


def test_several_are_an_option_each_up_to_five_with_a_short_label() -> None:
    jobs = [job(f"k0000{n}", text="call  the\nplumber " * 9) for n in range(7)]
    decision = cancels({"kind": "remind"}, *jobs)
    assert ids(decision) == [f"job_k0000{n}" for n in range(5)]
    assert isinstance(decision, Clarify)
    label = decision.options[0].label
    assert label == "Cancel k00000 \u2014 call the plumber call the plumber call …"
    assert decision.options[0].patch == {"job": "k00000"}


def test_where_it_is_not_plain_even_the_only_one_is_asked_about() -> None:
    assert ids(cancels({"kind": "remind", "ask": "yes"}, job("k00001"))) == ["job_k00001"]


def test_words_of_its_text_say_which() -> None:
    jobs = (job("k00001", text="Call Bo"), job("k00002", text="water the plants"))
    decision = cancels({"kind": "remind", "about": "the Plants"}, *jobs)
    assert isinstance(decision, Allow)
    assert decision.slots == {"job": "k00002"}


def test_theirs_elsewhere_are_named_only_where_nobody_reads_along() -> None:
    other = job("k00001", place=DM)
    assert isinstance(cancels({"kind": "remind"}, other), Deny)
    assert ids(cancels({"kind": "remind"}, other, alone=True)) == ["job_k00001"]


@pytest.mark.parametrize(
    ("kind", "noun"),
    [
        ("remind", "No such reminder waits"),
        ("schedule", "No such schedule"),
        ("", "No such reminder or schedule"),
    ],
)
def test_nothing_to_cancel_is_said(kind: str, noun: str) -> None:
    decision = cancels({"kind": kind})
    assert isinstance(decision, Deny)
    assert decision.reason.text.startswith(noun)


def test_a_scheduled_command_here_takes_one_word_of_any_operator() -> None:
    theirs = job("k00001", by="bo", act=Act.SCHEDULE)
    for slots in ({"job": "k00001"}, {"kind": "schedule"}, {}):
        assert isinstance(cancels(slots, theirs), Allow)


def test_a_reminder_is_its_makers_or_takes_who_may_approve_anything() -> None:
    theirs = job("k00001", by="bo")
    refused = cancels({"job": "k00001"}, theirs)
    assert isinstance(refused, Deny)
    assert refused.reason.code is ReasonCode.NOT_AUTHORISED
    assert isinstance(cancels({"kind": "remind"}, theirs), Deny)
    assert isinstance(cancels({"job": "k00001"}, theirs, may_anything=True), Allow)
    assert ids(cancels({"kind": "remind"}, theirs, may_anything=True)) == ["job_k00001"]


def test_jobs_that_cannot_be_read_are_asked_about_again() -> None:
    decision = resolve({"job": "k00001"}, jobs=None, asker=Asker(person=PersonId("ana"), place=OPS))
    assert ids(decision) == ["again"]
    assert isinstance(decision, Clarify)
    assert decision.options[0].patch == {}
