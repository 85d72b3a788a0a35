"""Refusals of R17: what is wrong, where, and how to mend it."""

from dataclasses import replace
from typing import Any

import pytest

from gate.supervise.document import problems
from gate.supervise.domain import (
    Branch,
    Call,
    Capture,
    Comparison,
    Condition,
    ExitCode,
    FileExists,
    InputType,
    JsonValue,
    Limits,
    Output,
    Retry,
    RunbookId,
    RunbookSpec,
    StepId,
    Stream,
    TextTest,
)
from tests.gate.supervise.runs import book, step, text

HOST, TOKEN = text("host", type="host"), text("token", secret=True)
COUNT = text("count", type="integer", required=False, default="1")
LATE = text("late", required=False)


def capture(name: str, kind: str = "string") -> Capture:
    return Capture(input=name, type=InputType(kind))


def when(name: str) -> Condition:
    return Condition(input=name, compare=Comparison.EQUALS, value="x")


def retry(most: int, target: str) -> Retry:
    return Retry(max=most, target=StepId(target))


def output(test: str, words: str) -> Output:
    return Output(stream=Stream.STDOUT, test=TextTest(test), text=words)


def json(path: str, compare: str, value: Any) -> JsonValue:
    return JsonValue(path=path, compare=Comparison(compare), value=value)


def found(*steps: Any, **fields: Any) -> list[tuple[str, str]]:
    made = problems(book(*steps, **fields), catalogue={})
    assert all(one.what.endswith(".") and one.mend.endswith(".") for one in made), made
    return [(one.step, one.field) for one in made]


ELSE = Branch(when=None, next="end:success")
CALL = Call(runbook=RunbookId("other"))
WAIT: dict[str, Any] = {"kind": "wait", "duration_s": 5}

GOOD: dict[str, RunbookSpec] = {
    "one step": book(step("a")),
    "everything": book(
        step("look", "df {{ inputs.host }}", kind="check", capture=capture("late"), on_fail="note"),
        step("pick", kind="decision", branches=(Branch(when=when("late"), next="do"), ELSE), on_fail="note"),
        step(
            "do",
            "rm /srv/{{inputs.late}}",
            risk="destructive",
            rollback="undo",
            retry=retry(2, "do"),
            on_fail="pause",
        ),
        step("fine", kind="note", next="end:success"),
        step("pause", **WAIT, retry=retry(3, "do"), on_fail="note"),
        step("note", kind="note", title="went wrong on {{ inputs.host }}", next="end:escalate"),
        step("undo", "touch /srv/x", risk="mutating", rollback="none", next="end:rollback"),
        inputs=(HOST, LATE),
    ),
    "asked": book(step("ask", kind="approval", requires_approval=True), step("do", requires_approval=False)),
    "expects": book(
        step(
            "a",
            target="{{ inputs.host }}",
            preview="echo {{ inputs.host }}",
            timeout_s=30,
            expect=(
                ExitCode(any_of=(0, 3)),
                output("regex", "^{{ inputs.host }} is .*$"),
                json(".a[0]", "at_least", "{{ inputs.count }}"),
                json(".b", "equals", None),
                FileExists(path="/srv/{{ inputs.host }}"),
            ),
        ),
        inputs=(HOST, COUNT),
    ),
    "result": book(step("a", capture=capture("late")), inputs=(LATE,), result="late"),
}


@pytest.mark.parametrize("name", GOOD)
def test_nothing_is_wrong(name: str) -> None:
    assert problems(GOOD[name], catalogue={}) == ()


