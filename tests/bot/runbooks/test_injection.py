"""Whatever is said for an input reaches the program byte for byte, or nothing runs: shown by running it.

The way is the whole one: words of a message, the plan, the bound command of a loaded document, and the
executor that runs it here. Nothing of a value may run: each would leave a file behind if it did.
"""

import asyncio
from pathlib import Path

import pytest

from bot.execution.executor import FleetExecutor
from bot.planning import runbooks
from bot.planning.drafts import RunbookPlan
from bot.planning.grammar import Known
from bot.planning.library import Document
from bot.planning.plan import plan
from gate.domain import Action, ActionId, TargetId
from gate.supervise.binding import Bound, Unbound, bind_command
from gate.supervise.domain import InputType
from tests.kit import local_inventory
from tests.runbooks import library_of

ECHO = """\
version: 1
id: echo-{type}
title: tell the {type} back
inputs:
  value: {{type: {type}}}
steps:
  - id: tell
    kind: check
    title: Tell it back
    risk: read-only
    command: printf '%s\\0' before {{{{ inputs.value }}}} glued-{{{{ inputs.value }}}}.txt after
    expect: {{exit_code: 0}}
"""
TYPES = tuple(InputType)
LIBRARY = library_of(*(ECHO.format(type=kind.value) for kind in TYPES))

#: What must never run, in every dress that a shell has for it; `{mark}` is a file that must not come to be.
HOSTILE = (
    "; touch {mark}",
    "x; touch {mark}",
    "x && touch {mark} #",
    "x | touch {mark}",
    "x & touch {mark}",
    "$(touch {mark})",
    "`touch {mark}`",
    "${{IFS}}touch{mark}",
    "<(touch {mark})",
    "> {mark}",
    "x > {mark}",
    "x\ntouch {mark}",
    "x\r\ntouch {mark}\r\n",
    "'; touch {mark}; '",
    '"; touch {mark}; "',
    "'\"'\"'; touch {mark}; '",
    "\\'; touch {mark}; \\'",
    '"$(touch {mark})"',
    "$'\\x3b' touch {mark}",
    "{{{{ inputs.value }}}}",
    "!touch",
    "~root",
    "*",
    "/*",
    "/tmp/{{a,b}}",
    "[a-z]*",
    "?",
    "-rf",
    "--help",
    "-",
    " -rf",
    "\n-rf",
    "\u2013rf",
    "#comment",
    "a # b",
    "a\tb",
    "\ta",
    "a\\",
    "\\",
    "a\\\nb",
    "%s%n%x",
    "%0d",
    "a  b   c",
    " a",
    "a ",
    "''",
    '""',
    "it's",
    'say "hi"',
    "a'b\"c`d$e",
    "gr\u00fcn",
    "\u0645\u0631\u062d\u0628\u0627",
    "\U0001f9e8",
    "e\u0301",
    "a\u00a0b",
    "a\u202eb",
    "a\u200bb",
    "\ufeffa",
    "a\u2028b",
    "a\x00b",
    "a\x07b",
    "a\x1b[2Jb",
    "a\x7fb",
    "\ud800",
    "0",
    "00",
    "-1",
    "1e9",
    "999999",
    "1000000",
    "9" * 40,
    "true",
    "True",
    "caddy.service",
    "/srv/data",
    "/srv/../etc/passwd",
    "example.org",
    "https://example.org/a?b=c&d=e",
    "https://user:secret@example.org/",
    "https://example.org/$(touch {mark})",
    "javascript:alert(1)",
    "5m",
    "a" * 200,
    "a" * 201,
    "x" * 2000,
    "x" * 100_000,
    "",
    " ",
    "\n",
)


def document(kind: InputType) -> Document:
    return LIBRARY.documents[f"echo-{kind.value}"]


def said(kind: InputType, value: str) -> RunbookPlan:
    """Return the plan that a person gets who says `value`, in the literal form."""
    text = runbooks.written(document(kind), {"value": value}, targets=("local",))
    found = runbooks.parse(text, library=LIBRARY, known=Known(targets=("local",)))
    assert isinstance(found, RunbookPlan)
    return found


