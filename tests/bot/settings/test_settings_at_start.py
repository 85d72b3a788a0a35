"""Settings that take a restart, each given when a process starts; see test_every_setting."""

import asyncio
import grp
import os
import stat
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.app import open_ledger
from bot.execution.executor import FleetExecutor
from bot.inventory import ServiceConfig
from bot.judging import judge
from bot.planning.drafts import ActionDraft
from bot.proposing import Denied, bind
from bot.settings.inventory import inventory_of
from bot.settings.rules import rules_of
from gate.domain import ProposalId, RouteKind
from gate.shell.classify import classify
from ledger.kinds import Batch, Draft, Kind
from ledger.store import Ledger
from tests.bot.cli.test_chat import environ, serving
from tests.bot.cli.test_metrics import in_metrics
from tests.bot.sending import until
from tests.bot.settings.changing import PLACES, TWO, Check, composed, configured, entering, started
from tests.kit import ScriptedClock, conversation, local_inventory
from tests.sshd import free_port

__all__ = ["environ"]


CHECKS: dict[str, Check] = {}
check = entering(CHECKS)


@check("bot.ssh_config")
async def _ssh_config(folder: Path) -> None:
    (folder / "ssh").write_text("Host alias1\n  HostName 192.0.2.9\n")
    text = f'[targets.web1]\naddress = "alias1"\n[bot]\nssh_config = "{folder}/ssh"\n'
    inventory = inventory_of(configured(folder, text=text))
    found = inventory.select("web1")
    assert isinstance(found, tuple)
    assert inventory.identify(found[0]).address == "192.0.2.9"


@check("bot.logins_at_once")
async def _logins(folder: Path) -> None:
    assert await most_at_once(folder / "a", logins=1) == 1
    assert await most_at_once(folder / "b", logins=3) == 3


async def most_at_once(folder: Path, *, logins: int) -> int:
    """Return how many of five targets at one silent server are connected to at once."""
    came: list[asyncio.StreamWriter] = []
    server = await asyncio.start_server(lambda _, writer: came.append(writer), "127.0.0.1", 0)
    targets = five_at(server.sockets[0].getsockname()[1], folder / "ssh")
    text = f'[bot]\nssh_config = "{folder}/ssh"\nlogins_at_once = {logins}\n{targets}'
    async with composed(folder, text) as kit, server:
        executor = kit.core.executor
        assert isinstance(executor, FleetExecutor)
        for name in ("silence_s", "connect_s"):  # whoever is silent counts, however long this takes
            object.__setattr__(executor._limits, name, 3600.0)
        await kit.hand_over(kit.inbound("run uptime on all"))
        await until(lambda: kit.kinds().count("action:started") == 5 and len(came) >= logins)
        await asyncio.sleep(0.5)  # for one too many to come
        most = len(came)
        for writer in came:
            writer.close()
    return most


def five_at(port: int, config: Path) -> str:
    """Return five targets as a config file has them, all of which lead to `port` of this machine."""
    config.parent.mkdir()
    config.write_text(f"Host *\n  HostName 127.0.0.1\n  Port {port}\n")
    return "".join(f"[targets.web{number}]\n" for number in range(5))


# ---------------------------------------------------------------- policy


async def upheld(folder: Path, *flags: str, said: str = "run uptime on local", **more: Any) -> list[str]:
    """Return the states of what was asked for, under these flags."""
    async with started(folder, *flags, **more) as kit:
        await kit.say(said)
        return kit.states()


@check("policy.posture")
async def _posture(folder: Path) -> None:
    assert await upheld(folder / "a") == ["succeeded"]
    assert await upheld(folder / "b", "policy.posture=approve_all") == ["waiting"]


@check("policy.catastrophic")
async def _catastrophic(folder: Path) -> None:
    async with started(folder, "policy.catastrophic=phrase") as kit:
        await kit.say("run rm -rf / on local")  # it waits for its phrase, which nobody types
        assert kit.states() == ["waiting"]
        await kit.say("no")
    async with started(folder) as kit:
        assert "never" in (await kit.say("run rm -rf / on local")).casefold()


