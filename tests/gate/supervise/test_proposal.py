"""Proposing: permit, require approval, block; blocks are recorded, and the third ends the run (R6, R19)."""

from dataclasses import replace
from typing import Any

import pytest

from gate.domain import Digest
from gate.lifecycle import RunStatus
from gate.supervise import course, run
from gate.supervise.domain import Branch, Capture, InputType, Limits, Outcome, Retry, StepId
from gate.supervise.events import Consumed, Deviated, EndCause, Ended, Judged, Proposed
from gate.supervise.proposal import Block, Permit, RequireApproval, propose, request_approval
from gate.supervise.state import RunState, fresh
from tests.gate.supervise.runs import (
    BOT,
    NOW,
    RUN,
    after,
    asked,
    begun,
    came,
    did,
    envelope,
    let_go,
    offer,
    step,
    text,
    yes,
)

LOOK = envelope(step("look", "df {{ inputs.path }}"), inputs=(text("path", type="path"),))
CHANGE = envelope(
    step("change", "mv {{ inputs.path }} {{inputs.token}}", risk="mutating", rollback="undo"),
    step("end", next="end:success"),
    step("undo", rollback="none", next="end:rollback"),
    inputs=(text("path", type="path"), text("token", secret=True)),
)
VALUES = {"path": "/srv", "token": "hunter2"}


def blocked(state: RunState, **fields: Any) -> Block:
    ruling = propose(state, offer(state, **fields), now=NOW)
    assert isinstance(ruling, Block), ruling
    return ruling


def test_what_needs_nobody_is_let_go_once() -> None:
    state = begun(LOOK, {"path": "/srv"})
    ruling = propose(state, offer(state, proposal="k7f3a2"), now=NOW)
    assert isinstance(ruling, Permit)
    assert ruling.invocation.command == "df /srv"
    proposed, used = ruling.events
    assert isinstance(proposed, Proposed)
    assert (proposed.proposal, proposed.request) == ("k7f3a2", None)
    assert isinstance(used, Consumed)
    assert used.request is None
    assert blocked(ruling.state).reason == "this step runs already"


def test_what_the_gate_asks_about_is_asked_about_whatever_the_runbook_says() -> None:
    state = asked(begun(LOOK, {"path": "/srv"}), asks=True)
    assert state.status is RunStatus.AWAITING_APPROVAL
    assert isinstance(propose(yes(state), offer(yes(state)), now=NOW), Permit)


def test_what_is_asked() -> None:
    state = begun(CHANGE, VALUES)
    before = request_approval(state, now=NOW)
    ruling = propose(state, offer(state), now=NOW)
    assert isinstance(ruling, RequireApproval)
    request = ruling.request
    assert request == before == request_approval(ruling.state, now=after(5))
    assert request.id == f"change@{int(NOW.timestamp())}"
    assert request.command == "mv /srv ***"
    assert (request.title, request.risk, request.target) == ("do change", "mutating", "web1")
    assert (request.capabilities, request.rollback_to, request.expires_in_s) == (("run",), "undo", 900)
    assert ruling.events == (
        Proposed(
            step=StepId("change"),
            number=1,
            command="mv /srv ***",
            command_digest=request.command_digest,
            request=request,
            at=NOW,
        ),
    )


def test_nobody_is_asked_about_what_needs_nobody() -> None:
    assert request_approval(begun(LOOK, {"path": "/srv"}), now=NOW) is None
    assert request_approval(fresh(RUN, CHANGE), now=NOW) is None
    late = envelope(step("a", "x {{ inputs.l }}", risk="mutating"), inputs=(text("l", required=False),))
    assert request_approval(begun(late), now=NOW) is None


def test_an_open_question_is_asked_once() -> None:
    state = asked(begun(CHANGE, VALUES))
    again = propose(state, offer(state), now=after(900))
    assert again == RequireApproval(request=state.request, state=state)  # type: ignore[arg-type] # it is asked


def test_a_question_that_nobody_answered_ends_the_run() -> None:
    state = asked(begun(CHANGE, VALUES))
    ruling = propose(state, offer(state), now=after(901))
    assert isinstance(ruling, Block)
    assert ruling.state.ended is not None
    assert (ruling.state.ended.cause, ruling.state.refusal) == (EndCause.EXPIRED, None)


def test_a_grant_is_used_up() -> None:
    granted = yes(asked(begun(CHANGE, VALUES)))
    ruling = propose(granted, offer(granted), now=NOW)
    assert isinstance(ruling, Permit)
    assert ruling.invocation.command == "mv /srv hunter2"
    assert (ruling.state.grant, ruling.state.request) == (None, None)
    assert isinstance(propose(ruling.state, offer(ruling.state), now=NOW), Block)


def test_entering_a_step_again_asks_again() -> None:
    made = envelope(
        step("a", risk="mutating", next="w"),
        step("w", kind="wait", duration_s=5, retry=Retry(max=3, target=StepId("a"))),
    )
    state = course.move_on(did(begun(made)), now=NOW).state
    state = course.move_on(state, now=after(5)).state
    assert (state.current, state.number, state.grant) == ("a", 3, None)
    again = asked(state)
    assert again.request is not None
    assert again.request.id == f"a@{int(NOW.timestamp())}.3"


