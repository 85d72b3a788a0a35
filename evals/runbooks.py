"""How runbooks are supervised, on a folder of labelled rows: `python -m evals.runbooks FOLDER [--list]`.

The documents of the rows, in `runbooks/` of the folder, are played through the gate's own functions. A label
that is not taken as it stands is named with the rule that is followed instead. Exit 1 when a row is wrong, or
when something is let go that should not be.
"""

import argparse
import inspect
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from evals.rows import Row, line, read, share
from evals.runbook_documents import RUN, at_seconds, envelope_of, inputs_of, offer_of, started
from gate.domain import Digest, PersonId
from gate.policy import Posture
from gate.supervise import approval, course, run
from gate.supervise.approval import (
    DEFAULT_EXPIRY_S,
    MAX_EXPIRY_S,
    ApprovalRequest,
    Decision,
    Identities,
)
from gate.supervise.binding import Bound, bind_command, command_digest, render_command
from gate.supervise.domain import (
    RunbookId,
    RunbookSpec,
    StepId,
    StepRisk,
    StepSpec,
)
from gate.supervise.envelope import derive
from gate.supervise.errors import SelfApprovalError, SupervisionError
from gate.supervise.events import Deviated
from gate.supervise.expect import Evidence
from gate.supervise.proposal import Block, Permit, RequireApproval, Ruling, propose, request_approval
from gate.supervise.state import RunState

RIGHT, ARGUED, WRONG = "right", "argued", "wrong"
PEOPLE = Identities(people={name: PersonId(name) for name in ("operator", "ada")})


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """What became of a row; `why` is the rule that argues against its label."""

    mark: str
    found: object
    why: str = ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--list", action="store_true", help="name the rows that are not right")
    args = parser.parse_args()
    rows = read(args.folder, "runbook_approval")
    marks = [(row, judged(row, args.folder / "runbooks")) for row in rows]
    print("runbook_approval")
    for kind in sorted({row["kind"] for row in rows}):
        line(kind, share(mark.mark == RIGHT for row, mark in marks if row["kind"] == kind))
    for why, count in Counter(mark.why for _, mark in marks if mark.why).items():
        line(f"argued: {why}", count)
    wrong = [(row, mark) for row, mark in marks if mark.mark == WRONG]
    line("wrong", len(wrong), aim="0", met=not wrong)
    for row, mark in marks:
        if mark.mark == WRONG or (args.list and mark.mark != RIGHT):
            print(f"      {mark.mark} {row['id']} {row['when']}: {row['expected']}; found {mark.found}")
    return 1 if wrong else 0


def judged(row: Row, folder: Path) -> Mark:
    """Return what becomes of a row; an operation that is not known here is wrong."""
    play = PLAYS.get(row["when"]["op"])
    if play is None:
        return Mark(mark=WRONG, found=f"no play for {row['when']['op']}")
    found = play(row["given"], row["when"], folder)
    if isinstance(found, Mark):
        return found
    return Mark(mark=RIGHT if _as_expected(row["expected"], found) else WRONG, found=found)


def _as_expected(expected: dict[str, Any], found: dict[str, Any]) -> bool:
    for name, value in expected.items():
        if name == "message_contains":
            same = value in found.get("message", "")
        elif name.endswith("_not_contains"):
            same = not any(part in found.get(name.removesuffix("_not_contains"), "") for part in value)
        elif name.endswith("_contains"):
            same = all(part in found.get(name.removesuffix("_contains"), "") for part in value)
        elif name == "raises" and value == "Error":
            same = found.get("raises") not in {None, SelfApprovalError.__name__}
        elif name == "at_most":
            same = found["most"] <= value
        else:
            same = name in found and found[name] == value
        if not same:
            return False
    return True


# ---------------------------------------------------------------- requests and binding


def _request(given: dict[str, Any], when: dict[str, Any], folder: Path) -> dict[str, Any]:
    at = when.get("now", 0)
    asked = request_approval(started(given, folder, at=at), now=at_seconds(at))
    if asked is None:
        return {"request": None}
    return {
        "id": asked.id,
        "step_id": asked.step_id,
        "risk": asked.risk,
        "title": asked.title,
        "command": asked.command,
        "capabilities": list(asked.capabilities),
        "rollback_to": asked.rollback_to,
        "issued_at": int(asked.issued_at.timestamp()),
        "expires_in_seconds": asked.expires_in_s,
    }


def _rendered(given: dict[str, Any], when: dict[str, Any], folder: Path) -> dict[str, Any]:
    inputs = envelope_of(given, folder).inputs
    return {"rendered": render_command(when["command"], when["bound"], inputs=inputs)}