def command(kind: InputType, value: str) -> Bound | Unbound:
    spec = document(kind).spec
    assert spec is not None
    return bind_command(spec.steps[0].command or "", {"value": value}, inputs=spec.inputs)


@pytest.mark.parametrize("kind", TYPES)
async def test_a_value_is_bound_literally_or_refused(kind: InputType, tmp_path: Path) -> None:
    executor = FleetExecutor(local_inventory())
    mark = tmp_path / "ran"
    ran = 0
    for number, pattern in enumerate(HOSTILE):
        value = pattern.replace("{{", "{").replace("}}", "}").replace("{mark}", str(mark))
        bound = command(kind, value)
        asked = said(kind, value)
        if isinstance(bound, Unbound):
            assert "value" in {*asked.missing, *asked.wrong}, value
            assert not asked.inputs, value
            continue
        assert dict(asked.inputs) == {"value": value}
        target = await executor.identify(local_inventory().targets[TargetId("local")])
        action = Action(
            id=ActionId(f"t.{number}"),
            index=1,
            target=target,
            command=bound.text,
            purpose="test",
            workdir="/",
        )
        ended = await executor.run(action, on_output=lambda _: None, cancel=asyncio.Event())
        told = [b"before", value.encode(), b"glued-" + value.encode() + b".txt", b"after", b""]
        assert ended.output.head + ended.output.tail == b"\0".join(told), value
        assert ended.exit_code == 0
        ran += 1
    assert not mark.exists()
    assert ran >= 1, kind


@pytest.mark.parametrize(
    ("value", "kinds"),
    [
        ("-rf", set()),
        ("$(reboot)", {InputType.TEXT}),
        ("x; reboot", {InputType.TEXT}),
        ("a\x00b", set()),
        ("a\u202eb", set()),
        ("\n-rf", set()),
        ("https://user:secret@example.org/", {InputType.STRING, InputType.TEXT}),
    ],
)
def test_only_text_takes_what_a_shell_acts_on(value: str, kinds: set[InputType]) -> None:
    assert {kind for kind in TYPES if isinstance(command(kind, value), Bound)} == kinds


@pytest.mark.parametrize("value", ["x'; reboot; '", "a $(reboot) b", "two\nlines", "tab\there", "*"])
def test_what_a_sentence_holds_reaches_the_plan_as_it_was_said(value: str) -> None:
    text = f"tell the text back on local with value={runbooks.json.dumps(value)}"
    found = plan(text, targets=("local",), tags=(), services={}, library=LIBRARY)
    assert isinstance(found, RunbookPlan), found
    assert dict(found.inputs) == {"value": value}


@pytest.mark.parametrize(
    "words",
    ["tell the string back on local; reboot", "run runbook echo-string on local with value=a; reboot"],
)
def test_words_behind_a_request_are_no_part_of_it(words: str) -> None:
    found = plan(words, targets=("local",), tags=(), services={}, library=LIBRARY)
    assert not isinstance(found, RunbookPlan)


def test_a_template_that_would_let_a_value_be_syntax_is_refused_when_it_is_loaded() -> None:
    from bot.loading.library import put_together, read_text  # noqa: PLC0415  # only here

    for template in (
        "$({{ inputs.value }})",
        "`{{ inputs.value }}`",
        "echo $(({{ inputs.value }}))",
        "echo ${x:-{{ inputs.value }}}",
        "cat <<x\n{{ inputs.value }}\nx",
        "{{ inputs.value }}",
        "true; {{ inputs.value }}",
        "bash -c {{ inputs.value }}",
        "eval {{ inputs.value }}",
        "echo x>{{ inputs.value }}",
        "echo \\{{ inputs.value }}",
    ):
        text = ECHO.format(type="text").replace(
            "printf '%s\\0' before {{ inputs.value }} glued-{{ inputs.value }}.txt after",
            runbooks.json.dumps(template),
        )
        assert runbooks.json.dumps(template) in text
        _, faults = put_together([read_text(text.encode())])
        assert [fault.field for fault in faults] == ["steps.tell.command"], (template, faults)
