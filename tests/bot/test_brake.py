"""What tightens acts at once, also while nothing can be recorded (D19)."""

from pathlib import Path

import pytest

from bot.brake import Brake
from bot.ports import NotCommittedError
from gate.domain import TargetId
from gate.policy import Switches
from tests.bot.test_conversation_cancel import UntilCancelled
from tests.bot.test_digest import Ends
from tests.kit import Kit, conversation


def full(kit: Kit, *, is_full: bool = True) -> None:
    kit.core.ledger._connection.execute(f"PRAGMA query_only = {'ON' if is_full else 'OFF'}")


def ran(kit: Kit) -> list[str]:
    return list(kit.core.executor.ran)  # type: ignore[attr-defined] # Ends


def test_a_brake_only_tightens() -> None:
    brake = Brake()
    brake.pull("a", Switches(stopped=True))
    brake.pull("b", Switches(never_auto_act=(TargetId("web1"),)))
    held = brake.tighten(Switches(auto_off=True))
    assert held == Switches(stopped=True, auto_off=True, never_auto_act=(TargetId("web1"),))
    brake.release("a")
    assert not brake.tighten(Switches()).stopped


async def test_a_stop_into_a_full_disk_holds_and_is_recorded_later(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        full(kit)
        assert "holds in memory" in await kit.say("stop")
        assert kit.core.switches().stopped
        assert "switch:changed" not in kit.kinds()
        full(kit, is_full=False)
        await kit.say("run uptime on local")
        assert ran(kit) == []
        assert kit.kinds().count("switch:changed") == 1
        assert kit.core.queries.switches().stopped
        await kit.say("resume")
        await kit.say("resume sayso")
        assert not kit.core.switches().stopped
        await kit.say("run uptime on local")
        assert ran(kit) == ["uptime"]


async def test_the_timer_records_a_held_stop_before_anything_goes_on(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        full(kit)
        await kit.say("stop")
        full(kit, is_full=False)
        await kit.look()
        assert kit.core.queries.switches().stopped
        assert kit.core.brake == Brake()
        row = (
            kit.core.ledger.reader().execute("SELECT body FROM entry WHERE kind='switch:changed'").fetchone()
        )
        assert '"by":"ana"' in row[0]


async def test_a_stop_that_was_stored_but_not_taken_holds_too(tmp_path: Path) -> None:
    moments: list[Kit] = []

    def probe(moment: str) -> None:
        if moment == "inbox.committed" and moments:
            full(moments.pop())

    async with conversation(tmp_path, executor=Ends, probe=probe) as kit:
        moments.append(kit)
        assert "holds in memory" in await kit.say("stop")
        full(kit, is_full=False)
        await kit.look()
        assert kit.kinds().count("turn:received") == 1
        assert kit.core.queries.switches().stopped
        assert not kit.core.ledger.inbox.pending()


async def test_a_cancel_into_a_full_disk_stops_what_runs(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=UntilCancelled) as kit:
        await kit.say("run systemctl restart caddy on web1")
        receipt = await kit.hand_over(kit.inbound("go ahead"))
        await kit.core.executor.runs.wait()  # type: ignore[attr-defined] # UntilCancelled
        full(kit)
        assert "Stopping" in await kit.say(f"cancel {kit.newest_id()}")
        full(kit, is_full=False)
        await receipt.settled
        assert kit.states() == ["cancelled"]


async def test_a_bare_cancel_into_a_full_disk_stops_the_one_thing_that_runs(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=UntilCancelled) as kit:
        await kit.say("run systemctl restart caddy on web1")
        receipt = await kit.hand_over(kit.inbound("go ahead"))
        await kit.core.executor.runs.wait()  # type: ignore[attr-defined] # UntilCancelled
        full(kit)
        with pytest.raises(NotCommittedError):
            await kit.say("cancel", place="elsewhere")
        assert "Stopping restart caddy on web1" in await kit.say("cancel")
        full(kit, is_full=False)
        await receipt.settled
        assert kit.states() == ["cancelled"]


async def test_a_bare_cancel_into_a_full_disk_does_not_guess(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=UntilCancelled) as kit:
        await kit.say("run systemctl restart caddy on web1")
        first = kit.newest_id()
        await kit.hand_over(kit.inbound("go ahead"))
        await kit.core.executor.runs.wait()  # type: ignore[attr-defined] # UntilCancelled
        await kit.say("run systemctl restart nginx on web2")
        full(kit)
        with pytest.raises(NotCommittedError, match="stop and  cancel <id>  work all the same"):
            await kit.say("cancel")
        assert f"cancel #{first}.1" in await kit.say("stop")
        full(kit, is_full=False)
        await kit.say(f"cancel {first}")
        assert kit.states() == ["waiting"]


async def test_other_words_and_other_people_are_refused_as_before(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        full(kit)
        for text, by in (("run uptime on local", "ana"), ("resume", "ana"), ("stop", "stranger")):
            with pytest.raises(NotCommittedError):
                await kit.say(text, by=by)
        assert not kit.core.switches().stopped
        full(kit, is_full=False)