def _bound(given: dict[str, Any], when: dict[str, Any], folder: Path) -> dict[str, Any]:
    declared = given.get("inputs_declared")
    inputs = envelope_of(given, folder).inputs if declared is None else inputs_of(declared)
    bound = bind_command(when["command"], when["bound"], inputs=inputs)
    if isinstance(bound, Bound):
        return {"ok": True, "command": bound.text}
    return {"ok": False, "missing": list(bound.missing)}


# ---------------------------------------------------------------- answers


def _grant(given: dict[str, Any], when: dict[str, Any], folder: Path) -> dict[str, Any] | Mark:
    issued = when.get("issued_at", 0)
    state = _asked(started(given, folder, at=issued, approval_s=when.get("expires_in_seconds")), issued)
    told = when["decision"]
    name = state.request.id if told["request_id"] == "<request.id>" and state.request else told["request_id"]
    decision = Decision(run=RUN, request_id=name, decided_by=told["decided_by"])
    if "expires_in_seconds" in when and "at" not in told:
        needed = inspect.signature(run.grant).parameters["now"].default is inspect.Parameter.empty
        why = "an answer without a time is never taken: now has no default (F48)"
        return Mark(mark=ARGUED if needed else WRONG, found="now is an argument", why=why)
    try:
        made = run.grant(state, decision, identities=PEOPLE, now=at_seconds(told.get("at", issued)))
    except SupervisionError as error:
        return {"raises": type(error).__name__, "message": str(error)}
    return {"decided_by": made.decided_by, "step_id": made.step_id, "granted": True}


def _asked(state: RunState, at: float) -> RunState:
    step = state.step
    ruling = propose(state, offer_of(state, step.tools[0] if step else ""), now=at_seconds(at))
    return ruling.state


def _agreed(state: RunState, at: float, by: str) -> RunState:
    assert state.request is not None
    decision = Decision(run=RUN, request_id=state.request.id, decided_by=by)
    made = run.grant(state, decision, identities=PEOPLE, now=at_seconds(at))
    return run.apply_grant(state, made, now=at_seconds(at)).state


def _word(ruling: Ruling) -> str:
    words = {Permit: "permit", RequireApproval: "require-approval", Block: "block"}
    return words[type(ruling)]


def _granted(given: dict[str, Any], when: dict[str, Any], folder: Path) -> dict[str, Any]:
    state = _agreed(_asked(started(given, folder), 0), 1, when["decided_by"])
    return {"verdict": _word(propose(state, offer_of(state, when["tool"]), now=at_seconds(2)))}


def _reentered(given: dict[str, Any], when: dict[str, Any], folder: Path) -> dict[str, Any]:
    state = _agreed(_asked(started(given, folder), 0), 1, "operator")
    first = propose(state, offer_of(state, when["tool"]), now=at_seconds(2))
    state = _around(first.state, 3)
    second = propose(state, offer_of(state, when["tool"]), now=at_seconds(60))
    return {
        "first_verdict": _word(first),
        "grant_after_reentry": state.grant,
        "second_verdict": _word(second),
    }


def _around(state: RunState, at: float) -> RunState:
    """Return the run after its step passed, and the wait that follows was over."""
    assert state.current is not None
    done = Evidence(step=state.current, number=state.number, exit_code=0)
    waiting = course.move_on(course.advance(state, done, now=at_seconds(at)).state, now=at_seconds(at)).state
    return course.move_on(waiting, now=(waiting.until or at_seconds(at)) + timedelta(seconds=1)).state


def _refuse(given: dict[str, Any], when: dict[str, Any], _folder: Path) -> dict[str, Any]:
    decision = Decision(
        run=RUN, request_id=when["request_id"], decided_by=when["decided_by"], reason=when["reason"]
    )
    try:
        made = approval.refuse(
            _given_request(given["request"]), decision, agent=PersonId(given["agent"]), identities=PEOPLE
        )
    except SupervisionError as error:
        return {"raises": type(error).__name__, "message": str(error)}
    return {"decided_by": made.decided_by, "reason": made.reason, "step_id": made.step_id, "recorded": True}


def _given_request(item: dict[str, Any]) -> ApprovalRequest:
    return ApprovalRequest(
        id=item["id"],
        run=RUN,
        step_id=StepId(item["step_id"]),
        number=1,
        title="",
        risk=StepRisk.DESTRUCTIVE,
        command=None,
        command_digest=command_digest(tool="", target="", command=None),
        target="",
        capabilities=(),
        rollback_to=None,
        expires_in_s=item["expires_in_seconds"],
        issued_at=at_seconds(item["issued_at"]),
    )


