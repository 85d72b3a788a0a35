"""Reports: what happened, from the events alone, with secrets masked (R23)."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from gate.supervise import course, run
from gate.supervise.approval import Decision
from gate.supervise.domain import Capture, InputType, Outcome, Retry, StepId, Terminal
from gate.supervise.envelope import Envelope
from gate.supervise.events import EndCause, Event, Via
from gate.supervise.expect import Ending
from gate.supervise.proposal import propose
from gate.supervise.report import RunReport, document, report, report_digest
from gate.supervise.state import Moved
from tests.gate.supervise.runs import ANA, BOT, NOW, RUN, WHO, after, ending, envelope, offer, step, text

MADE = envelope(
    step(
        "look",
        "df {{ inputs.path }}",
        title="look at {{ inputs.path }}",
        capture=Capture(input="key", type=InputType.STRING),
    ),
    step(
        "change", "curl -u {{ inputs.key }} x", risk="mutating", retry=Retry(max=1, target=StepId("change"))
    ),
    step("pause", kind="wait", duration_s=60),
    inputs=(
        text("path", type="path"),
        text("token", secret=True),
        text("key", required=False, secret=True),
    ),
)


class Told:
    """A run with all its events."""

    def __init__(self, made: Envelope = MADE, **inputs: Any) -> None:
        begun = run.start(made, run=RUN, agent=BOT, inputs=inputs, target="web1", now=NOW)
        assert isinstance(begun, Moved)
        self.envelope, self.state, self.now = made, begun.state, NOW
        self.events: list[Event] = list(begun.events)

    def take(self, moved: Moved) -> None:
        self.state = moved.state
        self.events += moved.events

    def propose(self, **fields: Any) -> None:
        ruling = propose(self.state, offer(self.state, **fields), now=self.now)
        self.take(Moved(state=ruling.state, events=ruling.events))

    def answer(self, *, reason: str | None = "") -> Decision:
        assert self.state.request is not None
        return Decision(run=RUN, request_id=self.state.request.id, decided_by="ana", reason=reason)

    def agree(self) -> None:
        grant = run.grant(self.state, self.answer(), identities=WHO, now=self.now)
        self.take(run.apply_grant(self.state, grant, now=self.now))
        self.propose()

    def come(self, **fields: Any) -> None:
        self.take(ending(self.state, now=self.now, **fields))

    @property
    def report(self) -> RunReport:
        return report(self.envelope, self.events)


def told() -> Told:
    """Return a run in its second step, asked about it."""
    made = Told(path="/srv", token="hunter2")
    made.propose(proposal="k7f3a2")
    made.come(stdout="s3cr3t-key\n")
    made.now = after(10)
    made.propose(proposal="m4d1x9")
    return made


def whole() -> Told:
    made = told()
    made.propose(command="curl -u s3cr3t-key hunter2 y", tool="bash")
    made.take(run.take_back(made.state, why="it did not start in time", now=made.now))
    made.propose()
    made.agree()
    made.come(exit_code=22)
    made.propose()
    made.agree()
    made.come()
    made.take(course.move_on(made.state, now=after(20)))
    made.take(course.cut_short(made.state, by=ANA, now=after(30)))
    return made


def test_a_whole_run_is_told() -> None:
    found = whole().report
    assert (found.run, found.runbook, found.title, found.agent, found.target) == (
        RUN,
        "book",
        "the book",
        BOT,
        "web1",
    )
    assert found.inputs == {"path": "/srv", "token": "***"}
    assert (found.outcome, found.cause, found.terminal) == (
        Outcome.COMPLETED,
        EndCause.TERMINAL,
        Terminal.SUCCESS,
    )
    assert (found.started_at, found.ended_at) == (NOW, after(30))
    look, first, second, pause = found.entries
    assert (look.title, look.command, look.verdict, look.proposal) == (
        "look at /srv",
        "df /srv",
        "permit",
        "k7f3a2",
    )
    assert (look.passed, look.exit_code, look.captured) == (True, 0, "key = ***")
    assert (first.verdict, first.command, len(first.requests)) == ("require_approval", "curl -u *** x", 2)
    assert (first.taken_back, first.decided_by) == (("it did not start in time",), ANA)
    assert (first.passed, first.why, first.exit_code) == (False, "expected exit code 0, got 22", 22)
    assert (second.attempt, second.via, second.passed) == (2, Via.RETRY, True)
    assert (pause.wait_until, pause.cut_short_by, pause.passed) == (after(80), ANA, True)
    assert found.budgets.entries == (4, 30)
    assert found.budgets.deviations == (1, 3)
    assert found.budgets.seconds == (30, 86_400)
    assert found.budgets.retries == {"change": (1, 1)}
    (deviation,) = found.deviations
    assert (deviation.tool, deviation.scope, deviation.by) == ("bash", ("run",), BOT)
    assert deviation.command == "curl -u *** *** y"
    assert found.findings == ("1 times something outside the runbook was proposed, and blocked.",)


def test_no_secret_is_in_a_report() -> None:
    text = json.dumps(document(whole().report))
    assert "hunter2" not in text
    assert "s3cr3t" not in text


def test_a_run_that_goes_on_is_told_as_far_as_it_went() -> None:
    found = told().report
    assert (found.outcome, found.ended_at, found.refusal, found.why) == (None, None, None, "")
    assert found.entries[-1].passed is None


def test_a_no_and_nobody_are_told_apart() -> None:
    refused, expired, owed = told(), told(), told()
    refused.take(run.refuse(refused.state, refused.answer(reason="not now"), identities=WHO, now=after(11)))
    expired.take(run.expire(expired.state, now=after(2000)))
    owed.take(run.refuse(owed.state, owed.answer(reason=None), identities=WHO, now=after(11)))
    no, nobody, why = refused.report, expired.report, owed.report
    assert (no.outcome, nobody.outcome) == (Outcome.ABORTED, Outcome.ABORTED)
    assert (no.cause, nobody.cause) == (EndCause.REFUSED, EndCause.EXPIRED)
    assert no.refusal is not None
    assert (no.refusal.reason, no.entries[-1].decided_by, no.findings) == ("not now", ANA, ())
    assert nobody.refusal is None
    assert nobody.findings == ("Nobody answered in time; that is neither a yes nor a no.",)
    assert why.findings == ("ana refused change and has not said why.",)
    assert document(no)["refusal"] is not None


def test_a_lost_step_is_a_finding() -> None:
    made = told()
    made.agree()
    made.come(ending=Ending.LOST, exit_code=None)
    assert made.report.findings == ("Nobody knows how change ended; look at the target.",)


def test_a_person_who_stopped_it_is_told() -> None:
    made = told()
    made.take(run.abort(made.state, by=ANA, why="wrong host", now=after(12)))
    assert (made.report.ended_by, made.report.why) == (ANA, "wrong host")


def test_a_command_of_a_deviation_may_be_none() -> None:
    made = told()
    made.propose(command=None)
    assert made.report.deviations[0].command is None


def test_an_input_that_nothing_is_known_of_is_masked() -> None:
    made = told()
    narrow = replace(MADE, inputs={"path": MADE.inputs["path"]})
    assert report(narrow, made.events).inputs == {"path": "/srv", "token": "***"}


@pytest.mark.parametrize("events", [[], whole().events[1:]])
def test_only_a_run_from_its_start_is_told(events: Sequence[Event]) -> None:
    with pytest.raises(ValueError, match="from its start"):
        report(MADE, events)


def test_any_change_of_what_happened_changes_the_digest() -> None:
    made = whole()
    usual = report_digest(made.report)
    assert usual == report_digest(whole().report)
    assert len(usual) == 64
    for at in range(2, len(made.events)):
        changed = [*made.events[:at], *made.events[at + 1 :]]
        assert report_digest(report(MADE, changed)) != usual
