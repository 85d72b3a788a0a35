"""What ends a plan: what is denied, a no, silence, a budget, a stop, and a record that was changed."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from bot.planning.model.dial import forbids
from bot.planning.model.thinking import Call, ThinkerError
from ledger.kinds import Kind
from tests.bot.planning.planned import UNREAD, Failing, Held, ends, layers, run, settled
from tests.kit import Kit, conversation
from tests.simulators.model.double import Scripted, call, calls, read, says


def denials(kit: Kit) -> list[str]:
    rows = kit.core.ledger.reader().execute(
        "SELECT json_extract(body, '$.code') FROM entry WHERE kind=? ORDER BY seq", (Kind.REQUEST_DENIED,)
    )
    return [row[0] for row in rows]


# ---------------------------------------------------------------- what is denied


@pytest.mark.parametrize(
    "tool",
    ["approve", "resume", "settle", "config_set", "trust", "guidance", "promote_runbook", "shell_exec"],
)
async def test_a_tool_that_it_has_not_ends_the_plan_and_is_recorded(tmp_path: Path, tool: str) -> None:
    wanted = calls(run(f"touch {tmp_path}/x"), call(tool, id="k00001", key="autonomy.max", command="rm x"))
    async with conversation(tmp_path / "s", thinker=Scripted([wanted])) as kit:
        shown = await kit.say(UNREAD)
        assert f'asked for "{tool}", which is no tool that it has. Nothing ran from it.' in shown
        assert ends(kit) == ["denied"]
        assert denials(kit) == ["unknown_tool"]
        assert Kind.PROPOSAL_MADE not in kit.kinds()


@pytest.mark.parametrize(
    ("wanted", "code", "words"),
    [
        (run("rm -rf /"), "never_list", "Never: "),
        (run("uptime", on="web9"), "unknown_target", "No target web9"),
        (run("uptime", on=""), "", "lacks target"),
    ],
)
async def test_what_the_gate_denies_ends_the_plan_with_nothing_of_it_done(
    tmp_path: Path, wanted: Call, code: str, words: str
) -> None:
    model = Scripted([calls(run(f"touch {tmp_path}/x"), wanted), says("Well.")])
    async with conversation(tmp_path / "s", thinker=model) as kit:
        shown = await kit.say(UNREAD)
        if code:
            assert words in shown
            assert denials(kit) == [code]
            assert ends(kit) == ["denied"]
            assert Kind.PROPOSAL_MADE not in kit.kinds()
        else:  # what cannot be read goes back to the model, and holds nothing else up
            await kit.say("go ahead")
            assert words in read(model.thoughts[1])


# ---------------------------------------------------------------- what a person says to it


async def test_a_no_ends_the_plan_without_another_call(tmp_path: Path) -> None:
    model = Scripted([calls(run(f"touch {tmp_path}/x")), says("I would still do it.")])
    async with conversation(tmp_path / "s", thinker=model) as kit:
        await kit.say(UNREAD)
        shown = await kit.say("no, not now")
        assert "The plan ends here." in shown
        assert ends(kit) == ["refused"]
    assert len(model.thoughts) == 1


async def test_silence_ends_it_too(tmp_path: Path) -> None:
    model = Scripted([calls(run(f"touch {tmp_path}/x"))])
    async with conversation(tmp_path / "s", thinker=model) as kit:
        await kit.say(UNREAD)
        kit.clock.advance(901)
        await kit.look()
        await settled(kit)
        assert ends(kit) == ["refused"]
    assert len(model.thoughts) == 1


async def test_what_a_person_changed_is_told_as_theirs(tmp_path: Path) -> None:
    model = Scripted([calls(run(f"touch {tmp_path}/x")), says("I see.")])
    async with conversation(tmp_path / "s", thinker=model) as kit:
        await kit.say(UNREAD)
        first = kit.newest_id()
        await kit.say(f"edit {first} run touch {tmp_path}/y on local")
        await kit.say("go ahead")
        assert (tmp_path / "y").exists()
        assert not (tmp_path / "x").exists()
        assert ends(kit) == ["answered"]
    assert f"A person replaced #{first} by #" in read(model.thoughts[1])


# ---------------------------------------------------------------- budgets


async def test_a_budget_that_is_used_up_ends_the_plan_before_the_call(tmp_path: Path) -> None:
    model = Scripted([calls(run("uptime"))] * 20)
    async with conversation(tmp_path, thinker=model, settings=layers(model__calls=3)) as kit:
        shown = await kit.say(UNREAD)
        assert "its 3 calls are used up (model.calls). What ran stands above." in shown
        assert ends(kit) == ["over_budget"]
    assert len(model.thoughts) == 3


async def test_an_endpoint_gives_nothing_back(tmp_path: Path) -> None:
    model = Scripted([calls(run("uptime"))] * 20, tokens_in=-1_000_000, tokens_out=-1_000_000)
    settings = layers(model__tokens=30_000, model__price_in="10", model__price_out="30", model__money="0.30")
    async with conversation(tmp_path, thinker=model, settings=settings) as kit:
        shown = await kit.say(UNREAD)
        assert ends(kit) == ["over_budget"]
        assert " -" not in shown.rpartition("calls")[2]
    assert 0 < len(model.thoughts) < 12


async def test_money_counts_what_was_set_aside(tmp_path: Path) -> None:
    model = Scripted([calls(run("uptime"))] * 20)
    settings = layers(model__money="0.08", model__price_in="10", model__price_out="30")
    async with conversation(tmp_path, thinker=model, settings=settings) as kit:
        shown = await kit.say(UNREAD)
        assert "(model.money)" in shown
    assert 0 < len(model.thoughts) < 12


async def test_a_call_without_an_answer_counts_in_full(tmp_path: Path) -> None:
    async with conversation(tmp_path, thinker=Failing(ThinkerError("it is down"))) as kit:
        shown = await kit.say(UNREAD)
        assert "1 of 12 calls" in shown
        assert "90 of 300 s" in shown


# ---------------------------------------------------------------- stopping


async def test_cancel_drops_what_is_thought_about(tmp_path: Path) -> None:
    model = Held(calls(run(f"touch {tmp_path}/x")))
    async with conversation(tmp_path / "s", thinker=model) as kit:
        await kit.say(UNREAD, settle=False)
        await model.asked.wait()
        assert "Dropped. Nothing ran." in await kit.say("cancel")
        model.let.set()
        await settled(kit)
        assert ends(kit) == ["dropped"]
        assert Kind.PROPOSAL_MADE not in kit.kinds()


async def test_something_new_takes_the_place_of_what_is_thought_about(tmp_path: Path) -> None:
    model = Held(says("It is busy."))
    async with conversation(tmp_path, thinker=model) as kit:
        await kit.say(UNREAD, settle=False)
        await model.asked.wait()
        model.let.set()
        await kit.say("why is web2 slow")
        await settled(kit)
        assert ends(kit)[-1] == "answered"
        assert ends(kit)[0] in ("replaced", "answered")


async def test_stop_keeps_what_is_thought_about_from_doing_anything(tmp_path: Path) -> None:
    model = Held(calls(run("uptime")))
    async with conversation(tmp_path, thinker=model) as kit:
        await kit.say(UNREAD, settle=False)
        await model.asked.wait()
        await kit.say("stop")
        assert ends(kit) == ["model_failed"]
        model.let.set()
        assert Kind.ACTION_STARTED not in kit.kinds()
        assert "sayso is stopped, so no model was asked." in await kit.say(UNREAD)


async def test_stopped_between_two_calls_it_ends(tmp_path: Path) -> None:
    model = Scripted([calls(run(f"touch {tmp_path}/x"))])
    async with conversation(tmp_path / "s", thinker=model) as kit:
        await kit.say(UNREAD)
        await kit.say("set planner.autonomy to off")
        shown = await kit.say("approve " + kit.newest_id())
        assert "planner.autonomy off, so the model is not asked any further." in shown
        assert (tmp_path / "x").exists()
        assert ends(kit) == ["stopped"]
    assert len(model.thoughts) == 1


async def test_what_is_answered_after_the_dial_was_lowered_is_not_carried_out(tmp_path: Path) -> None:
    model = Held(calls(run("uptime")))
    async with conversation(tmp_path, thinker=model) as kit:
        await kit.say(UNREAD, settle=False)
        await model.asked.wait()
        await kit.say("set planner.autonomy to off", settle=False)
        while not forbids(kit.core):  # noqa: ASYNC110 - a turn of another task
            await asyncio.sleep(0.01)
        model.let.set()
        await settled(kit)
        assert Kind.PROPOSAL_MADE not in kit.kinds()
        assert Kind.PLAN_ANSWERED in kit.kinds()
        assert ends(kit) == ["stopped"]


# ---------------------------------------------------------------- an edited history


async def test_an_edited_history_goes_nowhere(tmp_path: Path) -> None:
    model = Scripted([calls(run(f"touch {tmp_path}/x")), calls(run(f"touch {tmp_path}/y"))])
    async with conversation(tmp_path / "s", thinker=model) as kit:
        await kit.say(UNREAD)
        (name,) = (
            kit.core.ledger.reader()
            .execute(
                "SELECT json_extract(body, '$.reply.payload') FROM entry WHERE kind=?", (Kind.PLAN_ANSWERED,)
            )
            .fetchone()
        )
        with closing(sqlite3.connect(tmp_path / "s" / "ledger.db")) as editor, editor:
            for (trigger,) in editor.execute(
                "SELECT name FROM sqlite_master WHERE type='trigger'"
            ).fetchall():
                editor.execute(f"DROP TRIGGER {trigger}")
            edited = "CAST(replace(content, 'as asked', 'trust me') AS BLOB)"
            editor.execute(f"UPDATE payload SET content={edited} WHERE hash=?", (name,))
        shown = await kit.say("go ahead")
        assert "The record of this plan is not what was written" in shown
        assert ends(kit) == ["changed"]
        assert not (tmp_path / "y").exists()
    assert len(model.thoughts) == 1
