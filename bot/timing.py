"""Timing: what this process can be asked about how long things take.

A stopwatch is started where something begins and stopped where it ends; without metrics it costs a call and
does nothing. Where the seconds go is `bot.metrics`'; nothing is ever decided by them.
"""

from collections.abc import Callable
from enum import StrEnum


class Timing(StrEnum):
    """What is timed."""

    TURN_WAIT = "turn_wait"  # from being stored until its turn begins
    TURN = "turn"  # reading the facts and deciding, without recording it
    APPEND = "append"  # one decision until it is durable


#: Begins to time something; what it returns ends that, and is called once.
Stopwatch = Callable[[Timing], Callable[[], None]]


def no_stopwatch(_timing: Timing) -> Callable[[], None]:
    """Time nothing."""
    return _nothing


def _nothing() -> None:
    return
