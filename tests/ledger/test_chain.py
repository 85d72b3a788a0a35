import json
import subprocess
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.chain import GENESIS, canonical, check_line, entry_hash, instant
from ledger.kinds import DraftError

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
)
DOCUMENTS = st.dictionaries(
    st.text(st.characters(exclude_categories=["Cs"])),
    st.recursive(
        SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=3), inner), max_leaves=6
    ),
)


def test_hash_is_what_printf_and_sha256sum_say() -> None:
    body = canonical({"by": "ana", "why": "it's ü"})
    script = "printf '%s\\n%s\\n%s\\n%s\\n%s\\n%s' \"$@\" | sha256sum"
    fields = [GENESIS, "1", "approval:granted", "2026-03-01T12:00:00.000000Z", "k7f3a2", body]
    told = subprocess.run(
        ["sh", "-c", script, "sh", *fields], capture_output=True, check=True, text=True, timeout=20
    ).stdout.split()[0]
    assert told == entry_hash(
        prev_hash=fields[0], seq=1, kind=fields[2], at=fields[3], correlation_id=fields[4], body=body
    )


@given(DOCUMENTS)
def test_canonical_json_fits_on_one_line_whatever_it_holds(document: dict[str, object]) -> None:
    text = canonical(document)  # type: ignore[arg-type]  # hypothesis makes JSON values
    assert "\n" not in text
    assert canonical(dict(reversed(document.items()))) == text  # type: ignore[arg-type]  # likewise


@given(DOCUMENTS)
def test_canonical_json_is_what_the_standard_encoder_writes(document: dict[str, object]) -> None:
    plain = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert canonical(document) == plain  # type: ignore[arg-type]  # hypothesis makes JSON values


@pytest.mark.parametrize(
    "document",
    [{"a": float("nan")}, {"a": float("inf")}, {"a": b"x"}, {"a": "\ud800"}, {"\udfff": 1}, {"a": {1, 2}}],
)
def test_what_json_cannot_hold_is_refused(document: dict[str, object]) -> None:
    with pytest.raises(DraftError, match="cannot be stored"):
        canonical(document)  # type: ignore[arg-type]  # that is the point


def test_a_circle_is_refused() -> None:
    circle: dict[str, object] = {}
    circle["me"] = circle
    with pytest.raises(DraftError):
        canonical(circle)  # type: ignore[arg-type]  # that is the point


def test_keys_are_sorted_and_spaces_left_out() -> None:
    assert canonical({"b": 1, "a": [1, {"d": "ü", "c": None}]}) == '{"a":[1,{"c":null,"d":"ü"}],"b":1}'


@pytest.mark.parametrize("value", ["a\nb", "\r", "a\x00", "\u2028", "\u202e"])
def test_a_line_holds_no_control_characters(value: str) -> None:
    with pytest.raises(DraftError):
        check_line("correlation_id", value)


def test_a_plain_line_passes() -> None:
    assert check_line("correlation_id", "k7f3a2") == "k7f3a2"


def test_instants_are_stored_in_utc_with_microseconds() -> None:
    berlin = timezone(timedelta(hours=2))
    assert instant(datetime(2026, 7, 1, 14, 0, tzinfo=berlin)) == "2026-07-01T12:00:00.000000Z"
    assert instant(datetime(2026, 7, 1, 12, 0, 0, 5, tzinfo=UTC)) == "2026-07-01T12:00:00.000005Z"


def test_an_instant_without_a_zone_is_refused() -> None:
    with pytest.raises(DraftError, match="no zone"):
        instant(datetime(2026, 7, 1))  # noqa: DTZ001  that is the point


FIELDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"), max_size=8)


@given(st.lists(st.tuples(FIELDS, FIELDS, FIELDS, FIELDS), min_size=2, max_size=2, unique=True))
def test_no_two_entries_share_a_hash(pair: list[tuple[str, str, str, str]]) -> None:
    hashes = {
        entry_hash(prev_hash=GENESIS, seq=1, kind=kind, at=at, correlation_id=name, body=body)
        for kind, at, name, body in pair
    }
    assert len(hashes) == 2
