"""Every setting there is, changed, and what is different then (D23, M16): one that nobody reads cannot pass.

What counts at once is changed by words in a conversation; what takes a restart is given when it starts. A
setting that is new needs a check here, or the first test fails.
"""

import contextlib
import grp
import os
import stat
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot import guidance
from bot.app import build, open_ledger, running
from bot.callers import Wanted
from bot.delegates.desk import Desk
from bot.delegates.keys import Keys
from bot.inventory import ServiceConfig
from bot.planning.drafts import ActionDraft
from bot.planning.model.endpoint import key_of, open_thinker, problems
from bot.proposing import Denied, bind, judge
from bot.settings.config import Config, load
from bot.settings.inventory import inventory_of
from bot.settings.paths import Paths
from bot.settings.registry import BY_KEY, SETTINGS
from bot.settings.rules import rules_of
from gate.domain import PersonId, ProposalId, RouteKind
from gate.shell.classify import classify
from ledger.kinds import Batch, Draft, Kind
from ledger.store import Ledger
from tests.bot.cli.test_chat import environ, serving
from tests.bot.cli.test_metrics import scraped
from tests.bot.delegates.asking import delegate
from tests.bot.scheduling.making import make
from tests.bot.scheduling.test_firing import HOUR, later, passes
from tests.bot.signals.alerting import Sender, alert, alerting, texts
from tests.bot.test_guidance import taught
from tests.bot.test_repairing import failed
from tests.kit import Kit, ScriptedClock, ScriptedPort, conversation, local_inventory, person
from tests.simulators.model.double import Scripted, call, calls, says
from tests.sshd import free_port

__all__ = ["environ"]

TWO = (person("ana"), person("bo"))
PLACES = {"ops": "script::ops", "security": "script::security"}


def configured(folder: Path, *flags: str, text: str = "") -> Config:
    """Return the config of a process that starts with these flags and this file."""
    folder.mkdir(exist_ok=True)
    file = folder / "config.toml"
    file.write_text(text)
    return load(file=file, environ={}, flags=flags, login="ana", paths=Paths(folder / "state"))


def started(folder: Path, *flags: str, **more: Any) -> contextlib.AbstractAsyncContextManager[Kit]:
    """Return a conversation as a process with these flags would hold it; see `bot.app.build`."""
    config = configured(folder, *flags)
    return conversation(
        folder,
        policy=config.policy,
        floor=config.floor,
        posture_is_set=config.values["policy.posture"].is_set,
        retention_days=config.number("ledger.retention_days"),
        settings=config.layers,
        **more,
    )


@contextlib.asynccontextmanager
async def composed(folder: Path) -> AsyncIterator[Kit]:
    """Run everything as `sayso serve` puts it together, for one scripted surface."""
    config = configured(folder, text='[operators.ana]\naccounts = ["script::ana"]\n')
    clock, port = ScriptedClock(), ScriptedPort()
    ledger = open_ledger(config, clock)  # type: ignore[arg-type]  # a Clock
    try:
        app = build(config, ledger, ports=[port], clock=clock)
        async with running(app):
            yield Kit(app=app, port=port, clock=clock)
    finally:
        ledger.close()


async def upheld(folder: Path, *flags: str, said: str = "run uptime on local", **more: Any) -> list[str]:
    """Return the states of what was asked for, under these flags."""
    async with started(folder, *flags, **more) as kit:
        await kit.say(said)
        return kit.states()


Check = Callable[[Path], Awaitable[None]]
CHECKS: dict[str, Check] = {}


def check(key: str) -> Callable[[Check], Check]:
    """Return what enters a check under its setting."""

    def enter(made: Check) -> Check:
        CHECKS[key] = made
        return made

    return enter


# ---------------------------------------------------------------- what counts at once


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


# ---------------------------------------------------------------- what takes a restart

#: What no command, title or runbook reads.
UNREAD = "why is web1 slow"


@check("model.provider")
async def _provider(folder: Path) -> None:
    assert open_thinker(configured(folder), {}) is None
    flags = ("model.provider=anthropic", "model.name=claude")
    thinker = open_thinker(configured(folder, *flags), {"ANTHROPIC_API_KEY": "sk-test"})
    assert thinker is not None
    assert thinker.name == "anthropic:claude"


@check("model.name")
async def _model_name(folder: Path) -> None:
    found = problems(configured(folder, "model.provider=openai"), {"OPENAI_API_KEY": "sk-test"})
    assert [one.key for one in found] == ["model.name"]


@check("model.base_url")
async def _base_url(folder: Path) -> None:
    found = problems(configured(folder, "model.provider=compatible", "model.name=x"), {})
    assert [one.key for one in found] == ["model.base_url"]


def _write_key(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "key").write_text("sk-of-a-file\n")
    (folder / "key").chmod(0o600)


@check("model.api_key_file")
async def _api_key_file(folder: Path) -> None:
    _write_key(folder)
    flags = ("model.provider=openai", "model.name=x", f"model.api_key_file={folder}/key")
    assert key_of(configured(folder, *flags), {"OPENAI_API_KEY": "sk-other"}) == "sk-of-a-file"


