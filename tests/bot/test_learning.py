"""What was learned: told from a real record, suggested in words that work, and never granted."""

import io
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from PIL import Image

from bot import attaching, learning, plotting
from bot.commands import RetireRunbook, ShowLearned, ShowReport
from bot.control_words import parse
from gate.domain import TargetId
from gate.learning import course
from gate.supervise.domain import Outcome
from gate.supervise.events import EndCause, Ended
from ledger.learning import TryView
from tests.bot.runbooks.made import RUN, wrote
from tests.gate.makers import NOW
from tests.kit import Kit, ScriptedPort, conversation
from tests.ledger.entries.runs import run_started, run_went
from tests.ledger.story import Story


async def approved(kit: Kit, times: int, command: str = "run sync / on local") -> None:
    for _ in range(times):
        kit.clock.advance(60)
        await kit.say(command)
        assert "✓" in await kit.say("go ahead")


async def test_nothing_is_learned_from_nothing(tmp_path: Path) -> None:
    async with conversation(tmp_path) as kit:
        said = await kit.say("what have you learned?")
        assert said.startswith("Nothing yet.")


async def test_what_was_always_approved_is_suggested_and_nothing_is_granted(tmp_path: Path) -> None:
    async with conversation(tmp_path) as kit:
        await approved(kit, 34)
        assert "suggested" not in await kit.say("what have you learned?")
        await approved(kit, 1)
        said = await kit.say("what have you learned?")
        assert "approved 35 of 35 of `sync /` on local (at least 90 % with 95 % confidence)" in said
        words = said.partition("Say  ")[2].partition("  if you")[0]
        assert words == "trust `sync /` on local for 30 days"
        before = kit.kinds()
        assert not [kind for kind in before if kind.startswith("trust_rule")]
        await kit.say("run sync / on local")
        assert kit.states() == ["waiting"]  # nothing grants itself
        await kit.say("no")
        asked = await kit.say(words)
        assert "Type:" in asked  # saying it takes the phrase that it always takes
        assert "trust_rule:made" not in kit.kinds()
        phrase = asked.rpartition("Type:  ")[2].splitlines()[0]
        await kit.say(phrase)
        assert "trust_rule:made" in kit.kinds()
        assert "suggested" not in await kit.say("what have you learned?")


async def test_a_refusal_takes_the_suggestion_back(tmp_path: Path) -> None:
    async with conversation(tmp_path) as kit:
        await approved(kit, 35)
        await kit.say("run sync / on local")
        await kit.say("no")
        await kit.say("run sync / on local")
        await kit.say("no")
        assert "suggested" not in await kit.say("what have you learned?")


async def test_what_the_gate_would_deny_is_not_suggested(tmp_path: Path) -> None:
    async with conversation(tmp_path) as kit:
        await approved(kit, 36, f"run touch {tmp_path}/x > {tmp_path}/y on local")
        found = learning.learn(kit.core.queries, learning.known(kit.core), now=kit.clock.now())
        assert found.suggestions == ()


async def test_diagnostics_are_counted_and_drawn(tmp_path: Path) -> None:
    async with conversation(tmp_path, port=ScriptedPort(files=True)) as kit:
        for _ in range(3):
            kit.clock.advance(60)
            await kit.say("uptime of local")
        said = await kit.say("what have you learned?")
        assert "  uptime · 3 of 3 (44%-100%)" in said
        shown = list(kit.port.screen.values())[-1].message
        assert shown.attachment is not None
        name, content = shown.attachment
        assert name == "trend.png"
        assert Image.open(io.BytesIO(content)).size == (plotting.WIDTH, plotting.HEIGHT)


async def test_words_are_shown_even_where_the_picture_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> bytes:
        raise OSError("no fonts")

    monkeypatch.setattr(plotting, "png", broken)
    async with conversation(tmp_path, port=ScriptedPort(files=True)) as kit:
        await kit.say("uptime of local")
        said = await kit.say("what have you learned?")
        assert "  uptime · 1 of 1" in said
        assert "could not be made" in said


async def test_without_files_the_words_are_all_there_is(tmp_path: Path) -> None:
    async with conversation(tmp_path) as kit:
        await kit.say("uptime of local")
        await kit.say("what have you learned?")
        shown = list(kit.port.screen.values())[-1].message
        assert (shown.attachment, shown.fold) == (None, None)


