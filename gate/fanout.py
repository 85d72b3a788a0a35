"""Fan-out: one command on many targets, and the brake that it goes with (X13).

Owns which targets come next and when nothing more starts. Pure: it is told how far each target is and whether
the pause is over. What a person asked for is a `Pace`, with None for what they left open; what a card shows,
its digest covers and the ledger keeps is a `Brake`. After a stop the rest is asked about anew and is a round
of its own: the failures of an earlier one do not count against it, and it begins with its own canary.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from gate.domain import Risk
from gate.lifecycle import ACTION_ENDED, ActionState

#: From so many targets on one command is a fan-out; fewer are an ordinary list, one after the other.
FROM = 4
#: The same where all of it reads and runs at once: nobody picks from that, and a slow one holds no other.
READS_FROM = 2
#: The most that one request may reach.
MOST = 1000

_CANARY, _BATCH, _STOP_AFTER = 1, 10, 1
_PERCENT = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """What somebody said about how a fan-out is to go; None: nothing.

    Attributes:
        canary: how many go first, alone; 0 for none.
        batch: how many are under way at once after them; 0 for all.
        stop_after: the failures at which nothing more starts; 0 for never.
        stop_percent: the same as a share of all targets, 1 to 100.
        pause_s: seconds between batches.
    """

    canary: int | None = None
    batch: int | None = None
    stop_after: int | None = None
    stop_percent: int | None = None
    pause_s: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Brake:
    """How a fan-out goes; as in `Pace`, with nothing left open.

    With a pause, a batch is over before the next begins; without one, the next target starts as soon as one
    of `batch` is done, so that a slow one never holds the others.
    """

    canary: int = 0
    batch: int = 0
    stop_after: int = 0
    pause_s: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One target of a round.

    Attributes:
        state: how far its action is.
        failed: it ended otherwise than well: failed, lost, cancelled, or its check did not hold.
        settled: nothing of it goes on any more, its check included.
    """

    state: ActionState
    failed: bool = False
    settled: bool = False


def brake_for(pace: Pace, *, count: int, risk: Risk) -> Brake:
    """Return the brake of a fan-out over `count` targets, of which the strictest is judged `risk`.

    Reading goes everywhere at once and stops for nothing. What changes something tries one target first, then
    ten at a time, and stops at the first failure.
    """
    reads = risk is Risk.READ_ONLY
    stop_after = 0 if reads else _STOP_AFTER
    if pace.stop_after is not None:
        stop_after = pace.stop_after
    elif pace.stop_percent is not None:
        stop_after = max(1, -(-count * pace.stop_percent // _PERCENT))
    canary = pace.canary if pace.canary is not None else 0 if reads else _CANARY
    batch = pace.batch if pace.batch is not None else 0 if reads else _BATCH
    return Brake(
        canary=min(canary, count),
        batch=0 if batch >= count else batch,
        stop_after=min(stop_after, count),
        pause_s=pace.pause_s or 0,
    )


def stops(round_: Sequence[Member], brake: Brake) -> bool:
    """Whether nothing more of the round may start: a canary failed, or so many as the brake names."""
    if any(one.failed for one in round_[: brake.canary]):
        return True
    return 0 < brake.stop_after <= sum(one.failed for one in round_)


def next_starts(round_: Sequence[Member], brake: Brake, *, rested: bool) -> tuple[int, ...]:
    """Return the positions in `round_` that start now, in order.

    Args:
        rested: the pause of the brake has gone by since the last one settled.
    """
    queued = [index for index, one in enumerate(round_) if one.state is ActionState.QUEUED]
    if not queued or stops(round_, brake):
        return ()
    under_way = sum(_is_under_way(one) for one in round_)
    first = [index for index in queued if index < brake.canary]
    if first:
        return tuple(first)
    if not all(one.settled for one in round_[: brake.canary]):
        return ()
    if brake.pause_s and (under_way or not (rested or not any(one.settled for one in round_))):
        return ()
    room = len(queued) if brake.batch == 0 else max(brake.batch - under_way, 0)
    return tuple(queued[:room])


def _is_under_way(one: Member) -> bool:
    return one.state is ActionState.STARTED or (one.state in ACTION_ENDED and not one.settled)


def rests(round_: Sequence[Member], brake: Brake) -> bool:
    """Whether only the pause keeps the next batch from starting."""
    return next_starts(round_, brake, rested=True) != () == next_starts(round_, brake, rested=False)
