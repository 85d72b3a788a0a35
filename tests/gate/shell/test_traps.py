"""Lines that look harmless and are not, or are not certain: none of them ever runs unasked."""

from pathlib import Path

from tests.gate.shell.conftest import Judge

TRAPS = [
    line
    for line in (Path(__file__).parent / "traps.txt").read_text().splitlines()
    if not line.startswith("# ")
]
MULTILINE = [
    "find . -del\\\nete",
    "ls a\\\nb",
    "ls\\\n -la",
    "cat <<EOF\n$(touch x)\nEOF",
    "cat <<EOF | sh\nid\nEOF",
    "ls\rtouch x",
    "ls\0touch x",
    "ls\u202e -la",
    "l\u0455 -la",
    "ls\u00a0-la",
    "ls\nreboot",
    "ls '\u200b'",
    "ls &\npwd",
    "sed -n '$!{w f\n}' f",
    "echo 'a\n",
    "ls;;ls",
    "ls | | ls",
    "",
    "   ",
    "# only a comment",
    "#\n",
    "# a comment\n\n# another",
]


def test_none_runs_unasked(judge: Judge) -> None:
    verdicts = {line: judge(line) for line in [*TRAPS, *MULTILINE]}
    assert {line: verdict.reasons for line, verdict in verdicts.items() if verdict.auto_run} == {}
    assert [
        line for line, verdict in verdicts.items() if not verdict.reasons or not all(verdict.reasons)
    ] == []


def test_nor_with_become(judge: Judge) -> None:
    lines = [line for line in TRAPS if not line.startswith(("sudo", "doas"))]
    assert [line for line in lines if judge(line, become=True).auto_run] == []