@check("policy.separate_requester")
async def _separate(folder: Path) -> None:
    for flags, gone in (((), True), (("policy.separate_requester=always",), False)):
        victim = folder / f"victim{gone}"
        victim.mkdir()
        async with started(folder, *flags) as kit:
            await kit.say(f"run rm -rf {victim} on local")
            await kit.say(kit.core.queries.pending()[0].phrase or "")
            assert victim.exists() is not gone


@check("policy.approval_s")
async def _approval_s(folder: Path) -> None:
    async with started(folder, "policy.approval_s=60") as kit:
        assert "until 14:01" in await kit.say(f"run touch {folder}/a on local")


@check("policy.clarification_s")
async def _clarification_s(folder: Path) -> None:
    async with started(folder, "policy.clarification_s=60") as kit:
        assert "until 14:01" in await kit.say("uptime on web1 and memory on web2 if it is slow")


@check("policy.start_within_s")
async def _start_within_s(folder: Path) -> None:
    for flags, states in (((), ["queued"]), (("policy.start_within_s=10",), ["cancelled"])):
        async with started(folder / str(len(flags)), *flags) as kit:
            await kit.say(f"run touch {folder}/a on local")
            name = kit.newest_id()
            await kit.say("stop")
            await kit.say(f"approve {name}")
            kit.clock.advance(11)
            await kit.look()
            assert kit.states(name) == states


@check("policy.force_approval_at")
async def _force_approval_at(folder: Path) -> None:
    blog = ServiceConfig(on=("local",), depends_on=("caddy",))
    services = {"caddy": ServiceConfig(on=("local",)), "blog": blog}
    for flag, route in (("0", RouteKind.AUTO), ("1", RouteKind.APPROVAL)):
        flags = ("policy.posture=approve_config", f"policy.force_approval_at={flag}")
        async with started(folder, *flags, inventory=local_inventory(services)) as kit:
            draft = ActionDraft(target_words=("local",), command="systemctl restart caddy", purpose="x")
            bound = bind(kit.core, (draft,), proposal=ProposalId("k1"))
            assert not isinstance(bound, Denied)
            assert judge(kit.core, bound[0]).route.kind is route


@check("policy.bare_ack_grants")
async def _bare_ack(folder: Path) -> None:
    for name, flags in (("a", ()), ("b", ("policy.bare_ack_grants=true",))):
        async with started(folder / f"state-{name}", *flags) as kit:
            await kit.say(f"run touch {folder}/{name} on local")
            await kit.say("ok")
            assert (folder / name).exists() is bool(flags)


@check("policy.quorum")
async def _quorum(folder: Path) -> None:
    async with started(folder, "policy.quorum=config_mutation=2", operators=TWO) as kit:
        assert "takes 2 people" in await kit.say(f"run touch {folder}/a on local")


async def climbs(folder: Path, *flags: str) -> list[str]:
    """Return which steps of the ladder are taken within 25 seconds."""
    async with started(folder, *flags, operators=TWO) as kit:
        await kit.say("help", by="bo", place="bo-dm")
        await kit.say(f"run touch {folder}/a on local")
        kit.clock.advance(25)
        await kit.look()
        return [kind for kind in kit.kinds() if kind in (Kind.APPROVAL_NUDGED, Kind.APPROVAL_ESCALATED)]


@check("policy.nudge_s")
async def _nudge_s(folder: Path) -> None:
    assert await climbs(folder / "a") == []
    assert await climbs(folder / "b", "policy.nudge_s=20") == ["approval:nudged"]


@check("policy.escalate_s")
async def _escalate_s(folder: Path) -> None:
    assert Kind.APPROVAL_ESCALATED not in await climbs(folder / "a")
    assert Kind.APPROVAL_ESCALATED in await climbs(folder / "b", "policy.escalate_s=20")


@check("policy.ladder")
async def _ladder(folder: Path) -> None:
    assert await climbs(folder, "policy.ladder=approve_most.nudge_s=20") == ["approval:nudged"]


@check("policy.stopped")
async def _stopped(folder: Path) -> None:
    async with started(folder, "policy.stopped=true") as kit:
        assert "sayso is stopped" in await kit.say("run uptime on local")


