"""The built-in rules, loaded once, and a shorthand for judging with them."""

from collections.abc import Callable

import pytest

from bot.loading.rules import load_rules
from gate.domain import Verdict
from gate.shell.classify import classify
from gate.shell.model import Rules

Judge = Callable[..., Verdict]


@pytest.fixture(scope="session")
def rules() -> Rules:
    return load_rules()


@pytest.fixture(scope="session")
def judge(rules: Rules) -> Judge:
    def call(command: str, **options: object) -> Verdict:
        return classify(command, rules=rules, **options)  # type: ignore[arg-type] # options pass through

    return call
