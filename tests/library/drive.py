"""Plays a starter runbook: the real supervisor decides, the real gate classifies, bash runs the commands.

What it leaves out is people and the record: whoever answers is a function, and nothing is kept. A command
gets the environment that sayso gives it, with the programs of the test first on its path.
"""

import functools
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bot.loading.library import put_together, read_built_in
from bot.loading.rules import load_rules
from gate.domain import PersonId, Verdict
from gate.lifecycle import RunStatus
from gate.policy import Posture
from gate.shell.classify import classify
from gate.supervise import course, run
from gate.supervise.approval import ApprovalRequest, Decision, Identities
from gate.supervise.calls import expand
from gate.supervise.domain import DECLARED, RunbookSpec, RunId, StepRisk, StepSpec, Value
from gate.supervise.envelope import derive
from gate.supervise.expect import Ending, Evidence
from gate.supervise.invocation import Invocation, invocation
from gate.supervise.proposal import Block, Offer, Permit, RequireApproval, propose
from gate.supervise.state import Moved, RunState

START = datetime(2026, 3, 2, 14, tzinfo=UTC)
RUN = RunId("r1")
BOT, ANA = PersonId("agent-7"), PersonId("ana")
WHO = Identities(people={"ana": ANA})

#: Whether ana agrees to what she is asked.
Answer = Callable[[ApprovalRequest], bool]


def agree(_request: ApprovalRequest) -> bool:
    """Say yes."""
    return True


def refuse(*steps: str) -> Answer:
    """Say no to these steps."""
    return lambda request: request.step_id not in steps


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """One command that ran."""

    step: str
    command: str
    verdict: Verdict
    asked: bool
    evidence: Evidence


@dataclass(slots=True, kw_only=True)
class Drive:
    """One run, played to its end."""

    state: RunState
    done: list[Done] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    @property
    def outcome(self) -> str:
        """How it ended: "completed", "failed", "escalated" or "aborted"."""
        assert self.state.outcome is not None
        return self.state.outcome.value

    @property
    def steps(self) -> list[str]:
        """The steps whose command ran, in order, with repetitions."""
        return [one.step for one in self.done]

    def output(self, step: str) -> str:
        """What the last command of `step` wrote."""
        found = [one.evidence for one in self.done if one.step == step][-1]
        return found.stdout + found.stderr


@functools.cache
def catalogue() -> Mapping[str, RunbookSpec]:
    """Every document that comes with sayso; whether one has faults is another test's affair."""
    documents = put_together(read_built_in())[0].documents
    return {name: one.spec for name, one in documents.items() if one.spec is not None}


def laid_open(name: str) -> RunbookSpec:
    """Return a runbook that comes with sayso, its calls laid open."""
    return expand(catalogue()[name], catalogue=catalogue())


@functools.cache
def _rules():  # noqa: ANN202 -- the type is the loader's
    return load_rules()


def judged(command: str, step: StepSpec) -> Verdict:
    """Return the gate's verdict on a command of `step`."""
    return classify(command, rules=_rules(), declared_risk=DECLARED[step.risk])


def play(
    name: str,
    inputs: Mapping[str, Value],
    *,
    path: str = "/usr/sbin:/usr/bin:/sbin:/bin",
    home: str = "/",
    answer: Answer = agree,
    before: Callable[[RunState], None] = lambda _: None,
    environment: Mapping[str, str] | None = None,
) -> Drive:
    """Run a runbook that comes with sayso to its end.

    Args:
        path: where commands look for programs.
        before: called before each command, with the run in its step.
    """
    envelope = derive(laid_open(name), posture=Posture.APPROVE_MOST)
    moved = run.start(envelope, run=RUN, agent=BOT, inputs=inputs, target="here", now=START)
    assert isinstance(moved, Moved), moved
    drive, now = Drive(state=moved.state), START
    env = {"PATH": path, "LANG": "C.UTF-8", "HOME": home, "TERM": "dumb", **(environment or {})}
    while drive.state.ended is None:
        if drive.state.status is RunStatus.WAITING:
            assert drive.state.until is not None
            now = drive.state.until
        now += timedelta(seconds=1)
        drive.state = course.move_on(drive.state, now=now).state
        if drive.state.ended is None and drive.state.status is not RunStatus.WAITING:
            _take_step(drive, env, answer=answer, before=before, now=now)
    return drive


