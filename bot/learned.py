"""What was learned, and the report of a run, as answers in chat. They change nothing."""

from bot import attaching, learning
from bot.answering import Speaker
from bot.controls import deny
from bot.core import Core
from bot.outcome import Outcome
from bot.runbooks import report
from bot.text import Text
from gate.domain import Reason, ReasonCode


def show(core: Core, outcome: Outcome, speaker: Speaker) -> None:
    """Tell what was learned, with a picture of how it goes where anything ran."""
    found = learning.learn(core.queries, learning.known(core), now=outcome.at)
    told = learning.lines(found, zone=speaker.zone, now=outcome.at, secrets=core.secrets)
    outcome.say(Text.of(*told), file=attaching.of_trend() if found.skills else None)


def show_report(core: Core, outcome: Outcome, speaker: Speaker, run: str) -> None:
    """Post the report of a run."""
    told = report.tell(core.queries, run, secrets=core.secrets)
    if told is None:
        text = f"There is no run #{run}. Nothing was reported.  runbooks  lists what can be run."
        deny(outcome, speaker, Reason(code=ReasonCode.UNKNOWN_ID, text=text))
        return
    one = told.report
    ended = "it goes on" if one.outcome is None else one.outcome.value
    outcome.say(
        Text.of(f"Report of run #{one.run}, {one.title}: {ended}."), file=attaching.of_report(one.run)
    )
