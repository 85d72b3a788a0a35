"""Going: a fan-out under way, as far as it was read and as far as its members are since.

Lives only in memory. What the record says is taken in whenever somebody moves the fan-out; what has ended
here meanwhile is newer than a reading that began before, and is kept.
"""

import asyncio
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.fanout import rounds
from bot.fanout.gathering import Gathering
from bot.fanout.recording import Happened
from bot.fanout.starting import Wanted
from gate.domain import ActionId
from gate.fanout import Brake, Member
from gate.lifecycle import ActionState
from ledger.views import ActionView, ProposalView

UNDER_WAY = Member(state=ActionState.STARTED)


@dataclass(slots=True, kw_only=True)
class Going:
    """One fan-out.

    Attributes:
        view: as it was read last; without its actions until then.
        members: how far each of the round is that is going on, in its order.
        ended: how those ended that ended here.
        told: those of which all is recorded.
        elsewhere: something of an earlier round still runs.
        rest_until: the pause of the brake ends then.
        held: nothing of it starts before somebody moves it.
        stale: it has to be read anew; `reading` while that is seen to.
        moving: how many are moving it just now.
        faulty: those that failed inside sayso.
    """

    view: ProposalView
    brake: Brake
    starts: Gathering[Wanted, ActionView | None]
    ends: Gathering[Happened, bool]
    views: dict[ActionId, ActionView] = field(default_factory=dict)
    members: dict[ActionId, Member] = field(default_factory=dict)
    ended: dict[ActionId, Member] = field(default_factory=dict)
    running: set[ActionId] = field(default_factory=set)
    told: set[ActionId] = field(default_factory=set)
    elsewhere: bool = False
    rest_until: datetime | None = None
    held: bool = False
    stale: bool = False
    reading: bool = False
    moving: int = 0
    faulty: set[ActionId] = field(default_factory=set)
    pause: asyncio.TimerHandle | None = None
    ticker: asyncio.Task[None] | None = None

    def read(self, view: ProposalView) -> None:
        """Take in what the record said when `view` was read."""
        self.view, self.held, self.stale, self.reading = view, False, False, False
        self.views = {one.action.id: one for one in view.actions}
        now = {one.action.id: self._member(one) for one in view.actions}
        queued = next((one for one in view.actions if now[one.action.id].state is ActionState.QUEUED), None)
        ours = () if queued is None else rounds.members_of(view, rounds.round_of(queued))
        self.members = {one.action.id: now[one.action.id] for one in ours}
        # A round waits for what still runs of the one before, so that no more are under way than was shown.
        self.elsewhere = any(
            one.state is ActionState.STARTED for action, one in now.items() if action not in self.members
        )
        ended = [one.ended_at for one in ours if one.ended_at is not None]
        self.rest_until = max(ended) + timedelta(seconds=self.brake.pause_s) if ended else None

    def _member(self, one: ActionView) -> Member:
        action, recorded = one.action.id, rounds.member(one)
        if recorded.settled:
            return recorded
        if action in self.running:
            return UNDER_WAY
        return self.ended.get(action) or recorded

    def over(self, action: ActionId, member: Member) -> None:
        """Take in how far a member is whose task is done."""
        self.members[action] = member
        if member.settled:
            self.ended[action] = member
