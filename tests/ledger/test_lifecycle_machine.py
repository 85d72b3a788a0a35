"""The lifecycle on a real ledger: whatever is tried, in whatever order, the tables of gate.lifecycle hold.

A plain model predicts every step; illegal ones must be refused and change nothing. What the ledger answers
must be what the model says, before and after the projections are rebuilt and the ledger is opened anew.
"""

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from gate.domain import ActionId, ProposalId, Risk, RouteKind
from gate.errors import TransitionError
from gate.lifecycle import (
    ACTION,
    ACTION_ENDED,
    APPROVAL,
    ActionEvent,
    ActionState,
    ApprovalEvent,
    ApprovalState,
    advance,
)
from ledger.kinds import ActionIs, Draft, Kind, LostRaceError
from ledger.projections import TABLES, reset
from ledger.queries import Queries
from tests.ledger.entries.actions import ended, queued, settled, started, unqueued
from tests.ledger.entries.proposals import Planned, decided, let_go, made, opened, planned, voted
from tests.ledger.story import Story, open_real

APPROVAL_ENDS = {
    Kind.APPROVAL_GRANTED: ApprovalEvent.GRANT,
    Kind.APPROVAL_REFUSED: ApprovalEvent.REFUSE,
    Kind.APPROVAL_EXPIRED: ApprovalEvent.EXPIRE,
    Kind.APPROVAL_SUPERSEDED: ApprovalEvent.SUPERSEDE,
    Kind.APPROVAL_WITHDRAWN: ApprovalEvent.WITHDRAW,
}
ACTION_ENDS = {
    Kind.ACTION_SUCCEEDED: ActionEvent.SUCCEED,
    Kind.ACTION_FAILED: ActionEvent.FAIL,
    Kind.ACTION_CANCELLED: ActionEvent.CANCEL,
    Kind.ACTION_LOST: ActionEvent.LOSE,
}
UNFINISHED = {ActionState.PROPOSED, ActionState.WAITING, ActionState.QUEUED, ActionState.STARTED}


