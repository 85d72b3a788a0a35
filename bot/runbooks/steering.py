"""Words about runs, carried out: which run is meant, and what becomes of it."""

from bot import asking, commands, requests
from bot.answering import Speaker
from bot.choices import masked
from bot.core import Core
from bot.outcome import Outcome
from bot.planning.drafts import Question, RunbookPlan
from bot.runbooks import plan, showing, stopping
from bot.text import Text
from gate.supervise.domain import RunId

#: Lines of a plan that are told at once.
MOST = 400


def steer(core: Core, outcome: Outcome, speaker: Speaker, command: commands.OfRuns) -> None:
    """Carry out a word about runs."""
    match command:
        case commands.ShowRuns():
            showing.show_all(core, outcome, speaker)
        case commands.ShowRun(run=run, sure=sure):
            if sure or core.queries.run(run) is not None:
                showing.show(core, outcome, speaker, run)
            else:
                requests.take(core, outcome, speaker)  # "run test12" is a command
        case commands.StopRun(run=""):
            stopping.stop_any(core, outcome, speaker)
        case commands.StopRun(run=run):
            if not stop(core, outcome, speaker, run):
                showing.show(core, outcome, speaker, run)  # which says that there is none
        case commands.RollBack(run=run):
            stopping.roll_back(core, outcome, speaker, run)
        case commands.PlanRun(request=request):
            _plan(core, outcome, speaker, request)


def stop(core: Core, outcome: Outcome, speaker: Speaker, run: str) -> bool:
    """End the run of that id; False where there is none."""
    if core.queries.run(run) is None:
        return False
    stopping.stop(core, outcome, speaker, RunId(run))
    return True


def _plan(core: Core, outcome: Outcome, speaker: Speaker, request: str) -> None:
    named = request.split(maxsplit=1)[0].casefold()
    words = f"run runbook {request}" if named in core.library.documents else request
    read = asking.planned(core, words)
    if isinstance(read, Question):
        outcome.say(Text.of(masked(core, read.text)))
        return
    if not isinstance(read, RunbookPlan):
        outcome.say(
            Text.of("No runbook is called that. runbooks lists them; plan <id> on <target> shows one.")
        )
        return
    told = plan.lines(core, read, person=speaker.operator.id)
    if len(told) > MOST:
        told = [*told[:MOST], f"… {len(told) - MOST} more lines"]
    outcome.say(Text.of(*told))
