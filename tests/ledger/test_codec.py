"""Domain values to JSON and back: nothing is lost, and what is malformed raises."""

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.domain import (
    Action,
    ActionId,
    Deed,
    Radius,
    Risk,
    Target,
    TargetId,
    TargetKind,
    TargetState,
    Touch,
    TouchKind,
    Verdict,
)
from ledger.chain import canonical
from ledger.codec import (
    Doc,
    action_doc,
    action_of,
    instant,
    items,
    mapping,
    optional,
    parse_instant,
    radius_doc,
    radius_of,
    target_doc,
    target_of,
    texts,
    verdict_doc,
    verdict_of,
)
from ledger.kinds import DraftError, Json
from tests.gate.makers import WEB1, action, verdict

words = st.text(max_size=8)
tuples = st.lists(words, max_size=3).map(tuple)
slugs = words.map(TargetId)
targets = st.builds(
    Target,
    id=slugs,
    kind=st.sampled_from(TargetKind),
    address=words,
    port=st.integers(1, 65535),
    user=words,
    via=st.none() | slugs,
    become=words,
    shell=words,
    host_keys=tuples,
    wrapper=tuples,
    tags=tuples,
    depends_on=tuples,
    state=st.sampled_from(TargetState),
    never_auto_act=st.booleans(),
)
actions = st.builds(
    Action,
    id=words.map(ActionId),
    index=st.integers(1, 99),
    target=targets,
    command=words,
    purpose=words,
    act=words,
    workdir=words,
    env=st.lists(st.tuples(words, words), max_size=3).map(tuple),
    timeout_s=st.integers(1, 86_400),
    verify=st.none() | words,
    runbook=st.none() | words,
    declared_risk=st.none() | words,
)
verdicts = st.builds(
    Verdict,
    risk=st.sampled_from(Risk),
    auto_run=st.booleans(),
    never=st.none() | words,
    reasons=tuples,
    touches=st.lists(st.builds(Touch, kind=st.sampled_from(TouchKind), name=words), max_size=3).map(tuple),
    deed=st.none() | st.builds(Deed, verb=words, object=words),
    reads_secrets=st.booleans(),
    undo=st.none() | words,
    dry_run=st.none() | words,
)
radii = st.builds(
    Radius,
    known=st.booleans(),
    origin=tuples,
    services=tuples,
    targets=st.lists(slugs, max_size=3).map(tuple),
)


def _stored(doc: Doc) -> Doc:
    """Return `doc` as it comes back from a projection."""
    return mapping(json.loads(canonical(doc)))


@given(targets)
def test_a_target_comes_back(target: Target) -> None:
    assert target_of(_stored(target_doc(target))) == target


@given(actions)
def test_an_action_comes_back_with_its_words(one: Action) -> None:
    doc = _stored(action_doc(one))
    assert action_of(doc, command=one.command, purpose=one.purpose, verify=one.verify) == one
    assert not {"command", "purpose", "verify"} & doc.keys()


@given(verdicts)
def test_a_verdict_comes_back(one: Verdict) -> None:
    assert verdict_of(_stored(verdict_doc(one))) == one


@given(radii)
def test_a_radius_comes_back(radius: Radius) -> None:
    assert radius_of(_stored(radius_doc(radius))) == radius


@given(st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=30))])))
def test_an_instant_comes_back_as_utc(at: datetime) -> None:
    # The last hours of year 9999 and the first of year 1 have no UTC in every zone.
    if timedelta(days=1) < at.replace(tzinfo=UTC) - datetime.min.replace(tzinfo=UTC) and at.year < 9999:
        assert parse_instant(instant(at)) == at
        assert parse_instant(instant(at)).utcoffset() == timedelta(0)


def test_an_instant_without_a_zone_is_refused() -> None:
    with pytest.raises(DraftError, match="no zone"):
        instant(datetime(2026, 3, 2))  # noqa: DTZ001 - the case


def _without(doc: Doc, key: str) -> Doc:
    return {name: value for name, value in doc.items() if name != key}


@pytest.mark.parametrize("key", target_doc(WEB1))
def test_a_target_without_a_key_raises(key: str) -> None:
    with pytest.raises(KeyError, match=key):
        target_of(_without(target_doc(WEB1), key))


@pytest.mark.parametrize("key", action_doc(action()))
def test_an_action_without_a_key_raises(key: str) -> None:
    with pytest.raises(KeyError, match=key):
        action_of(_without(action_doc(action()), key), command="x", purpose="y", verify=None)


@pytest.mark.parametrize("key", verdict_doc(verdict()))
def test_a_verdict_without_a_key_raises(key: str) -> None:
    with pytest.raises(KeyError, match=key):
        verdict_of(_without(verdict_doc(verdict()), key))


@pytest.mark.parametrize(
    ("key", "value", "error"),
    [
        ("id", 7, "expected a string, got 7"),
        ("id", None, "expected a string, got None"),
        ("port", "22", "expected a whole number, got '22'"),
        ("port", 22.0, "expected a whole number, got 22.0"),
        ("port", True, "expected a whole number, got True"),
        ("via", 7, "expected a string, got 7"),
        ("tags", "prod", "expected an array, got 'prod'"),
        ("tags", ["prod", 7], "expected a string, got 7"),
        ("host_keys", {"a": 1}, "expected an array"),
    ],
)
def test_a_value_of_another_type_raises(key: str, value: Json, error: str) -> None:
    with pytest.raises(TypeError, match=error):
        target_of({**target_doc(WEB1), key: value})


@pytest.mark.parametrize(("key", "value"), [("kind", "telnet"), ("state", "asleep")])
def test_a_word_that_no_enum_knows_raises(key: str, value: str) -> None:
    with pytest.raises(ValueError, match=f"'{value}' is not a valid"):
        target_of({**target_doc(WEB1), key: value})


def test_an_unknown_risk_raises() -> None:
    with pytest.raises(ValueError, match="'harmless' is not a valid Risk"):
        verdict_of({**verdict_doc(verdict()), "risk": "harmless"})


@pytest.mark.parametrize("value", [None, 1, "x", []])
def test_only_an_object_is_a_mapping(value: Json) -> None:
    with pytest.raises(TypeError, match="expected an object"):
        mapping(value)


@pytest.mark.parametrize("value", [None, 1, "x", {}])
def test_only_an_array_has_items(value: Json) -> None:
    with pytest.raises(TypeError, match="expected an array"):
        items(value)


def test_an_optional_text_is_a_text_or_nothing() -> None:
    assert optional(None) is None
    assert optional("x") == "x"
    with pytest.raises(TypeError, match="expected a string"):
        optional(1)


def test_texts_are_in_order() -> None:
    assert texts(["b", "a"]) == ("b", "a")
