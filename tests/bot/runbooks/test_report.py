"""Reports of runs: what they say, what they mask, and that no words in them become markup."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from bot.runbooks import report
from bot.runbooks.report import Told
from gate.domain import PersonId
from gate.supervise.approval import Refusal
from gate.supervise.domain import Outcome
from gate.supervise.events import EndCause, Ended
from ledger.kinds import Draft, Json, Kind
from tests.bot.runbooks.made import NOW, RESTART, RUN, SECRET, wrote
from tests.ledger.entries.learning import kept
from tests.ledger.story import Story

REFUSED = Ended(
    outcome=Outcome.ABORTED,
    cause=EndCause.REFUSED,
    refusal=Refusal(request_id="restart@1", step_id=RESTART, decided_by=PersonId("kim"), reason="not now"),
    at=NOW,
)


def told(story: Story, *secrets: str) -> Told:
    found = report.tell(story.queries, RUN, secrets=secrets)
    assert found is not None
    return found


def test_a_report_says_who_agreed_to_what_and_what_came_of_it(tmp_path: Path) -> None:
    text = report.as_markdown(told(wrote(tmp_path)))
    for wanted in (
        "# Run r4m8n2: restart a service",
        "**completed at end:success: its document ends there**",
        "- runbook `restart-service`, digest `dddddddddddd`",
        "- input `service`: `caddy`",
        "- input `key`: `***`",
        "### 1. Look at caddy",
        "- permitted",
        "### 2. Restart caddy",
        "```sh\nsystemctl restart caddy\n```",
        "- asked, proposal \\#k7f3a2",
        "- ana agreed, 2026-03-02",
        "- passed, exit 0: exit code 0",
        "## Deviations",
        "another command",
        "- entries 2 of 20",
        "- deviations 1 of 3",
    ):
        assert wanted in text, wanted


@pytest.mark.parametrize("draw", [report.as_json, report.as_markdown, report.as_timeline])
def test_no_secret_is_in_a_report(tmp_path: Path, draw: object) -> None:
    text = draw(told(wrote(tmp_path)))  # type: ignore[operator] # one of three functions
    assert SECRET not in text


def test_a_refusal_is_told_apart_from_an_expiry(tmp_path: Path) -> None:
    refused = report.as_markdown(told(wrote(tmp_path / "a", end=REFUSED)))
    assert '**aborted: kim refused restart, "not now"**' in refused
    expired = Ended(outcome=Outcome.ABORTED, cause=EndCause.EXPIRED, request="restart@1", at=NOW)
    text = report.as_markdown(told(wrote(tmp_path / "b", end=expired)))
    assert "**aborted: nobody answered in time**" in text
    assert "## Findings" in text


def test_a_reason_that_was_given_later_is_told(tmp_path: Path) -> None:
    refusal = Refusal(request_id="restart@1", step_id=RESTART, decided_by=PersonId("kim"), reason=None)
    owed = replace(REFUSED, refusal=refusal)
    story = wrote(tmp_path, end=owed)
    assert "kim refused restart and has not said why." in told(story).report.findings
    words = {"reason": b"not on a Friday"}
    body: dict[str, Json] = {"proposal": "k7f3a2"}
    story.write(Draft(kind=Kind.REASON_GIVEN, correlation_id="k7f3a2", body=body, words=words))
    found = told(story)
    assert "kim refused restart and has not said why." not in found.report.findings
    assert '**aborted: kim refused restart, "not on a Friday"**' in report.as_markdown(found)


def test_a_run_that_goes_on_is_told_as_far_as_it_is(tmp_path: Path) -> None:
    found = told(wrote(tmp_path, end=None))
    assert "**It goes on.**" in report.as_markdown(found)
    assert "ended" not in report.as_timeline(found)


def test_there_is_no_report_of_what_never_ran(tmp_path: Path) -> None:
    assert report.tell(wrote(tmp_path).queries, "zzzzzz", secrets=()) is None


def test_what_was_learned_from_a_run_stands_in_its_report(tmp_path: Path) -> None:
    story = wrote(tmp_path)
    story.write(kept(proposals=("k7f3a2",)), kept("c00002", runbook="other", proposals=("zzzzzz",)))
    found = told(story)
    assert found.knowledge == ("restart-caddy",)
    assert "- runbook `restart-caddy` was kept from it" in report.as_markdown(found)
    assert json.loads(report.as_json(found))["knowledge"] == ["restart-caddy"]


def test_a_report_outlives_the_words_of_its_runbook(tmp_path: Path) -> None:
    story = wrote(tmp_path)
    story.ledger.prune(before=story.at.replace(year=2030))
    found = told(story)
    assert not found.exact
    text = report.as_markdown(found)
    assert "the words of the runbook are gone" in text
    assert "### 2. restart" in text
    assert SECRET not in text


def test_the_timeline_is_in_order(tmp_path: Path) -> None:
    lines = report.as_timeline(told(wrote(tmp_path))).splitlines()
    assert lines[0].startswith("2026-03-02 UTC, 2 steps in ")
    times = [line[:8] for line in lines[1:]]
    assert times == sorted(times)
    assert [line[10:].strip() for line in lines[1:]] == [
        "run r4m8n2 of restart-service began on web1",
        "1. look entered (start)",
        "1. look let go",
        "1. look passed, exit 0",
        "2. restart entered (next)",
        "! blocked: another command",
        "2. restart decided by ana",
        "2. restart let go",
        "2. restart passed, exit 0",
        "ended: completed at end:success: its document ends there",
    ]


@pytest.mark.parametrize(
    "reason",
    ["**bold** [x](https://x.example)", "`` `", "<b>", "a\n# heading\n- item", "| a | b |", "\u202egnp.exe"],
)
def test_words_of_people_never_become_markup(tmp_path: Path, reason: str) -> None:
    refusal = Refusal(request_id="restart@1", step_id=RESTART, decided_by=PersonId("kim"), reason=reason)
    end = Ended(outcome=Outcome.ABORTED, cause=EndCause.REFUSED, refusal=refusal, at=NOW)
    text = report.as_markdown(told(wrote(tmp_path, end=end)))
    line = text.splitlines()[2]
    assert line.startswith("**aborted: kim refused restart")
    bare = line.removeprefix("**").removesuffix("**").replace("\\*", "").replace("\\[", "").replace("\\<", "")
    assert "**" not in bare
    assert "[x]" not in bare
    assert "<b>" not in bare
    assert not any(one in text.splitlines() for one in ("# heading", "- item"))
    assert "\u202e" not in text
