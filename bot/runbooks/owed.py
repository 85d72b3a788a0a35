"""The reason of a refusal that ended a run, where it was owed then and was given since (C1).

The event that ended the run never changes; what was said later stands with the approval.
"""

from dataclasses import replace

from gate.supervise.events import Ended
from ledger.queries import Queries
from ledger.runs import RunView


def with_reason(queries: Queries, view: RunView, ended: Ended | None) -> Ended | None:
    """Return `ended` with the reason of its refusal as it is known now."""
    refusal = None if ended is None else ended.refusal
    if ended is None or refusal is None or refusal.reason or view.proposal is None:
        return ended
    asked = queries.proposal(view.proposal)
    given = [one.approval.why for one in (() if asked is None else asked.actions) if one.approval is not None]
    return replace(ended, refusal=replace(refusal, reason=given[0] or None)) if given else ended
