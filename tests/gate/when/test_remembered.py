"""The dates that remembered facts state."""

import pytest

from gate.when import event_time
from tests.gate.when.when_cases import CAIRO, UTC


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2027-03-04", "2027-03-04T00:00:00+00:00"),
        ("2027-03-04T05:06", "2027-03-04T05:06:00+00:00"),
        ("2027-03-04 05:06:07.5", "2027-03-04T05:06:07+00:00"),
        ("2027-03-04T05:06Z", "2027-03-04T05:06:00+00:00"),
        ("2027-03-04 05:06 UTC", "2027-03-04T05:06:00+00:00"),
        ("2027-03-04T05:06+04:00", "2027-03-04T05:06:00+04:00"),
        ("2027-03-04 05:06 Dubai (UTC+4)", "2027-03-04T05:06:00+04:00"),
        ("2027-03-04 05:06 (+5:30)", "2027-03-04T05:06:00+05:30"),
        ("2027-03-04 05:06 New York (-4)", "2027-03-04T05:06:00-04:00"),
        ("٢٠٢٧-٠٣-٠٤", "2027-03-04T00:00:00+00:00"),
        ("2027-03-04 05:06 Lagos", None),
        ("2027-13-04", None),
        ("2027-03-04 25:06", None),
        ("2027-03-04 (UTC+40)", None),
        ("early march", None),
        ("0001-01-01", None),
        ("", None),
    ],
)
def test_a_stated_date(text: str, expected: str | None) -> None:
    at = event_time(text, UTC)
    assert (at and at.isoformat()) == expected


def test_a_date_without_a_zone_is_in_the_persons_zone() -> None:
    at = event_time("2027-06-04", CAIRO)
    assert at is not None
    assert at.isoformat() == "2027-06-04T00:00:00+03:00"
