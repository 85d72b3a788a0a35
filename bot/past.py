"""The past in lines: what was asked, who decided, how it ended. What went to many alike is one line."""

from collections.abc import Sequence
from datetime import datetime, tzinfo

from bot.card_words import MARKS, inline
from bot.core import Core
from bot.fanout.tally import counted
from bot.origin import asker
from bot.phrasing import clock_time, title
from gate.lifecycle import ApprovalState
from ledger.views import ActionView, ProposalView


def alike(
    view: ProposalView, actions: Sequence[ActionView]
) -> list[tuple[ProposalView, tuple[ActionView, ...]]]:
    """Return those of `actions` together that ended alike, where `view` is a fan-out; else each by itself."""
    if view.fanout is None:
        return [(view, (one,)) for one in actions]
    groups: dict[tuple[object, ...], list[ActionView]] = {}
    for one in actions:
        approval = one.approval
        decided = None if approval is None else (approval.state, approval.decided_by, approval.said)
        groups.setdefault((one.state, decided, one.started_at is None), []).append(one)
    return [(view, tuple(group)) for group in groups.values()]


def line(core: Core, view: ProposalView, group: Sequence[ActionView], *, now: datetime, zone: tzinfo) -> str:
    """Return the line of what ended alike, by when the last of it did."""
    one = max(group, key=lambda each: each.ended_at or each.started_at or view.made_at)
    when = clock_time(one.ended_at or one.started_at or view.made_at, zone=zone, now=now)
    where = str(one.action.target.id) if len(group) == 1 else counted(group)
    what = title(one, secrets=core.secrets)
    run = core.queries.run_of(view.id)
    ids = f"#{view.id}" if run is None else f"#{view.id}, step of #{run.id}"
    return (
        f"{when}  {MARKS[one.state]} {where} · {what} · {one.state.value} · {_who(core, view, one)} · {ids}"
    )


def _who(core: Core, view: ProposalView, one: ActionView) -> str:
    approval = one.approval
    who = f"asked by {asker(view.requester, view.on_behalf)}"
    if approval is not None and approval.decided_by is not None:
        word = "approved" if approval.state is ApprovalState.GRANTED else approval.state.value
        who += f", {word} by {approval.decided_by}" + (
            f' "{inline(approval.said, secrets=core.secrets)}"' if approval.said else ""
        )
    elif approval is None:
        who += ", ran at once" if one.started_at is not None else ""
    elif approval.state is not ApprovalState.GRANTED:
        who += f", {approval.state.value}"
    return who
