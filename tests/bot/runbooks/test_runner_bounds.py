"""What a run may not do: leave its document, take a yes for something else, show a secret, lose its place."""

import asyncio
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Any

import pytest

from bot.cli import main
from bot.execution.executor import FleetExecutor
from bot.ports import Ended, EndKind, OutputSink
from bot.runbooks import letting, runner
from gate.domain import Action
from gate.lifecycle import RunStatus
from gate.policy import Posture
from gate.supervise.domain import Outcome
from gate.supervise.envelope import derive
from gate.supervise.events import Deviated, EndCause
from gate.supervise.state import apply, fresh
from ledger.kinds import Batch, LostRaceError, RunIsAt
from ledger.views import PRUNED
from tests.bot.runbooks.running import (
    PROVISION,
    SECRET,
    WAITING,
    agree,
    events,
    newest,
    run_card,
    run_of,
    said,
    supervised,
)
from tests.kit import Kit, ScriptedPort, person

BEGIN = "run runbook provision on web1 with name=box7"
CHANGED = PROVISION.replace("title: Start it", "title: Start it at once")
PASSWORD = "tr0ub4dor & 'three'"


def deviations(kit: Kit) -> list[Deviated]:
    return [one for one in kit.core.queries.run_events(newest(kit)) if isinstance(one, Deviated)]


# ---------------------------------------------------------------- deviations


async def test_a_runbook_that_changed_is_blocked_and_the_third_time_ends_the_run(tmp_path: Path) -> None:
    port = ScriptedPort()
    async with supervised(tmp_path, PROVISION, port=port) as kit:
        await kit.say(BEGIN)
    async with supervised(tmp_path, CHANGED, port=port) as kit:
        await kit.say(f"approve {kit.newest_id()}")
        assert not (tmp_path / "made" / "box7").exists()
        for _ in range(3):
            await kit.look()
        view = run_of(kit)
        assert (view.outcome, view.cause, view.deviations) == (Outcome.ESCALATED, EndCause.DEVIATIONS, 3)
        assert {one.reason for one in deviations(kit)} == {"the runbook changed since the run began"}
        assert "▲ blocked too often at step 2, Make box7: the runbook changed" in run_card(kit).text
        assert "2 Make box7" in run_card(kit).text  # as it was when the run began
        assert not (tmp_path / "made" / "box7").exists()
        assert kit.core.queries.open_runs() == ()


async def test_a_run_goes_on_once_its_runbook_is_as_it_was(tmp_path: Path) -> None:
    port = ScriptedPort()
    async with supervised(tmp_path, PROVISION, port=port) as kit:
        await kit.say(BEGIN)
    async with supervised(tmp_path, WAITING, port=port) as kit:  # it is gone
        await kit.say(f"approve {kit.newest_id()}")
        assert len(deviations(kit)) == 2
        assert "waits: blocked: the runbook changed since the run began" in run_card(kit).text
    async with supervised(tmp_path, PROVISION, port=port) as kit:
        await kit.look()
        await kit.say(f"approve {kit.newest_id()}")
        assert (tmp_path / "made" / "box7").exists()
        assert run_of(kit).step == "boot"


async def test_a_command_that_is_not_the_step_s_never_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with supervised(tmp_path, PROVISION) as kit:
        await kit.say(BEGIN)
        with monkeypatch.context() as patch:
            patch.setattr(letting, "command_of", lambda _action: "rm -rf /srv")
            await kit.say("go ahead")
        (deviation,) = deviations(kit)
        assert (deviation.reason, deviation.command) == (
            "the command is not the one of this step",
            "rm -rf /srv",
        )
        assert not (tmp_path / "made" / "box7").exists()
        assert "it is not what its step may run" not in said(kit)
        assert (
            run_of(kit).status is RunStatus.AWAITING_APPROVAL
        )  # asked anew, and the old yes is worth nothing
        await agree(kit)
        assert (tmp_path / "made" / "box7").exists()


async def test_what_needed_nobody_is_compared_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with supervised(tmp_path, PROVISION) as kit:
        with monkeypatch.context() as patch:
            patch.setattr(letting, "command_of", lambda _action: "ls /root")
            await kit.say(BEGIN)
        assert "action:started" not in kit.kinds()
        assert "TakenBack" in events(kit)


async def test_a_proposal_that_its_run_has_left_never_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with supervised(tmp_path, PROVISION) as kit:
        monkeypatch.setattr(kit.app.conversation._work, "move", _nothing)
        await kit.say(BEGIN)  # proposed, and not moved
        step = kit.core.queries.proposal(run_of(kit).proposal)  # type: ignore[arg-type] # it has one
        assert step is not None
        await kit.say("stop the run")
        let = letting.let(kit.core, step.actions[0])
        assert not isinstance(let, letting.Let)
        assert "has gone on" in let.text


