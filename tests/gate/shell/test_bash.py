"""Against bash itself: what it rejects never runs unasked, and it gets the words that we judged."""

import subprocess

from hypothesis import HealthCheck, given, settings

from bot.loading.rules import load_rules
from gate.shell.classify import classify
from gate.shell.parse import commands_below, parse
from gate.shell.words import decode
from tests.gate.shell.test_classify import RUNS_AT_ONCE
from tests.gate.shell.test_properties import shellish

RULES = load_rules()


def bash(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "--noprofile", "--norc", *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        timeout=20,
    )


@given(shellish)
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_what_bash_rejects_never_runs_unasked(text: str) -> None:
    if classify(text, rules=RULES).auto_run:
        assert bash("-n", "-c", text).returncode == 0, text


def test_what_runs_unasked_is_accepted_by_bash() -> None:
    for command in RUNS_AT_ONCE:
        assert bash("-n", "-c", command).returncode == 0, command


def test_bash_sees_the_same_words() -> None:
    for command in RUNS_AT_ONCE:
        for node in commands_below(parse(command).root):
            arguments = [
                child
                for child in node.children
                if child.kind not in ("variable_assignment", "process_substitution")
            ]
            raws = [child.text for child in arguments if "redirect" not in child.kind]
            words = [decode(raw) for raw in raws]
            if any(word.glob or word.home for word in words):
                continue
            seen = bash("-c", f"printf '%s\\0' {' '.join(raws)}").stdout.split("\0")[:-1]
            assert seen == [word.text for word in words], command
