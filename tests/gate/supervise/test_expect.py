"""Expectations: what is not surely so is a failure (R21)."""

from typing import Any

import pytest

from gate.supervise.domain import (
    Check,
    Comparison,
    ExitCode,
    FileExists,
    JsonValue,
    Output,
    StepId,
    Stream,
    TextTest,
)
from gate.supervise.expect import Ending, Evidence, Judgement, fault_of, files_of, judge
from tests.gate.supervise.runs import text

INPUTS = {
    one.name: one
    for one in (text("s"), text("n", type="integer"), text("b", type="boolean"), text("x", type="text"))
}
VALUES = {"s": "a.b", "n": "3", "b": "true", "x": "$("}


def judged(*checks: Check, **fields: Any) -> Judgement:
    usual: dict[str, Any] = {"step": StepId("a"), "number": 1, "exit_code": 0}
    return judge(checks, Evidence(**usual | fields), values=VALUES, inputs=INPUTS)


def out(test: str, words: str, stream: str = "stdout") -> Output:
    return Output(stream=Stream(stream), test=TextTest(test), text=words)


def value(path: str, compare: str, wanted: Any) -> JsonValue:
    return JsonValue(path=path, compare=Comparison(compare), value=wanted)


def test_without_expectations_the_exit_code_is_0() -> None:
    assert judged() == Judgement(passed=True, why="exit code 0")
    assert judged(exit_code=1) == Judgement(passed=False, why="expected exit code 0, got 1")
    assert not judged(out("contains", "a"), stdout="a", exit_code=1).passed


def test_an_exit_code_that_is_said_is_the_one() -> None:
    assert judged(ExitCode(any_of=(2, 3)), exit_code=3).passed
    assert not judged(ExitCode(any_of=(2, 3)), exit_code=0).passed
    assert "cannot tell" in judged(exit_code=None).why


@pytest.mark.parametrize("how", [Ending.TIMED_OUT, Ending.NOT_RUN, Ending.LOST])
def test_what_did_not_end_by_itself_failed(how: Ending) -> None:
    assert not judged(ending=how, exit_code=0, stdout="ok").passed


TEXT = [
    (out("contains", "is up"), "web is up\n", True),
    (out("contains", "is up"), "web is down\n", False),
    (out("equals", "active"), "active\n", True),
    (out("equals", " active\n"), "active", True),
    (out("equals", "active"), "inactive\n", False),
    (out("regex", "^b+$"), "a\nbbb\nc\n", True),
    (out("regex", "^b+$"), "abbb\n", False),
    (out("regex", "^{{ inputs.s }}$"), "a.b\n", True),
    (out("regex", "^{{ inputs.s }}$"), "axb\n", False),
    (out("regex", "{{ inputs.x }}"), "a $( b", True),
    (out("contains", "{{ inputs.s }}"), "is a.b", True),
    (out("contains", "{{ inputs.ghost }}"), "", False),
    (out("regex", "a"), "\udc80a", True),
    (out("regex", "("), "(", False),
]


@pytest.mark.parametrize(("check", "found", "passes"), TEXT)
def test_text(check: Output, found: str, *, passes: bool) -> None:
    assert judged(check, stdout=found).passed is passes


def test_stderr_is_another_stream() -> None:
    assert judged(out("contains", "a", "stderr"), stderr="a").passed
    assert not judged(out("contains", "a", "stderr"), stdout="a").passed


def test_output_that_was_cut_off_proves_only_what_is_in_it() -> None:
    assert judged(out("contains", "a"), stdout="a", cut=True).passed
    for check in (out("contains", "b"), out("equals", "a"), out("regex", "^a$"), value(".a", "equals", 1)):
        made = judged(check, stdout='{"a": 1}' if isinstance(check, JsonValue) else "a", cut=True)
        assert not made.passed
        assert "cut off" in made.why


