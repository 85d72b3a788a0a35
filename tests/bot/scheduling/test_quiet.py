"""Quiet hours: from the config to the instant at which they end."""

from dataclasses import replace
from datetime import datetime, time
from pathlib import Path
from typing import cast
from zoneinfo import ZoneInfo

import pytest

from bot.core import Core
from bot.scheduling.quiet import may_wait, quiet_until
from bot.settings.config import load
from bot.settings.errors import ConfigError
from bot.settings.paths import Paths
from gate.domain import PersonId
from gate.policy import Operator
from gate.resolve.decision import Act
from ledger.jobs import JobView
from tests.kit import person

VIENNA = ZoneInfo("Europe/Vienna")
ANA = PersonId("ana")


def operators(tmp_path: Path, quiet: str) -> tuple[Operator, ...]:
    file = tmp_path / "config.toml"
    file.write_text(f'[operators.ana]\naccounts = ["console::ana"]\nquiet = "{quiet}"\n')
    config = load(file=file, environ={}, flags=[], login="ana", paths=Paths(tmp_path))
    return config.policy.operators


def test_the_config_says_when_they_are(tmp_path: Path) -> None:
    assert operators(tmp_path, "22:00-07:30")[0].quiet == (time(22), time(7, 30))
    assert operators(tmp_path, "")[0].quiet is None


@pytest.mark.parametrize("text", ["22-7", "24:00-07:00", "22:00", "22:00-07:00 CET"])
def test_what_is_no_span_of_hours_is_an_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError, match="quiet"):
        operators(tmp_path, text)


class Knows:
    """The two questions of a core that are asked."""

    def __init__(self, operator: Operator) -> None:
        self._operator = operator

    def operator(self, name: PersonId) -> Operator | None:
        return self._operator if name == self._operator.id else None

    def zone_for(self, _name: PersonId) -> ZoneInfo:
        return VIENNA


NIGHT, NOON, NONE = (time(22), time(7)), (time(12), time(13)), (time(9), time(9))


@pytest.mark.parametrize(
    ("quiet", "at", "until"),
    [
        (NIGHT, "03-02 21:59", None),
        (NIGHT, "03-02 22:00", "03-03 07:00"),
        (NIGHT, "03-03 06:59", "03-03 07:00"),
        (NIGHT, "03-03 07:00", None),
        (NIGHT, "03-28 23:00", "03-29 07:00"),  # the clocks are set forward meanwhile
        (NOON, "03-02 12:30", "03-02 13:00"),
        (NOON, "03-02 13:00", None),
        (NONE, "03-02 09:00", None),
        (None, "03-02 23:00", None),
        ((time(22), time(2, 30)), "03-28 23:00", "03-29 03:00"),  # there is no 02:30 that day
    ],
)
def test_they_end_on_the_wall_clock(quiet: tuple[time, time] | None, at: str, until: str | None) -> None:
    core = cast("Core", Knows(replace(person("ana"), quiet=quiet)))
    found = quiet_until(core, ANA, _at(at))
    assert found == (None if until is None else _at(until))
    assert quiet_until(core, PersonId("kim"), _at(at)) is None


def _at(text: str) -> datetime:
    return datetime.fromisoformat(f"2026-{text}").replace(tzinfo=VIENNA)


@pytest.mark.parametrize(
    ("act", "rule", "waits"),
    [
        (Act.REMIND, "", False),
        (Act.REMIND, "FREQ=DAILY;BYHOUR=23", False),
        (Act.REMIND, "FREQ=HOURLY;INTERVAL=2", True),
        (Act.SCHEDULE, "", False),
        (Act.SCHEDULE, "FREQ=DAILY;BYHOUR=23", True),
    ],
)
def test_what_was_given_a_time_of_its_own_does_not_wait(act: Act, rule: str, *, waits: bool) -> None:
    class Job:
        rrule = rule

    job = Job()
    job.act = act  # type: ignore[attr-defined] # the two fields that are read
    assert may_wait(cast("JobView", job)) is waits
