"""Scheduled commands: what is kept, and what is refused at once."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from gate.domain import Reason, ReasonCode
from gate.resolve import schedule
from gate.resolve.decision import Allow, Clarify, Deny
from gate.resolve.times import Times
from gate.when import Anchor, remember

NOW = datetime(2026, 11, 30, 9, tzinfo=UTC)
SYNC = Anchor(name="sync", at=datetime(2026, 11, 30, 14, tzinfo=UTC), aliases=("sync",))
TIMES = Times(request_at=NOW, now=NOW, zone=ZoneInfo("Europe/Berlin"), remembered=remember([SYNC]))


def test_the_request_is_kept_word_for_word_with_its_rule() -> None:
    slots = {"words": "every weekday at 9", "text": "run df  -h on web1"}
    decision = schedule.resolve(slots, times=TIMES, problem=None)
    assert isinstance(decision, Allow)
    assert decision.slots == {
        "text": "run df  -h on web1",
        "fire_at": "2026-12-01T09:00:00+01:00",
        "rrule": "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9;BYMINUTE=0;BYSECOND=0",
        "zone": "Europe/Berlin",
        "anchor": "request_at",
        "grain": "minute",
    }


def test_an_event_that_lies_close_is_not_asked_about_and_one_that_is_named_counts() -> None:
    slots = {"words": "in 10 minutes", "text": "run uptime on web1"}
    assert isinstance(schedule.resolve(slots, times=TIMES, problem=None), Allow)
    named = schedule.resolve({**slots, "words": "an hour before the sync"}, times=TIMES, problem=None)
    assert named.slots["fire_at"] == "2026-11-30T14:00:00+01:00"


def test_an_unclear_time_is_asked_about() -> None:
    slots = {"words": "every monday", "text": "run uptime on web1"}
    assert isinstance(schedule.resolve(slots, times=TIMES, problem=None), Clarify)


def test_a_request_that_could_never_run_is_denied_before_its_time_is_read() -> None:
    problem = Reason(code=ReasonCode.UNKNOWN_TARGET, text="No target web9.")
    decision = schedule.resolve({"words": "every monday", "text": "x"}, times=TIMES, problem=problem)
    assert isinstance(decision, Deny)
    assert decision.reason is problem
