"""Runs: a real shell does what the supervisor permits, asked about like anything else."""

from pathlib import Path

import pytest

from gate.lifecycle import RunStatus
from gate.supervise.domain import Outcome
from gate.supervise.events import EndCause, Judged
from tests.bot.runbooks.running import (
    PROVISION,
    WAITING,
    agree,
    events,
    newest,
    run_card,
    run_of,
    supervised,
)
from tests.kit import Kit, ScriptedPort, person

BEGIN = "run runbook provision on web1 with name=box7"


def captured(kit: Kit) -> list[tuple[str, str]]:
    found = [one for one in kit.core.queries.run_events(newest(kit)) if isinstance(one, Judged)]
    return [one.captured for one in found if one.captured is not None]


# ---------------------------------------------------------------- a whole run


async def test_a_run_goes_step_by_step_to_its_end(tmp_path: Path) -> None:
    async with supervised(tmp_path, PROVISION) as kit:
        shown = await kit.say(BEGIN)
        assert run_card(kit).text == (
            "◔ web1 · provision box7 · step 2 of 5\n"
            "✓ 1 Find a free id\n"
            "◔ 2 Make box7\n"
            "\u2013 3 Start it\n"
            "\u2013 4 It is up\n"
            "\u2013 5 Look at it\n"
            f"waits for a yes · #{kit.newest_id()}\n"
            f"#{newest(kit)} · asked by ana"
        )
        assert "ls " not in shown  # what asks nobody is told by the card of the run alone
        assert f"mkdir {tmp_path}/made/box7" in kit.card.text
        assert 'runbook provision box7, step 2: Make box7"' in kit.card.text
        assert captured(kit) == [("vmid", "112")]

        await kit.say("go ahead")
        assert (tmp_path / "made" / "box7").is_dir()
        assert "✓ 2 Make box7" in run_card(kit).text
        (tmp_path / "made" / "ready").touch()
        last = await kit.say("go ahead")
        assert (tmp_path / "made" / "box7" / "up").exists()
        assert run_card(kit).text.startswith("✓ web1 · provision box7\n")
        assert "\n✓ done\n" in run_card(kit).text
        assert f"✓ provision box7 on web1: done. 5 steps, 1.0 s · #{newest(kit)}" in last
        view = run_of(kit)
        assert (view.outcome, view.cause, view.status) == (
            Outcome.COMPLETED,
            EndCause.TERMINAL,
            RunStatus.ENDED,
        )
        assert events(kit) == [
            *("Started", "Entered", "Proposed", "Consumed", "Judged"),
            *("Entered", "Proposed", "Granted", "Consumed", "Judged"),
            *("Entered", "Proposed", "Granted", "Consumed", "Judged"),
            *("Entered", "Judged"),
            *("Entered", "Proposed", "Consumed", "Judged", "Ended"),
        ]
        assert f"step of #{newest(kit)}" in await kit.say("history")
        assert f"runs: ✓ provision box7 #{newest(kit)}" in await kit.say("what did you do?")


async def test_what_may_start_is_let_go_in_the_batch_that_starts_it(tmp_path: Path) -> None:
    async with supervised(tmp_path, PROVISION) as kit:
        await kit.say(BEGIN)
        await kit.say("go ahead")
        rows = kit.core.ledger.reader().execute("SELECT kind, at FROM entry ORDER BY seq").fetchall()
        kinds = [row[0] for row in rows]
        start = len(kinds) - kinds[::-1].index("action:started") - 1
        assert kinds[start : start + 3] == ["action:started", "run:granted", "run:consumed"]
        end = kinds.index("run:judged", start)
        assert kinds[end - 1 : end + 2] == ["action:succeeded", "run:judged", "run:entered"]


async def test_each_step_asks_by_itself_once_the_one_before_is_shown(tmp_path: Path) -> None:
    async with supervised(tmp_path, PROVISION) as kit:
        await kit.say(BEGIN)
        first = kit.card
        shown = await kit.say("go ahead")
        assert "✓ ok" in first.text
        assert "Start it" in shown
        assert kit.card is not first
        assert len(kit.core.queries.pending()) == 1
        with pytest.raises(StopIteration):
            first.token("Approve")