async def _nothing(_proposal: object) -> None:
    return


async def test_a_target_that_leaves_the_inventory_ends_the_run(tmp_path: Path) -> None:
    elsewhere = PROVISION.replace("title: Make {{ inputs.name }}", "title: Make it\n    target: web9")
    async with supervised(tmp_path, elsewhere) as kit:
        shown = await kit.say(BEGIN)
        view = run_of(kit)
        assert (view.outcome, view.cause) == (Outcome.ESCALATED, EndCause.ESCALATED)
        assert "▲ provision box7 on web1: cannot go on at step 2" in shown


# ---------------------------------------------------------------- unknown ends


class Loses(FleetExecutor):
    """Loses the connection in the middle of `mkdir`, after it ran."""

    async def run(
        self, action: Action, *, on_output: OutputSink, cancel: asyncio.Event, reads: bool = False
    ) -> Ended:
        ended = await super().run(action, on_output=on_output, cancel=cancel)
        return replace(ended, kind=EndKind.LOST, exit_code=None) if "mkdir" in action.command else ended


@pytest.mark.parametrize(("word", "then"), [("ran", "boot"), ("did-not-run", "")])
async def test_an_unknown_end_waits_until_somebody_settles_it(tmp_path: Path, word: str, then: str) -> None:
    async with supervised(tmp_path, PROVISION, executor=Loses) as kit:
        await kit.say(BEGIN)
        await kit.say("go ahead")
        step = run_of(kit).proposal
        assert run_card(kit).text.startswith("? web1 · provision box7 · step 2 of 5")
        assert f"the end of this step is unknown: look, then settle #{step}" in run_card(kit).text
        await kit.look()
        assert (run_of(kit).status, run_of(kit).step) == (RunStatus.RUNNING, "make")
        await kit.say(f"settle {step} {word}, because I looked")
        view = run_of(kit)
        if then:
            assert (view.step, view.status) == (then, RunStatus.AWAITING_APPROVAL)
        else:
            assert (view.outcome, view.cause) == (Outcome.FAILED, EndCause.TERMINAL)
            assert "it never ran" in run_card(kit).text


async def test_a_run_waits_while_its_target_is_frozen(tmp_path: Path) -> None:
    async with supervised(tmp_path, PROVISION, executor=Loses) as kit:
        await kit.say(f"run mkdir {tmp_path}/made/elsewhere on web1")
        lost = kit.newest_id()
        await kit.say("go ahead")
        await kit.say(BEGIN)
        assert run_of(kit).step == "make"
        assert "waits: Changes on web1 are frozen" in run_card(kit).text
        await kit.say(f"settle {lost} ran, because I looked")
        assert run_of(kit).status is RunStatus.AWAITING_APPROVAL


async def test_a_step_that_somebody_stops_ends_the_run(tmp_path: Path) -> None:
    slow = PROVISION.replace("command: mkdir FOLDER/", "command: sleep 100; mkdir FOLDER/")
    operators = (person("ana"), person("kim"))
    started = asyncio.Event()
    loop = asyncio.get_running_loop()

    def probe(moment: str) -> None:
        if moment == "run.before" and "run:granted" in kit.kinds():
            loop.call_soon_threadsafe(started.set)

    async with supervised(tmp_path, slow, operators=operators, probe=probe) as kit:
        await kit.say(BEGIN)
        await kit.say("go ahead", settle=False)
        await asyncio.wait_for(started.wait(), timeout=60)
        await kit.say(f"cancel {kit.newest_id()}", by="kim")
        view = run_of(kit)
        assert (view.outcome, view.cause, view.ended_by) == (Outcome.ABORTED, EndCause.ABORTED, "kim")


async def test_a_yes_that_lapses_is_asked_for_again(tmp_path: Path) -> None:
    async with supervised(tmp_path, PROVISION) as kit:
        await kit.say(BEGIN)
        first = kit.newest_id()
        await kit.say("stop")
        await kit.say(f"approve {first}")
        kit.clock.advance(901)
        await kit.look()
        assert kit.states(first) == ["cancelled"]
        await kit.say("resume")
        await kit.say("resume sayso")
        assert events(kit)[-2:] == ["TakenBack", "Proposed"]
        assert kit.newest_id() != first
        assert "already approved" in await kit.say(f"approve {first}")
        await kit.say(f"approve {kit.newest_id()}")
        assert (tmp_path / "made" / "box7").exists()


# ---------------------------------------------------------------- secrets


