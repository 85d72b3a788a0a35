"""Lapsing: until when a yes that was given and not used yet can be (D6, docs/adr/0008).

A yes lasts for `policy.start_within_s`. To a fan-out it is one yes to all of it and to its pace: it is being
used as long as anything of its round runs, and each start or end, and the pause that was shown, give it that
time anew. What ran of an earlier round gives the next one nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.core import Core
from gate.domain import Digest
from ledger import waiting
from ledger.views import ActionView, ProposalView


@dataclass(frozen=True, slots=True, kw_only=True)
class Lapses:
    """What says until when the yes to actions of one proposal lasts; `used` as in `ledger.waiting.used`."""

    within: timedelta
    pause: timedelta
    used: Mapping[Digest, datetime | None]

    def at(self, one: ActionView) -> datetime | None:
        """Return when the yes to a queued action lapses; None where none does, or none while others run."""
        if one.approval is None or one.queued_at is None:
            return None
        digest = one.approval.list_digest
        if digest not in self.used:
            return one.queued_at + self.within
        last = self.used[digest]
        return None if last is None else max(one.queued_at, last + self.pause) + self.within


def lapses(core: Core, head: ProposalView) -> Lapses:
    """Return what says when the yes to actions of `head` lapses; its actions are not needed."""
    within = timedelta(seconds=core.policy.start_within_s)
    if head.fanout is None:
        return Lapses(within=within, pause=timedelta(), used={})
    return Lapses(
        within=within,
        pause=timedelta(seconds=head.fanout.brake.pause_s),
        used=waiting.used(core.ledger.reader(), head.id),
    )