def test_two_questions_of_one_run_never_have_one_name() -> None:
    made = envelope(step("a", risk="mutating", retry=Retry(max=2, target=StepId("a"))))
    state, names = begun(made), []
    for _ in range(3):
        for _ in range(3):
            state = asked(state)
            assert state.request is not None
            names.append(state.request.id)
            state = run.take_back(state, why="it did not start in time", now=NOW).state
        state = came(let_go(yes(asked(state))), exit_code=1)
    assert len(set(names)) == 9
    named = asked(begun(made), request_id="k7f3a2.1/a")
    assert named.request is not None
    assert named.request.id == "k7f3a2.1/a"


OUTSIDE = [
    ({"tool": "bash"}, "the tool is outside the scope of this step"),
    ({"target": "web2"}, "the target is not the one of this step"),
    ({"command": "df /srv; id"}, "the command is not the one of this step"),
    ({"command": None}, "the command is not the one of this step"),
    ({"digest": Digest("other")}, "the runbook changed since the run began"),
]


@pytest.mark.parametrize(("fields", "reason"), OUTSIDE)
def test_what_is_outside_is_blocked_and_recorded(fields: dict[str, Any], reason: str) -> None:
    state = begun(LOOK, {"path": "/srv"})
    ruling = blocked(state, **fields)
    (event,) = ruling.events
    assert isinstance(event, Deviated)
    assert (event.reason, event.step, event.number, event.scope, event.by) == (
        reason,
        "look",
        1,
        ("run",),
        BOT,
    )
    assert ruling.state == replace(state, deviations=1)


def test_the_masked_command_is_never_let_go() -> None:
    granted = yes(asked(begun(CHANGE, VALUES)))
    assert blocked(granted, command="mv /srv ***").state.grant is not None


def test_the_third_deviation_ends_the_run() -> None:
    state = begun(LOOK, {"path": "/srv"})
    for _ in range(2):
        state = blocked(state, tool="bash").state
    ruling = blocked(state, tool="bash")
    assert [type(event) for event in ruling.events] == [Deviated, Ended]
    assert ruling.state.outcome is Outcome.ESCALATED
    last = blocked(ruling.state, tool="bash")
    assert [type(event) for event in last.events] == [Deviated]
    assert (last.reason, last.state.deviations) == ("the run is over", 4)


def test_nothing_is_let_go_before_the_run_begins() -> None:
    state = fresh(RUN, LOOK)
    for _ in range(4):
        ruling = blocked(state)
        assert ruling.reason == "the run has not begun"
        state = ruling.state


@pytest.mark.parametrize(
    ("kind", "fields", "reason"),
    [
        ("note", {}, "this step runs nothing"),
        ("decision", {"branches": (Branch(when=None, next="end:success"),)}, "this step runs nothing"),
        ("wait", {"duration_s": 5}, "this step runs nothing"),
    ],
)
def test_steps_that_run_nothing_let_nothing_go(kind: str, fields: dict[str, Any], reason: str) -> None:
    assert blocked(begun(envelope(step("a", kind=kind, **fields)))).reason == reason


def test_nothing_is_asked_before_a_wait_is_over() -> None:
    made = envelope(step("w", kind="wait", duration_s=60), step("a", risk="mutating"))
    state = course.move_on(begun(made), now=NOW).state
    assert blocked(state).reason == "the wait is not over"


def test_an_approval_is_asked_and_needs_no_command() -> None:
    made = envelope(step("ask", kind="approval"), step("a"))
    state = yes(asked(begun(made)))
    assert course.move_on(state, now=NOW).state.current == "a"
    assert isinstance(propose(state, offer(state), now=NOW), Permit)


def test_a_step_without_its_value_fails() -> None:
    made = envelope(
        step("a", "x {{ inputs.l }}", target="{{ inputs.l }}", on_fail="b", next="end:success"),
        step("b", next="end:success"),
        inputs=(text("l", required=False),),
    )
    ruling = blocked(begun(made))
    judged = ruling.events[0]
    assert isinstance(judged, Judged)
    assert (judged.passed, judged.why) == (False, "no usable value for l")
    assert (ruling.state.current, ruling.state.deviations) == ("b", 0)


def test_what_was_agreed_to_is_what_goes() -> None:
    granted = yes(asked(begun(CHANGE, VALUES)))
    changed = replace(granted, inputs={**VALUES, "path": "/etc"})
    assert blocked(changed).reason == "something else was agreed to"


def test_questions_about_one_entry_are_counted() -> None:
    made = envelope(step("a", risk="mutating"), limits=Limits(asks=2))
    state = begun(made)
    for _ in range(2):
        state = run.take_back(asked(state), why="it did not start in time", now=NOW).state
    ruling = blocked(state)
    assert ruling.state.ended is not None
    assert (ruling.state.ended.cause, ruling.reason) == (EndCause.BUDGET, "it was asked 2 times")


def test_time_is_looked_at_before_something_goes() -> None:
    made = envelope(step("a"), limits=Limits(wall_clock_s=60))
    state = begun(made)
    assert isinstance(propose(state, offer(state), now=after(60)), Permit)
    ruling = propose(state, offer(state), now=after(61))
    assert isinstance(ruling, Block)
    assert ruling.state.outcome is Outcome.ESCALATED


def test_a_captured_value_is_part_of_the_next_command() -> None:
    made = envelope(
        step("a", capture=Capture(input="id", type=InputType.INTEGER)),
        step("b", "pct start {{ inputs.id }}", target="{{ inputs.host }}"),
        inputs=(text("id", type="integer", required=False), text("host", type="host")),
    )
    state = did(begun(made, {"host": "pve1"}), stdout="104\n")
    ruling = propose(state, offer(state), now=NOW)
    assert isinstance(ruling, Permit)
    assert (ruling.invocation.command, ruling.invocation.target) == ("pct start 104", "pve1")
