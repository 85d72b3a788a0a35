"""Dials at the door: whether what asked for something may still have it done unasked (M13, M16, C7).

Asked just before a start, of what nobody said yes to: how far agents, alerts, schedules, a model, repairs and
runbooks go by themselves may have been lowered while it waited for its turn. A person's yes needs no dial.
"""

from bot.core import Core
from bot.delegates import scope
from bot.judging import Judged
from bot.planning.drafts import PlanSource
from bot.planning.model import dial as planner
from bot.runbooks import offering as runbooks
from bot.signals import dial as signals
from gate.autonomy import Level, at_least
from ledger.views import ProposalView

#: The settings that hold for what comes from these sources.
_OF_SOURCE = {PlanSource.SCHEDULE.value: "schedule.autonomy", "repair": "repair.autonomy"}


def lowered(core: Core, parent: ProposalView, judged: Judged) -> str:
    """Return the setting because of which `judged` would wait now; "" where it may run unasked."""
    because = scope.waits(core, parent.requester) or signals.waits(core, parent.requester)
    source = parent.source
    if source == PlanSource.RUNBOOK:
        run = core.queries.run_of(parent.id)
        because = because or runbooks.waits(core)
        source = "" if run is None else run.source
    if source == PlanSource.MODEL:
        because = because or planner.forbids(core) or ("" if planner.reads(judged) else planner.waits(core))
    if source in _OF_SOURCE:
        because = because or _below_run(core, _OF_SOURCE[source])
    return because


def _below_run(core: Core, key: str) -> str:
    dial = core.settings.value(key)
    return "" if at_least(dial.level, Level.RUN) else dial.lowered or f"{key} {dial.level}"
