"""Fan-outs when something goes wrong around them: none stands still, and what was started runs."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from bot.execution import door
from bot.fanout import starting
from bot.inventory.ssh_config import SshConfigError
from bot.ports import Captured, Ended, EndKind, OutputSink
from gate.domain import Action, ProposalId, Target
from ledger.kinds import LedgerUnwritableError, LostRaceError
from tests.bot.fanout.fleet import RELOAD, ByHost, ends, fleet, ran
from tests.bot.fanout.gated import Gated, begins, gates, until, work
from tests.kit import conversation

pytestmark = pytest.mark.timeout(120)

FAIL = "failed"


async def test_one_that_is_dropped_holds_up_none_of_the_others(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(6), executor=Gated) as kit:
        proposal = await begins(kit, f"on @web: `{RELOAD}`, one at a time")
        await until(lambda: ran(kit) == ["web1"])
        await kit.say(f"cancel {proposal}.5", settle=False)
        await until(lambda: kit.states(proposal)[4] == "cancelled")
        for number in range(1, 7):
            gates(kit).gate(f"web{number}").set()
        await until(lambda: Counter(kit.states(proposal)) == {"succeeded": 5, "cancelled": 1})
        assert sorted(ran(kit)) == ["web1", "web2", "web3", "web4", "web6"]


async def test_where_the_first_is_dropped_the_next_one_is_tried_first(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(6), executor=Gated) as kit:
        await kit.say(f"on @web: {RELOAD}")
        proposal = kit.newest_id()
        await kit.say(f"cancel {proposal}.1")
        await kit.say(f"approve {proposal}", settle=False)
        await until(lambda: len(ran(kit)) > 0)
        await asyncio.sleep(0.3)
        assert ran(kit) == ["web2"]
        for number in range(1, 7):
            gates(kit).gate(f"web{number}").set()
        await until(lambda: Counter(kit.states(proposal)) == {"succeeded": 5, "cancelled": 1})


async def test_a_start_of_an_earlier_round_is_none_of_the_next(tmp_path: Path) -> None:
    """What waited for its target while the brake stopped must not start ahead of the new round's first."""
    async with conversation(tmp_path, inventory=fleet(6), executor=Gated) as kit:
        for name in ("web3", "web4"):
            await begins(kit, f"run systemctl restart {name} on {name}")
        await until(lambda: sorted(ran(kit)) == ["web3", "web4"])
        busy, gates(kit).gates = gates(kit).gates, {}
        gates(kit).failing.add("web2")
        proposal = await begins(kit, f"on @web: `{RELOAD}`, 3 at a time")
        await until(lambda: "web1" in ran(kit))
        gates(kit).gate("web1").set()
        await until(lambda: "web2" in ran(kit))
        gates(kit).gate("web2").set()
        await until(lambda: kit.states(proposal).count("waiting") == 4)
        await kit.look()  # its new card is there
        await kit.say(f"approve {proposal}", settle=False)
        await until(lambda: kit.states(proposal).count("queued") == 4)
        await asyncio.sleep(0.2)
        busy["web4"].set()
        await asyncio.sleep(0.5)
        assert ran(kit).count("web4") == 1, "web3 is tried first, and is busy still"
        busy["web3"].set()
        await until(lambda: ran(kit).count("web3") == 2)
        await asyncio.sleep(0.2)
        assert ran(kit).count("web4") == 1
        for number in range(3, 7):
            gates(kit).gate(f"web{number}").set()
        await until(lambda: kit.states(proposal) == ["succeeded", "failed", *["succeeded"] * 4])


async def test_what_is_started_runs_although_the_disk_is_full_when_another_is_refused(tmp_path: Path) -> None:
    probes: dict[str, Callable[[], None]] = {}

    def probe(moment: str) -> None:
        probes.pop(moment, lambda: None)()

    async with conversation(tmp_path, inventory=fleet(6), executor=ends(web3="lost"), probe=probe) as kit:
        connection = kit.core.ledger._connection
        await kit.say(f"on @web: `{RELOAD}`, no canary, all at once, don't stop")
        proposal = kit.newest_id()
        await kit.say("run systemctl restart nginx on web3")
        await kit.say(f"approve {kit.newest_id()}")  # web3 is frozen from now on
        probes["start.recorded"] = lambda: connection.execute("PRAGMA query_only = ON") and None
        await kit.say(f"approve {proposal}", settle=False)
        await until(lambda: len(ran(kit)) == 6)
        connection.execute("PRAGMA query_only = OFF")
        await until(lambda: kit.states(proposal).count("succeeded") == 5)
        await kit.look()
        await until(lambda: kit.states(proposal)[2] == "cancelled")
        assert sorted(ran(kit)) == ["web1", "web2", "web3", "web4", "web5", "web6"]


