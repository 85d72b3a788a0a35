"""What was learned, by control word: telling it, the report of a run, and taking a learned runbook back.

Keeping a runbook takes a phrase and stands in bot.acts.keeping; taking it back takes one word of any
operator, at once (D19).
"""

from functools import partial

from bot import attaching, learning
from bot.answering import Speaker
from bot.controls import deny
from bot.core import Core
from bot.outcome import Outcome
from bot.runbooks import report
from bot.text import Text
from gate.domain import Reason, ReasonCode
from ledger.kinds import Kind, RowIs
from ledger.learning import CapabilityState


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


def retire(core: Core, outcome: Outcome, speaker: Speaker, name: str) -> None:
    """Take a runbook that was learned out of use; one that came with sayso, or was written by hand, stays."""
    known = next((one for one in core.queries.capabilities(kept_only=True) if one.runbook == name), None)
    if known is None:
        text = (
            f"No runbook {name} was learned, so nothing was retired. what have you learned?  lists what was."
        )
        deny(outcome, speaker, Reason(code=ReasonCode.UNKNOWN_ID, text=text))
        return
    outcome.expect(RowIs("capability", known.id, CapabilityState.KEPT.value))
    outcome.write(
        Kind.RUNBOOK_RETIRED,
        body={"runbook": name, "by": speaker.operator.id, "place": outcome.place},
        words={"said": speaker.said},
    )
    outcome.after.append(partial(core.shelf.retire, name))
    outcome.say(Text.of(f"{name} is out of use. Its file stays beside the others as {name}.yaml.retired."))
