"""What follows what: routes, retries, waits, decisions, ends (R5, R16, R20 to R22)."""

from typing import Any

import pytest

from gate.errors import TransitionError
from gate.lifecycle import RunStatus
from gate.supervise import course, run
from gate.supervise.domain import (
    Branch,
    Capture,
    Comparison,
    Condition,
    ExitCode,
    InputType,
    Limits,
    Outcome,
    Output,
    Retry,
    StepId,
    Stream,
    Terminal,
    TextTest,
)
from gate.supervise.errors import SelfApprovalError, StaleEvidenceError
from gate.supervise.events import EndCause, Ended, Entered, Judged, Via, WaitBegan, WaitEnded
from gate.supervise.expect import Ending
from gate.supervise.state import Moved, RunState
from tests.gate.supervise.runs import (
    ANA,
    BOT,
    NOW,
    after,
    asked,
    begun,
    came,
    did,
    ending,
    envelope,
    let_go,
    step,
    text,
    yes,
)


def retry(most: int, target: str) -> Retry:
    return Retry(max=most, target=StepId(target))


def end_of(state: RunState) -> tuple[Outcome, EndCause, Terminal | None]:
    assert state.ended is not None
    return state.ended.outcome, state.ended.cause, state.ended.terminal


def test_what_passed_goes_on_and_ends_well() -> None:
    state = did(begun(envelope(step("a"), step("b"))))
    assert (state.current, state.number) == ("b", 2)
    assert end_of(did(state)) == (Outcome.COMPLETED, EndCause.TERMINAL, Terminal.SUCCESS)


@pytest.mark.parametrize(
    ("lead", "outcome"),
    [
        ("", Outcome.FAILED),
        ("end:failure", Outcome.FAILED),
        ("end:escalate", Outcome.ESCALATED),
        ("end:rollback", Outcome.ABORTED),
        ("end:success", Outcome.COMPLETED),
    ],
)
def test_what_failed_goes_where_the_document_says(lead: str, outcome: Outcome) -> None:
    state = did(begun(envelope(step("a", on_fail=lead))), exit_code=1)
    assert state.outcome is outcome
    assert end_of(state)[1] is EndCause.TERMINAL


def test_what_failed_goes_to_another_step() -> None:
    made = envelope(step("a", on_fail="mend", next="end:success"), step("mend", next="end:failure"))
    moved = ending(let_go(begun(made)), exit_code=1)
    judged, entered = moved.events
    assert isinstance(judged, Judged)
    assert (judged.passed, judged.exit_code, judged.why) == (False, 1, "expected exit code 0, got 1")
    assert isinstance(entered, Entered)
    assert (entered.step, entered.via, entered.edge) == ("mend", Via.ON_FAIL, None)


def test_retries_are_counted_and_then_a_person_looks() -> None:
    state = begun(envelope(step("a", retry=retry(2, "a"))))
    for attempt in (1, 2, 3):
        assert (state.current, state.entered(StepId("a")), state.retried(StepId("a"))) == (
            "a",
            attempt,
            attempt - 1,
        )
        state = did(state, exit_code=1)
    assert end_of(state) == (Outcome.ESCALATED, EndCause.BUDGET, Terminal.ESCALATE)
    assert state.ended is not None
    assert state.ended.why == "all 2 retries of a are spent"


def test_spent_retries_go_to_on_fail() -> None:
    state = begun(envelope(step("a", retry=retry(1, "a"), on_fail="end:rollback")))
    state = did(did(state, exit_code=1), exit_code=1)
    assert end_of(state) == (Outcome.ABORTED, EndCause.TERMINAL, Terminal.ROLLBACK)


def test_on_fail_that_is_the_retry_itself_is_no_way_out() -> None:
    state = begun(envelope(step("a"), step("b", retry=retry(1, "a"), on_fail="a")))
    state = did(did(state), exit_code=1)
    assert (state.current, state.retried(StepId("b"))) == ("a", 1)
    assert end_of(did(did(state), exit_code=1))[:2] == (Outcome.ESCALATED, EndCause.BUDGET)


def test_a_retry_that_helps_is_over() -> None:
    state = did(begun(envelope(step("a", retry=retry(1, "a")))), exit_code=1)
    assert did(state).outcome is Outcome.COMPLETED


def test_entries_into_a_step_are_counted_before() -> None:
    made = envelope(step("a", retry=retry(5, "a"), on_fail="b"), step("b"), limits=Limits(entries=2))
    state = did(did(begun(made), exit_code=1), exit_code=1)
    assert state.current == "b"


def test_all_entries_are_counted_before() -> None:
    made = envelope(step("a"), step("b"), step("c"), limits=Limits(steps=2))
    state = did(did(begun(made)))
    assert end_of(state) == (Outcome.ESCALATED, EndCause.BUDGET, Terminal.ESCALATE)
    assert state.ended is not None
    assert state.ended.why == "2 steps were entered in all"


