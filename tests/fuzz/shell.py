"""Coverage-guided fuzzing of the shell judgement: `python tests/fuzz/shell.py FOLDER -max_total_time=300`.

Needs atheris, which is no dependency: install it into an environment of its own, beside sayso. It looks for a
text that makes the judgement raise or take long, for a line that still runs unasked with something in it that
changes things, and for one that bash rejects and that would run unasked. What it finds becomes a test.
"""

import subprocess
import sys
import time

import atheris

with atheris.instrument_imports(include=["gate"]):
    from bot.loading.rules import load_rules
    from gate.shell.classify import classify

from gate.domain import Risk

RULES = load_rules()
READERS = [
    *("uptime", "cat /srv/x | wc -l", "find /srv -name \\*.gz", "ls -la && df -h 2>/dev/null"),
    "diff <(ls a) <(ls b)",
]
CHANGERS = [
    *(
        "; touch x ;",
        "\ntouch x\n",
        " & touch x & ",
        " | tee x ",
        "$(touch x)",
        "`touch x`",
        " > f ",
        " <(touch x) ",
    ),
    " -delete > f ",
]
SYNTAX = [
    *(
        "sudo ",
        "sh -c '",
        "eval ",
        "xargs ",
        "-exec ",
        "{} \\;",
        "$'",
        "<<E\n",
        "\nE\n",
        "if ",
        "; then ",
        "; fi",
    ),
    *(
        "for i in a b; do ",
        "; done",
        "[ -f ",
        " ]",
        "[[ ",
        "((",
        "${x:-",
        "\\",
        '"',
        "'",
        "{a,b}",
        "*",
        "~",
        "#",
    ),
    *("!", "=", "|&", "<"),
]
PIECES = [*READERS, *CHANGERS, *SYNTAX]
SLOW_SECONDS = 1.0


def text_from(data: atheris.FuzzedDataProvider) -> str:
    """Half of what is tried is made of pieces of shell, half is anything."""
    if data.ConsumeBool():
        return data.ConsumeUnicode(4_000)
    return "".join(
        data.PickValueInList(PIECES) + data.ConsumeUnicode(2) for _ in range(data.ConsumeIntInRange(0, 24))
    )


def one_input(raw: bytes) -> None:
    data = atheris.FuzzedDataProvider(raw)
    if data.ConsumeBool():
        line = data.PickValueInList(READERS)
        at = data.ConsumeIntInRange(0, len(line))
        changed = line[:at] + data.PickValueInList(CHANGERS) + line[at:]
        if classify(changed, rules=RULES).auto_run:
            raise AssertionError(f"runs unasked: {changed!r}")
        return
    text = text_from(data)
    before = time.perf_counter()
    verdict = classify(text, rules=RULES, become=data.ConsumeBool())
    if time.perf_counter() - before > SLOW_SECONDS:
        raise AssertionError(f"takes long: {text!r}")
    if verdict.auto_run and (verdict.risk is not Risk.READ_ONLY or not _bash_accepts(text)):
        raise AssertionError(f"runs unasked: {text!r}")


def _bash_accepts(line: str) -> bool:
    return (
        subprocess.run(
            ["bash", "--norc", "-n", "-c", line], capture_output=True, check=False, timeout=20
        ).returncode
        == 0
    )


if __name__ == "__main__":
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