WRONG: dict[str, tuple[list[tuple[str, str]], tuple[Any, ...], dict[str, Any]]] = {
    # shape
    "no steps": ([("", "steps")], (), {}),
    "an id twice": ([("a", "id")], (step("a", next="b"), step("b", next="end:success"), step("a")), {}),
    "next to nothing": ([("a", "next")], (step("a", next="b"),), {}),
    "an end that is none": ([("a", "next")], (step("a", next="end:sucess"),), {}),
    "on_fail to nothing": ([("a", "on_fail")], (step("a", on_fail="b"),), {}),
    "retry to nothing": ([("a", "retry.target")], (step("a", retry=retry(1, "b")),), {}),
    "rollback to nothing": ([("a", "rollback")], (step("a", rollback="b"),), {}),
    "branch to nothing": (
        [("a", "branches.0.next")],
        (step("a", kind="decision", branches=(Branch(when=None, next="b"),)),),
        {},
    ),
    "never reached": ([("b", "id")], (step("a", next="end:success"), step("b")), {}),
    "no end": (
        [("a", "next"), ("b", "next"), ("b", "next")],
        (step("a", kind="note"), step("b", kind="note", next="a")),
        {},
    ),
    "back without a budget": (
        [("b", "next")],
        (step("a", on_fail="end:failure"), step("b", next="a", on_fail="end:failure")),
        {},
    ),
    "to itself without a budget": ([("a", "on_fail")], (step("a", on_fail="a"),), {}),
    "falls into what is for failures": (
        [("a", "next")],
        (step("a", on_fail="mend"), step("mend", next="end:failure")),
        {},
    ),
    "falls into the rollback": (
        [("a", "next")],
        (step("a", rollback="undo"), step("undo", rollback="none")),
        {},
    ),
    # tools and risks
    "a tool it may not use": ([("a", "tool")], (step("a", tool="bash"),), {}),
    "destructive and silent": ([("a", "rollback")], (step("a", risk="destructive"),), {}),
    "irreversible and silent": ([("a", "rollback")], (step("a", risk="irreversible"),), {}),
    "undoes itself": ([("a", "rollback")], (step("a", rollback="a"),), {}),
    "a check that changes": ([("a", "risk")], (step("a", kind="check", risk="mutating"),), {}),
    # fields of kinds
    "no command": ([("a", "command")], (step("a", None),), {}),
    "an empty command": ([("a", "command")], (step("a", " "),), {}),
    "a note that expects": (
        [("a", "expect")],
        (step("a", kind="note", expect=(ExitCode(any_of=(0,)),)),),
        {},
    ),
    "an approval that fails": ([("a", "on_fail")], (step("a", kind="approval", on_fail="end:failure"),), {}),
    "an approval that does not ask": (
        [("a", "requires_approval")],
        (step("a", kind="approval", requires_approval=False),),
        {},
    ),
    "a decision that goes on": (
        [("a", "next")],
        (step("a", kind="decision", branches=(ELSE,), next="end:success"),),
        {},
    ),
    "a note in a place": ([("a", "target")], (step("a", kind="note", target="web1"),), {}),
    "a wait without a length": ([("a", "duration")], (step("a", kind="wait"),), {}),
    "a wait of less than nothing": ([("a", "duration")], (step("a", kind="wait", duration_s=-1),), {}),
    "an action with a length": ([("a", "duration")], (step("a", duration_s=1),), {}),
    "a wait that goes back and on": (
        [("w", "next")],
        (step("a"), step("w", **WAIT, retry=retry(1, "a"), next="end:success")),
        {},
    ),
    "a timeout of days": ([("a", "timeout")], (step("a", timeout_s=100_000),), {}),
    "no tries": ([("a", "retry.max")], (step("a", retry=retry(0, "a")),), {}),
    # decisions
    "no branch": ([("a", "branches"), ("a", "next")], (step("a", kind="decision"),), {}),
    "no else": (
        [("a", "branches")],
        (step("a", kind="decision", branches=(Branch(when=when("host"), next="end:success"),)),),
        {"inputs": (HOST,)},
    ),
    "else before others": (
        [("a", "branches.0.when")],
        (step("a", kind="decision", branches=(ELSE, ELSE)),),
        {},
    ),
    "decides on what is not declared": (
        [("a", "branches.0.when")],
        (step("a", kind="decision", branches=(Branch(when=when("ghost"), next="end:failure"), ELSE)),),
        {},
    ),
    "decides on a secret": (
        [("a", "branches.0.when")],
        (step("a", kind="decision", branches=(Branch(when=when("token"), next="end:failure"), ELSE)),),
        {"inputs": (TOKEN,)},
    ),
    # placeholders
    "an undeclared input": ([("a", "command")], (step("a", "x {{ inputs.ghost }}"),), {}),
    "a misspelt placeholder": ([("a", "command")], (step("a", "x {{ inputs.gh ost }}"),), {}),
    "in a substitution": (
        [("a", "preview")],
        (step("a", preview="x $({{ inputs.host }})"),),
        {"inputs": (HOST,)},
    ),
    "may have no value": ([("a", "command")], (step("a", "x {{ inputs.late }}"),), {"inputs": (LATE,)}),
    "undeclared in the title": ([("a", "title")], (step("a", title="on {{ inputs.ghost }}"),), {}),
    "misspelt in the title": ([("a", "title")], (step("a", title="on {{ inputs.host"),), {}),
    "a secret in the title": (
        [("a", "title")],
        (step("a", title="as {{ inputs.token }}"),),
        {"inputs": (TOKEN,)},
    ),
    "a secret as the target": (
        [("a", "target")],
        (step("a", target="{{ inputs.token }}"),),
        {"inputs": (TOKEN,)},
    ),
    "a secret expected": (
        [("a", "expect")],
        (step("a", expect=(output("contains", "{{ inputs.token }}"),)),),
        {"inputs": (TOKEN,)},
    ),
    "undeclared in JSON": (
        [("a", "expect")],
        (step("a", expect=(json(".a", "equals", "{{inputs.ghost}}"),)),),
        {},
    ),
    # expectations
    "no exit code": ([("a", "expect")], (step("a", expect=(ExitCode(any_of=()),)),), {}),
    "an exit code that is none": ([("a", "expect")], (step("a", expect=(ExitCode(any_of=(256,)),)),), {}),
    "a pattern that looks around": ([("a", "expect")], (step("a", expect=(output("regex", "(?=a)b"),)),), {}),
    "a pattern that refers back": ([("a", "expect")], (step("a", expect=(output("regex", r"(a)\1"),)),), {}),
    "a path that is none": ([("a", "expect")], (step("a", expect=(json("a..b", "equals", 1),)),), {}),
    "less than words": ([("a", "expect")], (step("a", expect=(json(".a", "less", "b"),)),), {}),
    "a file without a path": ([("a", "expect")], (step("a", expect=(FileExists(path="x"),)),), {}),
    # inputs
    "captures into nothing": ([("a", "capture.input")], (step("a", capture=capture("ghost")),), {}),
    "captures another type": (
        [("a", "capture.type")],
        (step("a", capture=capture("count")),),
        {"inputs": (COUNT,)},
    ),
    "a secret in the document": (
        [("", "inputs.k.secret")],
        (step("a"),),
        {"inputs": (text("k", secret=True, default="x"),)},
    ),
    "bounds the wrong way": (
        [("", "inputs.n.min")],
        (step("a"),),
        {"inputs": (text("n", type="integer", minimum=5, maximum=1),)},
    ),
    "an enum of another type": (
        [("", "inputs.n.enum")],
        (step("a"),),
        {"inputs": (text("n", type="integer", enum=("1", "x")),)},
    ),
    "a default of another type": (
        [("", "inputs.n.default")],
        (step("a"),),
        {"inputs": (text("n", type="integer", default="x"),)},
    ),
    "a result that is none": ([("", "result")], (step("a"),), {"result": "ghost"}),
    "a result that nothing finds": ([("", "result")], (step("a"),), {"inputs": (LATE,), "result": "late"}),
    # limits
    "no entries": ([("", "limits.entries")], (step("a"),), {"limits": Limits(entries=0)}),
    "no steps at all": ([("", "limits.steps")], (step("a"),), {"limits": Limits(steps=0)}),
    "open for hours": ([("", "limits.approval")], (step("a"),), {"limits": Limits(approval_s=3601)}),
}