def _take_step(
    drive: Drive,
    env: Mapping[str, str],
    *,
    answer: Answer,
    before: Callable[[RunState], None],
    now: datetime,
) -> None:
    step, state = drive.state.step, drive.state
    assert step is not None
    bound = invocation(state, step)
    if not isinstance(bound, Invocation) or bound.command is None:
        unbound = bound if not isinstance(bound, Invocation) else None
        assert unbound is not None, "only commands are asked about in these runbooks"
        drive.state = course.fail_unbound(state, unbound, now=now).state
        return
    verdict = judged(bound.command, step.spec)
    offer = Offer(
        tool=bound.tool,
        target=bound.target,
        command=bound.command,
        digest=state.envelope.digest,
        by=BOT,
        asks=not verdict.auto_run,
    )
    ruling = propose(state, offer, now=now)
    asked = isinstance(ruling, RequireApproval)
    if isinstance(ruling, RequireApproval):
        drive.asked.append(ruling.request.step_id)
        decision = Decision(run=RUN, request_id=ruling.request.id, decided_by="ana", reason="not now")
        if not answer(ruling.request):
            drive.state = run.refuse(ruling.state, decision, identities=WHO, now=now).state
            return
        granted = run.grant(ruling.state, decision, identities=WHO, now=now)
        ruling = propose(run.apply_grant(ruling.state, granted, now=now).state, offer, now=now)
    assert not isinstance(ruling, Block), ruling.reason
    assert isinstance(ruling, Permit)
    before(ruling.state)
    evidence = _run(ruling, env, timeout_s=step.spec.timeout_s or 60)
    drive.done.append(
        Done(step=step.spec.id, command=bound.command, verdict=verdict, asked=asked, evidence=evidence)
    )
    drive.state = course.advance(ruling.state, evidence, now=now).state


def _run(permit: Permit, env: Mapping[str, str], *, timeout_s: int) -> Evidence:
    state, command = permit.state, permit.invocation.command
    assert state.current is not None
    assert command is not None
    try:
        ended = subprocess.run(
            ["bash", "--noprofile", "--norc", "-c", command],
            env=dict(env),
            cwd=env["HOME"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=min(timeout_s, 60),
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Evidence(step=state.current, number=state.number, ending=Ending.TIMED_OUT)
    return Evidence(
        step=state.current,
        number=state.number,
        exit_code=ended.returncode,
        stdout=ended.stdout,
        stderr=ended.stderr,
        files={file: Path(file).exists() for file in permit.invocation.files},
    )


def unasked(drive: Drive) -> Sequence[str]:
    """Return the steps that ran without anybody being asked."""
    return [one.step for one in drive.done if not one.asked]


def asks_as_it_says(spec: RunbookSpec, drive: Drive) -> list[str]:
    """Return what is asked about although the document does not say so, or runs unasked against it.

    A step that only reads and says no `requires_approval` has to be certain for the gate; for all others the
    gate has to find what the document says or something stricter.
    """
    wrong = []
    by_id = {step.id: step for step in spec.steps}
    for one in drive.done:
        step = by_id[one.step]  # type: ignore[index] # ids are words
        plain = step.risk is StepRisk.READ_ONLY and not step.requires_approval
        if plain and not one.verdict.auto_run:
            wrong.append(f"{one.step}: {one.verdict.reasons} {one.command}")
        if not one.verdict.risk.at_least(DECLARED[step.risk]):
            wrong.append(f"{one.step}: only {one.verdict.risk}")
    return wrong
