"""`runbooks` and `runbook <id>` in chat: what can be run, what it does, and how it went so far."""

from bot.answering import Speaker
from bot.choices import masked
from bot.core import Core
from bot.outcome import Outcome
from bot.phrasing import clock_time
from bot.runbooks import telling
from bot.settings.errors import unknown
from bot.text import Text

#: More than this nobody reads in a chat.
_MOST = 40


def show(core: Core, outcome: Outcome, speaker: Speaker, name: str) -> None:
    """Tell what there is to run, or with `name` what one document does."""
    documents = core.library.documents
    if name:
        document = documents.get(name)
        if document is None:
            outcome.say(Text.of(f"{name}: {unknown('runbook', name, documents)} runbooks lists them."))
            return
        told = telling.lines(document, brief=True)
        told += [_so_far(core, outcome, speaker, name)] if document.supervised else []
        told.append(f"To run it:  {telling.request(document)}")
        outcome.say(Text.of(*(masked(core, line) for line in told)))
        return
    found = telling.listed(documents.values())
    more = [f"… and {len(found) - _MOST} more: sayso runbook list"] if len(found) > _MOST else []
    if not found:
        outcome.say(Text.of("There is no runbook. sayso runbook new <id>  begins one."))
        return
    outcome.say(Text.of(*found[:_MOST], *more, "runbook <id> tells what one does."))


def _so_far(core: Core, outcome: Outcome, speaker: Speaker, name: str) -> str:
    ended = core.queries.run_outcomes(runbook=name)
    if not ended:
        return "It never ran to an end."
    good = sum(one.good for one in ended)
    last = ended[-1]
    when = clock_time(last.at, zone=speaker.zone, now=outcome.at)
    how = "completed" if last.good else "failed"
    return f"Ran {len(ended)} times, completed {good} of them. The last one {how}, {when}."
