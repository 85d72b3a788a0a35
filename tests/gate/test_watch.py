"""Watches: which limits make sense, how often a look may come, and what is asked."""

from datetime import UTC, datetime

import pytest

from gate.domain import Reason, ReasonCode
from gate.resolve import watch
from gate.resolve.decision import Allow, Clarify, Deny
from gate.resolve.watch import LIMITS, Watched, is_raised

NOW = datetime(2026, 3, 2, 14, tzinfo=UTC)
SLOTS = {"watched": "disk", "target": "web1", "about": "/var", "limit": "90", "every_s": "300", "text": "t"}


def resolved(**slots: str) -> object:
    return watch.resolve({**SLOTS, **slots}, targets=["web1", "web2"], problem=None, now=NOW)


def test_a_watch_begins_now_and_comes_again() -> None:
    decision = resolved()
    assert isinstance(decision, Allow)
    assert decision.slots == {
        **SLOTS,
        "fire_at": NOW.isoformat(),
        "rrule": "FREQ=MINUTELY;INTERVAL=5",
        "zone": "",
    }


@pytest.mark.parametrize(("limit", "fits"), [("0", False), ("1", True), ("100", True), ("101", False)])
def test_a_share_is_from_1_to_100(limit: str, *, fits: bool) -> None:
    decision = resolved(limit=limit)
    assert isinstance(decision, Allow if fits else Deny)


@pytest.mark.parametrize(("every", "fits"), [("59", False), ("60", True), ("86400", True), ("86460", False)])
def test_a_look_comes_every_minute_to_every_day(every: str, *, fits: bool) -> None:
    decision = resolved(every_s=every)
    assert isinstance(decision, Allow if fits else Deny)


def test_a_target_that_was_not_said_is_asked_for() -> None:
    decision = resolved(target="")
    assert isinstance(decision, Clarify)
    assert [option.patch for option in decision.options] == [{"target": "web1"}, {"target": "web2"}]
    assert decision.free == "target"
    nowhere = watch.resolve({**SLOTS, "target": ""}, targets=[], problem=None, now=NOW)
    assert isinstance(nowhere, Deny)


def test_what_cannot_be_looked_at_is_denied() -> None:
    reason = Reason(code=ReasonCode.UNKNOWN_TARGET, text="no")
    decision = watch.resolve(SLOTS, targets=["web1"], problem=reason, now=NOW)
    assert isinstance(decision, Deny)
    assert decision.reason is reason


@pytest.mark.parametrize(
    ("watched", "value", "limit", "raised"),
    [
        (Watched.DISK, 90, 90, True),
        (Watched.DISK, 89, 90, False),
        (Watched.CERTIFICATE, 14, 14, True),
        (Watched.CERTIFICATE, 15, 14, False),
        (Watched.REACHABLE, 1, 1, True),
    ],
)
def test_some_rise_and_some_fall(watched: Watched, value: float, limit: int, *, raised: bool) -> None:
    assert is_raised(watched, value, limit) is raised


def test_everything_that_is_watched_has_limits_that_its_usual_one_keeps() -> None:
    assert set(LIMITS) == set(Watched)
    assert all(one.least <= one.usual <= one.most for one in LIMITS.values())
