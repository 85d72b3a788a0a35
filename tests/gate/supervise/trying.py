"""Runbooks of every shape, and everything that may be tried on a run of one, fair or foul."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from hypothesis import strategies as st

from gate.domain import Digest
from gate.errors import GateError, TransitionError
from gate.policy import Posture
from gate.supervise import course, run
from gate.supervise.approval import Decision
from gate.supervise.calls import expand
from gate.supervise.document import problems
from gate.supervise.domain import (
    NO_ROLLBACK,
    Branch,
    Capture,
    Comparison,
    Condition,
    ExitCode,
    InputType,
    Limits,
    Output,
    Retry,
    RunbookSpec,
    StepId,
    StepKind,
    StepRisk,
    StepSpec,
    Stream,
    TextTest,
)
from gate.supervise.envelope import derive
from gate.supervise.events import Consumed, Event
from gate.supervise.expect import Ending, Evidence
from gate.supervise.proposal import Permit, propose
from gate.supervise.state import Moved, RunState
from tests.gate.supervise.runs import ANA, BOT, NOW, RUN, WHO, book, offer, text

INPUTS = (text("host", type="host", default="web1"), text("found", type="integer", required=False))
ENDS = ("end:success", "end:failure", "end:escalate", "end:rollback")
LIMITS = Limits(entries=4, steps=25, asks=3, deviations=3, wall_clock_s=7200, approval_s=600)


@st.composite
def books(draw: st.DrawFn) -> RunbookSpec:
    """Draw a runbook that has nothing wrong, of every kind of step, with retries and rollbacks."""
    count = draw(st.integers(1, 6))
    names = [f"s{number}" for number in range(count)]
    steps = [_step(draw, names, at) for at in range(count)]
    return book(*steps, inputs=INPUTS, limits=LIMITS)


def _step(draw: st.DrawFn, names: Sequence[str], at: int) -> StepSpec:
    onward = [*names[at + 1 :], *ENDS]
    lead = st.sampled_from(onward)
    kind = draw(st.sampled_from([*StepKind, StepKind.ACTION, StepKind.ACTION]))
    made = StepSpec(id=StepId(names[at]), kind=kind, title="a step", next=draw(lead))
    retry = st.builds(
        Retry, max=st.integers(1, 3), target=st.sampled_from([StepId(name) for name in names[: at + 1]])
    )
    match kind:
        case StepKind.ACTION | StepKind.CHECK:
            risk = draw(st.sampled_from(StepRisk)) if kind is StepKind.ACTION else StepRisk.READ_ONLY
            return replace(
                made,
                risk=risk,
                command=draw(st.sampled_from(["true", "ping {{ inputs.host }}", "echo {{ inputs.found }}"])),
                capture=draw(st.sampled_from([None, Capture(input="found", type=InputType.INTEGER)])),
                requires_approval=draw(st.sampled_from([None, True, False])),
                expect=draw(st.sampled_from(EXPECT)),
                rollback=draw(st.sampled_from([NO_ROLLBACK, *names[at + 1 :]]))
                if kind is StepKind.ACTION
                else "",
                on_fail=draw(st.sampled_from(["", *onward])),
                retry=draw(st.none() | retry),
            )
        case StepKind.DECISION:
            when = Condition(input="found", compare=Comparison.MORE, value=3)
            branches = (Branch(when=when, next=draw(lead)), Branch(when=None, next=draw(lead)))
            return replace(made, next="", branches=branches, on_fail=draw(st.sampled_from(["", *onward])))
        case StepKind.WAIT:
            tries = draw(st.none() | retry)
            return replace(
                made,
                duration_s=draw(st.integers(1, 900)),
                retry=tries,
                next="" if tries else made.next,
                on_fail=draw(lead) if tries else "",
            )
        case _:
            return made


EXPECT = [
    (),
    (ExitCode(any_of=(0, 3)),),
    (Output(stream=Stream.STDOUT, test=TextTest.CONTAINS, text="5"),),
]


def usable(spec: RunbookSpec) -> bool:
    """Whether nothing is wrong but that some step is never reached or an input never captured."""
    fields = {one.field for one in problems(spec, catalogue={})}
    return fields <= {"id", "command"}


# ---------------------------------------------------------------- everything that may be tried


class Attempt:
    """A run, and everything that anybody does to it, fair or foul."""

    def __init__(self, spec: RunbookSpec, posture: Posture) -> None:
        self.envelope = derive(expand(spec, catalogue={}), posture=posture)
        begun = run.start(self.envelope, run=RUN, agent=BOT, inputs={}, target="web1", now=NOW)
        assert isinstance(begun, Moved)
        self.state, self.now = begun.state, NOW
        self.events: list[Event] = list(begun.events)
        self.let_go: list[tuple[int, Digest]] = []

    def take(self, state: RunState, events: Sequence[Event]) -> None:
        self.state = state
        self.events += events

    def propose(self, *, asks: bool = False, command: str | None = None, tool: str | None = None) -> None:
        made = offer(self.state, asks=asks)
        if command is not None:
            made = replace(made, command=command)
        if tool is not None:
            made = replace(made, tool=tool)
        ruling = propose(self.state, made, now=self.now)
        if isinstance(ruling, Permit):
            assert made.command == ruling.invocation.command
            used = ruling.events[-1]
            assert isinstance(used, Consumed)
            assert used.request is not None or not asks
            if self.envelope.steps[used.step].tools:  # else nothing runs: a person agrees, and that is all
                self.let_go.append((self.state.number, ruling.invocation.digest))
        self.take(ruling.state, ruling.events)

    def answer(self, who: str, *, agree: bool, request: str = "", reason: str | None = "no") -> None:
        name = request or (self.state.request.id if self.state.request else "none")
        decision = Decision(run=RUN, request_id=name, decided_by=who, reason=reason)
        try:
            if agree:
                grant = run.grant(self.state, decision, identities=WHO, now=self.now)
                moved = run.apply_grant(self.state, grant, now=self.now)
            else:
                moved = run.refuse(self.state, decision, identities=WHO, now=self.now)
        except GateError:
            return
        assert who not in {"helper", "agent-7", "Agent-7 ", "deploybot", "nobody"}
        self.take(moved.state, moved.events)

    def come(self, code: int | None, out: str, how: Ending, *, off: int = 0) -> None:
        here = self.state.current or StepId("s0")
        evidence = Evidence(step=here, number=self.state.number - off, ending=how, exit_code=code, stdout=out)
        try:
            moved = course.advance(self.state, evidence, now=self.now)
        except GateError:
            return
        assert off == 0
        self.take(moved.state, moved.events)

    def other(self, what: str) -> None:
        try:
            match what:
                case "move on":
                    moved = course.move_on(self.state, now=self.now)
                case "cut short":
                    moved = course.cut_short(self.state, by=ANA, now=self.now)
                case "take back":
                    moved = run.take_back(self.state, why="it did not start in time", now=self.now)
                case "expire":
                    moved = run.expire(self.state, now=self.now)
                case _:
                    moved = run.abort(self.state, by=ANA, now=self.now)
        except TransitionError:
            return
        self.take(moved.state, moved.events)


Deed = tuple[str, object]
DEEDS = st.one_of(
    st.tuples(st.just("propose"), st.booleans()),
    st.tuples(st.just("propose"), st.booleans()),
    st.tuples(st.just("foul"), st.sampled_from(["rm -rf /", "tool"])),
    st.tuples(
        st.just("answer"), st.sampled_from(["ana", "ana", "kim", "helper", "Agent-7 ", "deploybot", "nobody"])
    ),
    st.tuples(st.just("refuse"), st.sampled_from(["kim", "agent-7"])),
    st.tuples(st.just("come"), st.sampled_from([0, 0, 0, 1, 3, None])),
    st.tuples(st.just("come"), st.sampled_from([0, 0, 1])),
    st.tuples(st.just("late"), st.just(0)),
    st.tuples(st.just("lose"), st.just(0)),
    st.tuples(st.just("pass"), st.integers(0, 1200)),
    st.tuples(st.just("other"), st.sampled_from(["move on", "move on", "cut short", "take back", "expire"])),
)


def do(attempt: Attempt, deed: Deed) -> None:
    """Do one thing, fair or foul."""
    match deed:
        case "propose", bool(asks):
            attempt.propose(asks=asks)
        case "foul", str(what):
            attempt.propose(tool="other") if what == "tool" else attempt.propose(command=what)
        case ("answer" | "refuse") as which, str(who):
            attempt.answer(who, agree=which == "answer")
        case "come", (int() | None) as code:
            attempt.come(code, "5", Ending.EXITED)
        case "late", _:
            attempt.come(0, "5", Ending.EXITED, off=1)
        case "lose", _:
            attempt.come(None, "", Ending.LOST)
        case "pass", int(seconds):
            attempt.now += timedelta(seconds=seconds)
        case _, what:
            attempt.other(str(what))