JSON = '{"a": {"b c": [1, 2.5, true, null, "x", [], "a.b"]}, "n": 3, "t": true}'
VALUE = [
    ('.a["b c"][0]', "equals", 1, True),
    ('$.a["b c"][0]', "equals", 1.0, True),
    ('.a["b c"][0]', "equals", True, False),
    ('.a["b c"][2]', "equals", 1, False),
    ('.a["b c"][2]', "equals", True, True),
    ('.a["b c"][3]', "equals", None, True),
    ('.a["b c"][4]', "not_equals", "y", True),
    ('.a["b c"][4]', "not_equals", "x", False),
    ('.a["b c"][1]', "less", 3, True),
    ('.a["b c"][1]', "less", 2.5, False),
    ('.a["b c"][1]', "at_most", 2.5, True),
    ('.a["b c"][1]', "at_least", 2.5, True),
    ('.a["b c"][1]', "more", 2.5, False),
    ('.a["b c"][1]', "more", 2, True),
    ('.a["b c"][4]', "less", 3, False),
    ('.a["b c"][2]', "less", 3, False),
    ('.a["b c"][5]', "not_equals", 3, False),
    (".a", "not_equals", 3, False),
    (".ghost", "not_equals", 3, False),
    (".n[0]", "not_equals", 3, False),
    ('.a["b c"][9]', "not_equals", 3, False),
    (".n", "equals", "{{ inputs.n }}", True),
    (".n", "equals", " {{ inputs.n }} ", True),
    (".n", "equals", "3", False),
    (".t", "equals", "{{ inputs.b }}", True),
    ('.a["b c"][6]', "equals", "{{ inputs.s }}", True),
    (".n", "equals", "{{ inputs.ghost }}", False),
]


@pytest.mark.parametrize(("path", "compare", "wanted", "passes"), VALUE)
def test_values_in_json(path: str, compare: str, wanted: Any, *, passes: bool) -> None:
    assert judged(value(path, compare, wanted), stdout=JSON).passed is passes


@pytest.mark.parametrize(
    "found",
    [
        "",
        "no json",
        '{"a": NaN}',
        '{"a": 1, "a": 2}',
        "[" * 100_000,
        '{"a": 1} more',
        '{"a": ' + "9" * 5000 + "}",
    ],
)
def test_what_is_no_json_has_no_values(found: str) -> None:
    made = judged(value(".a", "not_equals", 5), stdout=found)
    assert not made.passed
    assert "no JSON" in made.why


def test_files_are_there_only_where_somebody_looked() -> None:
    check = FileExists(path="/srv/{{ inputs.s }}")
    assert judged(check, files={"/srv/a.b": True}).passed
    assert not judged(check, files={"/srv/a.b": False}).passed
    assert judged(check).why == "cannot tell whether /srv/{{ inputs.s }} exists: nobody looked"


def test_which_files_to_look_at() -> None:
    checks = (
        FileExists(path="/srv/{{ inputs.s }}"),
        FileExists(path="/{{ inputs.ghost }}"),
        ExitCode(any_of=(0,)),
    )
    assert files_of(checks, values=VALUES, inputs=INPUTS) == ("/srv/a.b",)


def test_the_first_that_is_not_so_decides_and_output_is_never_told() -> None:
    made = judged(out("contains", "a"), out("equals", "hunter2"), value(".a", "equals", 1), stdout="a secret")
    assert made.why == "expected that stdout is 'hunter2', which is not so"
    assert "secret" not in made.why


def test_all_of_them_are_told_where_they_hold() -> None:
    made = judged(out("regex", "a"), value(".a", "at_most", 1), stdout='{"a": 1}')
    assert made.why == "exit code 0; stdout matches 'a'; .a is at most 1"


def test_a_pattern_takes_no_time_however_bad_it_is() -> None:
    assert not judged(out("regex", "^(a+)+$"), stdout="a" * 100_000 + "b").passed


@pytest.mark.parametrize(
    ("check", "is_fault"),
    [
        (ExitCode(any_of=(0, 255)), False),
        (ExitCode(any_of=(-1,)), True),
        (out("regex", r"\d{3}"), False),
        (out("regex", "(?<=a)b"), True),
        (out("regex", "\udc80"), True),
        (out("contains", "(?<=a)b"), False),
        (value(".a", "less", 3), False),
        (value(".a", "less", "{{ inputs.n }}"), False),
        (value(".a", "less", True), True),
        (value("", "equals", 3), True),
        (value("$", "equals", 3), True),
        (value("." + ".".join("a" * 33), "equals", 3), True),
        (value('.a["\\""]', "equals", 3), True),
        (FileExists(path="{{ inputs.s }}"), False),
        (FileExists(path="../x"), True),
    ],
)
def test_what_cannot_be_evaluated_is_found_before(check: Check, *, is_fault: bool) -> None:
    assert (fault_of(check) is not None) is is_fault
