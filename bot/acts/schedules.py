"""Scheduled commands out of messages: "every weekday at 9: run df -h on web1", "run uptime on web1 at 22:00".

The time stands at either end of the message, and what is left is a request of its own; a message that can be
carried out as it stands is no schedule ("run at 22:00 …"). The request is kept word for word and read anew
when its time comes, see `gate.resolve.schedule`; here it only has to be readable, so that nothing is
promised that could never run.
"""

import re
from datetime import datetime

from bot import asking
from bot.acts import jobs, times
from bot.acts.handler import ActRequest, Bound
from bot.answering import Speaker
from bot.core import Core
from bot.judging import judge
from bot.outcome import Outcome
from bot.planning.drafts import Plan, Question, RunbookPlan
from bot.proposing import Denied, bind
from bot.text import Text, block
from bot.zones import zones_in
from gate import when
from gate.domain import ProposalId, Reason, ReasonCode, RouteKind
from gate.redact import redact_command
from gate.resolve import schedule
from gate.resolve.decision import Act, Decision
from gate.when.wording import take_apart

_MAX_CHARS = 2000
_SCHEDULE = re.compile(r"(?:please\s+)?schedule\s*:?\s+(?=\S)", re.IGNORECASE)
_COMMAND = re.compile(r"(?:please\s+)?run\s|`|(?:on\s+)?@?[\w.-]+:\s", re.IGNORECASE)
#: "Schedule it for tomorrow": elsewhere a time behind "for" is spoken of.
_FOR = re.compile(
    r"\s+for\s+(?=(?:tomorrow|tonight|next|every|mon|tue|wed|thu|fri|sat|sun|\d))", re.IGNORECASE
)
#: What may stand between a request and its time.
_JOINT = re.compile(r"\s+(?:for|starting|beginning|to\s+run|to\s+start)$", re.IGNORECASE)
_LENGTH = re.compile(
    r"\d|(?:an?|half|quarter|one|two|three|four|five|six|ten|twenty|thirty)\b", re.IGNORECASE
)
_FROM = re.compile(r"\b(?:before|after|from\s+now|prior|ahead)\b|قبل|بعد", re.IGNORECASE)
#: What would keep a request from ever running, other than how things stand just now.
_FOR_GOOD = frozenset({ReasonCode.UNKNOWN_TARGET, ReasonCode.DESTROYED_TARGET, ReasonCode.NEVER_LIST})
#: Stands for the id that a proposal would have; none is made.
_NO_PROPOSAL = ProposalId("------")


class ScheduleActs:
    """Reads, resolves and performs scheduled commands. Holds nothing."""

    acts = frozenset({Act.SCHEDULE})

    def read(self, core: Core, speaker: Speaker, request_at: datetime) -> ActRequest | None:
        """Return the schedule that the whole message asks for; None for anything else."""
        text = speaker.said
        if len(text) > _MAX_CHARS or "\n" in text:
            return None
        said = _SCHEDULE.sub("", text, count=1).strip()
        sure = said != text.strip()
        found = _split(core, speaker, _FOR.sub(" ", said) if sure else said, request_at, sure=sure)
        if found is None:
            return None
        words, request = found
        return ActRequest(
            act=Act.SCHEDULE,
            slots={"words": words, "text": request},
            said=text,
            request_at=request_at,
            tool="schedule",
        )

    def resolve(self, core: Core, outcome: Outcome, speaker: Speaker, request: ActRequest) -> Decision:
        """Let the gate resolve a schedule, with whether its request can be read."""
        facts = times.facts(core, speaker, request.slots, request_at=request.request_at, now=outcome.at)
        problem = _problem(core, request.slots["text"])
        decision = schedule.resolve(request.slots, times=facts, problem=problem)
        guessed = times.with_guesses(
            decision,
            request.slots,
            facts,
            lambda more: schedule.resolve(request.slots, times=more, problem=problem),
        )
        return times.with_remark(core, speaker, guessed)

    def perform(
        self, core: Core, outcome: Outcome, speaker: Speaker, request: ActRequest, bound: Bound
    ) -> None:
        """Record the schedule in this place, and say when it comes and what it will do."""
        job = jobs.make(core, outcome, speaker, request, bound)
        at = times.told(bound.slots, speaker, now=outcome.at)
        drop = jobs.how_to_drop(core, outcome, speaker, Act.SCHEDULE, job)
        outcome.say(
            Text.of(
                f"✓ Scheduled {at}, here:",
                block(redact_command(bound.slots["text"], extra=core.secrets).text),
                f"It is judged when its time comes: what waits for a yes asks here then. {drop}",
            )
        )


