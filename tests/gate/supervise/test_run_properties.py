"""Runs: what holds for every runbook and everything that may be tried on its run (R9 to R12, R19, R20)."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import reduce
from itertools import pairwise

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from gate.domain import Digest
from gate.errors import TransitionError
from gate.lifecycle import RunStatus
from gate.policy import Posture
from gate.supervise.domain import (
    RunbookSpec,
)
from gate.supervise.envelope import Envelope
from gate.supervise.events import Consumed, Deviated, Ended, Entered, Event, Granted, Judged, Proposed
from gate.supervise.expect import Ending
from gate.supervise.report import report
from gate.supervise.state import apply, fresh
from tests.gate.supervise.runs import BOT, NOW, RUN
from tests.gate.supervise.trying import DEEDS, Attempt, Deed, books, do, usable

#: How long an example takes is the machine's affair, and few books are usable.
UNHURRIED = [HealthCheck.filter_too_much, HealthCheck.too_slow]


def check(envelope: Envelope, events: Sequence[Event], let_go: Sequence[tuple[int, Digest]]) -> None:
    """Check a history by itself, knowing nothing of how states are made."""
    _consumed_with_leave(envelope, events, let_go)
    _within_budget(envelope, events)
    _goes_where_it_may(envelope, events)
    assert not any(isinstance(one, Ended) for one in events[:-1] if not isinstance(events[-1], Deviated))
    assert sum(isinstance(one, Ended) for one in events) <= 1


def _consumed_with_leave(
    envelope: Envelope, events: Sequence[Event], let_go: Sequence[tuple[int, Digest]]
) -> None:
    asked: dict[int, Proposed] = {}
    grants: dict[int, Granted] = {}
    used: list[tuple[int, Digest]] = []
    for event in events:
        match event:
            case Proposed():
                asked[event.number] = event
                grants.pop(event.number, None)
            case Granted():
                question = asked[event.grant.number].request
                assert question is not None
                assert question.id == event.grant.request_id
                assert event.grant.decided_by not in {BOT, "sayso"}
                assert (event.at - question.issued_at).total_seconds() <= question.expires_in_s
                grants[event.grant.number] = event
            case Consumed():
                policy = envelope.steps[event.step]
                assert event.number not in [number for number, _ in used[-1:]] or _taken_back(events, event)
                grant = grants.pop(event.number, None)
                if policy.gated or asked[event.number].request is not None:
                    assert grant is not None
                    assert grant.grant.command_digest == event.command_digest
                if policy.tools:
                    used.append((event.number, event.command_digest))
            case _:
                pass
    assert used == list(let_go)
    ids = [one.request.id for one in events if isinstance(one, Proposed) and one.request is not None]
    assert len(ids) == len(set(ids))


def _taken_back(events: Sequence[Event], used: Consumed) -> bool:
    before = list(events)[: [one is used for one in events].index(True)]
    kinds = [type(one).__name__ for one in before if getattr(one, "number", None) == used.number]
    return "TakenBack" in kinds


def _within_budget(envelope: Envelope, events: Sequence[Event]) -> None:
    limits = envelope.limits
    entered = [one for one in events if isinstance(one, Entered)]
    assert len(entered) <= (limits.steps or 0)
    for name, policy in envelope.steps.items():
        assert sum(one.step == name for one in entered) <= limits.entries
        taken = sum(one.edge == name for one in entered)
        assert taken <= (policy.spec.retry.max if policy.spec.retry else 0)
    assert all((one.at - NOW).total_seconds() <= limits.wall_clock_s for one in entered)
    before_end = [one for one in events if isinstance(one, Deviated)]
    if not any(isinstance(one, Ended) for one in events):
        assert len(before_end) < limits.deviations


def _goes_where_it_may(envelope: Envelope, events: Sequence[Event]) -> None:
    entered = [one for one in events if isinstance(one, Entered)]
    assert [one.number for one in entered] == list(range(1, len(entered) + 1))
    for left, came in pairwise(entered):
        spec = envelope.steps[left.step].spec
        leads = {envelope.steps[left.step].next, spec.on_fail, *(branch.next for branch in spec.branches)}
        assert came.step in leads | ({spec.retry.target} if spec.retry else set())


@settings(max_examples=150, deadline=None, suppress_health_check=UNHURRIED)
@given(
    spec=books().filter(usable),
    posture=st.sampled_from(Posture),
    deeds=st.lists(DEEDS, max_size=60),
)
def test_nothing_runs_without_leave_beyond_a_budget_or_outside_the_scope(
    spec: RunbookSpec, posture: Posture, deeds: list[Deed]
) -> None:
    attempt = Attempt(spec, posture)
    for deed in deeds:
        do(attempt, deed)
    check(attempt.envelope, attempt.events, attempt.let_go)
    assert reduce(apply, attempt.events, fresh(RUN, attempt.envelope)) == attempt.state
    assert report(attempt.envelope, attempt.events).outcome == attempt.state.outcome


def course_of(attempt: Attempt, codes: Iterator[int]) -> None:
    """Do what an honest runner does, with a yes to everything that is asked, until the run is over."""
    moves = 0
    while attempt.state.ended is None:
        attempt.other("move on")
        if attempt.state.ended is not None:
            break
        match attempt.state.status:
            case RunStatus.WAITING:
                attempt.now = max(attempt.now, attempt.state.until or attempt.now)
            case RunStatus.AWAITING_APPROVAL:
                attempt.answer("ana", agree=True)
            case RunStatus.RUNNING:
                attempt.come(next(codes), "5", Ending.EXITED)
            case _:
                attempt.propose()
        moves += 1
        assert moves <= 6 * (attempt.envelope.limits.steps or 0)


@settings(max_examples=150, deadline=None, suppress_health_check=UNHURRIED)
@given(spec=books().filter(usable), posture=st.sampled_from(Posture), code=st.sampled_from([0, 1, 3]))
def test_every_run_comes_to_an_end(spec: RunbookSpec, posture: Posture, code: int) -> None:
    attempt = Attempt(spec, posture)
    course_of(attempt, iter([code] * 1000))
    assert attempt.state.outcome is not None
    assert len(attempt.events) <= 2 + 5 * (attempt.envelope.limits.steps or 0)
    check(attempt.envelope, attempt.events, attempt.let_go)


@settings(max_examples=100, deadline=None, suppress_health_check=UNHURRIED)
@given(
    spec=books().filter(usable),
    posture=st.sampled_from(Posture),
    deeds=st.lists(DEEDS, max_size=40),
    cut=st.integers(0, 200),
)
def test_a_restart_anywhere_changes_nothing(
    spec: RunbookSpec, posture: Posture, deeds: list[Deed], cut: int
) -> None:
    attempt = Attempt(spec, posture)
    for deed in deeds:
        do(attempt, deed)
    kept = attempt.events[: cut % (len(attempt.events) + 1)]
    half = reduce(apply, kept, fresh(RUN, attempt.envelope))
    assert reduce(apply, attempt.events[len(kept) :], half) == attempt.state


@settings(max_examples=100, deadline=None, suppress_health_check=UNHURRIED)
@given(spec=books().filter(usable), deeds=st.lists(DEEDS, max_size=30), stray=st.integers(0, 500))
def test_an_event_of_another_moment_is_not_taken(spec: RunbookSpec, deeds: list[Deed], stray: int) -> None:
    attempt = Attempt(spec, Posture.APPROVE_MOST)
    for deed in deeds:
        do(attempt, deed)
    event = attempt.events[stray % len(attempt.events)]
    if isinstance(event, Deviated | Ended):
        return
    try:
        again = apply(attempt.state, event)
    except TransitionError:
        return
    # It is the same entry into the same step, proposed and taken back, or taken back and proposed.
    assert again.number == attempt.state.number
    assert not isinstance(event, Entered | Judged)


class RunMachine(RuleBasedStateMachine):
    """One run, with everybody at it at once."""

    def __init__(self) -> None:
        super().__init__()
        self.attempt: Attempt

    @initialize(spec=books().filter(usable), posture=st.sampled_from(Posture))
    def start(self, spec: RunbookSpec, posture: Posture) -> None:
        self.attempt = Attempt(spec, posture)

    @rule(asks=st.booleans())
    def propose(self, *, asks: bool) -> None:
        self.attempt.propose(asks=asks)

    @rule(deed=DEEDS)
    def anything(self, deed: Deed) -> None:
        do(self.attempt, deed)

    @rule()
    def agree(self) -> None:
        self.attempt.answer("kim", agree=True)

    @rule(code=st.sampled_from([0, 0, 1]), out=st.sampled_from(["5", "2", "x"]))
    def come(self, code: int, out: str) -> None:
        self.attempt.come(code, out, Ending.EXITED)

    @rule()
    def move_on(self) -> None:
        self.attempt.other("move on")

    @rule()
    def wait(self) -> None:
        until: datetime | None = self.attempt.state.until
        self.attempt.now = max(self.attempt.now, until or self.attempt.now)

    @invariant()
    def it_holds(self) -> None:
        attempt = self.attempt
        check(attempt.envelope, attempt.events, attempt.let_go)
        assert reduce(apply, attempt.events, fresh(RUN, attempt.envelope)) == attempt.state

    @invariant()
    def a_grant_is_of_this_entry(self) -> None:
        state = self.attempt.state
        assert state.grant is None or (state.grant.step_id, state.grant.number) == (
            state.current,
            state.number,
        )


TestRunMachine = RunMachine.TestCase
TestRunMachine.settings = settings(
    max_examples=40, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
)
