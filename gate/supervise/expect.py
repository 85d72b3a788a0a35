"""What came of a command, judged by the supervisor alone (R21).

Owns the rule that a failed or unevaluable expectation is a failure and never a pass, whatever anybody claims.
Output that was cut off proves only what is in it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from gate.supervise import jsonpath
from gate.supervise.binding import PLACEHOLDER, Unbound, bind_text
from gate.supervise.compare import PatternError, UnevaluableError, compare, escaped, number, pattern
from gate.supervise.domain import (
    Check,
    Comparison,
    ExitCode,
    FileExists,
    InputSpec,
    InputType,
    JsonValue,
    Output,
    Scalar,
    StepId,
    Stream,
    TextTest,
    Value,
)


class Ending(StrEnum):
    """How a command ended, as far as anybody knows."""

    EXITED = "exited"
    TIMED_OUT = "timed_out"
    NOT_RUN = "not_run"  # it never started
    LOST = "lost"  # nobody knows


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What was captured of one invocation.

    Attributes:
        number: the entry that it belongs to.
        cut: not all of the output is here.
        files: which of the files that `files_of` names were there afterwards; one that is missing here was
            not looked at.
    """

    step: StepId
    number: int
    ending: Ending = Ending.EXITED
    exit_code: int | None = None
    stdout: str = ""
    stderr: str = ""
    cut: bool = False
    files: Mapping[str, bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """Whether a step passed. `why` holds what was expected and the exit code, and nothing of the output."""

    passed: bool
    why: str


_ENDINGS = {
    Ending.TIMED_OUT: "it ran out of time",
    Ending.NOT_RUN: "it never ran",
    Ending.LOST: "nobody knows how it ended",
}


def judge(
    checks: Sequence[Check],
    evidence: Evidence,
    *,
    values: Mapping[str, Value],
    inputs: Mapping[str, InputSpec],
) -> Judgement:
    """Return whether everything that was expected is so; the first that is not decides.

    Without an expectation of the exit code, it has to be 0.
    """
    if evidence.ending is not Ending.EXITED:
        return Judgement(passed=False, why=_ENDINGS[evidence.ending])
    if not any(isinstance(check, ExitCode) for check in checks):
        checks = (ExitCode(any_of=(0,)), *checks)
    for check in checks:
        try:
            if not _holds(check, evidence, values=values, inputs=inputs):
                return Judgement(passed=False, why=_missed(check, evidence))
        except UnevaluableError as error:
            return Judgement(passed=False, why=f"cannot tell whether {told(check)}: {error}")
    return Judgement(passed=True, why="; ".join(told(check) for check in checks))


def files_of(
    checks: Sequence[Check], *, values: Mapping[str, Value], inputs: Mapping[str, InputSpec]
) -> tuple[str, ...]:
    """Return the files to look at once the command has ended; one whose name lacks a value is left out."""
    bound = [
        bind_text(check.path, values, inputs=inputs) for check in checks if isinstance(check, FileExists)
    ]
    return tuple(one.text for one in bound if not isinstance(one, Unbound))


def told(check: Check) -> str:
    """Return what is expected, in words, with placeholders as they are."""
    match check:
        case ExitCode():
            return f"exit code {' or '.join(map(str, check.any_of))}"
        case Output():
            return f"{check.stream} {_TESTS[check.test]} {check.text!r}"
        case JsonValue():
            return f"{check.path} {_COMPARISONS[check.compare]} {check.value!r}"
        case _:
            return f"{check.path} exists"


def _missed(check: Check, evidence: Evidence) -> str:
    """Return what was expected and is not so, with what came instead where that is no output."""
    if isinstance(check, ExitCode):
        return f"expected {told(check)}, got {evidence.exit_code}"
    return f"expected that {told(check)}, which is not so"


_TESTS = {TextTest.CONTAINS: "contains", TextTest.EQUALS: "is", TextTest.REGEX: "matches"}
_COMPARISONS = {
    Comparison.EQUALS: "is",
    Comparison.NOT_EQUALS: "is not",
    Comparison.LESS: "is less than",
    Comparison.AT_MOST: "is at most",
    Comparison.AT_LEAST: "is at least",
    Comparison.MORE: "is more than",
}


def _holds(
    check: Check, evidence: Evidence, *, values: Mapping[str, Value], inputs: Mapping[str, InputSpec]
) -> bool:
    match check:
        case ExitCode():
            if evidence.exit_code is None:
                raise UnevaluableError("it is not known")
            return evidence.exit_code in check.any_of
        case Output():
            return _text_holds(check, evidence, values=values, inputs=inputs)
        case JsonValue():
            if evidence.cut:
                raise UnevaluableError("the output was cut off")
            try:
                found = jsonpath.find(evidence.stdout, check.path)
            except jsonpath.PathError as error:
                raise UnevaluableError(str(error)) from error
            return compare(found, check.compare, _wanted(check.value, values=values, inputs=inputs))
        case _:
            path = _bound(check.path, values=values, inputs=inputs)
            if path not in evidence.files:
                raise UnevaluableError("nobody looked")
            return evidence.files[path]


def _text_holds(
    check: Output, evidence: Evidence, *, values: Mapping[str, Value], inputs: Mapping[str, InputSpec]
) -> bool:
    found = evidence.stdout if check.stream is Stream.STDOUT else evidence.stderr
    wanted = _bound(check.text, values=values, inputs=inputs, as_pattern=check.test is TextTest.REGEX)
    if check.test is TextTest.CONTAINS and (wanted in found or not evidence.cut):
        return wanted in found
    if evidence.cut:
        raise UnevaluableError("the output was cut off")
    if check.test is TextTest.EQUALS:
        return found.strip() == wanted.strip()
    # Bytes that were no UTF-8 came in as lone surrogates, which RE2 does not take.
    return pattern(wanted).search(found.encode("utf-8", "replace").decode()) is not None


def _bound(
    template: str,
    *,
    values: Mapping[str, Value],
    inputs: Mapping[str, InputSpec],
    as_pattern: bool = False,
) -> str:
    bound = bind_text(template, values, inputs=inputs, write=escaped if as_pattern else str)
    if isinstance(bound, Unbound):
        raise UnevaluableError(f"no usable value for {', '.join((*bound.missing, *bound.unfit))}")
    return bound.text


def _wanted(value: Scalar, *, values: Mapping[str, Value], inputs: Mapping[str, InputSpec]) -> Scalar:
    """Return what a JSON value is compared with; a placeholder alone keeps the type of its input."""
    if not isinstance(value, str):
        return value
    text = _bound(value, values=values, inputs=inputs)
    alone = PLACEHOLDER.fullmatch(value.strip())
    kind = inputs[alone[1]].type if alone else InputType.STRING
    if kind is InputType.INTEGER:
        return int(text)
    return text == "true" if kind is InputType.BOOLEAN else text


# ---------------------------------------------------------------- what is wrong with one


def fault_of(check: Check) -> tuple[str, str] | None:
    """Return what is wrong with a check and how to mend it, None where it can be evaluated."""
    match check:
        case ExitCode() if not check.any_of or not all(0 <= code <= _MAX_EXIT for code in check.any_of):
            return "names no exit code.", "Use numbers from 0 to 255."
        case Output() if check.test is TextTest.REGEX:
            try:
                pattern(PLACEHOLDER.sub("x", check.text))
            except PatternError:
                return (
                    "is no pattern that can be searched for in linear time.",
                    "Use the syntax of RE2: no look-around, no back-references.",
                )
        case JsonValue():
            return _json_fault(check)
        case FileExists() if not check.path.startswith(("/", "{{")):
            return "names no file.", "Give its whole path, from / on."
        case _:
            pass
    return None


_MAX_EXIT = 255


def _json_fault(check: JsonValue) -> tuple[str, str] | None:
    try:
        jsonpath.parts(check.path)
    except jsonpath.PathError as error:
        return str(error) + ".", 'Write names and indices: .items[0].status or .a["b c"].'
    numeric = check.compare not in {Comparison.EQUALS, Comparison.NOT_EQUALS}
    placeholder = isinstance(check.value, str) and PLACEHOLDER.fullmatch(check.value.strip())
    if numeric and not placeholder:
        try:
            number(check.value)
        except UnevaluableError:
            return "compares with something that is no number.", "Write a number, without quotes."
    return None
