"""Changing a setting by words: what is refused, what takes a phrase, what is done."""

from dataclasses import replace

import pytest

from gate.domain import ReasonCode
from gate.resolve.config_change import Known, resolve
from gate.resolve.decision import Allow, Confirm, Deny

FREE = Known(asks="advise", would_ask="off")
SLOTS = {"key": "repair.autonomy", "value": "off"}


@pytest.mark.parametrize(
    "key",
    ["safety.hitl_enabled", "agent.commitment.mode", "notifications.lifecycle.x", "SAFETY.hitl", "safety."],
)
def test_what_guards_the_gate_is_never_changed_by_words(key: str) -> None:
    found = resolve({"key": key, "value": "false"}, known=FREE)
    assert isinstance(found, Deny)
    assert found.reason.code is ReasonCode.PROTECTED_SETTING
    assert f"Change {key} in the config file and restart." in found.reason.text


@pytest.mark.parametrize(
    ("nearest", "told"), [("repair.autonomy", "Nearest: repair.autonomy."), ("", "lists")]
)
def test_an_unknown_setting_is_denied_with_the_nearest(nearest: str, told: str) -> None:
    found = resolve({"key": "repair.autonmy"}, known=None, nearest=nearest)
    assert isinstance(found, Deny)
    assert found.reason.code is ReasonCode.UNKNOWN_SETTING
    assert told in found.reason.text


@pytest.mark.parametrize(
    ("known", "code", "told"),
    [
        (
            replace(FREE, protected=True),
            ReasonCode.PROTECTED_SETTING,
            "is protected. Change repair.autonomy in",
        ),
        (replace(FREE, problem="no."), ReasonCode.BAD_SETTING, "repair.autonomy: no. Nothing changed."),
        (replace(FREE, restarts=True), ReasonCode.RESTART_REQUIRED, "takes a restart, so nothing changed."),
        (
            replace(FREE, held="ask (file)"),
            ReasonCode.PROTECTED_SETTING,
            "the config says ask (file); nothing said",
        ),
        (replace(FREE, would_ask="advise"), ReasonCode.BAD_SETTING, "is advise already. Nothing changed."),
    ],
)
def test_a_change_that_may_not_be_or_would_do_nothing_is_denied(
    known: Known, code: ReasonCode, told: str
) -> None:
    for loosens in (False, True):
        found = resolve(SLOTS, known=replace(known, loosens=loosens))
        assert isinstance(found, Deny)
        assert found.reason.code is code
        assert told in found.reason.text
        assert found.slots == SLOTS


def test_what_is_protected_says_which_word_does_the_same() -> None:
    found = resolve(SLOTS, known=replace(FREE, protected=True), hint="stop")
    assert isinstance(found, Deny)
    assert found.reason.text.endswith("Say  stop  instead, or change it there.")


def test_less_takes_one_word_and_more_a_phrase() -> None:
    assert resolve(SLOTS, known=FREE) == Allow(slots=SLOTS, because="in bounds")
    found = resolve({**SLOTS, "value": "run"}, known=replace(FREE, would_ask="run", loosens=True))
    assert isinstance(found, Confirm)
    assert found.phrase == "raise repair.autonomy to run"
    assert "from advise to run" in found.question
