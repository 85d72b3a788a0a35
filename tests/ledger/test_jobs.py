"""Jobs: what they wait for, and that every time they are due is entered once."""

from datetime import timedelta

import pytest

from gate.domain import PersonId
from gate.errors import TransitionError
from gate.lifecycle import JobState
from gate.resolve.decision import Act
from ledger.codec import instant
from ledger.kinds import JobIsDue, Kind, LostRaceError
from tests.gate.makers import HERE, NOW, THERE
from tests.ledger.entries.commitments import job_made, job_over, occurred
from tests.ledger.story import LATER, Story

AFTER = LATER + timedelta(days=1)


def test_a_job_is_seen_whole(tale: Story) -> None:
    tale.write(job_made(rrule="FREQ=DAILY"))
    job = tale.queries.job("j1")
    assert job is not None
    assert (job.act, job.state, job.place, job.person) == (Act.REMIND, JobState.PENDING, HERE, "ana")
    assert (job.first_at, job.next_at, job.made_at) == (LATER, LATER, NOW)
    assert (job.zone, job.rrule, job.missed) == ("Europe/Vienna", "FREQ=DAILY", "late")
    assert (job.text, job.said) == ("drink water", "remind me to drink water in 15 minutes")
    assert job.commitment == "cmt_j1"
    assert tale.queries.job("j2") is None


def test_due_is_what_waits_for_now_or_earlier(tale: Story) -> None:
    assert tale.queries.next_due() is None
    tale.write(job_made("j1", due=AFTER), job_made("j2"), job_made("j3"))
    assert tale.queries.due(LATER - timedelta(microseconds=1)) == ()
    assert [one.id for one in tale.queries.due(LATER)] == ["j2", "j3"]
    assert [one.id for one in tale.queries.due(AFTER)] == ["j2", "j3", "j1"]
    assert tale.queries.next_due() == LATER
    assert tale.queries.next_due(after=LATER) == AFTER
    assert tale.queries.next_due(after=AFTER) is None


def test_jobs_are_of_a_place_or_of_a_person(tale: Story) -> None:
    tale.write(
        job_made("j1", due=AFTER), job_made("j2", person="kim"), job_made("j3", place=THERE), job_made("j4")
    )
    tale.write(job_over(job="j4"))
    assert [one.id for one in tale.queries.jobs()] == ["j2", "j3", "j1"]
    assert [one.id for one in tale.queries.jobs(place=HERE)] == ["j2", "j1"]
    assert [one.id for one in tale.queries.jobs(person=PersonId("ana"))] == ["j3", "j1"]
    assert [one.id for one in tale.queries.jobs(place=HERE, person=PersonId("kim"))] == ["j2"]


@pytest.mark.parametrize("is_missed", [False, True])
def test_every_time_that_it_is_due_is_entered_once(tale: Story, *, is_missed: bool) -> None:
    tale.write(job_made(rrule="FREQ=DAILY"))
    tale.write(occurred(then=AFTER, is_missed=is_missed))
    assert tale.queries.next_due() == AFTER
    for again in (occurred(then=AFTER), occurred(then=AFTER, is_missed=True)):
        with pytest.raises(TransitionError, match="waits for"):
            tale.write(again)
    with pytest.raises(TransitionError, match="waits for"):  # nor may one be skipped
        tale.write(occurred(due=AFTER + timedelta(days=1)))
    tale.write(occurred(due=AFTER))
    assert tale.queries.next_due() is None
    found = [(one.job, one.fire_at, one.state, one.why) for one in tale.queries.occurrences("j1")]
    first = ("missed", "skip") if is_missed else ("claimed", "")
    assert found == [("j1", AFTER, "claimed", ""), ("j1", LATER, *first)]
    assert tale.queries.occurrences("j2") == ()


@pytest.mark.parametrize("kind", [Kind.JOB_ENDED, Kind.JOB_CANCELLED])
def test_a_job_that_is_over_is_due_no_more(tale: Story, kind: Kind) -> None:
    tale.write(job_made())
    tale.write(job_over(kind))
    job = tale.queries.job("j1")
    assert job is not None
    assert job.next_at is None
    assert (tale.queries.due(AFTER), tale.queries.jobs(), tale.queries.next_due()) == ((), (), None)
    for more in (
        occurred(),
        occurred(is_missed=True),
        job_over(Kind.JOB_ENDED),
        job_over(Kind.JOB_CANCELLED),
    ):
        with pytest.raises(TransitionError, match="does not take"):
            tale.write(more)


def test_an_unknown_job_is_never_due(tale: Story) -> None:
    for draft in (occurred(), job_over()):
        with pytest.raises(TransitionError, match="there is no job j1"):
            tale.write(draft)


def test_a_claim_names_what_the_job_waits_for(tale: Story) -> None:
    tale.write(job_made())
    for wrong in (JobIsDue("j1", instant(AFTER)), JobIsDue("j2", instant(LATER))):
        with pytest.raises(LostRaceError):
            tale.write(occurred(), expects=(wrong,))
    right = JobIsDue("j1", instant(LATER))
    tale.write(occurred(), expects=(right,))
    with pytest.raises(LostRaceError):
        tale.write(occurred(), expects=(right,))