def test_a_spent_budget_leads_to_on_fail_where_that_is_an_end() -> None:
    made = envelope(step("a", on_fail="end:failure"), step("b"), limits=Limits(steps=1))
    assert end_of(did(begun(made))) == (Outcome.FAILED, EndCause.TERMINAL, Terminal.FAILURE)


def test_time_is_counted_before() -> None:
    made = envelope(step("a"), step("b"), limits=Limits(wall_clock_s=60))
    state = let_go(begun(made))
    assert came(state, now=after(60)).current == "b"
    assert end_of(came(state, now=after(61)))[1] is EndCause.BUDGET


# ---------------------------------------------------------------- what came


def test_what_is_expected_is_judged_here() -> None:
    made = envelope(step("a", expect=(Output(stream=Stream.STDOUT, test=TextTest.EQUALS, text="active"),)))
    assert did(begun(made), stdout="active\n").outcome is Outcome.COMPLETED
    assert did(begun(made), stdout="inactive\n").outcome is Outcome.FAILED
    other = envelope(step("a", expect=(ExitCode(any_of=(3,)),)))
    assert did(begun(other), exit_code=3).outcome is Outcome.COMPLETED


@pytest.mark.parametrize("how", [Ending.TIMED_OUT, Ending.NOT_RUN])
def test_what_did_not_end_by_itself_is_tried_again(how: Ending) -> None:
    state = did(begun(envelope(step("a", retry=retry(1, "a")))), ending=how, exit_code=None)
    assert state.number == 2


def test_what_nobody_knows_the_end_of_is_for_a_person() -> None:
    made = envelope(step("a", retry=retry(5, "a"), on_fail="end:success"))
    moved = ending(let_go(begun(made)), ending=Ending.LOST, exit_code=None)
    assert [type(one) for one in moved.events] == [Judged, Ended]
    assert end_of(moved.state) == (Outcome.ESCALATED, EndCause.LOST, None)


@pytest.mark.parametrize("fields", [{"number": 2}, {"step": StepId("b")}])
def test_evidence_of_another_entry_changes_nothing(fields: dict[str, Any]) -> None:
    state = let_go(begun(envelope(step("a"), step("b"))))
    with pytest.raises(StaleEvidenceError):
        ending(state, **fields)


def test_evidence_counts_once_and_only_of_what_was_let_go() -> None:
    state = begun(envelope(step("a", retry=retry(1, "a"), risk="mutating")))
    for early in (state, asked(state), yes(asked(state))):
        with pytest.raises(StaleEvidenceError):
            ending(early)
    over = came(let_go(yes(asked(state))))
    assert over.ended is not None
    assert over.current is None


@pytest.mark.parametrize(
    ("stdout", "cut", "value"),
    [
        (" 104\n", False, "104"),
        ("4194304", False, "4194304"),
        ("4194305", False, None),
        ("none\n", False, None),
        ("104\n105\n", False, None),
        ("104", True, None),
        ("5", False, None),
        ("", False, None),
    ],
)
def test_what_is_captured_is_of_its_type_or_the_step_failed(
    stdout: str, value: str | None, *, cut: bool
) -> None:
    made = envelope(
        step("a", capture=Capture(input="id", type=InputType.INTEGER)),
        inputs=(text("id", type="integer", required=False, minimum=100, maximum=4_194_304),),
    )
    moved = ending(let_go(begun(made)), stdout=stdout, cut=cut)
    judged = moved.events[0]
    assert isinstance(judged, Judged)
    assert judged.captured == (None if value is None else ("id", value))
    assert judged.passed is (value is not None)
    assert moved.state.inputs.get("id") == value
    if value is None:
        assert judged.why == "what it wrote is no integer for id"


def test_nothing_is_captured_from_what_failed() -> None:
    made = envelope(
        step("a", capture=Capture(input="id", type=InputType.INTEGER)), inputs=(text("id", required=False),)
    )
    assert did(begun(made), stdout="104", exit_code=1).inputs == {}


# ---------------------------------------------------------------- steps that run nothing


def decision(*branches: tuple[str, str, str | int, str], other: str = "end:failure", **fields: Any) -> Any:
    made = tuple(
        Branch(when=Condition(input=name, compare=Comparison(how), value=value), next=lead)
        for name, how, value, lead in branches
    )
    return step("d", kind="decision", branches=(*made, Branch(when=None, next=other)), **fields)


NUMBER, WORD = text("n", type="integer", required=False), text("w", required=False)