async def test_what_is_started_runs_although_the_disk_is_full_for_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []

    def start(core: object, *starts: door.Start) -> None:
        sizes.append(len(starts))
        if len(starts) > 1:
            raise LostRaceError(starts[0].cleared.expects[0])
        if sizes.count(1) == 3:
            raise LedgerUnwritableError("no space left")
        real(core, *starts)  # type: ignore[arg-type] # the core of the test

    real = door.start
    monkeypatch.setattr(starting.door, "start", start)
    async with conversation(tmp_path, inventory=fleet(6), executor=ends()) as kit:
        proposal = await begins(kit, f"on @web: `{RELOAD}`, no canary, all at once")
        await until(lambda: kit.states(proposal).count("succeeded") == 2)
        await until(lambda: bool(work(kit)._stuck))
        await kit.look()
        await until(lambda: kit.states(proposal) == ["succeeded"] * 6)
        assert sorted(ran(kit)) == [f"web{number}" for number in range(1, 7)]


async def test_a_fault_about_one_target_is_told_and_holds_up_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[str] = []

    def inspect(core: object, view: object, seen: object) -> object:
        looks.append(str(view.action.target.id))  # type: ignore[attr-defined] # an ActionView
        if looks[-1] == "web3":
            raise ValueError("odd")
        return real(core, view, seen)  # type: ignore[arg-type] # as they came

    real = door.inspect
    monkeypatch.setattr(starting.door, "inspect", inspect)
    async with conversation(tmp_path, inventory=fleet(6), executor=ends()) as kit:
        proposal = await begins(kit, f"on @web: `{RELOAD}`, no canary, all at once, don't stop")
        await until(lambda: Counter(kit.states(proposal)) == {"succeeded": 5, "cancelled": 1})
        assert looks.count("web3") < 5
        view = kit.core.queries.proposal(ProposalId(proposal))
        assert view is not None
        assert view.actions[2].ending is not None
        assert "failed inside sayso before it started" in view.actions[2].ending.note


class Unresolved(ByHost):
    """An executor that cannot look anything up for itself any more."""

    async def identify(self, target: Target) -> Target:
        raise SshConfigError("line 1: what is this")


async def test_a_boot_id_that_cannot_be_asked_for_holds_up_nothing(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(4), executor=Unresolved) as kit:
        await kit.say("on @web: `reboot`, no canary, all at once")
        proposal = kit.newest_id()
        await kit.say("reboot 4 hosts", settle=False)
        await until(lambda: kit.states(proposal) == ["succeeded"] * 4)
        assert sorted(ran(kit)) == ["web1", "web2", "web3", "web4"]


@pytest.mark.parametrize("targets", ["@web", "web1"])
async def test_a_check_that_fails_inside_sayso_is_one_that_nobody_knows_the_result_of(
    tmp_path: Path, targets: str
) -> None:
    async with conversation(tmp_path, inventory=fleet(4), executor=Unresolved) as kit:
        proposal = await begins(kit, f"on {targets}: `mkdir -p /srv/new` then verify `test -e /srv/new`")
        await until(lambda: "action:verified" in kit.kinds())
        await until(lambda: "started" not in kit.states(proposal))
        assert kit.states(proposal) == ["succeeded", *["waiting"] * (len(kit.states(proposal)) - 1)]
        view = kit.core.queries.proposal(ProposalId(proposal))
        assert view is not None
        assert view.actions[0].ending is not None
        assert view.actions[0].ending.checked
        assert view.actions[0].ending.verify_exit is None


async def cut_off(folder: Path, request: str, *, executor: type[ByHost], runs: int) -> None:
    """Let a process end while `runs` of what `request` started run."""
    async with conversation(folder, inventory=fleet(6), executor=executor) as kit:
        await kit.say(request, settle=False)
        await until(lambda: "proposal:made" in kit.kinds())
        if set(kit.states()) == {"waiting"}:
            await kit.say(f"approve {kit.newest_id()}", settle=False)
        await until(lambda: len(ran(kit)) == runs)


async def test_reading_that_its_brake_stops_is_asked_about_after_a_crash(tmp_path: Path) -> None:
    await cut_off(tmp_path, "on @web: `uptime`, one at a time, stop after 1 failure", executor=Gated, runs=1)
    async with conversation(tmp_path, inventory=fleet(6), executor=ends()) as kit:
        assert kit.states() == ["lost", *["waiting"] * 5]
        await kit.look()  # its new card is there
        await kit.say(f"approve {kit.newest_id()}")
        assert kit.states() == ["lost", *["succeeded"] * 5]


async def test_reading_that_nothing_stops_goes_on_after_a_crash(tmp_path: Path) -> None:
    await cut_off(tmp_path, "on @web: `uptime`, one at a time", executor=Gated, runs=1)
    async with conversation(tmp_path, inventory=fleet(6), executor=ends()) as kit:
        await until(lambda: kit.states() == ["lost", *["succeeded"] * 5])


class Checking(Gated):
    """An executor whose commands end at once, but for their checks."""

    async def run(
        self, action: Action, *, on_output: OutputSink, cancel: asyncio.Event, reads: bool = False
    ) -> Ended:
        if action.id == "probe":
            return await super().run(action, on_output=on_output, cancel=cancel)
        return Ended(kind=EndKind.EXITED, exit_code=0)


