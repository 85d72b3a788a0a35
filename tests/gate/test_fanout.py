"""The brake of a fan-out: who starts next, and when nothing does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.digest import list_digest
from gate.domain import Digest, Risk
from gate.fanout import Brake, Member, Pace, brake_for, next_starts, rests, stops
from gate.lifecycle import ActionState

QUEUED = Member(state=ActionState.QUEUED)
RUNS = Member(state=ActionState.STARTED)
WELL = Member(state=ActionState.SUCCEEDED, settled=True)
CHECKED = Member(state=ActionState.SUCCEEDED)  # it ended, and its check goes on
BADLY = Member(state=ActionState.FAILED, failed=True, settled=True)
LOST = Member(state=ActionState.LOST, failed=True, settled=True)


@pytest.mark.parametrize(
    ("pace", "risk", "brake"),
    [
        (Pace(), Risk.READ_ONLY, Brake()),
        (Pace(), Risk.REVERSIBLE_LOW, Brake(canary=1, batch=10, stop_after=1)),
        (Pace(), Risk.DESTRUCTIVE, Brake(canary=1, batch=10, stop_after=1)),
        (Pace(canary=0, batch=0), Risk.REVERSIBLE_LOW, Brake(stop_after=1)),
        (Pace(stop_after=0), Risk.CONFIG_MUTATION, Brake(canary=1, batch=10)),
        (Pace(stop_percent=10), Risk.CONFIG_MUTATION, Brake(canary=1, batch=10, stop_after=3)),
        (Pace(stop_percent=1), Risk.CONFIG_MUTATION, Brake(canary=1, batch=10, stop_after=1)),
        (Pace(stop_percent=100), Risk.READ_ONLY, Brake(stop_after=25)),
        (Pace(stop_after=3, stop_percent=100), Risk.READ_ONLY, Brake(stop_after=3)),
        (
            Pace(canary=99, batch=25, pause_s=60, stop_after=99),
            Risk.READ_ONLY,
            Brake(canary=25, stop_after=25, pause_s=60),
        ),
    ],
)
def test_what_is_left_open_depends_on_how_much_it_may_change(pace: Pace, risk: Risk, brake: Brake) -> None:
    assert brake_for(pace, count=25, risk=risk) == brake


STRICT = Brake(canary=1, batch=2, stop_after=1)
LOOSE = Brake(canary=1, batch=2, stop_after=3)
PAUSED = Brake(canary=1, batch=2, stop_after=1, pause_s=60)


@pytest.mark.parametrize(
    ("brake", "round_", "starts"),
    [
        (Brake(), [QUEUED] * 3, (0, 1, 2)),
        (Brake(), [RUNS, QUEUED, BADLY, QUEUED], (1, 3)),
        (STRICT, [QUEUED] * 4, (0,)),
        (STRICT, [RUNS, QUEUED, QUEUED], ()),
        (STRICT, [CHECKED, QUEUED, QUEUED], ()),
        (STRICT, [WELL, QUEUED, QUEUED, QUEUED], (1, 2)),
        (STRICT, [WELL, RUNS, QUEUED, QUEUED], (2,)),
        (STRICT, [WELL, CHECKED, RUNS, QUEUED], ()),
        (STRICT, [WELL, WELL, RUNS, QUEUED], (3,)),
        (STRICT, [BADLY, QUEUED, QUEUED], ()),
        (STRICT, [WELL, LOST, QUEUED], ()),
        (LOOSE, [WELL, LOST, BADLY, QUEUED], (3,)),
        (LOOSE, [WELL, LOST, BADLY, LOST, QUEUED], ()),
        (LOOSE, [BADLY, QUEUED], ()),  # what a canary is for
        (STRICT, [WELL, WELL], ()),
    ],
)
def test_who_starts_next(brake: Brake, round_: list[Member], starts: tuple[int, ...]) -> None:
    assert next_starts(round_, brake, rested=True) == starts


@pytest.mark.parametrize(
    ("round_", "rested", "starts", "pauses"),
    [
        ([QUEUED] * 3, False, (0,), False),  # there is nothing yet to rest from
        ([WELL, QUEUED, QUEUED, QUEUED], False, (), True),
        ([WELL, QUEUED, QUEUED, QUEUED], True, (1, 2), True),
        ([WELL, RUNS, WELL, QUEUED], True, (), False),  # a batch is over before the next begins
        ([WELL, WELL, WELL, QUEUED], False, (), True),
        ([WELL, WELL, BADLY, QUEUED], True, (), False),
    ],
)
def test_a_pause_goes_between_batches(
    *, round_: list[Member], rested: bool, starts: tuple[int, ...], pauses: bool
) -> None:
    assert next_starts(round_, PAUSED, rested=rested) == starts
    assert rests(round_, PAUSED) == pauses


BRAKES = st.builds(
    Brake,
    canary=st.integers(0, 3),
    batch=st.integers(0, 4),
    stop_after=st.integers(0, 4),
    pause_s=st.sampled_from((0, 60)),
)


@given(brake=BRAKES, fates=st.lists(st.booleans(), min_size=1, max_size=25), data=st.data())
def test_however_they_end_the_brake_holds(brake: Brake, fates: list[bool], data: st.DataObject) -> None:
    round_ = [QUEUED] * len(fates)
    while True:
        stopped = stops(round_, brake)
        starts = next_starts(round_, brake, rested=True)
        assert not (stopped and starts)
        for index in starts:
            assert round_[index] is QUEUED
            round_[index] = RUNS
        running = [index for index, one in enumerate(round_) if one is RUNS]
        if any(index >= brake.canary for index in running):
            assert all(one.settled for one in round_[: brake.canary])
            assert brake.batch == 0 or len(running) <= brake.batch
        if not running:
            break
        index = data.draw(st.sampled_from(running))
        round_[index] = WELL if fates[index] else BADLY
    left = [one for one in round_ if one is QUEUED]
    assert bool(left) <= stops(round_, brake), "it stands still for no reason"
    failed = sum(one.failed for one in round_)
    if brake.stop_after and brake.batch == 1 and not brake.canary:
        assert failed <= brake.stop_after


def test_the_brake_is_under_the_digest_of_the_list() -> None:
    one = Digest("0" * 64)
    found = {list_digest([one]), *(list_digest([one], brake) for brake in (Brake(), STRICT, LOOSE, PAUSED))}
    assert len(found) == 5