async def planned(folder: Path, *flags: str) -> tuple[str, Scripted]:
    """Return what a plan of two calls came to, and its model."""
    look = calls(call("run", target="local", command="uptime", purpose="look"))
    model = Scripted([look, says("It is well.")])
    async with started(folder, *flags, thinker=model) as kit:
        return await kit.say(UNREAD), model


@check("model.calls")
async def _model_calls(folder: Path) -> None:
    assert "its 1 calls are used up (model.calls)" in (await planned(folder, "model.calls=1"))[0]


@check("model.tokens")
async def _model_tokens(folder: Path) -> None:
    assert "(model.tokens)" in (await planned(folder, "model.tokens=1000"))[0]


@check("model.answer_tokens")
async def _answer_tokens(folder: Path) -> None:
    assert (await planned(folder, "model.answer_tokens=150"))[1].thoughts[0].answer_tokens == 150


@check("model.seconds")
async def _model_seconds(folder: Path) -> None:
    assert (await planned(folder, "model.seconds=5"))[1].thoughts[0].timeout_s == 5


@check("model.call_s")
async def _call_s(folder: Path) -> None:
    assert (await planned(folder, "model.call_s=7"))[1].thoughts[0].timeout_s == 7


@check("model.money")
async def _money(folder: Path) -> None:
    assert "(model.money)" in (await planned(folder, "model.money=0.01", "model.price_in=1000"))[0]


@check("model.price_in")
async def _price_in(folder: Path) -> None:
    # Two calls, of 100 tokens in and 20 out each.
    assert "0.02 of 1.00" in (await planned(folder, "model.price_in=100"))[0]


@check("model.price_out")
async def _price_out(folder: Path) -> None:
    assert "0.04 of 10.00" in (await planned(folder, "model.price_out=1000", "model.money=10.00"))[0]


@check("bot.ssh_config")
async def _ssh_config(folder: Path) -> None:
    (folder / "ssh").write_text("Host alias1\n  HostName 192.0.2.9\n")
    text = f'[targets.web1]\naddress = "alias1"\n[bot]\nssh_config = "{folder}/ssh"\n'
    inventory = inventory_of(configured(folder, text=text))
    found = inventory.select("web1")
    assert isinstance(found, tuple)
    assert inventory.identify(found[0]).address == "192.0.2.9"


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


@check("outbound.allowed")
async def _outbound(folder: Path) -> None:
    text = '[places]\nops = "console::ops"\nsecurity = "console::sec"\n[outbound]\nallowed = ["ops"]\n'
    config = configured(folder, text=text)
    async with conversation(folder, settings=config.layers, places=PLACES) as kit:
        assert "Goes to" not in await kit.say('send "hello" to #security')
        assert "Goes to #ops" in await kit.say('send "hello" to #ops')


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


def test_the_socket_and_the_metrics_are_where_the_settings_say(environ: dict[str, str]) -> None:
    port = free_port()
    environ |= {
        "SAYSO_BOT_SOCKET_GROUP": grp.getgrgid(os.getegid()).gr_name,
        "SAYSO_METRICS_LISTEN": f"127.0.0.1:{port}",
    }
    with serving(environ):
        mode = (Path(environ["SAYSO_HOME"]) / "sayso.sock").stat().st_mode
        assert stat.S_IMODE(mode) == 0o660
        assert "sayso_" in scraped(port)


#: Read by a process as a whole, see the test above.
OF_A_PROCESS = {"bot.socket_group", "metrics.listen"}


# ---------------------------------------------------------------- all of them


def test_every_setting_has_a_check() -> None:
    assert set(CHECKS) | OF_A_PROCESS == set(BY_KEY)


@pytest.mark.parametrize("key", sorted(CHECKS))
async def test_a_changed_setting_makes_a_difference(tmp_path: Path, key: str) -> None:
    await CHECKS[key](tmp_path)


async def test_what_takes_a_restart_or_is_protected_says_so_and_stays_as_it_is(tmp_path: Path) -> None:
    keys: Sequence[str] = [one.key for one in SETTINGS if not one.at_run_time]
    assert keys
    async with started(tmp_path) as kit:
        before = kit.core.settings.all()
        for key in keys:
            for said in (f"set {key} to 1", f"unset {key}"):
                assert f"Change {key} in the config file and restart." in await kit.say(said)
        assert kit.core.settings.all() == before
        assert kit.core.queries.settings() == {}


async def test_what_another_version_let_people_set_counts_for_nothing(tmp_path: Path) -> None:
    async with started(tmp_path) as kit:
        for key, value in (("policy.stopped", True), ("no.such", 1), ("bot.action_timeout_s", "soon")):
            body = {"key": key, "value": value, "by": PersonId("ana"), "place": "p"}
            draft = Draft(kind=Kind.SETTING_CHANGED, body=body)
            kit.core.ledger.append(Batch(at=kit.clock.now(), drafts=(draft,)))
        assert len(kit.core.queries.settings()) == 3
        assert not any(one.is_set for one in kit.core.settings.all().values())
        stored = Draft(kind=Kind.SETTING_CHANGED, body={"key": "autonomy.max", "value": "plan", "by": "ana"})
        kit.core.ledger.append(Batch(at=kit.clock.now(), drafts=(stored,)))
        assert kit.core.settings.level("autonomy.max").value == "off"  # a ceiling that nobody can read