async def test_the_target_stands_first_and_the_run_is_found_by_its_words(tmp_path: Path) -> None:
    async with supervised(tmp_path, PROVISION) as kit:
        await kit.say("provision box7 on web2")
        assert run_card(kit).text.startswith("◔ web2 · provision box7")
        assert run_of(kit).said == "provision box7 on web2"


# ---------------------------------------------------------------- no, nobody, stop


async def test_a_no_ends_the_run_with_who_said_it_and_why(tmp_path: Path) -> None:
    async with supervised(tmp_path, PROVISION) as kit:
        await kit.say(BEGIN)
        shown = await kit.say("no, the name is wrong")
        assert "refused by ana at step 2, Make box7: the name is wrong" in run_card(kit).text
        assert "✗ provision box7 on web1: refused by ana at step 2, Make box7: the name is wrong" in shown
        assert "Nothing more runs from it." in shown
        view = run_of(kit)
        assert (view.outcome, view.cause, view.ended_by) == (Outcome.ABORTED, EndCause.REFUSED, "ana")
        assert not (tmp_path / "made" / "box7").exists()
        await kit.look()
        assert kit.core.queries.open_runs() == ()


async def test_a_plain_no_stops_at_once_and_its_reason_is_missing(tmp_path: Path) -> None:
    async with supervised(tmp_path, PROVISION) as kit:
        await kit.say(BEGIN)
        await kit.say("no")
        assert "refused by ana at step 2, Make box7: no reason yet" in run_card(kit).text
        assert run_of(kit).cause is EndCause.REFUSED
        await kit.say("the name is wrong")
        assert "refused by ana at step 2, Make box7: the name is wrong" in await kit.say(f"run {newest(kit)}")


async def test_nobody_answering_is_no_refusal(tmp_path: Path) -> None:
    async with supervised(tmp_path, PROVISION) as kit:
        await kit.say(BEGIN)
        kit.clock.advance(901)
        await kit.look()
        assert "✗ nobody answered in time at step 2, Make box7" in run_card(kit).text
        view = run_of(kit)
        assert (view.outcome, view.cause, view.ended_by) == (Outcome.ABORTED, EndCause.EXPIRED, None)
        await kit.say("go ahead")
        assert not (tmp_path / "made" / "box7").exists()


async def test_a_question_stays_open_no_longer_than_the_runbook_says(tmp_path: Path) -> None:
    short = PROVISION.replace("steps:", "limits: {approval: 1m}\nsteps:", 1)
    async with supervised(tmp_path, short) as kit:
        await kit.say(BEGIN)
        kit.clock.advance(61)
        await kit.look()
        assert run_of(kit).cause is EndCause.EXPIRED


@pytest.mark.parametrize("words", ["stop the run", "cancel {run}", "cancel", "cancel {step}"])
async def test_a_word_of_anybody_ends_the_run_and_its_question(tmp_path: Path, words: str) -> None:
    operators = (person("ana"), person("kim"))
    async with supervised(tmp_path, PROVISION, operators=operators) as kit:
        await kit.say(BEGIN)
        step = kit.newest_id()
        await kit.say(words.format(run=newest(kit), step=step), by="kim")
        view = run_of(kit)
        assert (view.outcome, view.cause, view.ended_by) == (Outcome.ABORTED, EndCause.ABORTED, "kim")
        assert kit.core.queries.pending() == ()
        assert kit.states(step) == ["cancelled"]
        assert "stopped by kim at step 2, Make box7" in run_card(kit).text


async def test_asking_for_something_else_instead_of_a_step_ends_the_run(tmp_path: Path) -> None:
    async with supervised(tmp_path, PROVISION) as kit:
        await kit.say(BEGIN)
        await kit.say(f"edit {kit.newest_id()} run touch {tmp_path}/made/other on web1")
        view = run_of(kit)
        assert (view.outcome, view.cause, view.ended_by) == (Outcome.ABORTED, EndCause.ABORTED, "ana")
        await kit.say("go ahead")  # what was asked for instead is no step of any run
        assert (tmp_path / "made" / "other").exists()
        assert not (tmp_path / "made" / "box7").exists()


