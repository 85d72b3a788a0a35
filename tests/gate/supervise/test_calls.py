"""Runbooks that call others: what is wrong with a call, and what a caller comes to."""

from dataclasses import replace
from typing import Any

import pytest

from gate.supervise import calls
from gate.supervise.calls import expand
from gate.supervise.document import problems
from gate.supervise.domain import (
    Branch,
    Call,
    Capture,
    Comparison,
    Condition,
    ExitCode,
    FileExists,
    InputSpec,
    InputType,
    JsonValue,
    Output,
    Retry,
    RunbookId,
    RunbookSpec,
    StepId,
    Stream,
    TextTest,
)
from tests.gate.supervise.runs import begun, book, did, envelope, step, text

VMID = text("vmid", type="integer", required=False)
FREE = book(
    step(
        "pick",
        "pvesh get /cluster/nextid --from {{ inputs.lowest }}",
        capture=Capture(input="vmid", type=InputType.INTEGER),
    ),
    step(
        "look",
        "pct status {{ inputs.vmid }}",
        kind="check",
        expect=(ExitCode(any_of=(2,)),),
        next="end:success",
    ),
    name="free",
    inputs=(text("lowest", type="integer"), VMID),
    result="vmid",
)


def call(name: str = "free", **inputs: str) -> Call:
    return Call(runbook=RunbookId(name), inputs=inputs)


def captures(name: str, kind: str = "integer") -> Capture:
    return Capture(input=name, type=InputType(kind))


MINE = text("mine", type="integer", required=False)
LOWEST = text("lowest", type="integer", default="100")
CALLER = book(
    step("find", call=call(lowest="{{ inputs.lowest }}"), capture=captures("mine")),
    step("make", "pct create {{ inputs.mine }}", risk="mutating", retry=Retry(max=1, target=StepId("find"))),
    name="caller",
    inputs=(MINE, LOWEST),
)
SHELF = {one.id: one for one in (FREE, CALLER)}


def test_a_call_is_laid_open_in_its_place() -> None:
    made = expand(CALLER, catalogue=SHELF)
    assert problems(CALLER, catalogue=SHELF) == ()
    assert [one.id for one in made.steps] == ["find/pick", "find/look", "make"]
    pick, look, make = made.steps
    assert pick.command == "pvesh get /cluster/nextid --from {{ inputs.lowest }}"
    assert (pick.next, pick.on_fail) == ("find/look", "end:failure")
    assert pick.capture == captures("mine")
    assert (look.command, look.next) == ("pct status {{ inputs.mine }}", "make")
    assert make.retry == Retry(max=1, target=StepId("find/pick"))
    assert make.next == "end:success"
    assert made.digest == CALLER.digest
    assert problems(made, catalogue={}) == ()


def test_it_runs_as_one_run() -> None:
    made = expand(CALLER, catalogue=SHELF)
    state = begun(envelope(*made.steps, inputs=tuple(made.inputs.values())))
    state = did(state, stdout="104\n")
    state = did(state, exit_code=2)
    assert (state.current, state.inputs["mine"]) == ("make", "104")


def test_a_runbook_without_calls_is_itself() -> None:
    assert expand(FREE, catalogue={}) is FREE


def test_values_become_inputs_that_nobody_is_asked_for() -> None:
    spec = replace(
        CALLER,
        steps=(step("find-it", call=call(lowest="200")), step("more")),
        inputs={"find_it__lowest": LOWEST},
    )
    made = expand(spec, catalogue=SHELF)
    own = made.inputs["find_it__lowest_2"]
    assert (own.default, own.internal, own.required) == ("200", True, False)
    assert made.steps[0].command == "pvesh get /cluster/nextid --from {{ inputs.find_it__lowest_2 }}"
    assert made.inputs["find_it__vmid"].internal
    numbered = expand(replace(spec, steps=(step("1st", call=call(lowest="200")),)), catalogue=SHELF)
    assert "_1st__lowest" in numbered.inputs


RICH = book(
    step(
        "a",
        "x {{ inputs.p }}",
        title="look at {{ inputs.p }}",
        preview="y {{ inputs.p }}",
        expect=(
            Output(stream=Stream.STDOUT, test=TextTest.CONTAINS, text="{{ inputs.p }}"),
            FileExists(path="/srv/{{ inputs.p }}"),
            JsonValue(path=".a", compare=Comparison.EQUALS, value="{{ inputs.p }}"),
            JsonValue(path=".a", compare=Comparison.EQUALS, value=1),
            ExitCode(any_of=(0,)),
        ),
        on_fail="say",
        rollback="none",
    ),
    step("b", target="db1", retry=Retry(max=2, target=StepId("a"))),
    step(
        "c",
        kind="decision",
        branches=(
            Branch(when=Condition(input="p", compare=Comparison.EQUALS, value="x"), next="end:failure"),
            Branch(when=None, next="d"),
        ),
    ),
    step("d", kind="wait", duration_s=1),
    step("e", kind="approval", next="end:escalate"),
    step("say", kind="note", next="w"),
    step("w", kind="wait", duration_s=1, retry=Retry(max=1, target=StepId("b")), on_fail="end:failure"),
    name="rich",
    inputs=(text("p"),),
)


