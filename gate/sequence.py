"""Order within a proposal: which of its actions moves next (D4).

Actions run in order. A destructive one is asked about when its turn comes, and what follows waits behind
it. After a failure nothing moves by itself: the ledger's batch that records the failure also takes the
grants of the rest back, so this function sees them waiting.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from gate.domain import RouteKind
from gate.lifecycle import ACTION_ENDED, ActionState


class MoveKind(StrEnum):
    """What to do next."""

    QUEUE = "queue"  # it needs no consent and its turn has come
    START = "start"  # its turn has come and it is free to start
    CHALLENGE = "challenge"  # its turn has come and it wants its phrase
    WAIT = "wait"  # for a person, or for what runs
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Move:
    """The next move; `index` is the position in the given sequence, None for WAIT and DONE."""

    kind: MoveKind
    index: int | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One action as the order sees it. `route` is what it needs now."""

    state: ActionState
    route: RouteKind


def next_move(steps: Sequence[Step]) -> Move:
    """Return the move of the first action that has not ended."""
    for index, step in enumerate(steps):
        if step.state in ACTION_ENDED:
            continue
        return _move(step, index)
    return Move(MoveKind.DONE)


def _move(step: Step, index: int) -> Move:
    if step.state is ActionState.QUEUED:
        return Move(MoveKind.START, index)
    if step.state is ActionState.PROPOSED and step.route is RouteKind.AUTO:
        return Move(MoveKind.QUEUE, index)
    if step.state is ActionState.PROPOSED and step.route is RouteKind.PHRASE:
        return Move(MoveKind.CHALLENGE, index)
    return Move(MoveKind.WAIT)


def opens_at_once(steps: Sequence[Step]) -> tuple[int, ...]:
    """Return which fresh actions get an approval now: every APPROVAL, and a PHRASE whose turn it is.

    A PHRASE behind others is asked about when its turn comes, so that it is typed about what is next.
    """
    turn = next_move(steps)
    return tuple(
        index
        for index, step in enumerate(steps)
        if step.state is ActionState.PROPOSED
        and (step.route is RouteKind.APPROVAL or (turn.kind is MoveKind.CHALLENGE and turn.index == index))
    )
