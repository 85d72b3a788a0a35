"""Rule files are read strictly, and an operator's file can only tighten unless it says otherwise."""

from typing import Any

import pytest

from gate.domain import Risk
from gate.errors import RuleError
from gate.shell.classify import classify
from gate.shell.model import Rules
from gate.shell.rules import parse

SHOW: dict[str, Any] = {"name": "show", "class": "read_only"}
BASE: dict[str, Any] = {
    "program": [
        {
            "name": "tool",
            "class": "config_mutation",
            "reason": "changes things",
            "flags": "-v --verbose",
            "verb": [SHOW, {"name": "drop", "class": "destructive", "reason": "drops", "deed": "drop {1}"}],
        }
    ]
}


def rules_of(extra: dict[str, Any] | None = None, base: dict[str, Any] | None = None) -> Rules:
    return parse({"base.toml": base or BASE}, extra={"own.toml": extra} if extra else None)


@pytest.mark.parametrize(
    ("program", "key"),
    [
        ({"class": "read_only"}, "name"),
        ({"name": 5, "class": "read_only"}, "name"),
        ({"name": "x"}, "class"),
        ({"name": "x", "class": "harmless"}, "class"),
        ({"name": "x", "class": 5}, "class"),
        ({"name": "x", "class": "read_only", "colour": "red"}, "colour"),
        ({"name": "x", "class": "read_only", "flags": "v"}, "flags"),
        ({"name": "x", "class": "read_only", "flags": "-v -v"}, "flags"),
        ({"name": "x", "class": "read_only", "flags": "-vx=[a-z]"}, "flags"),
        ({"name": "x", "class": "read_only", "flags": "--x=("}, "flags"),
        ({"name": "x", "class": "read_only", "flags": "--x=?("}, "flags"),
        ({"name": "x", "class": "read_only", "args": "many"}, "args"),
        ({"name": "x", "class": "read_only", "match": "("}, "match"),
        ({"name": "x", "class": "read_only", "reads": "minds"}, "reads"),
        ({"name": "x", "class": "read_only", "wraps": "gifts"}, "wraps"),
        ({"name": "x", "class": "read_only", "checker": "perl"}, "checker"),
        ({"name": "x", "class": "read_only", "glob": "yes"}, "glob"),
        ({"name": "x", "class": "read_only", "skip": -1}, "skip"),
        ({"name": "x", "class": "read_only", "skip": True}, "skip"),
        ({"name": "x", "class": "read_only", "touches": "planet:{*}"}, "touches"),
        ({"name": "x", "class": "read_only", "touches": "service"}, "touches"),
        ({"name": "x", "class": "read_only", "verb": "show"}, "verb"),
        ({"name": "x", "class": "read_only", "verb": [{"name": "a"}, {"name": "a b"}]}, "name"),
        ({"name": "x", "class": "read_only", "when": [{"has": "-a", "class": "destructive"}]}, "reason"),
        ({"name": "x", "class": "read_only", "when": [{"lower": True, "reason": "r"}]}, "lower"),
        ({"name": "x", "class": "read_only", "when": [{"never": "ever"}]}, "never"),
        ({"name": "x", "class": "read_only", "when": [{"hass": "-a"}]}, "hass"),
        ({"name": "x", "class": "read_only", "when": [{"text": "("}]}, "text"),
    ],
)
def test_a_wrong_program_names_file_and_key(program: dict[str, Any], key: str) -> None:
    with pytest.raises(RuleError, match=rf"bad\.toml: .*{key}"):
        parse({"bad.toml": {"program": [program]}})


