"""Pacing: the plan on the card says what the brake will do."""

import pytest

from bot.fanout.pacing import plan
from gate.fanout import Brake, Member, next_starts, stops
from gate.lifecycle import ActionState
from tests.bot.fanout.scenes import hosts

WEB = hosts(12)


@pytest.mark.parametrize(
    ("brake", "said"),
    [
        (Brake(), "all at once; a failure stops nothing"),
        (Brake(stop_after=1), "all at once; a failure stops nothing"),
        (
            Brake(canary=1, batch=10, stop_after=1),
            "web1 first; then 10 at a time; stops at the first failure",
        ),
        (
            Brake(canary=2, batch=4, stop_after=2),
            "web1, web2 first; then 4 at a time; stops if one of the first 2 fails, or at 2 failures",
        ),
        (Brake(canary=1, batch=4), "web1 first; then 4 at a time; stops only if web1 fails"),
        (Brake(canary=1, stop_after=1), "web1 first; then the other 11 at once; stops if web1 fails"),
        (
            Brake(canary=1, pause_s=90),
            "web1 first; then the other 11 at once 90 s later; stops if web1 fails",
        ),
        (Brake(batch=5, stop_after=3, pause_s=60), "batches of 5, 1 min apart; stops at 3 failures"),
        (Brake(batch=1, pause_s=30), "one at a time, 30 s apart; never stops"),
        (Brake(batch=1, stop_after=1), "one at a time; stops at the first failure"),
        (Brake(batch=4), "4 at a time; never stops"),
        # A batch that takes all that are left is no batch.
        (Brake(batch=12, stop_after=1), "all at once; a failure stops nothing"),
        (Brake(canary=12, stop_after=1), "all at once; a failure stops nothing"),
    ],
)
def test_the_brake_in_words(brake: Brake, said: str) -> None:
    assert plan(brake, WEB) == said


@pytest.mark.parametrize("batch", [0, 1, 3, 11])
@pytest.mark.parametrize("stop_after", [0, 1, 2])
def test_the_words_about_the_canary_are_what_the_gate_does(batch: int, stop_after: int) -> None:
    brake = Brake(canary=1, batch=batch, stop_after=stop_after)
    assert plan(brake, WEB).startswith("web1 first; then ")
    queued = Member(state=ActionState.QUEUED)
    assert next_starts([queued] * 12, brake, rested=True) == (0,)
    failed = Member(state=ActionState.FAILED, failed=True, settled=True)
    assert stops([failed, *[queued] * 11], brake)
