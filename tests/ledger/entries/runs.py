"""Entries about runs of a runbook, as the core writes them."""

from collections.abc import Sequence

from gate.domain import AGENT, Digest
from gate.policy import Posture
from gate.supervise.domain import (
    Branch,
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
    RunId,
    StepId,
    StepKind,
    StepRisk,
    StepSpec,
    Stream,
    TextTest,
)
from gate.supervise.events import Entered, Event, Started, Via
from ledger.kinds import Draft, Json
from ledger.run_documents import texts_of
from ledger.run_events import draft_of
from tests.gate.makers import HERE, NOW

SPEC = RunbookSpec(
    id=RunbookId("restart-service"),
    title="Restart a service",
    digest=Digest("d" * 64),
    inputs={"service": InputSpec(name="service", type=InputType.SERVICE)},
    steps=(
        StepSpec(
            id=StepId("restart"),
            title="Restart it",
            risk=StepRisk.REVERSIBLE,
            command="systemctl restart {{ inputs.service }}",
            capture=Capture(input="service", type=InputType.SERVICE),
            expect=(
                ExitCode(any_of=(0, 3)),
                Output(stream=Stream.STDOUT, test=TextTest.CONTAINS, text="ok"),
                JsonValue(path=".n", compare=Comparison.MORE, value=1.5),
                FileExists(path="/run/caddy.pid"),
            ),
            retry=Retry(max=2, target=StepId("restart")),
            next="which",
        ),
        StepSpec(
            id=StepId("which"),
            kind=StepKind.DECISION,
            title="Which one",
            branches=(
                Branch(
                    when=Condition(input="service", compare=Comparison.EQUALS, value="x"), next="end:failure"
                ),
                Branch(when=None, next="end:success"),
            ),
        ),
    ),
)


def run_started(run: str = "r4m8n2", *, undoes: str | None = None, secrets: Sequence[str] = ()) -> Draft:
    """A run of a runbook began."""
    event = Started(
        run=RunId(run),
        runbook=RunbookId("restart-service"),
        digest=Digest("d" * 64),
        agent=AGENT,
        posture=Posture.APPROVE_MOST,
        inputs={"service": "caddy", "tries": 3, "force": False, "note": None},
        target="web1",
        first=StepId("restart"),
        undoes=None if undoes is None else RunId(undoes),
        at=NOW,
    )
    more: dict[str, Json] = {
        "title": "Restart a service",
        "place": HERE,
        "person": "ana",
        "secrets": bool(secrets),
    }
    words = {"said": "restart caddy on web1", **texts_of(SPEC)}
    return draft_of(event, run=RunId(run), more=more, words=words)


def run_entered(number: int = 1, *, step: str = "restart", attempt: int = 1, run: str = "r4m8n2") -> Draft:
    """A step was entered."""
    via = Via.START if number == 1 else Via.NEXT
    event = Entered(step=StepId(step), number=number, attempt=attempt, via=via, at=NOW)
    return draft_of(event, run=RunId(run))


def run_went(event: Event, run: str = "r4m8n2") -> Draft:
    """Something happened to a run."""
    return draft_of(event, run=RunId(run))