@pytest.mark.parametrize(
    ("document", "key"),
    [
        ({"programs": []}, "programs"),
        ({"program": {}}, "program"),
        ({"override": True}, "override"),
        ({"places": []}, "places"),
        ({"places": {"secret": ["x"]}}, "secret"),
        ({"places": {"system": ["("]}}, "system"),
        ({"places": {"system": [5]}}, "system"),
        ({"examples": [{"risk": "read_only"}]}, "command"),
        ({"examples": [{"command": "x", "wants": 1}]}, "wants"),
    ],
)
def test_a_wrong_document_names_file_and_key(document: dict[str, Any], key: str) -> None:
    with pytest.raises(RuleError, match=rf"bad\.toml: .*{key}"):
        parse({"bad.toml": document})


def test_a_program_is_ruled_on_once() -> None:
    with pytest.raises(RuleError, match="already ruled on"):
        parse({"a.toml": BASE, "b.toml": BASE})


def test_an_extra_program_needs_a_class() -> None:
    with pytest.raises(RuleError, match="class is missing"):
        rules_of({"program": [{"name": "other"}]})
    with pytest.raises(RuleError, match="class"):
        rules_of({"override": True, "program": [{"name": "tool"}]})


def test_an_extra_file_tightens_a_verb_and_leaves_the_rest() -> None:
    extra = {
        "program": [
            {"name": "tool", "verb": [{"name": "show", "class": "destructive", "reason": "wakes the cat"}]}
        ]
    }
    rules = rules_of(extra)
    verdict = classify("tool show", rules=rules)
    assert verdict.risk is Risk.DESTRUCTIVE
    assert verdict.reasons[0] == "wakes the cat"
    assert classify("tool other", rules=rules).risk is Risk.CONFIG_MUTATION


def test_an_extra_file_tightens_by_clause() -> None:
    clauses = [
        {"has": "-v", "class": "destructive", "reason": "too loud"},
        {"has": "--verbose", "secret": True, "reason": "says too much"},
        {"arg": "x", "asks": True, "reason": "ask first"},
    ]
    rules = rules_of({"program": [{"name": "tool", "when": clauses}]})
    assert classify("tool show", rules=rules).auto_run
    assert classify("tool show -v", rules=rules).reasons[0] == "too loud"
    assert classify("tool show --verbose", rules=rules).reads_secrets
    asking = classify("tool show x", rules=rules)
    assert (asking.risk, asking.auto_run, asking.reasons[0]) == (Risk.READ_ONLY, False, "ask first")


def test_an_extra_file_cannot_loosen() -> None:
    extra = {
        "program": [
            {
                "name": "tool",
                "class": "read_only",
                "verb": [{"name": "drop", "class": "read_only"}],
                "when": [{"arg": ".*", "lower": True, "class": "read_only", "reason": "fine"}],
            }
        ]
    }
    rules = rules_of(extra)
    assert classify("tool drop x", rules=rules).risk is Risk.DESTRUCTIVE
    assert classify("tool x", rules=rules).risk is Risk.CONFIG_MUTATION


def test_override_replaces() -> None:
    extra = {"override": True, "program": [{"name": "tool", "class": "read_only", "reason": "only looks"}]}
    assert classify("tool drop x", rules=rules_of(extra)).auto_run


def test_two_extra_files_both_tighten() -> None:
    one = {
        "program": [{"name": "tool", "verb": [{"name": "show", "class": "reversible_low", "reason": "one"}]}]
    }
    two = {"program": [{"name": "tool", "verb": [{"name": "show", "class": "destructive"}]}]}
    rules = parse({"base.toml": BASE}, extra={"one.toml": one, "two.toml": two})
    verdict = classify("tool show", rules=rules)
    assert verdict.risk is Risk.DESTRUCTIVE
    assert verdict.reasons[0] == "the operator's rules say so"


def test_the_revision_is_that_of_the_content() -> None:
    assert rules_of().revision == rules_of().revision
    assert rules_of().revision != rules_of({"places": {"system": ["/data"]}}).revision
    assert parse({"other.toml": BASE}).revision != rules_of().revision


def test_words_may_be_a_list() -> None:
    rules = parse({"a.toml": {"program": [{"name": ["x", "y"], "class": "read_only"}]}})
    assert set(rules.programs) == {"x", "y"}
