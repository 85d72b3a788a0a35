"""What a report changes, how far it may go, and what is kept of its words."""

from dataclasses import replace
from datetime import timedelta

import pytest

from gate.autonomy import Level
from gate.signals import (
    MAX_LABELS,
    WATCH,
    Known,
    News,
    Reach,
    Signal,
    SignalError,
    SignalStatus,
    cut,
    news,
    pack,
    reach,
    texts,
    unpack,
)
from tests.gate.makers import NOW

FIRING, RESOLVED = SignalStatus.FIRING, SignalStatus.RESOLVED
ONE = Signal(source="am", fingerprint="f1", status=FIRING, starts_at=NOW, labels={"alertname": "DiskFull"})


def known(status: SignalStatus, minutes: int = 0) -> Known:
    return Known(status=status, starts_at=NOW + timedelta(minutes=minutes))


@pytest.mark.parametrize(
    ("status", "before", "what"),
    [
        (FIRING, None, News.FIRED),
        (RESOLVED, None, News.STALE),
        (FIRING, known(FIRING), News.REPEAT),
        (FIRING, known(FIRING, -5), News.FIRED),
        (FIRING, known(FIRING, 5), News.STALE),
        (FIRING, known(RESOLVED, -5), News.FIRED),
        (FIRING, known(RESOLVED), News.STALE),
        (RESOLVED, known(FIRING), News.RESOLVED),
        (RESOLVED, known(FIRING, -5), News.RESOLVED),
        (RESOLVED, known(FIRING, 5), News.STALE),
        (RESOLVED, known(RESOLVED), News.REPEAT),
    ],
)
def test_only_what_is_new_is_news(status: SignalStatus, before: Known | None, what: News) -> None:
    assert news(replace(ONE, status=status), before) is what


def test_nothing_bounds_a_sure_signal_but_the_dial() -> None:
    for level in Level:
        assert reach(level, source="am") == Reach(level=level)


@pytest.mark.parametrize(
    ("how", "most"),
    [({"storm": True}, Level.ADVISE), ({"late": True}, Level.ADVISE), ({"spent": True}, Level.ADVISE)],
)
def test_too_many_too_late_or_too_often_is_a_note(how: dict[str, bool], most: Level) -> None:
    found = reach(Level.RUN, source="am", **how)
    assert found.level is most
    assert found.because
    assert reach(Level.OFF, source="am", **how) == Reach(level=Level.OFF)


def test_what_is_not_certain_is_asked_and_never_done() -> None:
    assert reach(Level.RUN, source="am", sure=False).level is Level.ASK
    assert reach(Level.PROPOSE, source="am", sure=False).level is Level.ASK
    assert reach(Level.ASK, source="am", sure=False) == Reach(level=Level.ASK)
    assert reach(Level.RUN, source="am", sure=False, storm=True).level is Level.ADVISE


def test_who_asked_to_be_told_is_told_whatever_the_dial_says() -> None:
    assert reach(Level.OFF, source=WATCH) == Reach(level=Level.ADVISE)
    assert reach(Level.PROPOSE, source=WATCH).level is Level.PROPOSE


def test_signals_come_back_as_they_were_packed() -> None:
    two = (
        ONE,
        replace(
            ONE, status=RESOLVED, annotations={"summary": "ä\u202e \U0001f600"}, severity="page", group="g"
        ),
    )
    assert unpack(pack(two)) == two


def test_a_signal_is_called_by_its_name_and_says_its_first_text() -> None:
    assert ONE.name == "DiskFull"
    assert replace(ONE, labels={"name": "x"}).name == "x"
    assert replace(ONE, labels={}).name == "f1"
    assert ONE.says == ""
    assert replace(ONE, annotations={"summary": " ", "description": "d"}).says == "d"


def test_labels_are_cut_and_bounded() -> None:
    assert texts(None, field_name="labels", most=10) == {}
    assert texts({"a": "b" * 20, "n": 1, "o": None, "l": [1]}, field_name="labels", most=10) == {
        "a": "b" * 9 + "…",
        "n": "1",
        "o": "",
        "l": "[1]",
    }
    with pytest.raises(SignalError, match="labels is no object"):
        texts(["a"], field_name="labels", most=10)
    with pytest.raises(SignalError, match="the most is"):
        texts({str(n): "" for n in range(MAX_LABELS + 1)}, field_name="labels", most=10)


def test_half_a_surrogate_pair_is_no_text() -> None:
    assert cut("a\ud800b", 10) == "a?b"
