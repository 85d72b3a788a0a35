"""Runs as the gate, the dial and people see them: what is asked, planned, listed and told."""

import asyncio
from pathlib import Path

from gate.domain import PersonId
from gate.lifecycle import RunStatus
from gate.policy import Policy, Posture
from tests.bot.runbooks.running import (
    PROVISION,
    WAITING,
    agree,
    newest,
    run_card,
    run_of,
    said,
    supervised,
)
from tests.kit import person

BEGIN = "run runbook provision on web1 with name=box7"


FINDING = """\
version: 1
id: token
title: fetch a token
inputs:
  token: {type: text, required: false, secret: true}
steps:
  - id: get
    title: Get it
    risk: mutating
    command: touch FOLDER/begun; cat FOLDER/kept; echo careful >&2; sleep 0.5
    capture: {input: token}
    rollback: none
  - id: use
    title: Use it
    risk: mutating
    command: test {{ inputs.token }} = hunter2-found && echo got {{ inputs.token }}
    rollback: none
"""


# ---------------------------------------------------------------- the gate and the dial


async def test_whatever_a_document_says_what_destroys_takes_a_phrase(tmp_path: Path) -> None:
    harmless = PROVISION.replace("rmdir FOLDER/", "rm -rf FOLDER/").replace(
        "kind: check\n    title: Look", "title: Look"
    )
    async with supervised(tmp_path, harmless) as kit:
        await kit.say(BEGIN)
        await kit.say("go ahead")
        run = newest(kit)
        await kit.say(f"cancel {run}")
        await kit.say(f"rollback {run}")
        assert "To run it, type:  " in kit.card.text
        await kit.say("go ahead")
        assert (tmp_path / "made" / "box7").exists()
        await agree(kit)
        assert not (tmp_path / "made" / "box7").exists()


async def test_a_posture_that_asks_about_all_asks_about_reading_too(tmp_path: Path) -> None:
    policy = Policy(revision="r" * 64, posture=Posture.APPROVE_ALL)
    async with supervised(tmp_path, PROVISION, policy=policy) as kit:
        await kit.say(BEGIN)
        assert run_of(kit).status is RunStatus.AWAITING_APPROVAL
        assert run_of(kit).step == "free"


async def test_below_run_every_step_waits_and_below_propose_a_runbook_is_only_shown(tmp_path: Path) -> None:
    async with supervised(tmp_path, PROVISION) as kit:
        await kit.say("set runbooks.autonomy to propose")
        await kit.say(BEGIN)
        assert run_of(kit).step == "free"
        assert "waits because of: runbooks.autonomy propose" in kit.card.text
        await kit.say("set runbooks.autonomy to ask")
        shown = await kit.say(BEGIN.replace("box7", "box8"))
        assert "planned. Nothing ran." in shown
        assert shown.endswith("Because of runbooks.autonomy ask.")
        assert len(kit.core.queries.runs()) == 1


async def test_a_plan_asks_nobody_and_runs_nothing(tmp_path: Path) -> None:
    async with supervised(tmp_path, PROVISION, WAITING) as kit:
        shown = await kit.say("plan provision on web1 with name=box9")
        assert shown.splitlines()[:5] == [
            "provision <name> on web1, planned. Nothing ran.",
            "1 Find a free id · web1 · runs at once · read-only: lists files",
            f"    ls {tmp_path}/made/ids",
            "2 Make box9 · web1 · asks first · changes configuration: makes or changes files",
            f"    mkdir {tmp_path}/made/box9",
        ]
        assert "It still needs: name." in await kit.say("plan provision")
        waits = await kit.say("plan patience on web1")
        assert "1 Is the backup done? · asks first" in waits
        assert "2 Let it settle · waits 5 min" in waits
        assert "3 Whether to go on · decides by count" in waits
        assert "No runbook is called that" in await kit.say("plan nothing at all")
        assert kit.core.queries.runs() == ()
        assert not {"proposal:made", "action:started"} & set(kit.kinds())


async def test_a_plan_tells_what_is_not_known_yet_by_its_name(tmp_path: Path) -> None:
    before, after = "rmdir FOLDER/{{ inputs.name }}", "pct destroy {{ inputs.vmid }}"
    document = PROVISION.replace(before, after)
    async with supervised(tmp_path, document) as kit:
        shown = await kit.say("plan provision on web1 with name=box9")
        assert "asks for a typed phrase: destroy ct-<vmid> on web1" in shown
        assert "    pct destroy <vmid>" in shown
        assert "100" not in shown