def test_everything_in_what_is_called_is_the_callers() -> None:
    spec = book(
        step(
            "go",
            call=call("rich", p="{{ inputs.q }}"),
            target="web1",
            on_fail="mend",
            rollback="undo",
            next="last",
        ),
        step("last", next="end:success"),
        step("mend", next="end:failure"),
        step("undo", next="end:rollback"),
        inputs=(text("q"),),
    )
    shelf = {"rich": RICH}
    assert problems(spec, catalogue=shelf) == ()
    by_id = {one.id: one for one in expand(spec, catalogue=shelf).steps}
    a, b, c = by_id[StepId("go/a")], by_id[StepId("go/b")], by_id[StepId("go/c")]
    assert (a.title, a.command, a.preview) == (
        "look at {{ inputs.q }}",
        "x {{ inputs.q }}",
        "y {{ inputs.q }}",
    )
    assert [getattr(one, "text", getattr(one, "path", "")) for one in a.expect[:2]] == [
        "{{ inputs.q }}",
        "/srv/{{ inputs.q }}",
    ]
    assert [one.value for one in a.expect if isinstance(one, JsonValue)] == ["{{ inputs.q }}", 1]
    assert (a.target, b.target) == ("web1", "db1")
    assert (a.on_fail, a.rollback) == ("go/say", "undo")
    assert (b.on_fail, b.retry) == ("", Retry(max=2, target=StepId("go/a")))
    assert [one.next for one in c.branches] == ["mend", "go/d"]
    assert c.branches[0].when == Condition(input="q", compare=Comparison.EQUALS, value="x")
    assert (c.on_fail, c.next) == ("mend", "")
    assert by_id[StepId("go/d")].next == "go/e"
    assert by_id[StepId("go/e")].next == "end:escalate"
    waits = by_id[StepId("go/w")]
    assert (waits.on_fail, waits.next) == ("mend", "")
    assert by_id[StepId("last")].next == "end:success"
    # What is called here never ends well, so that nothing leads to what would follow.
    assert [one.step for one in problems(expand(spec, catalogue=shelf), catalogue={})] == ["last"]


def test_where_the_caller_says_nothing_a_failure_is_one() -> None:
    spec = book(step("go", call=call("rich", p="x")))
    steps = expand(spec, catalogue={"rich": RICH}).steps
    assert [one.next for one in steps[2].branches] == ["end:failure", "go/d"]


def test_calls_of_calls_are_laid_open_too() -> None:
    outer = book(
        step("first", call=call("caller"), next="wait"),
        step("wait", kind="wait", duration_s=1, retry=Retry(max=1, target=StepId("first"))),
        name="outer",
    )
    made = expand(outer, catalogue=SHELF)
    assert [one.id for one in made.steps] == ["first/find/pick", "first/find/look", "first/make", "wait"]
    assert made.steps[3].retry == Retry(max=1, target=StepId("first/find/pick"))
    assert made.steps[3].next == ""
    assert made.inputs["first__lowest"].default == "100"
    assert problems(made, catalogue={}) == ()


# ---------------------------------------------------------------- what is wrong


def found(spec: RunbookSpec, **shelf: RunbookSpec) -> list[tuple[str, str]]:
    made = list(calls.problems(spec, catalogue={**SHELF, **shelf}, most=50))
    assert all(one.what.endswith(".") and one.mend.endswith(".") for one in made), made
    return [(one.step, one.field) for one in made]


def calling(made: Call, *inputs: Any, **fields: Any) -> RunbookSpec:
    return book(step("a", call=made, **fields), inputs=(LOWEST, MINE, *inputs))


