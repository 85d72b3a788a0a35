"""What a restart must not get wrong, each case by itself and without a kill.

A first life is stopped before it has done what the case is about; a second one goes on from its ledger.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bot.places import place_id
from bot.ports import Ended, EndKind, MessageRef, OutputSink, PlaceRef, Receipt
from gate.domain import Action, ProposalId, Target
from tests.kit import Kit, ScriptedClock, ScriptedPort, conversation


class Stuck:
    """An executor whose commands never end by themselves."""

    def __init__(self, _inventory: object) -> None:
        self.running = asyncio.Event()

    async def identify(self, target: Target) -> Target:
        return target

    async def run(
        self, action: Action, *, on_output: OutputSink, cancel: asyncio.Event, reads: bool = False
    ) -> Ended:
        self.running.set()
        await asyncio.Event().wait()
        raise AssertionError("unreachable: it is cancelled")

    async def close(self) -> None:
        return


class Faulty(Stuck):
    """An executor that fails inside."""

    async def run(
        self, action: Action, *, on_output: OutputSink, cancel: asyncio.Event, reads: bool = False
    ) -> Ended:
        raise RuntimeError("a bug")


class Quick(Stuck):
    """An executor that counts."""

    def __init__(self, inventory: object) -> None:
        super().__init__(inventory)
        self.ran: list[str] = []

    async def run(
        self, action: Action, *, on_output: OutputSink, cancel: asyncio.Event, reads: bool = False
    ) -> Ended:
        self.ran.append(action.command)
        return Ended(kind=EndKind.EXITED, exit_code=0)


@asynccontextmanager
async def frozen(kit: Kit) -> AsyncIterator[None]:
    """Let messages be committed and not be handled, as when the process dies in between."""
    place = PlaceRef(platform="script", channel="ops")
    async with kit.app.conversation._lane(place_id(place)):
        yield
        for task in list(kit.app.conversation._tasks):
            task.cancel()
        await asyncio.wait(kit.app.conversation._tasks)


async def committed(kit: Kit, text: str) -> Receipt:
    return await kit.hand_over(kit.inbound(text))


RESTART = "run systemctl restart caddy on local"


async def test_stop_that_waited_in_the_inbox_comes_before_queued_work(tmp_path: Path) -> None:
    clock = ScriptedClock()
    async with conversation(tmp_path, clock=clock, executor=Stuck) as kit:
        await kit.say(RESTART)
        work = kit.app.conversation._work
        async with work._lock(ProposalId(kit.newest_id())):  # granted and queued, and gets no further
            receipt = await committed(kit, "go ahead")
            await _reached(kit, ["queued"])
            for task in list(kit.app.conversation._tasks):
                task.cancel()
            await asyncio.wait(kit.app.conversation._tasks)
        assert receipt.fresh
        async with frozen(kit):
            await committed(kit, "stop")
    async with conversation(tmp_path, clock=clock, executor=Quick) as kit:
        assert kit.states() == ["queued"]
        assert kit.core.switches().stopped
        assert kit.core.executor.ran == []  # type: ignore[attr-defined] # Quick


async def test_a_yes_said_before_the_question_was_shown_is_not_one(tmp_path: Path) -> None:
    clock = ScriptedClock()
    async with conversation(tmp_path, clock=clock, executor=Quick) as kit, frozen(kit):
        await committed(kit, RESTART)
        await committed(kit, "go ahead")
    async with conversation(tmp_path, clock=clock, executor=Quick) as kit:
        assert kit.states() == ["waiting"]
        await kit.say(f"approve {kit.newest_id()}")
        assert kit.states() == ["succeeded"]


async def test_a_yes_to_what_was_running_is_none_to_what_was_asked_after_the_crash(tmp_path: Path) -> None:
    clock = ScriptedClock()
    async with conversation(tmp_path, clock=clock, executor=Stuck) as kit:
        await kit.say("run systemctl restart caddy on web1\nrun systemctl restart caddy on web2")
        await kit.send(kit.inbound("go ahead"), settle=False)
        await kit.core.executor.running.wait()  # type: ignore[attr-defined] # Stuck
        async with frozen(kit):
            await committed(kit, "go ahead")
    async with conversation(tmp_path, clock=clock, executor=Quick) as kit:
        assert kit.states() == ["lost", "waiting"]


async def test_a_message_that_fails_everywhere_does_not_keep_the_bot_down(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Quick) as kit:
        assert "Nothing here does that" in await kit.say("half a pair: \ud83d")
        assert "local" in await kit.say("run uptime on local")


async def test_a_missed_check_stops_what_follows(tmp_path: Path) -> None:
    clock = ScriptedClock()

    class NoCheck(Quick):
        async def run(
            self, action: Action, *, on_output: OutputSink, cancel: asyncio.Event, reads: bool = False
        ) -> Ended:
            if action.id == "probe":
                self.running.set()
                await asyncio.Event().wait()
            return await super().run(action, on_output=on_output, cancel=cancel)

    async with conversation(tmp_path, clock=clock, executor=NoCheck) as kit:
        await kit.say(
            "run systemctl restart caddy on web1 then verify `uptime`\nrun systemctl restart caddy on web2"
        )
        await kit.send(kit.inbound("go ahead"), settle=False)
        await kit.core.executor.running.wait()  # type: ignore[attr-defined] # NoCheck
    async with conversation(tmp_path, clock=clock, executor=Quick) as kit:
        assert kit.states() == ["succeeded", "waiting"]
        assert kit.kinds().count("action:verified") == 1
    async with conversation(tmp_path, clock=clock, executor=Quick) as kit:
        assert kit.kinds().count("action:verified") == 1


async def test_a_fault_inside_while_it_runs_is_an_unknown_end(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Faulty) as kit:
        await kit.say(RESTART)
        assert "unknown" in await kit.say("go ahead")
        assert kit.states() == ["lost"]
        assert "frozen" in await kit.say("run systemctl restart nginx on local")


async def test_stopping_does_not_wait_for_what_runs(tmp_path: Path) -> None:
    async with asyncio.timeout(60), conversation(tmp_path, executor=Stuck) as kit:
        await kit.say(RESTART)
        await kit.send(kit.inbound("go ahead"), settle=False)
        await kit.core.executor.running.wait()  # type: ignore[attr-defined] # Stuck
    async with conversation(tmp_path, executor=Quick) as kit:
        assert kit.states() == ["lost"]


async def test_a_resume_is_not_missed_by_work_that_is_just_giving_up(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Quick) as kit:
        await kit.say(RESTART)
        await kit.say("stop")
        await kit.say(f"approve {kit.newest_id()}")
        await kit.say("resume")
        assert kit.states() == ["queued"]
        delivery, work = kit.app.conversation._delivery, kit.app.conversation._work
        async with delivery._taking:  # whoever looked and was held is still showing that
            work._live.behind.clear()
            await work.move(ProposalId(kit.newest_id()))
            await asyncio.wait_for(_held(kit), timeout=60)
            await kit.send(kit.inbound("resume sayso"), settle=False)
            while kit.core.switches().stopped:  # noqa: ASYNC110 - another thread writes the ledger
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.1)
        await asyncio.wait_for(_reached(kit, ["succeeded"]), timeout=60)


async def _held(kit: Kit) -> None:
    while not kit.app.conversation._work._live.behind:  # noqa: ASYNC110 - memory of the code under test
        await asyncio.sleep(0.01)


async def _reached(kit: Kit, states: list[str]) -> None:
    while kit.states() != states:  # noqa: ASYNC110 - another thread writes the ledger
        await asyncio.sleep(0.01)


async def test_an_edit_that_a_crash_prevented_is_made_after_it(tmp_path: Path) -> None:
    clock, port = ScriptedClock(), ScriptedPort()

    class NoEdits(ScriptedPort):
        async def edit(self, ref: MessageRef, message: object) -> None:
            raise RuntimeError("the process dies here")

    silent = NoEdits()
    silent.screen = port.screen
    async with conversation(tmp_path, clock=clock, port=silent, executor=Quick) as kit:
        await kit.say(RESTART)
        await kit.say("go ahead")
        assert kit.card.edits == 0
    async with conversation(tmp_path, clock=clock, port=port, executor=Quick) as kit:
        await kit.app.conversation._delivery.settled()
        assert "✓" in next(iter(port.screen.values())).text


async def test_a_message_that_the_adapter_chokes_on_does_not_hold_up_the_next(tmp_path: Path) -> None:
    class Choking(ScriptedPort):
        async def post(self, place: PlaceRef, message: object, *, nonce: str) -> MessageRef:
            if not self.screen:
                self.screen["choked"] = None  # type: ignore[assignment] # only counts
                raise RuntimeError("an adapter's bug")
            return await super().post(place, message, nonce=nonce)  # type: ignore[arg-type] # a Message

    port = Choking()
    async with conversation(tmp_path, port=port, executor=Quick) as kit:
        await kit.hand_over(kit.inbound("make me a sandwich"))
        await (await kit.hand_over(kit.inbound("make me a sandwich"))).settled
        port.screen.pop("choked")
        assert len(port.screen) == 1
        assert len(kit.core.ledger.outbox.unsure()) == 1