async def test_which_run_is_asked_where_several_go_on(tmp_path: Path) -> None:
    async with supervised(tmp_path, PROVISION) as kit:
        await kit.say(BEGIN)
        await kit.say(BEGIN.replace("box7", "box8"))
        shown = await kit.say("stop the run")
        assert shown.startswith("Which one?")
        assert len(kit.core.queries.open_runs()) == 2
        assert "is over already" in await kit.say(f"cancel {newest(kit)}") + await kit.say(
            f"cancel {newest(kit)}"
        )


async def test_stop_holds_a_run_and_resume_lets_it_go_on(tmp_path: Path) -> None:
    async with supervised(tmp_path, PROVISION) as kit:
        await kit.say(BEGIN)
        await kit.say("stop")
        assert "sayso is stopped, so no run begins" in await kit.say(BEGIN)
        await kit.say(f"approve {kit.newest_id()}")
        assert not (tmp_path / "made" / "box7").exists()
        await kit.say("resume")
        await kit.say("resume sayso")
        assert (tmp_path / "made" / "box7").is_dir()
        assert run_of(kit).step == "boot"


# ---------------------------------------------------------------- failing, again, lost


async def test_a_retry_needs_a_grant_of_its_own(tmp_path: Path) -> None:
    async with supervised(tmp_path, PROVISION) as kit:
        await kit.say(BEGIN)
        await kit.say("go ahead")
        first = kit.newest_id()
        await kit.say("go ahead")
        second = kit.newest_id()
        assert second != first
        assert "3 Start it · try 2" in run_card(kit).text
        assert kit.core.queries.pending()[0].proposal == second
        assert "nothing left" in await kit.say(f"cancel {first}")
        assert "already approved" in await kit.say(f"approve {first}")
        (tmp_path / "made" / "ready").touch()
        await kit.say(f"approve {second}")
        assert run_of(kit).outcome is Outcome.COMPLETED
        assert [one for one in events(kit) if one == "Granted"] == ["Granted"] * 3


async def test_when_tries_are_spent_the_run_fails_and_undoing_is_offered(tmp_path: Path) -> None:
    async with supervised(tmp_path, PROVISION) as kit:
        await kit.say(BEGIN)
        for _ in range(4):
            await kit.say("go ahead")
        view = run_of(kit)
        assert (view.outcome, view.number) == (Outcome.FAILED, 5)
        assert "✗ 3 Start it · try 3 · expected exit code 0, got 1" in run_card(kit).text
        assert f"To undo what it did, say  rollback {view.id}" in run_card(kit).text

        await kit.press(run_card(kit), "Roll back")
        undoing = run_of(kit)
        assert (undoing.undoes, undoing.step) == (view.id, "remove")
        assert f"undoes #{view.id}" in run_card(kit).text
        assert (tmp_path / "made" / "box7").is_dir()  # it asks, like anything else
        await agree(kit)
        assert not (tmp_path / "made" / "box7").exists()
        assert run_of(kit).outcome is Outcome.COMPLETED
        assert f"#{undoing.id} undoes #{view.id} already" in await kit.say(f"rollback {view.id}")


async def test_an_undoing_that_did_nothing_may_be_asked_for_again(tmp_path: Path) -> None:
    async with supervised(tmp_path, PROVISION) as kit:
        await kit.say(BEGIN)
        for _ in range(4):
            await kit.say("go ahead")
        failed = run_of(kit)
        await kit.say(f"rollback {failed.id}")
        first = run_of(kit)
        assert first.undoes == failed.id
        assert f"#{first.id} undoes #{failed.id} already" in await kit.say(f"rollback {failed.id}")
        await kit.say(f"cancel {first.id}")
        assert run_of(kit).outcome is Outcome.ABORTED
        await kit.press(run_card(kit, failed.id), "Roll back")
        again = run_of(kit)
        assert (again.undoes, again.id != first.id) == (failed.id, True)
        await agree(kit)
        assert not (tmp_path / "made" / "box7").exists()
        assert f"#{again.id} undoes #{failed.id} already" in await kit.say(f"rollback {failed.id}")