@check("policy.auto_act")
async def _auto_act(folder: Path) -> None:
    assert await upheld(folder, "policy.auto_act=false") == ["waiting"]


@check("policy.approve_everything")
async def _approve_everything(folder: Path) -> None:
    assert await upheld(folder, "policy.approve_everything=true") == ["waiting"]


@check("policy.never_auto_act")
async def _never_auto_act(folder: Path) -> None:
    assert await upheld(folder, "policy.never_auto_act=local") == ["waiting"]


@check("policy.rules")
async def _rules(folder: Path) -> None:
    (folder / "risk.toml").write_text('[[program]]\nname = "uptime"\nasks = "the owner wants to know"\n')
    rules = rules_of(configured(folder, text='[policy]\nrules = ["risk.toml"]\n'))
    assert not classify("uptime", rules=rules).auto_run


# ---------------------------------------------------------------- posts


@check("outbound.allowed")
async def _outbound(folder: Path) -> None:
    text = '[places]\nops = "console::ops"\nsecurity = "console::sec"\n[outbound]\nallowed = ["ops"]\n'
    config = configured(folder, text=text)
    async with conversation(folder, settings=config.layers, places=PLACES) as kit:
        assert "Goes to" not in await kit.say('send "hello" to #security')
        assert "Goes to #ops" in await kit.say('send "hello" to #ops')


# ---------------------------------------------------------------- the ledger


def sealed(ledger: Ledger) -> int:
    """Return how many checkpoints there are."""
    return int(ledger.reader().execute("SELECT count(*) FROM checkpoint").fetchone()[0])


@check("ledger.checkpoint_entries")
async def _checkpoint_entries(folder: Path) -> None:
    for entries, made in ((1000, 0), (2, 1)):
        clock = ScriptedClock()
        config = configured(folder, f"ledger.checkpoint_entries={entries}")
        ledger = open_ledger(config, clock)  # type: ignore[arg-type]  # a Clock
        try:
            draft = Draft(kind=Kind.BOT_STARTED)
            ledger.append(Batch(at=clock.now(), drafts=(draft, draft, draft)))
            assert sealed(ledger) == made
        finally:
            ledger.close()
        (folder / "state" / "ledger.db").unlink()


@check("ledger.checkpoint_s")
async def _checkpoint_s(folder: Path) -> None:
    clock = ScriptedClock()
    ledger = open_ledger(configured(folder, "ledger.checkpoint_s=10"), clock)  # type: ignore[arg-type]  # a Clock
    try:
        ledger.append(Batch(at=clock.now(), drafts=(Draft(kind=Kind.BOT_STARTED),)))
        ledger.tick()
        assert sealed(ledger) == 0
        clock.advance(11)
        ledger.tick()
        assert sealed(ledger) == 1
    finally:
        ledger.close()


@check("ledger.retention_days")
async def _retention_days(folder: Path) -> None:
    async with started(folder, "ledger.retention_days=1") as kit:
        await kit.say("run echo swordfish on local")
        kit.clock.advance(timedelta(days=3).total_seconds())
        await kit.look()
        view = kit.core.queries.proposal(ProposalId(kit.newest_id()))
        assert view is not None
        assert "swordfish" not in view.actions[0].action.command


# ---------------------------------------------------------------- a process as a whole


def test_the_socket_and_the_metrics_are_where_the_settings_say(environ: dict[str, str]) -> None:
    port = free_port()
    environ |= {
        "SAYSO_BOT_SOCKET_GROUP": grp.getgrgid(os.getegid()).gr_name,
        "SAYSO_METRICS_LISTEN": f"127.0.0.1:{port}",
    }
    with serving(environ):
        in_metrics("sayso_", port)
        socket = Path(environ["SAYSO_HOME"]) / "sayso.sock"  # opened to the group before anybody listens
        assert stat.S_IMODE(socket.stat().st_mode) == 0o660


#: Read by a process as a whole, see the test above.
OF_A_PROCESS = {"bot.socket_group", "metrics.listen"}


# ---------------------------------------------------------------- all of them


@pytest.mark.parametrize("key", sorted(CHECKS))
async def test_a_changed_setting_makes_a_difference(tmp_path: Path, key: str) -> None:
    await CHECKS[key](tmp_path)
