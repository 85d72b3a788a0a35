"""Owed reasons: why somebody said no (C1, D18).

A plain no stops at once and owes its reason. The next words of the same person that are no request and no yes
are that reason; a request closes the debt without one, and so does its time. A missing reason never keeps
anything open.
"""

import re

from bot import asking
from bot.answering import Speaker
from bot.core import Core
from bot.hearing import reader
from bot.outcome import Outcome
from bot.planning.drafts import Plan, PlanSource, Question, RunbookPlan
from bot.text import Text
from gate.domain import AGENT, AssentVerdict, Facts, ProposalId
from ledger.kinds import Kind

#: What begins like this was meant to run, even where it cannot be read.
_LIKE_A_REQUEST = re.compile(r"\s*(?:run|exec|execute|on\s+@?[\w.-]+\s*:|`)", re.IGNORECASE)


def take(core: Core, outcome: Outcome, speaker: Speaker, facts: Facts) -> bool:
    """Take the words of `speaker` as the reason they owe; False when they owe none or said something else."""
    owed = core.queries.owed(outcome.place, speaker.operator.id, outcome.at)
    if owed is None or (facts.window is not None and facts.window.proposal != owed):
        return False  # what was asked about something else comes first; a press leaves its own window open
    if _is_request(core, speaker.said):
        close(outcome, owed)
        return False
    if reader(core)(speaker.said, ()).verdict is AssentVerdict.GRANT:
        return False
    outcome.write(
        Kind.REASON_GIVEN,
        correlation_id=owed,
        body={"proposal": owed, "by": speaker.operator.id, "reason_state": "given"},
        words={"reason": speaker.said},
    )
    outcome.say(Text.of(f"Noted with #{owed}."))
    return True


def close(outcome: Outcome, owed: ProposalId) -> None:
    """Record that an owed reason never came."""
    outcome.write(
        Kind.REASON_GIVEN,
        correlation_id=owed,
        body={"proposal": owed, "by": AGENT, "reason_state": "not_given"},
    )


def _is_request(core: Core, text: str) -> bool:
    """Whether words said where a reason is owed are a request rather than the reason.

    "backup is running" is a reason although a diagnostic has that name; "disk space on web1?" is a request.
    """
    if _LIKE_A_REQUEST.match(text):
        return True
    planned = asking.planned(core, text)
    if not isinstance(planned, Plan | RunbookPlan | Question):
        return False
    if isinstance(planned, Plan) and planned.source is PlanSource.LITERAL:
        return True
    return text.rstrip().endswith("?") or bool(asking.requested(core, text))