@pytest.mark.parametrize("name", WRONG)
def test_it_is_wrong(name: str) -> None:
    expected, steps, fields = WRONG[name]
    assert found(*steps, **fields) == expected


def test_a_call_leaves_the_rest_to_what_it_calls() -> None:
    made = replace(step("a", call=CALL), command="true", retry=retry(1, "a"), requires_approval=True)
    assert found(made) == [("a", "command"), ("a", "retry"), ("a", "requires_approval"), ("a", "call")]


def test_a_call_says_no_risk_of_its_own_since_nobody_would_be_asked_because_of_it() -> None:
    assert ("a", "risk") in found(step("a", call=CALL, risk="destructive", rollback="none"))
    assert ("a", "risk") not in found(step("a", call=CALL))


def test_too_many_steps_are_one_problem() -> None:
    many = [step(f"s{number}", kind="note") for number in range(10_001)]
    assert found(*many) == [("", "steps")]


def test_calls_are_not_looked_at_without_a_catalogue() -> None:
    assert problems(book(step("a", call=CALL))) == ()
    assert found(step("a", call=CALL)) == [("a", "call")]


def test_everything_is_told_at_once() -> None:
    made = found(step("a", "x {{ inputs.ghost }}", next="nowhere", risk="destructive"), step("b", None))
    assert made == [("a", "rollback"), ("a", "command"), ("b", "command"), ("a", "next"), ("b", "id")]