WRONG = {
    "nothing": (calling(call("ghost")), "call"),
    "itself": (calling(call("book")), "call"),
    "an input it has not": (calling(call(lowest="1", ghost="1")), "with.ghost"),
    "too little": (calling(call()), "with.lowest"),
    "another type": (calling(call(lowest="{{ inputs.s }}"), text("s")), "with.lowest"),
    "a secret for what is shown": (
        calling(call(lowest="{{ inputs.s }}"), text("s", type="integer", secret=True)),
        "with.lowest",
    ),
    "an input there is not": (calling(call(lowest="{{ inputs.ghost }}")), "with.lowest"),
    "words and an input": (calling(call(lowest="1{{ inputs.lowest }}")), "with.lowest"),
    "words that do not fit": (calling(call(lowest="x")), "with.lowest"),
    "a result of another type": (
        calling(call(lowest="1"), text("s"), capture=captures("s", "string")),
        "capture.type",
    ),
    "a result into a secret": (
        calling(call(lowest="1"), text("s", type="integer", secret=True), capture=captures("s")),
        "capture.input",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_call_is_wrong(name: str) -> None:
    spec, field = WRONG[name]
    assert found(spec, book=spec) == [("a", field)]


def test_a_call_that_gives_no_result() -> None:
    mute = replace(FREE, id=RunbookId("mute"), result="")
    assert found(calling(call("mute", lowest="1"), capture=captures("mine")), mute=mute) == [("a", "capture")]


def test_a_call_beyond_the_capabilities() -> None:
    strong = replace(FREE, id=RunbookId("strong"), capabilities=("run", "bash"))
    assert found(calling(call("strong", lowest="1")), strong=strong) == [("a", "call")]


def test_a_result_that_is_captured_into_nothing_is_told_once() -> None:
    spec = calling(call(lowest="1"), capture=captures("ghost"))
    assert found(spec) == []
    assert [(one.step, one.field) for one in problems(spec, catalogue=SHELF)] == [("a", "capture.input")]


def test_circles_of_calls_are_found_wherever_they_close() -> None:
    left = book(step("l", call=call("right")), name="left")
    right = book(step("r", call=call("left")), name="right")
    outside = book(step("o", call=call("left")), step("p", call=call("caller")), name="outside")
    assert found(left, left=left, right=right) == [("l", "call")]
    assert found(outside, left=left, right=right, outside=outside) == [("o", "call")]


def test_what_is_called_twice_is_no_circle() -> None:
    twice = book(step("x", call=call("caller")), step("y", call=call("caller")), name="twice")
    over = book(step("z", call=call("twice")), step("q", call=call("ghostly")), name="over")
    ghostly = book(step("g", call=call("ghost")), name="ghostly")
    assert found(over, twice=twice, ghostly=ghostly) == []


def test_calls_that_come_to_too_much() -> None:
    shelf = {"b0": book(*(step(f"s{n}") for n in range(20)), name="b0")}
    for n in range(1, 4):
        shelf[f"b{n}"] = book(
            step("x", call=call(f"b{n - 1}")), step("y", call=call(f"b{n - 1}")), name=f"b{n}"
        )
    assert found(shelf["b3"], **shelf) == [("x", "call"), ("y", "call")]
    assert found(shelf["b2"], **shelf) == [("y", "call")]
    assert found(shelf["b1"], **shelf) == []


WORD = text("word", enum=("status", "reload"))
PORT = text("port", type="integer", minimum=1024, maximum=2000)
NARROW = book(step("n", "serve {{ inputs.word }} {{ inputs.port }}"), name="narrow", inputs=(WORD, PORT))


@pytest.mark.parametrize(
    ("word", "port", "wrong"),
    [
        (text("w"), text("p", type="integer", enum=("1024", "2000")), ["with.word"]),
        (text("w", enum=("status", "stop")), PORT, ["with.word"]),
        (text("w", enum=("reload",)), text("p", type="integer"), ["with.port"]),
        (text("w", enum=("reload",)), text("p", type="integer", minimum=1024), ["with.port"]),
        (text("w", enum=("reload",)), text("p", type="integer", minimum=1024, maximum=1024), []),
        (text("w", enum=("reload",)), text("p", type="integer", enum=("80",)), ["with.port"]),
    ],
)
def test_an_input_is_handed_over_only_where_all_that_it_may_be_is_taken_there(
    word: InputSpec, port: InputSpec, wrong: list[str]
) -> None:
    given = call("narrow", word=f"{{{{ inputs.{word.name} }}}}", port=f"{{{{ inputs.{port.name} }}}}")
    spec = calling(given, word, port)
    assert found(spec, narrow=NARROW) == [("a", field) for field in wrong]


def test_a_result_goes_only_where_no_more_is_taken() -> None:
    bounded = replace(FREE, inputs={**FREE.inputs, "vmid": replace(VMID, minimum=100)})
    spec = calling(call("bounded", lowest="1"), capture=captures("mine"))
    assert found(spec, bounded=bounded) == [("a", "capture.input")]
    assert (
        found(replace(spec, inputs={**spec.inputs, "mine": replace(MINE, minimum=200)}), bounded=bounded)
        == []
    )