@dataclass
class Modelled:
    """What the model believes of one action. `approvals` maps short names to states, in order of opening."""

    plan: Planned
    state: ActionState = ActionState.PROPOSED
    grant: str | None = None
    approvals: dict[str, ApprovalState] = field(default_factory=dict)
    starts: list[str | None] = field(default_factory=list)
    has_ended: bool = False
    votes: dict[str, set[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Template:
    """A folder with an empty ledger, copied for each example: making one takes most of its time."""

    folder: Path

    @classmethod
    def make(cls) -> "Template":
        folder = Path(tempfile.mkdtemp())
        open_real(folder).close()
        return cls(folder)

    def copy(self) -> Path:
        folder = Path(tempfile.mkdtemp())
        shutil.copytree(self.folder, folder, dirs_exist_ok=True)
        return folder


TEMPLATE = Template.make()

whichever = st.integers(0, 7)
routes = st.sampled_from([RouteKind.AUTO, RouteKind.APPROVAL, RouteKind.PHRASE])


class Life(RuleBasedStateMachine):
    """Tries anything on a ledger and keeps the model beside it."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = TEMPLATE.copy()
        self.tale = Story.begin(self.folder)
        self.actions: list[Modelled] = []
        self.proposals = 0

    def teardown(self) -> None:
        self._rebuild()
        self.tale.ledger.close()
        shutil.rmtree(self.folder)

    # ------------------------------------------------------------ what may be tried

    @initialize(first=routes)
    def begin(self, first: RouteKind) -> None:
        self.propose([first], Risk.REVERSIBLE_LOW)

    @precondition(lambda self: self.proposals < 2)
    @rule(kinds=st.lists(routes, min_size=1, max_size=3), risk=st.sampled_from(Risk))
    def propose(self, kinds: list[RouteKind], risk: Risk) -> None:
        self.proposals += 1
        name = ProposalId(f"p{self.proposals:05d}")
        plans = [
            planned(index=index, proposal=name, route=route, risk=risk)
            for index, route in enumerate(kinds, start=1)
        ]
        self.tale.write(made(*plans))
        self.actions += [Modelled(plan) for plan in plans]

    @rule(which=whichever, steps=st.integers(1, 5))
    def go_on(self, which: int, steps: int) -> None:
        """Take the next steps as the core would, so that what is tried elsewhere meets every state."""
        one = self._one(which)
        for _ in range(steps):
            if one.state is ActionState.STARTED:
                self.end(which, Kind.ACTION_LOST)
            elif one.state is ActionState.QUEUED:
                self.start_as_granted(which)
            elif one.grant is not None or (one.plan.route is RouteKind.AUTO and not one.approvals):
                self.queue_as_granted(which)
            elif ApprovalState.PENDING in one.approvals.values():
                self.decide(
                    which, list(one.approvals.values()).index(ApprovalState.PENDING), Kind.APPROVAL_GRANTED
                )
            else:
                self.open_approval(which)
            self._nothing_illegal_stands(one)

    @rule(which=whichever)
    def open_approval(self, which: int) -> None:
        one = self._one(which)
        name = f"a{len(one.approvals)}"

        def happens() -> None:
            one.approvals[name] = ApprovalState.PENDING

        self._try(one, opened(one.plan, name=name), ActionEvent.ASK, happens)

    @rule(which=whichever, approval=whichever, kind=st.sampled_from(list(APPROVAL_ENDS)))
    def decide(self, which: int, approval: int, kind: Kind) -> None:
        one = self._one(which)
        if not one.approvals:
            return
        name = list(one.approvals)[approval % len(one.approvals)]
        after = advance(APPROVAL, one.approvals[name], APPROVAL_ENDS[kind])
        if not self._written(decided(one.plan, kind, name=name), legal=after is not None):
            return
        assert after is not None
        one.approvals[name] = after
        if after is ApprovalState.GRANTED:
            one.grant = name

    @rule(which=whichever, approval=whichever, by=st.sampled_from(["ana", "kim"]))
    def vote(self, which: int, approval: int, by: str) -> None:
        one = self._one(which)
        if not one.approvals:
            return
        name = list(one.approvals)[approval % len(one.approvals)]
        cast = one.votes.setdefault(name, set())
        legal = one.approvals[name] is ApprovalState.PENDING and by not in cast
        if self._written(voted(one.plan, by, name=name), legal=legal):
            cast.add(by)

    @rule(which=whichever)
    def queue_as_granted(self, which: int) -> None:
        self._queue(self._one(which), self._one(which).grant)

    @rule(which=whichever, grant=st.sampled_from([None, "a0", "a1"]))
    def queue_with_any_grant(self, which: int, grant: str | None) -> None:
        self._queue(self._one(which), grant)

    @rule(which=whichever)
    def unqueue(self, which: int) -> None:
        one, taken_back = self._one(which), self._one(which).grant

        def happens() -> None:
            one.grant = None

        self._try(one, unqueued(one.plan, route=one.plan.route), ActionEvent.UNQUEUE, happens)
        if taken_back is not None:
            self._queue(one, taken_back)
        self._nothing_illegal_stands(one)

    @rule(which=whichever)
    def start_as_granted(self, which: int) -> None:
        self._start(self._one(which), self._one(which).grant)

    @rule(which=whichever, grant=st.sampled_from([None, "a0", "a1"]))
    def start_with_any_grant(self, which: int, grant: str | None) -> None:
        self._start(self._one(which), grant)

    @rule(which=whichever, kind=st.sampled_from(list(ACTION_ENDS)))
    def end(self, which: int, kind: Kind) -> None:
        one = self._one(which)

        def happens() -> None:
            one.has_ended = True

        self._try(one, ended(one.plan, kind), ACTION_ENDS[kind], happens)
        self._nothing_illegal_stands(one)

    @rule(which=whichever, ran=st.booleans())
    def settle(self, which: int, *, ran: bool) -> None:
        one = self._one(which)
        event = ActionEvent.SETTLE_RAN if ran else ActionEvent.SETTLE_DID_NOT_RUN
        self._try(one, settled(one.plan, ran=ran), event, lambda: None)

    @rule(which=whichever, state=st.sampled_from(ActionState))
    def race(self, which: int, state: ActionState) -> None:
        """Decide on what may have changed since: it stands only where it has not."""
        one = self._one(which)
        try:
            self.tale.write(Draft(kind=Kind.BOT_STARTED), expects=(ActionIs(one.plan.action.id, state),))
        except LostRaceError:
            assert one.state is not state
        else:
            assert one.state is state

    @rule()
    def open_anew(self) -> None:
        self.tale.ledger.close()
        ledger = open_real(self.folder)
        self.tale = Story(ledger, Queries(ledger.reader))

    # ------------------------------------------------------------ what always holds

    @invariant()
    def states_are_the_models(self) -> None:
        for one in self.actions:
            view = self.tale.queries.action(one.plan.action.id)
            assert view.state is one.state
            assert (view.ending is not None) is one.has_ended
            newest = next(reversed(one.approvals.values()), None)
            assert (None if view.approval is None else view.approval.state) is newest
            if view.approval is not None:
                name = view.approval.id.rpartition("/")[2]
                assert {vote.person for vote in view.approval.votes} == one.votes.get(name, set())

    @invariant()
    def views_are_the_models(self) -> None:
        queries = self.tale.queries
        for state in ActionState:
            found = [one.action.id for one in queries.in_state(state)]
            assert found == [one.plan.action.id for one in self.actions if one.state is state]
        live = {
            f"{one.plan.action.id}/{name}"
            for one in self.actions
            for name, state in one.approvals.items()
            if state is ApprovalState.PENDING
        }
        assert {one.approval for one in queries.pending()} == live
        names = [_proposal(one.plan.action.id) for one in self.actions if one.state in UNFINISHED]
        assert queries.unfinished() == tuple(dict.fromkeys(names))
        lost = [
            one
            for one in self.actions
            if one.state is ActionState.LOST and one.plan.verdict.risk is not Risk.READ_ONLY
        ]
        assert queries.frozen() == (("web1",) if lost else ())

    @invariant()
    def starts_are_consented_and_single(self) -> None:
        for one in self.actions:
            assert len(one.starts) <= 1
            for grant in one.starts:
                if grant is None:
                    assert one.plan.route is RouteKind.AUTO
                    assert not one.approvals
                else:
                    assert one.approvals[grant] is ApprovalState.GRANTED

    # ------------------------------------------------------------ plumbing

    def _one(self, which: int) -> Modelled:
        return self.actions[which % len(self.actions)]

    def _queue(self, one: Modelled, grant: str | None) -> None:
        together = grant is None and one.plan.action.index % 2
        draft = let_go(one.plan) if together else queued(one.plan, grant=grant)
        self._try(one, draft, ActionEvent.QUEUE, lambda: None, legal=_may_queue(one, grant))

    def _start(self, one: Modelled, grant: str | None) -> None:
        draft = started(one.plan, grant=grant)
        self._try(one, draft, ActionEvent.START, lambda: one.starts.append(grant), legal=grant == one.grant)

    def _nothing_illegal_stands(self, one: Modelled) -> None:
        """Try everything that may not happen to `one` now."""
        plan = one.plan
        attempts = [
            (opened(plan, name="z"), ActionEvent.ASK, True),
            (unqueued(plan), ActionEvent.UNQUEUE, True),
        ]
        attempts += [(ended(plan, kind), event, True) for kind, event in ACTION_ENDS.items()]
        attempts += [(settled(plan, ran=True), ActionEvent.SETTLE_RAN, True)]
        for grant in (None, *one.approvals):
            attempts.append((queued(plan, grant=grant), ActionEvent.QUEUE, _may_queue(one, grant)))
            attempts.append((started(plan, grant=grant), ActionEvent.START, grant == one.grant))
        attempts.append((let_go(plan), ActionEvent.QUEUE, _may_queue(one, None)))
        for draft, event, legal in attempts:
            if not legal or advance(ACTION, one.state, event) is None:
                self._written(draft, legal=False)

    def _try(
        self,
        one: Modelled,
        draft: Draft,
        event: ActionEvent,
        happens: Callable[[], None],
        *,
        legal: bool = True,
    ) -> None:
        after = advance(ACTION, one.state, event)
        if self._written(draft, legal=legal and after is not None):
            assert after is not None
            assert one.state not in ACTION_ENDED or one.state is ActionState.LOST
            one.state = after
            happens()

    def _written(self, draft: Draft, *, legal: bool) -> bool:
        """Write `draft` and tell whether it stands; it stands exactly where it is legal."""
        head = self.tale.ledger.head()
        try:
            self.tale.write(draft)
        except TransitionError:
            assert not legal
            assert self.tale.ledger.head() == head
            return False
        assert legal
        return True

    def _rebuild(self) -> None:
        before = self._tables()
        assert self.tale.ledger.rebuild(reset) == self.tale.ledger.head().seq
        assert self._tables() == before

    def _tables(self) -> dict[str, list[tuple[object, ...]]]:
        connection = self.tale.ledger.reader()
        return {name: connection.execute(f"SELECT * FROM {name} ORDER BY 1, 2").fetchall() for name in TABLES}


def _may_queue(one: Modelled, grant: str | None) -> bool:
    free = one.plan.route is RouteKind.AUTO and one.state is ActionState.PROPOSED
    return grant == one.grant and (grant is not None or free)


def _proposal(action: ActionId) -> str:
    return action.rpartition(".")[0]


TestLife = Life.TestCase
TestLife.settings = settings(
    max_examples=40, stateful_step_count=30, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
