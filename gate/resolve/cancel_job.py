"""Cancelling a reminder or a schedule: which one is meant, and who may (K12).

Only what is still pending counts. A person sees their own, wherever it stands, and what stands in the place
where they speak; any other job does not exist for them. Their own they cancel by id from anywhere. Of what
others made here, a scheduled command takes one word of any operator, since that only stops work (D19);
somebody's reminder is theirs, and takes an operator who may approve anything. Which jobs there are is an
argument.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from gate.domain import PersonId, PlaceId, Reason, ReasonCode
from gate.resolve.decision import Act, Allow, Clarify, Decision, Deny, Option, Slots

#: The slots that are read: an id as typed, the kind that is meant, words of its text, whether to ask however
#: few there are, and how often it was asked.
JOB, KIND, ABOUT, ASK, TRIES = "job", "kind", "about", "ask", "tries"
#: The most options of a question (K12), and how much of a job's text its button has room for.
MOST, LABEL_MAX = 5, 40
#: Answers that name nothing, after which it is given up.
MOST_TRIES = 2

_UNAVAILABLE = "Reminders and schedules cannot be read just now, so nothing was cancelled."


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingJob:
    """One job that is still to come."""

    id: str
    act: Act
    place: PlaceId
    person: PersonId
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """Who wants to cancel, and where they said so.

    Attributes:
        alone: nobody else reads along, so that their jobs of other places may be named.
        may_anything: they may approve anything everywhere.
    """

    person: PersonId
    place: PlaceId
    alone: bool = False
    may_anything: bool = False


def resolve(slots: Slots, *, jobs: Sequence[PendingJob] | None, asker: Asker) -> Decision:
    """Resolve which job is cancelled.

    Args:
        slots: "job" is an id, as "k7f3a2" or "#k7f3a2"; without one, "kind" ("remind", "schedule" or "") and
            the words in "about" say which.
        jobs: every pending job, soonest first; None while they cannot be read.
    """
    if jobs is None:
        again = Option(id="again", label="Try again", patch={})
        return Clarify(question=_UNAVAILABLE, slots=slots, options=(again,), because="unavailable")
    wanted = slots.get(JOB, "").strip().removeprefix("#").casefold()
    if wanted:
        return _by_id(wanted, slots, jobs, asker)
    here = [one for one in _matching(jobs, slots) if one.place == asker.place]
    mine = [one for one in here if one.person == asker.person]
    if len(mine) == 1 and not slots.get(ASK):
        return _allow(slots, mine[0], because="the only one here")
    kind = slots.get(KIND, "")
    if not mine and not slots.get(ASK) and kind != Act.REMIND and len(others := _may(here, asker)) == 1:
        return _allow(slots, others[0], because="the only one here")
    options = mine or _may(here, asker) or _elsewhere(_matching(jobs, slots), asker)
    if not options:
        return _nothing(slots)
    return _which("Which one?", slots, options, because="which")


def _by_id(wanted: str, slots: Slots, jobs: Sequence[PendingJob], asker: Asker) -> Decision:
    found = next((one for one in jobs if one.id.casefold() == wanted and _sees(asker, one)), None)
    if found is None:
        tries = int(slots.get(TRIES, "0")) + 1
        if tries >= MOST_TRIES:
            return _nothing(slots)
        left = {name: value for name, value in slots.items() if name != JOB} | {TRIES: str(tries)}
        options = [one for one in jobs if one.place == asker.place and _may([one], asker)]
        options = options or _elsewhere(jobs, asker)
        return _which(f"No {wanted} waits. Which one?", left, options, because="unknown id")
    if not _may([found], asker):
        return Deny(
            reason=Reason(
                code=ReasonCode.NOT_AUTHORISED,
                text=f"{found.id} is {found.person}'s reminder. They can cancel it, "
                "or an operator who may approve anything.",
            ),
            slots=slots,
            because="another's",
        )
    return _allow(slots, found, because="" if found.place == asker.place else "cross-place")


def _sees(asker: Asker, job: PendingJob) -> bool:
    return job.person == asker.person or job.place == asker.place


def _may(jobs: Sequence[PendingJob], asker: Asker) -> list[PendingJob]:
    """Return those that `asker` may cancel."""
    return [
        one
        for one in jobs
        if one.person == asker.person
        or (one.place == asker.place and (one.act is not Act.REMIND or asker.may_anything))
    ]


def _elsewhere(jobs: Sequence[PendingJob], asker: Asker) -> list[PendingJob]:
    """Return their own of other places, where nobody else reads along."""
    return [one for one in jobs if asker.alone and one.person == asker.person]


def _matching(jobs: Sequence[PendingJob], slots: Slots) -> list[PendingJob]:
    """Return the jobs of the kind and with the words that are meant."""
    kind, words = slots.get(KIND, ""), slots.get(ABOUT, "").casefold().split()
    found = [one for one in jobs if kind in ("", one.act.value)]
    return [one for one in found if all(word in one.text.casefold() for word in words)]


def _allow(slots: Slots, job: PendingJob, *, because: str) -> Allow:
    kept = {name: value for name, value in slots.items() if name not in (KIND, ABOUT, ASK, TRIES)}
    return Allow(slots={**kept, JOB: job.id}, because=because)


def _nothing(slots: Slots) -> Deny:
    noun = {Act.REMIND.value: "reminder", Act.SCHEDULE.value: "schedule"}.get(slots.get(KIND, ""), "")
    what = f"No such {noun}" if noun else "No such reminder or schedule"
    text = f"{what} waits here, so nothing was cancelled. reminders lists what does."
    return Deny(reason=Reason(code=ReasonCode.UNKNOWN_ID, text=text), slots=slots, because="nothing")


def _which(question: str, slots: Slots, jobs: Sequence[PendingJob], *, because: str) -> Clarify:
    options = tuple(
        Option(id=f"job_{one.id}", label=f"Cancel {one.id} \u2014 {_short(one.text)}", patch={JOB: one.id})
        for one in jobs[:MOST]
    )
    return Clarify(question=question, slots=slots, options=options, free=JOB, because=because)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LABEL_MAX else f"{line[: LABEL_MAX - 1]}…"
