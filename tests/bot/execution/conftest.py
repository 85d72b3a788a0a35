import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from bot.execution import wrap
from bot.execution.executor import FleetExecutor
from bot.execution.limits import Limits
from bot.inventory import Inventory, TargetConfig, build
from bot.ports import Ended
from gate.domain import Action, ActionId, TargetId
from tests.sshd import Server, running

#: In a hurry only where something has to be sat out; what a machine that is busy is slow with is waited for.
QUICK = Limits(kill_after_s=3.0, grace_s=10.0, linger_s=0.3, connect_s=30.0, open_s=30.0)


@dataclass
class Fleet:
    """An inventory, its executor, and a short way to run things."""

    inventory: Inventory
    executor: FleetExecutor

    async def action(self, target: str, command: str, **fields: Any) -> Action:
        identified = await self.executor.identify(self.inventory.targets[TargetId(target)])
        return Action(
            id=ActionId("t.1"), index=1, target=identified, command=command, purpose="test", **fields
        )

    async def run(
        self,
        target: str,
        command: str,
        *,
        cancel: asyncio.Event | None = None,
        reads: bool = False,
        **fields: Any,
    ) -> Ended:
        action = await self.action(target, command, **fields)
        return await self.executor.run(
            action, on_output=lambda _: None, cancel=cancel or asyncio.Event(), reads=reads
        )


# Records its arguments and runs the rest, which, as with the real one, outlives its client.
FAKE_DOCKER = """#!/bin/sh
printf '%s\\n' "$@" >> "$(dirname "$0")/docker-argv"
[ "$1" = exec ] || exit 98
shift 2
setsid "$@" &
wait $!
"""
FAKE_PCT = FAKE_DOCKER.replace("docker", "pct").replace("shift 2", "shift 3")
FAKE_KUBECTL = FAKE_DOCKER.replace("docker", "kubectl").replace(
    "shift 2", 'while [ "$1" != -- ]; do shift; done; shift'
)
FAKE_SUDO = """#!/bin/sh
# only the form that we use; records it and runs the rest as the same user
printf '%s\\n' "$@" >> "$(dirname "$0")/sudo-argv"
[ "$1 $2 $3 $5" = "-n -H -u --" ] || { echo "sudo: unexpected arguments" >&2; exit 97; }
shift 5
exec "$@"
"""


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Real programs named docker, pct, kubectl and sudo, first on the PATH that commands get."""
    folder = tmp_path / "tools"
    folder.mkdir()
    environment = dict(wrap.ENVIRONMENT) | {"PATH": f"{folder}:/usr/bin:/bin"}
    monkeypatch.setattr(wrap, "ENVIRONMENT", tuple(environment.items()))
    for name, text in (
        ("docker", FAKE_DOCKER),
        ("pct", FAKE_PCT),
        ("kubectl", FAKE_KUBECTL),
        ("sudo", FAKE_SUDO),
    ):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return folder


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running(tmp_path_factory.mktemp("sshd")) as started:
        yield started


MakeFleet = Callable[..., Fleet]


@pytest_asyncio.fixture
async def make_fleet(server: Server) -> AsyncIterator[MakeFleet]:
    made: list[Fleet] = []

    def make(
        *, limits: Limits = QUICK, config: Path | None = None, waiting: int = 0, **tables: TargetConfig
    ) -> Fleet:
        inventory = build(tables or {"box": TargetConfig()}, {}, ssh_config=config or server.config)
        made.append(Fleet(inventory, FleetExecutor(inventory, limits=limits, waiting=lambda: waiting)))
        return made[-1]

    yield make
    for fleet in made:
        await fleet.executor.close()