async def test_a_check_that_a_crash_cut_off_stops_the_others(tmp_path: Path) -> None:
    request = "on @web: `mkdir -p /srv/new` then verify `test -e /srv/new`"
    await cut_off(tmp_path, request, executor=Checking, runs=1)
    async with conversation(tmp_path, inventory=fleet(6), executor=ends()) as kit:
        assert kit.states() == ["succeeded", *["waiting"] * 5]
        assert kit.kinds().count("action:verified") == 1
        await kit.look()  # its new card is there
        await kit.say(f"approve {kit.newest_id()}")
        assert kit.states() == ["succeeded"] * 6


async def test_nothing_more_starts_while_sayso_stops(tmp_path: Path) -> None:
    request = f"on @web: `{RELOAD}`, no canary, all at once"
    slow: Awaitable[None] | None = None
    async with conversation(tmp_path, inventory=fleet(6), executor=Gated) as kit:
        await kit.say(request)
        fanouts = work(kit)._fanouts
        held = asyncio.Event()
        real = fanouts._start

        async def start(*args: object) -> object:
            await held.wait()
            return await real(*args)  # type: ignore[arg-type] # as they came

        fanouts._start = start  # type: ignore[assignment] # holds the first lot up
        await kit.say(f"approve {kit.newest_id()}", settle=False)
        await until(lambda: len(work(kit)._running._tasks) == 6)
        slow = asyncio.ensure_future(work(kit).close())
        await slow
        held.set()
        await asyncio.sleep(0.3)
        assert "action:started" not in kit.kinds()


async def test_a_pause_ends_with_the_process(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(4), executor=ends()) as kit:
        await kit.say(f"on @web: `{RELOAD}`, no canary, 2 at a time, 1s apart")
        await kit.say(f"approve {kit.newest_id()}")
        await until(lambda: kit.states().count("succeeded") == 2)
        await work(kit).close()
        kit.clock.advance(5)
        await asyncio.sleep(1.5)
        assert kit.states().count("succeeded") == 2


async def test_a_fan_out_that_is_over_is_forgotten(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(4), executor=ends(web1=FAIL)) as kit:
        await kit.say(f"on @web: {RELOAD}")
        await kit.say("no")
        await kit.say(f"on @web: {RELOAD}")
        await kit.say("go ahead")
        await kit.at_rest()
        assert kit.states() == ["failed", *["waiting"] * 3]
        await kit.say("no")
        assert kit.states() == ["failed", *["cancelled"] * 3]
        assert not work(kit)._open_tasks
        assert not work(kit)._fanouts._going
        assert any("4 commands" in one.text or "1 command" in one.text for one in kit.port.screen.values())


async def test_a_pause_that_has_nothing_to_wait_for_is_forgotten(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(4), executor=ends()) as kit:
        await kit.say(f"on @web: `{RELOAD}`, no canary, 2 at a time, 1s apart")
        await kit.say(f"approve {kit.newest_id()}")
        await until(lambda: kit.states().count("succeeded") == 2)
        await kit.say(f"cancel {kit.newest_id()}")
        kit.clock.advance(5)
        await until(lambda: not work(kit)._fanouts._going)
        assert Counter(kit.states()) == {"succeeded": 2, "cancelled": 2}


async def test_what_it_waited_behind_is_not_shown_once_it_runs(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(4), executor=ends()) as kit:
        await kit.say(f"on @web: {RELOAD}")
        await kit.say("stop")
        await kit.say(f"approve {kit.newest_id()}")
        assert kit.app.conversation._work._live.behind
        await kit.say("resume")
        await kit.say("resume sayso")
        await until(lambda: kit.states() == ["succeeded"] * 4)
        assert not kit.app.conversation._work._live.behind


class Rebooting(Gated):
    """An executor over hosts whose boot ids are others after a test says so; asked of `together` at once."""

    boot = "one"
    asked = most = 0
    together = 1

    async def run(
        self, action: Action, *, on_output: OutputSink, cancel: asyncio.Event, reads: bool = False
    ) -> Ended:
        if action.id != "probe":
            return await super().run(action, on_output=on_output, cancel=cancel)
        Rebooting.asked += 1
        Rebooting.most = max(Rebooting.most, Rebooting.asked)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(30):
                while Rebooting.most < self.together:  # noqa: ASYNC110 - another one that is asked counts up
                    await asyncio.sleep(0.001)
        Rebooting.asked -= 1
        output = Captured(head=self.boot.encode(), total=len(self.boot))
        return Ended(kind=EndKind.EXITED, exit_code=0, output=output)


async def test_hosts_that_rebooted_with_the_bot_are_asked_all_at_once(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(6), executor=Rebooting) as kit:
        await kit.say("on @web: `reboot`, no canary, all at once")
        await kit.say("reboot 6 hosts", settle=False)
        await until(lambda: len(ran(kit)) == 6)
    later = type("Later", (Rebooting,), {"boot": "two", "together": 6})
    Rebooting.most = 0
    async with conversation(tmp_path, inventory=fleet(6), executor=later) as kit:
        assert kit.states() == ["succeeded"] * 6
        assert Rebooting.most == 6
