"""Promoting a runbook: whole, and never without a phrase."""

import pytest

from gate.domain import ReasonCode
from gate.resolve.decision import Clarify, Confirm, Deny
from gate.resolve.promote_runbook import resolve

WHOLE = {
    "id": "restart-caddy",
    "title": "Restart caddy",
    "steps": "look\n restart \n\nlook again\n",
    "from": "p1",
}


def test_a_whole_one_takes_its_phrase() -> None:
    decision = resolve(WHOLE)
    assert isinstance(decision, Confirm)
    assert decision.phrase == "promote restart-caddy"
    assert decision.question == (
        "This makes restart-caddy a runbook: Restart caddy, 3 steps.\n"
        "  1. look\n  2. restart\n  3. look again"
    )
    assert decision.slots == {**WHOLE, "steps": "look\nrestart\nlook again"}


def test_replacing_one_is_said() -> None:
    decision = resolve({**WHOLE, "steps": "look"}, known={"restart-caddy"})
    assert isinstance(decision, Confirm)
    assert decision.question.endswith("1 step. It replaces the one of that id.\n  1. look")


@pytest.mark.parametrize("slot", ["id", "title", "steps"])
@pytest.mark.parametrize("value", [None, "", " \n "])
def test_what_is_lacking_is_asked_for(slot: str, value: str | None) -> None:
    slots = {name: text for name, text in {**WHOLE, slot: value}.items() if text is not None}
    decision = resolve(slots)
    assert isinstance(decision, Clarify)
    assert decision.free == slot
    assert decision.slots[slot] == ""


@pytest.mark.parametrize(
    "name", ["Restart", "restart caddy", "../caddy", "caddy-", "r\u0435start", "x" * 100, "a\nb", "--x"]
)
def test_an_id_that_cannot_be_typed_is_denied(name: str) -> None:
    decision = resolve({**WHOLE, "id": name})
    assert isinstance(decision, Deny)
    assert decision.reason.code is ReasonCode.UNFIT


def test_the_longest_id_still_makes_a_phrase() -> None:
    decision = resolve({**WHOLE, "id": "x" * 72})
    assert isinstance(decision, Confirm)
    assert len(decision.phrase) == 80


def test_a_title_is_one_line() -> None:
    assert isinstance(resolve({**WHOLE, "title": "Restart\ncaddy"}), Deny)