# ---------------------------------------------------------------- expiry


def _has_expired(given: dict[str, Any], when: dict[str, Any], folder: Path) -> dict[str, Any]:
    state = _asked(
        started(given, folder, at=when["issued_at"], approval_s=when["expires_in_seconds"]),
        when["issued_at"],
    )
    assert state.request is not None
    return {"expired": approval.has_expired(state.request, now=at_seconds(when["now"]))}


def _expired(given: dict[str, Any], _when: dict[str, Any], folder: Path) -> dict[str, Any]:
    ended = run.expire(_asked(started(given, folder), 0), now=at_seconds(DEFAULT_EXPIRY_S + 1)).state
    return {"status": ended.status, "outcome": ended.outcome, "refusal": ended.refusal}


def _default_expiry(_given: dict[str, Any], _when: dict[str, Any], _folder: Path) -> dict[str, Any]:
    return {"seconds": DEFAULT_EXPIRY_S, "most": MAX_EXPIRY_S}


def _refused_or_expired(given: dict[str, Any], when: dict[str, Any], folder: Path) -> dict[str, Any]:
    given = {"runbook": "drop-replication-slot.json", "inputs": {"slot": "a", "token": "b"}, **given}
    expired = _expired(given, when, folder)
    state = _asked(started(given, folder), 0)
    assert state.request is not None
    decision = Decision(run=RUN, request_id=state.request.id, decided_by="ada", reason="wrong node")
    refused = run.refuse(state, decision, identities=PEOPLE, now=at_seconds(1)).state
    return {
        "refused": {
            "outcome": refused.outcome,
            "refusal.reason": refused.refusal and refused.refusal.reason,
        },
        "expired": {name: expired[name] for name in ("outcome", "refusal")},
    }


# ---------------------------------------------------------------- scope, gates, budgets


def _one_step(*, tools: list[str], tool: str, risk: StepRisk, asks: bool | None) -> RunbookSpec:
    step = StepSpec(
        id=StepId("s1"), title="one", risk=risk, tool=tool, command="true", requires_approval=asks
    )
    return RunbookSpec(
        id=RunbookId("one"), title="one", digest=Digest("one"), capabilities=tuple(tools), steps=(step,)
    )


def _scope(given: dict[str, Any], when: dict[str, Any], _folder: Path) -> dict[str, Any]:
    spec = _one_step(
        tools=given["capabilities"], tool=given["current_step_tool"], risk=StepRisk.READ_ONLY, asks=None
    )
    moved = run.start(
        derive(spec, posture=Posture.APPROVE_MOST),
        run=RUN,
        agent=PersonId("agent-7"),
        inputs={},
        now=at_seconds(0),
    )
    assert not isinstance(moved, run.NotStarted)
    ruling = propose(moved.state, offer_of(moved.state, when["tool"]), now=at_seconds(1))
    return {
        "verdict": _word(ruling),
        "deviation": any(isinstance(event, Deviated) for event in ruling.events),
    }


def _gated(given: dict[str, Any], _when: dict[str, Any], _folder: Path) -> dict[str, Any]:
    step = given["step"]
    spec = _one_step(
        tools=["run"], tool="run", risk=StepRisk(step["risk"]), asks=step.get("requires_approval")
    )
    return {"gated": derive(spec, posture=Posture.APPROVE_MOST).steps[StepId("s1")].gated}


def _visits(given: dict[str, Any], when: dict[str, Any], folder: Path) -> dict[str, Any]:
    state = started(given, folder)
    visits = 0
    for at in range(0, 1000 * when["times"], 1000):
        state = _agreed(_asked(state, at), at, "operator")
        state = _around(propose(state, offer_of(state, "mcp:postgres"), now=at_seconds(at)).state, at)
        if state.ended is not None:
            break
        visits += 1
    return {"exhausted_after": visits}


Play = Callable[[dict[str, Any], dict[str, Any], Path], dict[str, Any] | Mark]
PLAYS: dict[str, Play] = {
    "request_approval": _request,
    "render_command": _rendered,
    "bind_command": _bound,
    "grant": _grant,
    "grant+apply+propose": _granted,
    "grant s1 as operator; propose; advance s2; advance s1; propose": _reentered,
    "has_expired": _has_expired,
    "expire_gate": _expired,
    "default_expiry": _default_expiry,
    "refuse": _refuse,
    "refuse_gate vs expire_gate": _refused_or_expired,
    "propose": _scope,
    "derive_policy": _gated,
    "visit s1 through retry": _visits,
}

if __name__ == "__main__":
    raise SystemExit(main())
