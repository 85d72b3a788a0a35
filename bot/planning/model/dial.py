"""The dial of the planner: how far a model goes, read for each move (M4, M13, M16).

Below `propose` no model is called. At `propose` what certainly only reads runs as the gate lets it, and
everything else waits for a yes, whatever posture or trust rule would let run; at `run` the gate alone
decides.
"""

from dataclasses import replace

from bot.core import Core
from bot.judging import Judged
from gate.autonomy import Level, at_least
from gate.domain import Risk, Route, RouteKind

#: The setting that says it.
DIAL = "planner.autonomy"


def forbids(core: Core) -> str:
    """Return the setting because of which no model is called; "" where one may be."""
    dial = core.settings.value(DIAL)
    return "" if at_least(dial.level, Level.PROPOSE) else dial.lowered or f"{DIAL} {dial.level}"


def waits(core: Core) -> str:
    """Return the setting because of which what does not only read waits for a yes; "" for none."""
    dial = core.settings.value(DIAL)
    return "" if at_least(dial.level, Level.RUN) else dial.lowered or f"{DIAL} {dial.level}"


def held(one: Judged, because: str) -> Judged:
    """Return `one` as it waits for a yes, unless it certainly only reads; "" changes nothing."""
    if not because or one.route.kind is not RouteKind.AUTO or reads(one):
        return one
    return replace(one, route=Route(kind=RouteKind.APPROVAL, because=because))


def reads(one: Judged) -> bool:
    """Whether an action certainly only reads."""
    return one.verdict.risk is Risk.READ_ONLY and one.verdict.auto_run
