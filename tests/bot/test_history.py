from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot import history
from bot.history import HistoryQuery
from bot.origin import Origin
from gate.domain import Risk

NOW = datetime(2026, 11, 25, 10, 0, tzinfo=UTC)  # a Wednesday
BERLIN = ZoneInfo("Europe/Berlin")


def read(text: str) -> HistoryQuery:
    query = history.parse(text, now=NOW, zone=UTC, targets=("web1", "pve1"), people=("ana", "bo"))
    assert query is not None
    return query


def day(number: int, hour: int = 0) -> datetime:
    return datetime(2026, 11, number, hour, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("history", HistoryQuery()),
        ("show me the history", HistoryQuery()),
        ("history web1", HistoryQuery(target="web1")),
        ("history of WEB1", HistoryQuery(target="web1")),
        ("history on gone9", HistoryQuery(target="gone9")),
        ("history @web", HistoryQuery(target="@web")),
        ("history caddy", HistoryQuery(words=("caddy",))),
        ("history ana", HistoryQuery(person="ana")),
        ("history by kim", HistoryQuery(person="kim")),
        ("history agents", HistoryQuery(origin=Origin.AGENT)),
        ("what did agents do yesterday", HistoryQuery(origin=Origin.AGENT, since=day(24), until=day(25))),
        ("history alerts on web1", HistoryQuery(origin=Origin.ALERT, target="web1")),
        ("history by schedules", HistoryQuery(origin=Origin.SCHEDULE)),
        ("history people", HistoryQuery(origin=Origin.PERSON)),
        ("history failed last week", HistoryQuery(outcome="failed", since=day(16))),
        ("history destructive", HistoryQuery(risk=Risk.DESTRUCTIVE)),
        ("history read-only on web1", HistoryQuery(risk=Risk.READ_ONLY, target="web1")),
        ("history refused", HistoryQuery(outcome="refused")),
        ("history last 5", HistoryQuery(limit=5)),
        ("history web1 last 3 days", HistoryQuery(target="web1", since=day(22, 10))),
        ("last 50 history", None),
        (
            "who restarted caddy last week?",
            HistoryQuery(who=True, verb="restart", words=("caddy",), since=day(16)),
        ),
        ("who rebooted pve1?", HistoryQuery(who=True, verb="reboot", target="pve1")),
        ("who approved the restart of caddy", HistoryQuery(who=True, verb="approve", words=("caddy",))),
        ("who denied it yesterday", HistoryQuery(who=True, verb="deny", since=day(24), until=day(25))),
        ("what did ana approve today", HistoryQuery(person="ana", verb="approve", since=day(25))),
        ("what did kim do on web1", HistoryQuery(person="kim", target="web1")),
        ("what ran on web1 yesterday", HistoryQuery(target="web1", since=day(24), until=day(25))),
        ("what failed today?", HistoryQuery(outcome="failed", since=day(25))),
        ("what happened on web1 since monday", HistoryQuery(target="web1", since=day(23))),
        ("what was restarted on web1 this week", HistoryQuery(verb="restart", target="web1", since=day(23))),
        ("when was caddy restarted", HistoryQuery(verb="restart", words=("caddy",))),
        ("what changed on web1 today", HistoryQuery(target="web1", since=day(25))),
    ],
)
def test_question_becomes_a_query(text: str, query: HistoryQuery | None) -> None:
    assert history.parse(text, now=NOW, zone=UTC, targets=("web1", "pve1"), people=("ana", "bo")) == query


@pytest.mark.parametrize(
    "text",
    [
        "who is logged in",
        "who is on web1",
        "what is listening on web1",
        "what changed recently in /etc on web1",
        "uptime",
        "run history",
        "what did you do",
        "restart caddy on web1",
        "",
        "what time is it",
    ],
)
def test_other_questions_are_none(text: str) -> None:
    assert history.parse(text, now=NOW) is None
    assert not history.is_query(text)


@pytest.mark.parametrize(
    ("words", "since", "until"),
    [
        ("today", day(25), None),
        ("yesterday", day(24), day(25)),
        ("since yesterday", day(24), None),
        ("the day before yesterday", day(23), day(24)),
        ("this week", day(23), None),
        ("last week", day(16), None),
        ("this month", day(1), None),
        ("last month", datetime(2026, 10, 1, tzinfo=UTC), None),
        ("last hour", day(25, 9), None),
        ("in the last 3 hours", day(25, 7), None),
        ("past 24h", day(24, 10), None),
        ("2 days ago", day(23, 10), None),
        ("since monday", day(23), None),
        ("on monday", day(23), day(24)),
        ("last wednesday", day(18), day(19)),
        ("on wednesday", day(25), day(26)),
        ("on 2026-11-20", day(20), day(21)),
        ("since 2026-11-20", day(20), None),
        ("before 2026-11-20", None, day(20)),
        ("2026-13-45", None, None),
        ("", None, None),
        ("soon", None, None),
    ],
)
def test_periods(words: str, since: datetime | None, until: datetime | None) -> None:
    assert history.period(words, now=NOW, zone=UTC) == (since, until)


def test_days_begin_in_the_zone_of_the_person() -> None:
    late = datetime(2026, 11, 25, 23, 30, tzinfo=UTC)  # already the 26th in Berlin
    since, until = history.period("yesterday", now=late, zone=BERLIN)
    assert (since, until) == (datetime(2026, 11, 24, 23, tzinfo=UTC), datetime(2026, 11, 25, 23, tzinfo=UTC))


def test_day_of_the_clock_change_has_25_hours() -> None:
    since, until = history.period("yesterday", now=datetime(2026, 10, 26, 12, tzinfo=UTC), zone=BERLIN)
    assert since is not None
    assert until is not None
    assert (until - since).total_seconds() == 25 * 3600


def test_speaker_is_meant_by_i_and_my() -> None:
    for text in ("what did i approve today", "my history", "history by me"):
        query = history.parse(text, now=NOW, speaker="ana")
        assert query is not None
        assert query.person == "ana"
    query = history.parse("show me the history", now=NOW, speaker="ana")
    assert query is not None
    assert query.person is None


def test_limit_is_bounded() -> None:
    assert read("history last 9999").limit == history.MAX_LIMIT
    assert read("history last 0").limit == 1


def test_only_a_period_is_a_period() -> None:
    assert history.is_period("last week")
    assert history.is_period("")
    assert not history.is_period("last week on web1")


@given(st.text(max_size=60))
def test_any_text_is_read_without_a_crash(text: str) -> None:
    for form in (text, f"history {text}", f"who restarted {text}", f"history last {text}"):
        history.parse(form, now=NOW, zone=BERLIN)
