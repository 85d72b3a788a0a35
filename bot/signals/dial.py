"""The dial of signals, and what it means for the steps of a run that a signal began."""

from bot.core import Core
from bot.origin import ALERT_PREFIX
from gate.autonomy import Level, at_least
from gate.domain import PersonId

#: The setting that says how far a signal goes by itself.
DIAL = "signals.autonomy"


def waits(core: Core, person: PersonId) -> str:
    """Return why every step of a run waits that a signal began; "" for no such reason."""
    if not person.startswith(ALERT_PREFIX):
        return ""
    dial = core.settings.value(DIAL)
    return "" if at_least(dial.level, Level.RUN) else dial.lowered or f"{DIAL} {dial.level}"