@pytest.mark.parametrize(
    ("branch", "inputs", "outcome"),
    [
        (("n", "more", 5, "end:success"), {"n": "10"}, Outcome.COMPLETED),
        (("n", "more", 5, "end:success"), {"n": 5}, Outcome.FAILED),
        (("n", "equals", "07", "end:success"), {"n": "7"}, Outcome.COMPLETED),
        (("w", "equals", "yes", "end:success"), {"w": "yes"}, Outcome.COMPLETED),
        (("w", "not_equals", "yes", "end:success"), {"w": "no"}, Outcome.COMPLETED),
        (("w", "equals", "true", "end:success"), {"w": True}, Outcome.COMPLETED),
        (("w", "equals", "yes", "end:success"), {}, Outcome.ESCALATED),
        (("w", "less", 5, "end:success"), {"w": "yes"}, Outcome.ESCALATED),
    ],
)
def test_decisions(branch: tuple[str, str, str | int, str], inputs: Any, outcome: Outcome) -> None:
    made = envelope(decision(branch, on_fail="end:escalate"), inputs=(NUMBER, WORD))
    assert course.move_on(begun(made, inputs), now=NOW).state.outcome is outcome


def test_a_decision_says_why_and_where() -> None:
    made = envelope(decision(("n", "at_most", 5, "b")), step("b"), inputs=(NUMBER,))
    judged, entered = course.move_on(begun(made, {"n": 3}), now=NOW).events
    assert isinstance(judged, Judged)
    assert (judged.why, judged.branch) == ("n at most 5", "b")
    assert isinstance(entered, Entered)
    assert entered.via is Via.BRANCH
    other = course.move_on(begun(made, {"n": 9}), now=NOW).events[0]
    assert isinstance(other, Judged)
    assert other.why == "nothing else holds"


def test_a_decision_without_an_else_fails() -> None:
    made = envelope(step("d", kind="decision"))
    assert course.move_on(begun(made), now=NOW).state.outcome is Outcome.FAILED


def test_notes_are_passed_and_what_runs_is_not() -> None:
    made = envelope(step("n", kind="note"), step("m", kind="note"), step("a"))
    moved = course.move_on(begun(made), now=NOW)
    assert [type(one) for one in moved.events] == [Judged, Entered, Judged, Entered]
    assert course.move_on(moved.state, now=NOW) == Moved(state=moved.state)


def test_a_wait_lasts_until_its_time() -> None:
    made = envelope(step("w", kind="wait", duration_s=60), step("a"))
    moved = course.move_on(begun(made), now=NOW)
    assert moved.events == (WaitBegan(step=StepId("w"), number=1, until=after(60), at=NOW),)
    assert moved.state.status is RunStatus.WAITING
    assert course.move_on(moved.state, now=after(59)).events == ()
    over = course.move_on(moved.state, now=after(60))
    assert over.events[0] == WaitEnded(step=StepId("w"), number=1, at=after(60))
    assert (over.state.current, over.state.until) == ("a", None)


def test_a_wait_before_another_try_goes_back_and_in_the_end_away() -> None:
    made = envelope(
        step("a", kind="check", on_fail="w", next="end:success"),
        step("w", kind="wait", duration_s=5, retry=retry(2, "a"), on_fail="end:rollback"),
    )
    state, now = begun(made), NOW
    for number in (1, 2, 3):
        state = did(state, now=now, exit_code=3)
        now = after(10 * number)
        state = course.move_on(course.move_on(state, now=now).state, now=after(10 * number + 5)).state
    assert end_of(state)[2] is Terminal.ROLLBACK
    assert state.retried(StepId("w")) == 2


def test_a_person_may_cut_a_wait_short_and_the_agent_may_not() -> None:
    state = course.move_on(begun(envelope(step("w", kind="wait", duration_s=60), step("a"))), now=NOW).state
    with pytest.raises(SelfApprovalError):
        course.cut_short(state, by=BOT, now=NOW)
    moved = course.cut_short(state, by=ANA, now=after(1))
    assert moved.events[0] == WaitEnded(step=StepId("w"), number=1, by=ANA, at=after(1))
    assert moved.state.current == "a"
    with pytest.raises(TransitionError):
        course.cut_short(moved.state, by=ANA, now=after(1))


def test_a_wait_is_cancelled_with_its_run() -> None:
    state = course.move_on(begun(envelope(step("w", kind="wait", duration_s=60))), now=NOW).state
    over = run.abort(state, by=ANA, now=NOW).state
    assert end_of(over) == (Outcome.ABORTED, EndCause.ABORTED, None)
    assert course.move_on(over, now=after(60)).events == ()


def test_an_approval_that_is_agreed_to_goes_on() -> None:
    made = envelope(step("ask", kind="approval"), step("a"))
    state = asked(begun(made))
    assert course.move_on(state, now=NOW).events == ()
    moved = course.move_on(yes(state), now=NOW)
    assert (moved.state.current, moved.state.grant) == ("a", None)


def test_nothing_goes_on_where_no_step_is() -> None:
    over = did(begun(envelope(step("a"))))
    with pytest.raises(TransitionError):
        course.go_on(Moved(state=over), now=NOW)