def _split(
    core: Core, speaker: Speaker, text: str, request_at: datetime, *, sure: bool
) -> tuple[str, str] | None:
    """Return the words of time and the request; `sure` where the message says that it schedules."""
    remembered = times.remembered(core, speaker)
    wording = take_apart(text, remembered=remembered, zones=zones_in(text))
    ends = [(wording.head, wording.after_head), (wording.tail, wording.before_tail)]
    ends = [(words.strip(" ,:;"), _JOINT.sub("", request.strip(" ,:;"))) for words, request in ends]
    ends = [(words, request) for words, request in ends if request and (sure or _names_a_start(words))]
    if not ends or _stands_alone(core, text):
        return None
    for words, request in ends:
        outcome = when.resolve(
            words,
            request_at=request_at,
            zone=speaker.zone,
            anchors=remembered,
            zones=zones_in(words),
            nearby_days=0,
        )
        command = _COMMAND.match(request) is not None
        if isinstance(outcome, when.Resolved) or _is_plain(outcome):
            fits = sure or command or _stands_alone(core, request)
        else:  # nobody says "yesterday" of what is to come, unless they say that they schedule
            fits = not isinstance(outcome, when.NoTime) and (sure or command)
        if fits:
            return words, request
    return None


def _is_plain(outcome: when.Outcome) -> bool:
    """Whether words name a time, if not one alone: "next Tuesday", "every Monday"."""
    return isinstance(outcome, when.Ask) and (bool(outcome.options) or outcome.why is when.Why.WHICH_TIME)


def _names_a_start(words: str) -> bool:
    """Whether `words` say when; a bare length may be one that is spoken of: "the last 2 hours"."""
    return bool(words) and (_LENGTH.match(words) is None or _FROM.search(words) is not None)


def _stands_alone(core: Core, text: str) -> bool:
    """Whether `text` is a request as it stands, whatever words of time are among those of its command."""
    read = asking.planned(core, text)
    return isinstance(read, Plan) and read.confidence >= 1


def _problem(core: Core, request: str) -> Reason | None:
    """Return why `request` cannot be read, or would never run; None where it can."""
    read = asking.planned(core, request)
    if not isinstance(read, Plan):
        how = f'Nothing here does "{request}". Say it as  run <command> on <target>.'
        if isinstance(read, RunbookPlan):
            how = "A runbook is run by a person who asks for it; it cannot be scheduled."
        if isinstance(read, Question):
            near = "; ".join(option.request for option in read.options)
            how = f"{read.text.removeprefix('Nothing ran. ')}{f' {near}' if near else ''}"
        return Reason(code=ReasonCode.CANNOT_PLACE, text=f"Not scheduled. {how}")
    bound = bind(core, list(read.drafts), proposal=_NO_PROPOSAL)
    if isinstance(bound, Denied):
        return _not_scheduled(bound.reason)
    for action in bound:
        route = judge(core, action).route
        if route.kind is RouteKind.DENY and route.reason is not None and route.reason.code in _FOR_GOOD:
            return _not_scheduled(route.reason)
    return None


def _not_scheduled(reason: Reason) -> Reason:
    return Reason(code=reason.code, text=f"Not scheduled. {reason.text}")


HANDLER = ScheduleActs()
