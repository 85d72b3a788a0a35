"""Every example in a rule file is a promise, and every rule file makes some."""

from collections import Counter

import pytest

from bot.loading.rules import load_rules
from gate.shell.classify import classify
from gate.shell.model import Example

RULES = load_rules()


@pytest.mark.parametrize("source", sorted({example.source for example in RULES.examples}))
def test_examples_of_a_rule_file_hold(source: str) -> None:
    broken = {
        example.command: what_differs(example) for example in RULES.examples if example.source == source
    }
    assert {command: difference for command, difference in broken.items() if difference} == {}


def what_differs(example: Example) -> dict[str, tuple[object, object]]:
    """Return what the verdict says and what was promised, where they differ."""
    verdict = classify(example.command, rules=RULES)
    deed = f"{verdict.deed.verb} {verdict.deed.object}".strip() if verdict.deed else None
    got = {
        "risk": verdict.risk,
        "auto": verdict.auto_run,
        "never": verdict.never is not None,
        "secret": verdict.reads_secrets,
        "deed": deed,
    }
    wanted = {name: getattr(example, name) for name in got if getattr(example, name) is not None}
    return {name: (got[name], want) for name, want in wanted.items() if got[name] != want}


def test_every_rule_file_has_examples() -> None:
    counted = Counter(example.source for example in RULES.examples)
    assert all(counted[source] >= 3 for source in {example.source for example in RULES.examples})
    assert len(RULES.examples) > 100
