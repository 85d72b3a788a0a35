"""Guidance by control word: listing what was taught (K55).

What changes an instruction stands in bot.acts.guidance.
"""

from bot import guidance
from bot.answering import Speaker
from bot.core import Core
from bot.outcome import Outcome
from bot.phrasing import clock_time
from bot.text import Text
from gate.redact import redact
from ledger.guidance import GuidanceState, GuidanceView

HOW = "Teach one:  from now on …"
OFF = "guidance.enabled is off, so nothing of it is told to whatever plans."


def show(core: Core, outcome: Outcome, speaker: Speaker) -> None:
    """List every instruction that is held or in use."""
    found = core.queries.guidance(GuidanceState.HELD, GuidanceState.CONFIRMED)
    lines = [line(core, one, speaker) for one in found]
    lines = lines or [f"Nothing was taught. {HOW}"]
    outcome.say(Text.of(*lines, *([] if guidance.is_enabled(core) else [OFF])))


def line(core: Core, one: GuidanceView, speaker: Speaker) -> str:
    """Return one instruction as a line of the list."""
    text = redact(one.text, extra=core.secrets).text
    held = one.state is GuidanceState.HELD
    at = clock_time(one.held_at, zone=speaker.zone, now=core.now())
    todo = f"waits for  guidance confirm {one.id}" if held else f"counts, confirmed by {one.decided_by}"
    return f'#{one.id}  "{text}" · {one.taught_by}, {at} · {todo}'