async def test_a_secret_is_shown_nowhere_and_runs_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    port = ScriptedPort()
    async with supervised(tmp_path, SECRET, port=port) as kit:
        request = f'run runbook rotate on web1 with user=app, password="{PASSWORD}"'
        await kit.say(request, place="ana-dm")
        await kit.say("go ahead", place="ana-dm")
        assert (tmp_path / "made" / "app").read_text() == f"{PASSWORD}\n"
        for words in ("runs", f"run {newest(kit)}", f"show {kit.newest_id()}", "history", "plan rotate"):
            await kit.say(words, place="ana-dm")
        assert "✗ 2 Look at it" in run_card(kit).text
        shown = said(kit).replace(request, "")
        assert "tr0ub4dor" not in shown
        assert "***" in shown
    async with supervised(tmp_path, SECRET, port=port) as kit:  # another process has to learn it
        shown = await kit.say(f"show {kit.newest_id()}", place="ana-dm")
        assert "tr0ub4dor" not in shown
        name = str(kit.core.queries.run_steps(newest(kit))[0].proposal)
    monkeypatch.setenv("SAYSO_HOME", str(tmp_path / "ledger"))
    assert main(["approvals", "show", name]) == 0
    shown = capsys.readouterr().out
    assert "tr0ub4dor" not in shown
    assert "***" in shown
    with closing(sqlite3.connect(tmp_path / "ledger" / "ledger.db")) as copy:
        bodies = [row[0] for row in copy.execute("SELECT body FROM entry")]
        outbox = [row[0] for row in copy.execute("SELECT body FROM outbox")]
    assert not any("tr0ub4dor" in one for one in (*bodies, *outbox))


async def test_a_secret_that_is_too_short_to_be_masked_is_not_taken(tmp_path: Path) -> None:
    async with supervised(tmp_path, SECRET) as kit:
        shown = await kit.say("run runbook rotate on web1 with user=app, password=abc", place="ana-dm")
        assert "password has to have 4 characters or more" in shown
        assert kit.core.queries.runs() == ()


async def test_a_run_whose_words_were_pruned_can_be_shown(tmp_path: Path) -> None:
    async with supervised(tmp_path, PROVISION) as kit:
        await kit.say(BEGIN)
        await kit.say("no")
        kit.core.ledger.prune(before=kit.clock.instant.replace(year=2030))
        shown = await kit.say(f"run {newest(kit)}")
        assert shown.startswith("✗ web1 · provision box7")
        assert run_of(kit).said == PRUNED


# ---------------------------------------------------------------- once


async def test_two_who_look_at_once_move_a_run_once(tmp_path: Path) -> None:
    async with supervised(tmp_path, WAITING) as kit:
        await kit.say("run runbook patience on web1 with count=2")
        await kit.say("go ahead")
        kit.clock.advance(300)
        run = newest(kit)
        await asyncio.gather(*(asyncio.to_thread(runner.go_on, kit.core, run) for _ in range(6)))
        assert events(kit).count("WaitEnded") == 1
        assert kit.kinds().count("proposal:made") == 2
        with pytest.raises(LostRaceError):
            kit.core.ledger.append(
                Batch(at=kit.clock.now(), drafts=(), expects=(RunIsAt(run, run_of(kit).seq - 1),))
            )


async def test_replaying_the_ledger_gives_the_state_that_memory_holds(tmp_path: Path) -> None:
    async with supervised(tmp_path, PROVISION) as kit:
        await kit.say(BEGIN)
        await kit.say("go ahead")
        await kit.say("go ahead")
        run = newest(kit)
        await kit.look()
        known = kit.core.runs.known[run]
        spec = kit.core.queries.run_spec(run)
        assert spec is not None
        envelope = derive(spec, posture=Posture.APPROVE_MOST, approval_s=900)
        assert reduce(apply, kit.core.queries.run_events(run), fresh(run, envelope)) == known.state


async def test_whatever_fails_about_going_on_the_end_is_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> Mapping[str, bool]:
        raise RuntimeError("a bug")

    async with supervised(tmp_path, PROVISION) as kit:
        with monkeypatch.context() as patch:
            patch.setattr(runner, "advance", broken)
            await kit.say("what can you do")
            await kit.say(BEGIN)
        assert kit.core.queries.runs() == ()
        await kit.say(BEGIN)
        with monkeypatch.context() as patch:
            patch.setattr(runner, "follow", broken)
            patch.setattr(runner, "go_on", broken)
            await kit.say("go ahead")
            assert kit.states() == ["succeeded"]
            assert run_of(kit).status is RunStatus.ENTERED
        await kit.look()
        assert run_of(kit).status is RunStatus.AWAITING_APPROVAL