async def test_a_card_warns_of_what_failed_before(tmp_path: Path) -> None:
    async with conversation(tmp_path) as kit:
        command = "run sh -c 'echo no such unit; exit 3' on local"
        for _ in range(2):
            await kit.say(command)
            await kit.say("go ahead")
            kit.clock.advance(60)
        said = await kit.say(command)
        assert "failed 2 of the last 2 on local: exit 3, no such unit" in said


# ---------------------------------------------------------------- cautions, drift, words


def tried(*ends: bool, why: str = "no such unit") -> list[TryView]:
    return [
        TryView(
            proposal="k00001",  # type: ignore[arg-type] # an id
            target=TargetId("web7"),
            good=good,
            at=NOW,
            exit_code=0 if good else 1,
            why="" if good else why,
        )
        for good in ends
    ]


@pytest.mark.parametrize(
    ("tries", "wanted"),
    [
        ([], ""),
        (tried(True, False, False, False), "failed 3 of the last 4 on web7: exit 1, no such unit"),
        (tried(False, False, why=""), "failed 2 of the last 2 on web7: exit 1"),
        (
            tried(False, False, why="password=hunter2hunter2"),
            "failed 2 of the last 2 on web7: exit 1, password=***",
        ),
        (tried(True, True, True, False), ""),
    ],
)
def test_caution(tries: list[TryView], wanted: str) -> None:
    assert learning.caution(tries) == wanted


def skill(*outcomes: bool) -> learning.Skill:
    times = tuple(NOW + timedelta(hours=at) for at in range(len(outcomes)))
    return learning.Skill(id="deploy", title="deploy it", supervised=True, outcomes=outcomes, times=times)


def learned(**fields: object) -> learning.Learned:
    empty = learning.Learned(skills=(), capabilities=(), suggestions=(), instructions=0, facts=0)
    return replace(empty, **fields)  # type: ignore[arg-type] # by name


def test_drift_is_named_first() -> None:
    found = learned(skills=(skill(*[True] * 20, *[False] * 5),))
    assert found.drifting == found.skills
    told = learning.lines(found, zone=NOW.tzinfo, now=NOW)  # type: ignore[arg-type] # it is UTC
    assert told[0] == "! deploy is drifting: 0 of 5 lately, 20 of 20 before."
    doc = learning.document(found)["skills"][0]  # type: ignore[index] # a list
    assert doc["drift"]["lately"]["total"] == 5
    assert doc["trend"] == "worse"


def test_what_was_told_is_counted() -> None:
    told = learning.lines(learned(instructions=1, facts=2), zone=NOW.tzinfo, now=NOW)  # type: ignore[arg-type] # UTC
    assert told == ["was told: 1 instruction (guidance lists them), 2 facts (what do you know? lists them)"]


@pytest.mark.parametrize("text", ["what have you learned?", "sayso, what did you learn", "learning"])
def test_words_that_ask_what_was_learned(text: str) -> None:
    assert parse(text) == ShowLearned()


@pytest.mark.parametrize(
    ("text", "run"),
    [
        ("report r4m8n2", "r4m8n2"),
        ("report of run #R4M8N2", "r4m8n2"),
        ("show me the report of r4m8n2.", "r4m8n2"),
    ],
)
def test_words_that_ask_for_a_report(text: str, run: str) -> None:
    assert parse(text) == ShowReport(run=run)


@pytest.mark.parametrize("text", ["retire runbook deploy-blog", "please drop the runbook Deploy-Blog."])
def test_words_that_take_a_runbook_back(text: str) -> None:
    assert parse(text) == RetireRunbook(name="deploy-blog")


@pytest.mark.parametrize("text", ["report backup", "report on backups of web1", "report r4m8n2.2", "report"])
def test_words_that_ask_for_something_else(text: str) -> None:
    assert not isinstance(parse(text), ShowReport)


# ---------------------------------------------------------------- reports in chat


