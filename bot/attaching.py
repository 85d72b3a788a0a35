"""Files beside messages: made when a message is sent, from what its effect names (C18).

An effect says what is wanted, never the content: so the outbox holds no pictures, and a report is what the
ledger says when it is shown. Where a surface takes no files, words are folded instead; a picture is left out.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from bot import learning, plotting
from bot.core import Core
from bot.runbooks import report
from bot.text import Text, block
from gate.learning import course
from ledger.kinds import Json

log = logging.getLogger(__name__)


class What(StrEnum):
    """What can stand beside a message. Stored in effects, so a value never changes meaning."""

    REPORT = "report"  # of the run "run"
    TREND = "trend"


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """What stands beside a message: a file, or words folded where there can be none, or neither."""

    file: tuple[str, bytes] | None = None
    fold: Text | None = None


def of_report(run: str) -> dict[str, Json]:
    """Return what an effect says to have the report of a run beside it."""
    return {"what": What.REPORT.value, "run": run}


def of_trend() -> dict[str, Json]:
    """Return what an effect says to have a picture of how well things go beside it."""
    return {"what": What.TREND.value}


def beside(core: Core, wanted: Json, *, files: bool) -> Beside:
    """Return what stands beside a message.

    Args:
        wanted: as `of_report` or `of_trend` said it; None for most messages, beside which nothing stands.
        files: the surface shows files.
    """
    if not isinstance(wanted, dict):
        return Beside()
    try:
        match What(str(wanted["what"])):
            case What.REPORT:
                return _report(core, str(wanted["run"]), files=files)
            case What.TREND:
                return Beside(file=_trend(core) if files else None)
    except Exception:  # the words of the message are worth more than what stands beside them
        log.exception("nothing stands beside a message that wanted %s", wanted)
        return Beside(fold=Text.of("What belongs beside this could not be made; the log says why."))


def _report(core: Core, run: str, *, files: bool) -> Beside:
    told = report.tell(core.queries, run, secrets=core.secrets)
    if told is None:
        return Beside()
    text = report.as_markdown(told)
    if files:
        return Beside(file=(f"{run}-report.md", text.encode("utf-8", "replace")))
    return Beside(fold=Text.of(block(text.rstrip("\n"))))


def _trend(core: Core) -> tuple[str, bytes] | None:
    drawn = trend(learning.learn(core.queries, learning.known(core), now=core.now()).skills)
    return None if drawn is None else ("trend.png", drawn)


def trend(found: Sequence[learning.Skill]) -> bytes | None:
    """Return a picture of the runbooks and diagnostics that were used most; None where none was."""
    lines = [
        plotting.Line(
            label=one.id, points=tuple(zip(one.times, course(one.outcomes, window=_NEWEST), strict=True))
        )
        for one in found
    ]
    if not lines:
        return None
    return plotting.png(lines, title=f"How often it goes well, of the {_NEWEST} newest each time")


_NEWEST = 10
