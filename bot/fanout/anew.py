"""Anew: the command of a fan-out for some of its targets, as a proposal of its own with the same pace.

What is asked anew has a digest and a card of its own and passes the gate like anything else; no yes that was
said before counts for it.
"""

from collections.abc import Iterable
from dataclasses import replace

from gate.domain import Action, ActionId, ProposalId
from gate.fanout import Pace
from ledger.views import ProposalView


def numbered(actions: Iterable[Action], *, proposal: ProposalId) -> tuple[Action, ...]:
    """Return `actions` as those of `proposal`, numbered from 1."""
    return tuple(
        replace(one, id=ActionId(f"{proposal}.{index}"), index=index)
        for index, one in enumerate(actions, start=1)
    )


def pace_of(view: ProposalView, *, count: int) -> Pace | None:
    """Return the pace of `view` for `count` of its targets; None where it is no fan-out.

    How many failures stop it shrinks with the number of targets, as a share of them would: it may have been
    asked for as one, and a brake that was meant for 200 targets stops nothing on five.
    """
    if view.fanout is None:
        return None
    brake = view.fanout.brake
    stop_after = min(brake.stop_after, -(-brake.stop_after * count // len(view.actions)))
    return Pace(canary=brake.canary, batch=brake.batch, stop_after=stop_after, pause_s=brake.pause_s)
