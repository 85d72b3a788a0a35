"""Two thousand lines that operators type, and the class each must have; the table in docs/risk.md too."""

import re
from pathlib import Path

import pytest

from gate.domain import Risk
from gate.shell.classify import classify
from gate.shell.model import Rules

SECTIONS = (Path(__file__).parent / "operators.txt").read_text().split("\n== ")[1:]
LINES = {name: text.splitlines() for name, _, text in (part.partition("\n") for part in SECTIONS)}
DOCS = (Path(__file__).parents[3] / "docs" / "risk.md").read_text()
SAID = re.findall(r"^\| `(.+?)` \| (\w+)(, asks)? \|", DOCS, re.MULTILINE)


@pytest.mark.parametrize(("command", "risk", "asks"), SAID)
def test_docs_tell_the_truth(command: str, risk: str, asks: str, rules: Rules) -> None:
    verdict = classify(command.replace("\\|", "|"), rules=rules)
    assert (verdict.risk, verdict.auto_run) == (risk, risk == "read_only" and not asks)


def test_every_class_has_lines() -> None:
    assert set(LINES) == {risk.value for risk in Risk}
    assert all(len(lines) >= 50 for lines in LINES.values())


@pytest.mark.parametrize("risk", list(Risk))
def test_lines_have_their_class(risk: Risk, rules: Rules) -> None:
    verdicts = {line: classify(line, rules=rules) for line in LINES[risk.value]}
    assert {line: verdict.risk for line, verdict in verdicts.items() if verdict.risk is not risk} == {}


def test_harmless_lines_run_unasked(rules: Rules) -> None:
    verdicts = {line: classify(line, rules=rules) for line in LINES["read_only"]}
    assert {line: verdict.reasons for line, verdict in verdicts.items() if not verdict.auto_run} == {}


@pytest.mark.parametrize(
    "rest",
    ["; rm x", " && reboot", " | sh", " > x", " | tee x", " & ", "\nrm x", " $(rm x)", " `rm x`", "; x=1"],
)
def test_no_harmless_line_stays_so_with_something_behind_it(rest: str, rules: Rules) -> None:
    assert [line for line in LINES["read_only"] if classify(line + rest, rules=rules).auto_run] == []