@pytest.mark.parametrize("files", [True, False])
async def test_a_report_is_posted_as_a_file_or_folded(tmp_path: Path, *, files: bool) -> None:
    wrote(tmp_path).ledger.close()
    async with conversation(tmp_path, port=ScriptedPort(files=files)) as kit:
        said = await kit.say(f"report {RUN}")
        assert said.startswith("Report of run #r4m8n2, restart a service: completed.")
        shown = list(kit.port.screen.values())[-1].message
        if files:
            assert shown.attachment is not None
            assert shown.attachment[0] == "r4m8n2-report.md"
            assert shown.attachment[1].startswith(b"# Run r4m8n2")
        else:
            assert shown.attachment is None
            assert "# Run r4m8n2: restart a service" in said
        assert "There is no run #zzzzz9." in await kit.say("report zzzzz9")


async def test_nothing_stands_beside_what_is_gone(tmp_path: Path) -> None:
    async with conversation(tmp_path) as kit:
        assert attaching.beside(kit.core, attaching.of_report("zzzzz9"), files=True) == attaching.Beside()
        assert attaching.beside(kit.core, attaching.of_trend(), files=True) == attaching.Beside()


# ---------------------------------------------------------------- the digest


async def test_knowledge_stands_in_the_digest_by_its_id(tmp_path: Path) -> None:
    async with conversation(tmp_path) as kit:
        assert "learned" not in await kit.say("what did you do?")
        await kit.say("remember that the sync is on 2026-12-01 at 14:00")
        kit.clock.advance(60)
        await kit.say("run sync / on local")
        await kit.say("go ahead")
        asked = await kit.say("save that as a runbook called flush disks")
        await kit.say(asked.rpartition("Type:  ")[2].strip())
        (fact,) = [one.id for one in kit.core.queries.live_beliefs()]
        said = await kit.say("what did you do?")
        assert f"learned: fact #{fact}, runbook flush-disks" in said


async def test_what_drifts_is_named_in_the_digest(tmp_path: Path) -> None:
    story = Story.begin(tmp_path)
    for number in range(25):
        outcome = Outcome.COMPLETED if number < 20 else Outcome.FAILED
        run = f"r{number:05d}"
        begun = run_started(run)
        story.write(replace(begun, body={**begun.body, "runbook": "high-load"}))
        story.write(run_went(Ended(outcome=outcome, cause=EndCause.TERMINAL, at=story.at), run))
        story.at += timedelta(minutes=1)
    story.ledger.close()
    async with conversation(tmp_path) as kit:
        kit.clock.advance(3600)
        said = await kit.say("what did you do?")
        assert "drifting, fails where it used to work: high-load" in said
        said = await kit.say("what have you learned?")
        assert said.startswith("! high-load is drifting: 0 of 5 lately, 20 of 20 before.")
        warned = learning.caution_of_runbook(kit.core.queries, "high-load")
        assert warned == "drifting: 0 of 5 lately, 20 of 20 before. Look at it first."
        assert learning.caution_of_runbook(kit.core.queries, "other") == ""
        assert f"Before it runs again: {warned}" in await kit.say("plan high-load on local")


# ---------------------------------------------------------------- pictures


def line(*outcomes: bool, label: str = "deploy") -> plotting.Line:
    times = [NOW + timedelta(hours=at) for at in range(len(outcomes))]
    return plotting.Line(label=label, points=list(zip(times, course(outcomes), strict=True)))


def test_a_picture_shows_a_line_a_skill_and_no_more_than_four() -> None:
    lines = [line(*[True] * 5, *[False] * place, label=f"book {place}\u202e") for place in range(1, 7)]
    image = Image.open(io.BytesIO(plotting.png(lines, title="How often")))
    colours = {colour for _, colour in image.convert("RGB").getcolors(1 << 20)}
    assert set(plotting.COLOURS) <= colours
    assert image.format == "PNG"


def test_a_picture_of_one_outcome_and_of_none() -> None:
    assert plotting.png([line(True)], title="x").startswith(b"\x89PNG")
    with pytest.raises(ValueError, match="nothing to draw"):
        plotting.png([line()], title="x")


def test_better_stands_higher() -> None:
    def height(*outcomes: bool) -> int:
        image = Image.open(io.BytesIO(plotting.png([line(*outcomes)], title="")))
        column = [
            y
            for y in range(plotting.HEIGHT - 80)
            for x in (plotting.WIDTH - 25,)
            if image.getpixel((x, y)) == plotting.COLOURS[0]
        ]
        return min(column)

    assert height(*[True] * 10) < height(*[True, False] * 5) < height(*[False] * 10)
