"""Rounds: the members of a fan-out that one yes set going, as its brake sees them.

A round is what one list was granted together, told by the digest of that list; what runs without a yes is a
round too. Reads views, decides nothing: `gate.fanout` does.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

from gate.domain import ActionId, RouteKind
from gate.fanout import Brake, Member, stops
from gate.lifecycle import ACTION_ENDED, ActionState
from ledger.views import ActionView, ProposalView


def member(one: ActionView) -> Member:
    """Return how far one target is."""
    ended, ending = one.state in ACTION_ENDED, one.ending
    checks = one.action.verify is not None and one.state is ActionState.SUCCEEDED
    unchecked = checks and (ending is None or not (ending.checked or ending.settled))
    refuted = checks and ending is not None and ending.checked and ending.verify_exit != 0
    return Member(
        state=one.state,
        failed=ended and (one.state is not ActionState.SUCCEEDED or refuted),
        settled=ended and not unchecked,
    )


def round_of(one: ActionView) -> str:
    """Return which round an action belongs to."""
    return "" if one.approval is None else one.approval.list_digest


def newest(view: ProposalView) -> list[ActionView]:
    """Return what came of the newest round: earlier failures do not count against it."""
    came = [one for one in view.actions if one.started_at is not None or one.ended_at is not None]
    if not came:
        return []
    last = round_of(max(came, key=lambda one: one.started_at or one.ended_at or view.made_at))
    return [one for one in came if round_of(one) == last]


def first_failure(view: ProposalView) -> ActionId | None:
    """Return which of the newest round failed first, in its order, once nothing more of the round will start.

    None where none did, or something of an earlier round had: that was told of then.
    """
    if any(one.state in (ActionState.QUEUED, ActionState.STARTED) for one in view.actions):
        return None
    failed = [one for one in view.actions if one.state is ActionState.FAILED]
    ours = {one.action.id for one in newest(view)}
    return failed[0].action.id if failed and ours.issuperset(one.action.id for one in failed) else None


def members_of(view: ProposalView, round_: str) -> tuple[ActionView, ...]:
    """Return the actions of a round, in their order, but for those that a person dropped before they started.

    What was dropped is neither a failure nor the first that is tried: the next one is.
    """
    return tuple(one for one in view.actions if round_of(one) == round_ and not _was_dropped(one))


def _was_dropped(one: ActionView) -> bool:
    ended_by = "" if one.ending is None else one.ending.by
    return one.state is ActionState.CANCELLED and one.started_at is None and ended_by != ""


def failures(view: ProposalView) -> int:
    """Return how many actions ended otherwise than well, whatever their checks said."""
    return sum(one.state in ACTION_ENDED and one.state is not ActionState.SUCCEEDED for one in view.actions)


def held_back(
    view: ProposalView, brake: Brake, *, failing: Collection[ActionId], halts: bool
) -> tuple[ActionView, ...]:
    """Return what is queued and must not start once `failing` have failed, in its order.

    Args:
        halts: sayso ended meanwhile, so that only what nobody's yes was needed for goes on by itself, where
            its brake lets it.
    """
    held: list[ActionView] = []
    for round_ in dict.fromkeys(round_of(one) for one in view.actions if one.state is ActionState.QUEUED):
        ours = members_of(view, round_)
        after = [_failed(one, failing) for one in ours]
        queued = [one for one in ours if one.state is ActionState.QUEUED]
        if stops(after, brake):
            held += queued
        elif halts:
            held += [one for one in queued if not _needed_nobody(one)]
    return tuple(sorted(held, key=lambda one: one.action.index))


def _needed_nobody(one: ActionView) -> bool:
    return one.route is RouteKind.AUTO and one.approval is None and not one.rule


def _failed(one: ActionView, failing: Collection[ActionId]) -> Member:
    now = member(one)
    return replace(now, failed=True) if one.action.id in failing else now


def is_over(actions: Sequence[ActionView]) -> bool:
    """Whether all of them have ended, their checks included."""
    return all(member(one).settled for one in actions)
