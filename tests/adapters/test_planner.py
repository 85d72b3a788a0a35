"""N41 whole, on every platform: a novel task, planned by a model behind a real HTTP endpoint.

The people act on the platform itself, the model is reached as any OpenAI-compatible one is, and the machine
that caddy runs on answers by what was done to it.
"""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from bot.inventory import Inventory, ServiceConfig, TargetConfig, build
from bot.ports import Captured, Ended, EndKind, OutputSink
from gate.domain import Action, Target, TargetKind
from ledger.kinds import Kind
from tests.adapters.play import Play, playing_with
from tests.simulators.model.double import call, calls, says
from tests.simulators.model.server import ModelServer, model_server

PLATFORMS = ("console", "discord", "slack", "telegram")
N41 = "tail caddy's error log and restart it if it's flapping"
LOG = "journalctl -u caddy -p err -n 20 --no-pager"
FLAPS = "systemctl show caddy -p NRestarts"
RESTART = "systemctl restart caddy"
ACTIVE = "systemctl is-active caddy"

SCRIPT: Mapping[str, Any] = {
    "turn": [
        {
            "say": N41,
            "shows": [
                "Thinking: compatible:scripted plans this.",
                "read-only, ran at once",
                "bind: address already in use",
                "NRestarts=7",
                "web1 · restart caddy",
                'planned by a model: "restart caddy, which restarted itself 7 times"',
                "reversible",
            ],
            "hides": ["The model says"],
            "states": ["waiting"],
        },
        {
            "say": "go ahead",
            "shows": [
                'approved by ana, "go ahead"',
                "The model says:",
                "caddy was flapping: 7 restarts. It was restarted and is active.",
                "4 of 12 calls",
            ],
            "states": ["succeeded"],
        },
    ]
}


class Web1:
    """The machine that caddy runs on."""

    def __init__(self, _inventory: Inventory) -> None:
        self.commands: list[str] = []
        self.restarted = False

    async def identify(self, target: Target) -> Target:
        return target

    async def run(
        self, action: Action, *, on_output: OutputSink, cancel: asyncio.Event, reads: bool = False
    ) -> Ended:
        self.commands.append(action.command)
        said = self._answer(action.command).encode()
        on_output(said)
        return Ended(kind=EndKind.EXITED, exit_code=0, output=Captured(head=said, total=len(said)))

    def _answer(self, command: str) -> str:
        if command == LOG:
            return "caddy[812]: bind: address already in use\n" * 3
        if command == FLAPS:
            return "NRestarts=0\n" if self.restarted else "NRestarts=7\n"
        if command == RESTART:
            self.restarted = True
            return ""
        return "active\n" if command == ACTIVE else "?"

    async def close(self) -> None:
        return None


def inventory() -> Inventory:
    targets = {"web1": TargetConfig(kind=TargetKind.LOCAL, tags=("web",))}
    return build(targets, {"caddy": ServiceConfig(on=("web1",)), "blog": ServiceConfig(on=("web1",))})


def server() -> Any:
    """Serve a model that does what a careful one would."""

    def judge(asked: dict[str, Any]) -> Any:
        assert "NRestarts=7" in asked["messages"][-1]["content"]
        purpose = "restart caddy, which restarted itself 7 times"
        return calls(call("run", target="web1", command=RESTART, purpose=purpose, verify=ACTIVE))

    return model_server(
        calls(call("run", target="web1", command=LOG, purpose="read the error log of caddy")),
        calls(call("run", target="web1", command=FLAPS, purpose="see whether caddy is flapping")),
        judge,
        says("caddy was flapping: 7 restarts. It was restarted and is active."),
    )


@pytest.mark.parametrize("platform", PLATFORMS)
async def test_a_novel_task_reads_live_waits_for_the_restart_and_goes_on(
    platform: str, tmp_path: Path
) -> None:
    machine = Web1(inventory())
    async with server() as model:
        more = {"thinker": model.thinker(), "executor": lambda _: machine, "inventory": inventory()}
        async with playing_with(platform, SCRIPT, tmp_path, more=more) as play:
            for number, turn in enumerate(SCRIPT["turn"], start=1):
                before = list(machine.commands)
                await play.take(turn, f"N41 turn {number} on {platform}")
                assert RESTART not in before
            _ledger_holds_it_all(play)
    assert machine.commands == [LOG, FLAPS, RESTART, ACTIVE]
    _model_saw_no_approval(model)


def _ledger_holds_it_all(play: Play) -> None:
    """Each command with its class, in order, and the words that let the last one run."""
    core = play.kit.core
    views = core.queries.proposals(since=play.kit.clock.now().replace(hour=0), limit=10)[::-1]
    held = [(one.action.command, one.verdict.risk.value) for view in views for one in view.actions]
    assert held == [(LOG, "read_only"), (FLAPS, "read_only"), (RESTART, "reversible_low")]
    assert {view.source for view in views} == {"model"}
    assert {view.requester for view in views} == {"ana"}
    approval = views[-1].actions[0].approval
    assert approval is not None
    assert (approval.decided_by, approval.said) == ("ana", "go ahead")
    (plan,) = core.queries.plans_of(
        views[0].requester, views[0].asked_in, since=views[0].made_at.replace(hour=0)
    )
    assert (plan.said, plan.how) == (N41, "answered")
    kinds = [one.kind for one in core.queries.plan_entries(plan.id)]
    assert kinds.count(Kind.PLAN_CALLED) == kinds.count(Kind.PLAN_ANSWERED) == 4


def _model_saw_no_approval(model: ModelServer) -> None:
    said = b"\n".join(model.raw)
    assert b"go ahead" not in said
    assert b"approved by" not in said
    assert model.keys == ["Bearer sk-simulated-key-0123456789"] * 4
    offered = {one["function"]["name"] for one in json.loads(model.raw[0])["tools"]}
    assert not offered & {"approve", "deny", "settle", "resume", "config_set", "trust", "guidance"}
