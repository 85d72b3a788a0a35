"""Pacing: the brake of a fan-out in words, as its card tells what will happen."""

from collections.abc import Sequence

from bot.fanout.folding import folded
from bot.phrasing import duration
from gate.fanout import Brake

_MINUTE_S = 60


def plan(brake: Brake, names: Sequence[str]) -> str:
    """Return "web1 first; then 10 at a time; stops at the first failure".

    Args:
        names: the targets of the round, in the order in which they start.
    """
    canary = min(brake.canary, len(names))
    left = len(names) - canary
    batch = brake.batch if brake.batch < left else 0
    first = folded(names[:canary], most=4)
    if not left or not (canary or batch):
        return "all at once; a failure stops nothing"
    paced = _paced(batch, brake.pause_s)
    if not canary:
        return f"{paced}; {_stops(brake)}"
    if batch:
        return f"{first} first; then {paced}; {_stops(brake, first=first, canary=canary)}"
    after = f" {pause(brake.pause_s)} later" if brake.pause_s else ""
    return f"{first} first; then the other {left} at once{after}; stops if {_canary_fails(first, canary)}"


def _paced(batch: int, pause_s: int) -> str:
    if pause_s:
        what = "one at a time" if batch == 1 else f"batches of {batch}"
        return f"{what}, {pause(pause_s)} apart"
    return "one at a time" if batch == 1 else f"{batch} at a time"


def _stops(brake: Brake, *, first: str = "", canary: int = 0) -> str:
    """Say at what nothing more starts; a canary that fails is enough, whatever the number."""
    if brake.stop_after == 1:
        return "stops at the first failure"
    if brake.stop_after == 0:
        return f"stops only if {_canary_fails(first, canary)}" if canary else "never stops"
    also = f"if {_canary_fails(first, canary)}, or " if canary else ""
    return f"stops {also}at {brake.stop_after} failures"


def _canary_fails(first: str, canary: int) -> str:
    return f"{first} fails" if canary == 1 else f"one of the first {canary} fails"


def pause(seconds: int) -> str:
    """Return "90 s", "1 min"."""
    minutes, rest = divmod(seconds, _MINUTE_S)
    return f"{minutes} min" if minutes and not rest else duration(seconds)