async def test_a_plan_does_not_judge_on_a_target_that_is_not_known_yet(tmp_path: Path) -> None:
    document = PROVISION.replace("title: Start it", "title: Start it\n    target: '{{ inputs.vmid }}'")
    async with supervised(tmp_path, document) as kit:
        shown = await kit.say("plan provision on web1 with name=box9")
        assert "3 Start it · <vmid> · asked about once its target is known" in shown
        assert "cannot run" not in shown


async def test_a_dry_run_that_the_runbook_knows_hangs_on_the_card(tmp_path: Path) -> None:
    document = PROVISION.replace(
        "    rollback: remove\n", "    rollback: remove\n    preview: ls FOLDER\n", 1
    )
    async with supervised(tmp_path, document) as kit:
        await kit.say(BEGIN)
        step = kit.card
        shown = await kit.press(step, "Preview")
        assert "ids" in shown
        assert kit.core.queries.pending()[0].action.command.startswith("mkdir")


# ---------------------------------------------------------------- telling


async def test_a_value_that_is_found_on_the_way_stands_as_its_name_until_then(tmp_path: Path) -> None:
    named = PROVISION.replace("title: Make {{ inputs.name }}", "title: Make {{ inputs.vmid }}").replace(
        "kind: check\n    title: Find", "title: Find"
    )
    asked = named.replace(
        "risk: read-only\n    command: ls FOLDER/ids", "risk: mutating\n    command: ls FOLDER/ids"
    )
    async with supervised(tmp_path, asked) as kit:
        await kit.say(BEGIN)
        assert "\u2013 2 Make <vmid>" in run_card(kit).text
        await kit.say("go ahead")
        assert "◔ 2 Make 112" in run_card(kit).text


async def test_runs_are_listed_and_shown(tmp_path: Path) -> None:
    async with supervised(tmp_path, PROVISION) as kit:
        assert "No runbook was run yet" in await kit.say("runs")
        await kit.say(BEGIN)
        run = newest(kit)
        assert f"● #{run}  provision box7 on web1: in step make" in await kit.say("runs")
        for words in (f"run {run}", f"details {run}", f"show run #{run}"):
            shown = await kit.say(words)
            assert "✓ Find a free id · exit code 0 · show " in shown, words
        assert "No run #zzzzz9 here" in await kit.say("run #zzzzz9")
        assert "Nothing here does that" not in await kit.say("run test12 on web1")


async def test_a_run_card_is_no_card_to_say_yes_to(tmp_path: Path) -> None:
    async with supervised(tmp_path, PROVISION) as kit:
        await kit.say(BEGIN)
        await kit.say("hello")
        await kit.say("go ahead", reply_to=run_card(kit))
        assert run_of(kit).status is RunStatus.AWAITING_APPROVAL
        assert not (tmp_path / "made" / "box7").exists()


async def test_a_stranger_to_the_list_begins_nothing(tmp_path: Path) -> None:
    async with supervised(tmp_path, PROVISION) as kit:
        await kit.say(BEGIN, by="mallory")
        assert kit.core.queries.runs() == ()


async def test_who_asked_may_not_say_yes_alone_where_two_have_to(tmp_path: Path) -> None:
    policy = Policy(revision="r" * 64, quorum=(("@web", 2),))
    operators = (person("ana"), person("kim"))
    async with supervised(tmp_path, PROVISION, policy=policy, operators=operators) as kit:
        await kit.say(BEGIN)
        await kit.say("go ahead")
        assert run_of(kit).status is RunStatus.AWAITING_APPROVAL
        await kit.say(f"approve {kit.newest_id()}", by="kim")
        assert run_of(kit).step == "boot"
        grants = [one for one in kit.core.queries.run_events(newest(kit)) if hasattr(one, "grant")]
        assert [one.grant.decided_by for one in grants] == [PersonId("kim")]
        assert said(kit)


async def test_a_secret_that_a_step_finds_is_shown_nowhere(tmp_path: Path) -> None:
    async with supervised(tmp_path, FINDING) as kit:
        made = tmp_path / "made"
        (made / "kept").write_text("hunter2-found\n")
        await kit.say("run runbook token on local")
        agreed = asyncio.create_task(kit.say("go ahead"))
        while not (made / "begun").exists():  # noqa: ASYNC110 - another process makes it
            await asyncio.sleep(0.02)
        await asyncio.sleep(0.2)
        assert not kit.app.conversation._work._live.output
        await agreed
        await agree(kit)
        assert run_of(kit).outcome == "completed"
        shown = said(kit)
        assert "hunter2" not in shown
        assert "careful" in shown
        assert "got ***" in shown