async def test_what_cannot_be_undone_says_so(tmp_path: Path) -> None:
    async with supervised(tmp_path, PROVISION, WAITING) as kit:
        await kit.say("run runbook patience on web1")
        run = newest(kit)
        assert f"#{run} goes on still" in await kit.say(f"rollback {run}")
        await kit.say("no")
        assert f"Nothing in wait and see undoes what #{run} did" in await kit.say(f"rollback {run}")
        assert "No run #zzzzz9 here" in await kit.say("rollback zzzzz9")


async def test_a_step_that_fails_shows_what_it_wrote(tmp_path: Path) -> None:
    async with supervised(tmp_path, PROVISION.replace("equals: up", "equals: down")) as kit:
        (tmp_path / "made" / "ready").touch()
        await kit.say(BEGIN)
        await kit.say("go ahead")
        shown = await kit.say("go ahead")
        assert "careful" in shown
        assert "✗ 5 Look at it · expected that stdout is 'down', which is not so" in run_card(kit).text
        assert run_of(kit).outcome is Outcome.FAILED


# ---------------------------------------------------------------- agreeing, waiting, deciding


async def test_people_agree_time_passes_and_a_value_decides(tmp_path: Path) -> None:
    async with supervised(tmp_path, WAITING) as kit:
        await kit.say("run runbook patience on web1 with count=2")
        assert "waits for somebody to agree" in run_card(kit).text
        assert "Is the backup done?" in kit.card.text
        assert "a person has to agree before the run goes on" in kit.card.text
        await kit.say("go ahead")
        assert "waits until 14:05" in run_card(kit).text
        kit.clock.advance(299)
        await kit.look()
        assert run_of(kit).status is RunStatus.WAITING
        kit.clock.advance(1)
        await kit.look()
        await kit.app.conversation._work.quiet([kit.newest_id()])  # type: ignore[list-item] # an id
        assert run_of(kit).outcome is Outcome.COMPLETED


async def test_the_card_after_a_wait_comes_by_itself_and_takes_a_reply(tmp_path: Path) -> None:
    changing = WAITING.replace("risk: read-only, command: date", "risk: mutating, command: touch FOLDER/x")
    changing = changing.replace("kind: check, title: Look", "title: Look, rollback: none")
    async with supervised(tmp_path, changing) as kit:
        await kit.say("run runbook patience on web1 with count=2")
        assert 'Say "go ahead"' in kit.card.text
        await kit.say("go ahead")
        kit.clock.advance(300)
        await kit.look()
        assert f'Say "approve {kit.newest_id()}"' in kit.card.text
        await kit.say("yes")  # to whatever people speak of by then
        assert run_of(kit).status is RunStatus.AWAITING_APPROVAL
        await kit.say("go ahead", reply_to=kit.card)
        assert (tmp_path / "made" / "x").exists()


async def test_a_wait_lasts_over_a_restart(tmp_path: Path) -> None:
    port = ScriptedPort()
    async with supervised(tmp_path, WAITING, port=port) as kit:
        await kit.say("run runbook patience on web1")
        await kit.say("go ahead")
    async with supervised(tmp_path, WAITING, port=port) as kit:
        assert run_of(kit).status is RunStatus.WAITING
        kit.clock.advance(301)
        await kit.look()
        view = run_of(kit)
        assert (view.outcome, view.cause) == (Outcome.ESCALATED, EndCause.TERMINAL)
        assert "▲ a person has to look" in run_card(kit).text


async def test_a_wait_can_be_ended_with_its_run(tmp_path: Path) -> None:
    async with supervised(tmp_path, WAITING) as kit:
        await kit.say("run runbook patience on web1")
        await kit.say("go ahead")
        assert "#" + newest(kit) in await kit.say("pending")
        await kit.say("cancel")
        assert run_of(kit).cause is EndCause.ABORTED
        kit.clock.advance(600)
        await kit.look()
        assert events(kit)[-2:] == ["WaitBegan", "Ended"]
