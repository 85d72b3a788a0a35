"""Settings that count at once, each changed by words in a conversation; see test_every_setting."""

import asyncio
from pathlib import Path

import pytest

from bot import guidance
from bot.callers import Wanted
from bot.delegates.desk import Desk
from bot.delegates.keys import Keys
from bot.execution.executor import FleetExecutor
from bot.execution.limits import Limits
from gate.domain import ProposalId
from tests import needs
from tests.bot.delegates.asking import delegate
from tests.bot.scheduling.making import make
from tests.bot.scheduling.test_firing import HOUR, later, passes
from tests.bot.settings.changing import PLACES, UNREAD, Check, composed, entering, started
from tests.bot.signals.alerting import Sender, alert, alerting, texts
from tests.bot.test_guidance import taught
from tests.bot.test_repairing import failed
from tests.simulators.model.double import Scripted, says
from tests.sshd import running

CHECKS: dict[str, Check] = {}
check = entering(CHECKS)


@check("bot.timezone")
async def _timezone(folder: Path) -> None:
    async with started(folder) as kit:
        assert "until 14:15" in await kit.say(f"run touch {folder}/a on local")
        await kit.say("set bot.timezone to Asia/Tokyo")
        assert "until 23:15" in await kit.say(f"run touch {folder}/b on local")


@check("bot.action_timeout_s")
async def _timeout(folder: Path) -> None:
    async with started(folder) as kit:
        await kit.say("set bot.action_timeout_s to 30")
        await kit.say("run uptime on local")
        view = kit.core.queries.proposal(ProposalId(kit.newest_id()))
        assert view is not None
        assert view.actions[0].action.timeout_s == 30


@check("bot.output_max_bytes")
async def _output(folder: Path) -> None:
    async with composed(folder) as kit:
        assert "bytes not kept" not in await kit.say("run seq 1000 on local")
        await kit.say("set bot.output_max_bytes to 1024")
        await kit.say("run seq 1000 on local")
        assert "bytes not kept" in await kit.say("details")


@check("bot.waiting_shells")
async def _shells(folder: Path) -> None:
    with running(folder / "sshd") as server:
        reached = f'[bot]\nssh_config = "{server.config}"\n[targets.box]\n'
        async with composed(folder, reached) as kit:
            executor = kit.core.executor
            assert isinstance(executor, FleetExecutor)
            await kit.say("set bot.waiting_shells to 0")
            await kit.say("run uptime on box")
            await asyncio.sleep(2 * Limits().quiet_s)
            assert executor.waiting_shells == 0
            await kit.say("set bot.waiting_shells to 1")
            await kit.say("run uptime on box")
            async with asyncio.timeout(60):
                while executor.waiting_shells == 0:  # noqa: ASYNC110 -- what it waits for is no event of ours
                    await asyncio.sleep(0.05)


@check("autonomy.max")
async def _ceiling(folder: Path) -> None:
    async with started(folder, "repair.autonomy=advise") as kit:
        await kit.say("set autonomy.max to off")
        assert "likely" not in await failed(kit)


@check("schedule.autonomy")
async def _schedule(folder: Path) -> None:
    async with started(folder) as kit:
        await kit.say("set schedule.autonomy to ask")
        make(kit.core, "run uptime on local", at=later(HOUR), act="schedule")
        assert "Nothing ran, because of schedule.autonomy ask" in "\n".join(await passes(kit, HOUR))


@check("repair.autonomy")
async def _repair(folder: Path) -> None:
    async with started(folder) as kit:
        assert "likely" in await failed(kit)
        await kit.say("set repair.autonomy to off")
        assert "likely" not in await failed(kit)


@check("signals.autonomy")
async def _signals(folder: Path) -> None:
    async with alerting(folder) as kit:
        await Sender(kit).send(alert())
        assert kit.kinds().count("proposal:made") == 0
        await kit.say("set signals.autonomy to propose")
        await Sender(kit).send(alert(group="g2", fingerprint="f2"), event="second")
        assert kit.kinds().count("proposal:made") == 1


@check("signals.place")
async def _place_of_signals(folder: Path) -> None:
    async with alerting(folder, more={"signals__place": "other"}, places={"other": "script::other"}) as kit:
        await Sender(kit).send(alert())
        assert [one.ref.place.channel for one in kit.port.screen.values()] == ["other"]


@check("signals.storm_groups")
async def _storm(folder: Path) -> None:
    async with alerting(folder) as kit:
        await kit.say("set signals.storm_groups to 1")
        await Sender(kit).send(alert(), alert("Other", group="g2"))
        assert kit.kinds().count("storm:began") == 1


@check("signals.flap_changes")
async def _flap_changes(folder: Path) -> None:
    async with alerting(folder) as kit:
        await kit.say("set signals.flap_changes to 2")
        await Sender(kit).send(alert())
        await Sender(kit).send(alert(status="resolved"), event="second")
        assert "2 changes in 10 min" in texts(kit)[-1]


@check("signals.flap_s")
async def _flap_s(folder: Path) -> None:
    async with alerting(folder, more={"signals__flap_changes": 2}) as kit:
        await kit.say("set signals.flap_s to 60")
        await Sender(kit).send(alert())
        kit.clock.advance(61)
        await Sender(kit).send(alert(status="resolved"), event="second")
        assert kit.kinds().count("signal:held") == 0


@check("signals.acts_per_hour")
async def _acts(folder: Path) -> None:
    async with alerting(folder, level="propose") as kit:
        await kit.say("set signals.acts_per_hour to 0")
        await Sender(kit).send(alert())
        assert kit.kinds().count("proposal:made") == 0


@check("runbooks.autonomy")
async def _runbooks(folder: Path) -> None:
    async with started(folder) as kit:
        await kit.say("set runbooks.autonomy to propose")
        assert "waits for a yes" in await kit.say("run runbook high-load on local")


@check("delegates.autonomy")
async def _delegates(folder: Path) -> None:
    agent = delegate()
    async with started(folder, delegates={agent.id: agent}) as kit:
        desk = Desk(kit.core, kit.app.conversation, Keys())
        wanted = Wanted(target="local", command="uptime", purpose="to look")
        await kit.say("set delegates.autonomy to propose")
        assert (await desk.run("claude", wanted)).data["state"] == "pending"


@check("clarify.width")
async def _width(folder: Path) -> None:
    async with started(folder, places=PLACES) as kit:
        assert "Goes to #security" in await kit.say('send "hello" to #security')
        await kit.say("set clarify.width to strict")
        assert "Send it to #security?" in await kit.say('send "hello" to #security')


@check("guidance.enabled")
async def _guidance(folder: Path) -> None:
    async with started(folder) as kit:
        await taught(kit, "prefer podman")
        assert "prefer podman" in guidance.quoted(kit.core)
        await kit.say("set guidance.enabled to false")
        assert guidance.quoted(kit.core) == ""


@check("planner.autonomy")
async def _planner(folder: Path) -> None:
    async with started(folder, thinker=Scripted([says("It is busy.")])) as kit:
        assert "It is busy." in await kit.say(UNREAD)
        await kit.say("set planner.autonomy to advise")
        assert "planner.autonomy advise, so no model was asked." in await kit.say(UNREAD)


#: What a check needs of the system.
_NEEDS = {"bot.waiting_shells": (needs.openssh,)}


@pytest.mark.parametrize("key", [pytest.param(one, marks=_NEEDS.get(one, ())) for one in sorted(CHECKS)])
async def test_a_changed_setting_makes_a_difference(tmp_path: Path, key: str) -> None:
    await CHECKS[key](tmp_path)
