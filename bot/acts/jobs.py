"""Jobs in the record and in words: how one is made, and how those that wait are listed."""

from datetime import UTC, datetime

from bot import choices
from bot.acts.handler import ActRequest, Bound
from bot.acts.times import told_job
from bot.answering import Speaker
from bot.core import Core
from bot.outcome import Outcome
from bot.phrasing import shortened
from bot.places import place_name
from bot.text import Text
from gate.resolve.decision import Act
from ledger.codec import instant
from ledger.jobs import JobView
from ledger.kinds import Kind, RowIs

#: What becomes of an occurrence that sayso was not there for: said late; offered again, never made up for.
_MISSED = {Act.REMIND: "late", Act.SCHEDULE: "ask", Act.WATCH: "late"}
_NOUNS = {
    Act.REMIND: "reminder",
    Act.SCHEDULE: "runs",
    Act.SEND_OUTBOUND: "sends",
    Act.POST_ARTIFACT: "posts",
    Act.WATCH: "watch",
}
_TEXT_MAX = 120


def make(core: Core, outcome: Outcome, speaker: Speaker, request: ActRequest, bound: Bound) -> str:
    """Record a job in the place of the turn, which is where it will be said (F10); return its id."""
    job = core.ids.short_id()
    first = instant(datetime.fromisoformat(bound.slots["fire_at"]).astimezone(UTC))
    outcome.expect(RowIs("job", job, None))
    outcome.write(
        Kind.JOB_MADE,
        correlation_id=bound.commitment,
        body={
            "job": job,
            "act": request.act.value,
            "place": outcome.place,
            "person": speaker.operator.id,
            "zone": bound.slots["zone"],
            "first_at": first,
            "rrule": bound.slots["rrule"],
            "missed": _MISSED[request.act],
            "next_at": first,
            "commitment": bound.commitment,
        },
        words={"text": bound.slots["text"], "said": request.said},
    )
    return job


def how_to_drop(core: Core, outcome: Outcome, speaker: Speaker, act: Act, job: str) -> str:
    """Return what to say to drop a new job: without its id where it is the only one of its kind here."""
    noun = "reminder" if act is Act.REMIND else "schedule"
    others = core.queries.jobs(place=outcome.place, person=speaker.operator.id)
    named = f" {job}" if any(one.act is act for one in others) else ""
    return f'Say "cancel {noun}{named}" to drop it.'


def show(core: Core, outcome: Outcome, speaker: Speaker, *, act: Act | None) -> None:
    """Say what waits here, of one kind or all; to somebody alone with sayso, theirs of other places too."""
    jobs = core.queries.jobs()
    wanted = [one for one in jobs if act in (None, one.act)]
    here = [one for one in wanted if one.place == outcome.place]
    elsewhere = [one for one in wanted if one.place != outcome.place and one.person == speaker.operator.id]
    lines = [_line(core, outcome, speaker, one) for one in here]
    if speaker.alone:
        lines += [
            f"{_line(core, outcome, speaker, one)}, in {place_name(core, one.place)}" for one in elsewhere
        ]
    noun = "reminder" if act is Act.REMIND else "reminder or schedule"
    if not lines:
        lines.append(f'No {noun} waits here. Say "remind me tomorrow at 9 to …".')
    elif len(lines) == 1:
        lines.append("cancel reminder <id> drops one." if act is Act.REMIND else "cancel job <id> drops one.")
    if elsewhere and not speaker.alone:
        lines.append(f"{len(elsewhere)} of yours elsewhere: ask in a direct message.")
    outcome.say(Text.of(*lines))


def _line(core: Core, outcome: Outcome, speaker: Speaker, job: JobView) -> str:
    """Return "k7f3a2  Tue 1 Dec 13:00 CET  reminder, ana: "call Bo""."""
    text = shortened(" ".join(choices.masked(core, job.text).split()), most=_TEXT_MAX)
    return f'{job.id}  {told_job(job, speaker, now=outcome.at)}  {_NOUNS[job.act]}, {job.person}: "{text}"'
