"""Cancelling reminders and schedules by words: "cancel my reminder", "cancel job k7f3a2", "الغ التذكير".

Reads which one is meant; `gate.resolve.cancel_job` picks it and says who may. A message that does not want to
be reminded ("stop reminding me about the bill") cancels too.
"""

import logging
import re
from datetime import datetime

from bot import choices
from bot.acts import dispatch, times
from bot.acts.handler import ActRequest, Bound
from bot.answering import Speaker
from bot.core import Core
from bot.loosening import may_loosen
from bot.outcome import Outcome
from bot.phrasing import shortened
from bot.places import place_name
from bot.text import Text
from gate.resolve import cancel_job
from gate.resolve.decision import Act, Decision
from gate.when import remember
from gate.when.text import plain
from gate.when.wording import take_apart
from ledger.kinds import Kind, RowIs

_log = logging.getLogger(__name__)

_MAX_CHARS = 300
_ECHO_MAX = 120
_ID = r"#?(?=[a-z]*\d)[a-z0-9]{6}"
_CANCEL = re.compile(
    r"(?:(?:please|pls|can\s+you|could\s+you)\s+)*(?:cancel|delete|drop|remove|unset|clear|stop|forget)\s+"
    r"(?:(?:my|the|that|this|our|a|all|of|next|last|scheduled)\s+)*"
    r"(?:(?P<remind>reminders?|alarms?|timers?)|(?P<schedule>schedules?|scheduled|commands?)|jobs?|tasks?)"
    rf"(?:\s+(?:command|job|task|run))?(?:\s+(?:with\s+(?:the\s+)?)?(?:id\s+)?(?P<id>{_ID}))?"
    r"(?:\s+(?:about|to|for|of|that\s+says|called)\s+(?P<about>.+?))?[\s.!]*(?:please)?[\s.!]*",
    re.IGNORECASE,
)
_STOP_REMINDING = re.compile(
    r"(?:(?:please|pls)\s+)?(?:stop\s+reminding|(?:don'?t|don\u2019t|do\s+not)\s+remind)\s+(?:me|us)"
    r"(?:\s+(?:about|to|of|that))?(?P<about>(?:\s+.+?)?)[\s.!]*",
    re.IGNORECASE,
)
_ARABIC = re.compile(
    r"(?:من فضلك |لو سمحت )?(?:(?:الغ|الغي|الغاء|احذف|امسح|اوقف)(?: هذا| كل)? (?:ال)?"
    rf"(?:(?P<remind>تذكير(?:ي|ات|اتي)?|منبه)|(?P<schedule>جدوله|مهمه))(?: (?P<id>{_ID}))?"
    r"|(?P<no>لا تذكرني|لا تذكرنا))(?: (?:ب|عن|حول|بشان) ?(?P<about>.+?))?[ .!]*"
)
_NO_WORDS = frozenset({"anymore", "again", "any", "more", "please", "the", "my", "it", "that", "this", "one"})
_NOUNS = {Act.REMIND: "reminder", Act.SCHEDULE: "schedule", Act.WATCH: "watch"}


class CancelActs:
    """Reads, resolves and performs cancels of jobs. Holds nothing."""

    acts = frozenset({Act.CANCEL_JOB})

    def read(self, core: Core, speaker: Speaker, request_at: datetime) -> ActRequest | None:  # noqa: ARG002 - of the protocol
        """Return the cancel that the whole message asks for; None for anything else."""
        slots = cancelled(speaker.said)
        if slots is None:
            return None
        return ActRequest(
            act=Act.CANCEL_JOB, slots=slots, said=speaker.said, request_at=request_at, tool="cancel_job"
        )

    def resolve(self, core: Core, outcome: Outcome, speaker: Speaker, request: ActRequest) -> Decision:
        """Let the gate resolve which job is meant; jobs that cannot be read are none to choose from."""
        asker = cancel_job.Asker(
            person=speaker.operator.id,
            place=outcome.place,
            alone=speaker.alone,
            may_anything=may_loosen(speaker.operator),
        )
        return cancel_job.resolve(request.slots, jobs=_pending(core), asker=asker)

    def perform(
        self, core: Core, outcome: Outcome, speaker: Speaker, request: ActRequest, bound: Bound
    ) -> None:
        """Record the cancel, and say what will not come."""
        job = core.queries.job(bound.slots["job"])
        if job is None:
            raise LookupError(bound.slots["job"])
        outcome.expect(RowIs("job", job.id, "pending"))
        outcome.write(
            Kind.JOB_CANCELLED,
            correlation_id=bound.commitment,
            body={"job": job.id, "by": speaker.operator.id, "place": outcome.place},
            words={"said": request.said},
        )
        text = shortened(" ".join(choices.masked(core, job.text).split()), most=_ECHO_MAX)
        where = "" if job.place == outcome.place else f", in {place_name(core, job.place)}"
        whose = "" if job.person == speaker.operator.id else f"{job.person}'s "
        when = times.told_job(job, speaker, now=outcome.at)
        outcome.say(
            Text.of(f'Cancelled {whose}{_NOUNS.get(job.act, "job")} {job.id}, {when}{where}: "{text}".')
        )


def by_id(core: Core, outcome: Outcome, speaker: Speaker, name: str) -> bool:
    """Cancel the job of that id; False where there never was one."""
    if core.queries.job(name) is None:
        return False
    request = ActRequest(
        act=Act.CANCEL_JOB,
        slots={"job": name},
        said=speaker.said,
        request_at=speaker.sent_at or outcome.at,
        tool="cancel_job",
    )
    dispatch.begin(core, outcome, speaker, HANDLER, request)
    return True


def cancelled(text: str) -> dict[str, str] | None:
    """Return the slots of a whole message that cancels a job; None for anything else."""
    said = text.strip()
    if len(said) > _MAX_CHARS or "\n" in said:
        return None
    found = _CANCEL.fullmatch(said) or _ARABIC.fullmatch(plain(said))
    if found is None:
        stop = _STOP_REMINDING.fullmatch(said)
        return None if stop is None else _slots(Act.REMIND.value, "", stop["about"])
    groups = found.groupdict()
    remind = groups["remind"] or groups.get("no")
    kind = Act.REMIND.value if remind else Act.SCHEDULE.value if groups["schedule"] else ""
    return _slots(kind, groups["id"] or "", groups["about"] or "")


def _slots(kind: str, job: str, about: str) -> dict[str, str]:
    wording = take_apart(about.strip(), remembered=remember(()), zones={})
    words = [word for word in wording.rest.strip(" .!?,\"'").split() if word.casefold() not in _NO_WORDS]
    slots = {"kind": kind, "job": job.removeprefix("#").casefold(), "about": " ".join(words)}
    slots["ask"] = "yes" if wording.time and not words else ""  # "tomorrow" is no word of any reminder
    return {name: value for name, value in slots.items() if value}


def _pending(core: Core) -> tuple[cancel_job.PendingJob, ...] | None:
    """Return the pending jobs, soonest first; None where they cannot be read."""
    try:
        jobs = core.queries.jobs()
    except Exception:  # noqa: BLE001 - whatever is wrong with them, none of them is cancelled (K12)
        _log.exception("the jobs that wait cannot be read")
        return None
    return tuple(
        cancel_job.PendingJob(
            id=one.id, act=one.act, place=one.place, person=one.person, text=choices.masked(core, one.text)
        )
        for one in jobs
    )


HANDLER = CancelActs()
