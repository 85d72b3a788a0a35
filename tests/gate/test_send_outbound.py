"""Where words may be sent: K14, and that a question always has an answer (F32)."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.domain import ReasonCode
from gate.resolve.decision import Allow, Clarify, Decision, Deny, Slots
from gate.resolve.send_outbound import MOST, place_of, resolve

PLACES = ("ops", "alerts", "web", "db", "night", "oncall")


def resolved(slots: Slots, *, allowed: Sequence[str] = (), strict: bool = False) -> Decision:
    return resolve({"text": "deploy starts at 10", **slots}, places=PLACES, allowed=allowed, strict=strict)


def send(to: str, *, allowed: Sequence[str] = (), strict: bool = False) -> Decision:
    return resolved({"to": to}, allowed=allowed, strict=strict)


def answers(question: Clarify) -> list[Slots]:
    """Return the slots as each option leaves them."""
    return [{**question.slots, **(one.patch or {})} for one in question.options]


@pytest.mark.parametrize("to", ["ops", "#ops", "@ops", "#Ops", " OPS. ", "#ops!", "to #ops"])
def test_a_named_place_is_allowed_where_no_list_says_which(to: str) -> None:
    assert send(to) == Allow(slots={"text": "deploy starts at 10", "to": "ops"}, because="named")


@pytest.mark.parametrize("slot", ["to", "target", "recipient"])
def test_any_of_three_slots_says_where(slot: str) -> None:
    assert resolved({slot: "#ops"}) == Allow(
        slots={"text": "deploy starts at 10", "to": "ops"}, because="named"
    )


def test_of_several_the_first_that_says_something_counts() -> None:
    found = resolve({"to": " ", "target": "ops", "recipient": "web"}, places=PLACES, allowed=(), strict=False)
    assert found == Allow(slots={"to": "ops"}, because="named")


def test_a_member_of_the_list_is_allowed() -> None:
    assert isinstance(send("#web", allowed=("ops", "web")), Allow)
    assert isinstance(send("#web", allowed=("ops", "web"), strict=True), Allow)


def test_another_is_asked_about_by_its_name_with_what_is_allowed() -> None:
    found = send("#db", allowed=("ops", "web"))
    assert isinstance(found, Clarify)
    assert "#db" in found.question
    assert [one.label for one in found.options] == ["#ops", "#web"]
    assert resolved(answers(found)[0], allowed=("ops", "web")) == Allow(
        slots={"text": "deploy starts at 10", "to": "ops"}, because="allowed"
    )


@pytest.mark.parametrize("to", ["#opps", "C0123", "slack:T1:C1", "anyone@example.com", "#"])
def test_what_nobody_named_is_asked_about(to: str) -> None:
    found = send(to)
    assert isinstance(found, Clarify)
    assert to in found.question
    assert [one.label for one in found.options] == [f"#{name}" for name in PLACES[:MOST]]


@pytest.mark.parametrize("slots", [{}, {"to": ""}, {"recipient": "  "}])
def test_no_place_at_all_is_asked_for(slots: Slots) -> None:
    found = resolved(slots)
    assert isinstance(found, Clarify)
    assert (found.free, found.question) == ("to", "Send it where?")


def test_strict_asks_about_a_place_that_no_list_allows_and_takes_the_answer() -> None:
    found = send("ops", strict=True)
    assert isinstance(found, Clarify)
    assert found.question == "Send it to #ops?"
    (answer,) = answers(found)
    assert isinstance(resolved(answer, strict=True), Allow), "an answer is not asked again"
    assert isinstance(resolved({**answer, "to": "web"}, strict=True), Clarify), "nor does it mean another"


@pytest.mark.parametrize("strict", [False, True])
def test_words_that_nothing_marks_as_such_are_asked_about_once(*, strict: bool) -> None:
    found = resolved({"to": "ops", "text": "the logs of caddy", "loose": "yes"}, strict=strict)
    assert isinstance(found, Clarify)
    assert "the logs of caddy" in found.question
    (answer,) = answers(found)
    assert resolved(answer, strict=strict) == Allow(
        slots={"text": "the logs of caddy", "to": "ops"}, because="named"
    )


@pytest.mark.parametrize(
    ("places", "allowed", "told"), [((), (), "[places]"), (("ops",), ("gone",), "outbound.allowed")]
)
def test_with_nowhere_to_send_to_it_is_denied(
    places: tuple[str, ...], allowed: tuple[str, ...], told: str
) -> None:
    found = resolve({"to": "ops"}, places=places, allowed=allowed, strict=False)
    assert isinstance(found, Deny)
    assert found.reason.code is ReasonCode.CANNOT_PLACE
    assert told in found.reason.text


_WORDS = st.one_of(st.sampled_from(PLACES), st.text(max_size=12))


@given(
    slots=st.dictionaries(st.sampled_from(["to", "target", "recipient", "picked", "text", "loose"]), _WORDS),
    places=st.lists(st.sampled_from(PLACES), unique=True),
    allowed=st.lists(_WORDS, unique=True),
    strict=st.booleans(),
)
def test_nothing_goes_where_it_may_not_and_a_question_has_an_answer(
    slots: Slots, places: list[str], allowed: list[str], *, strict: bool
) -> None:
    found = resolve(slots, places=places, allowed=allowed, strict=strict)
    match found:
        case Allow(slots=bound):
            assert bound["to"] in places
            assert not allowed or bound["to"] in allowed
        case Clarify(options=options, free=free):
            assert options
            assert free in ("to", "")
            for answer in answers(found):
                answered = resolve(answer, places=places, allowed=allowed, strict=strict)
                if isinstance(answered, Clarify):
                    assert found.slots.get("loose"), "the only thing that is still to be asked"
                    (last,) = answers(answered)
                    answered = resolve(last, places=places, allowed=allowed, strict=strict)
                assert isinstance(answered, Allow), "an option leads to an end"
        case _:
            assert isinstance(found, Deny)
            assert not [one for one in places if not allowed or one in allowed]


def test_a_name_is_a_whole_word() -> None:
    assert place_of("ops and web", PLACES) == ""
    assert place_of("##ops", PLACES) == ""
