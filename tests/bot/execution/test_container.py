import asyncio
from pathlib import Path

import pytest

from bot.inventory import TargetConfig
from bot.ports import EndKind
from tests.bot.execution.conftest import MakeFleet
from tests.bot.execution.processes import gone, pids_in

TORTURE = "printf '%s' \"it's\" 'a\"b' '$HOME' 'two\nlines' 'ünï'"
EXPECTED = b"it'sa\"b$HOMEtwo\nlines" + "ünï".encode()


@pytest.mark.parametrize("via", ["box", None])
@pytest.mark.parametrize(
    ("fields", "argv"),
    [
        ({"kind": "docker", "container": "app"}, ["exec", "app", "sh"]),
        ({"kind": "pct", "container": "112"}, ["exec", "112", "--", "sh"]),
        (
            {"kind": "kubectl", "pod": "api-0", "namespace": "shop", "container": "c"},
            ["exec", "-n", "shop", "api-0", "-c", "c", "--", "sh"],
        ),
    ],
)
async def test_a_command_arrives_intact_inside(
    make_fleet: MakeFleet, tools: Path, via: str | None, fields: dict[str, object], argv: list[str]
) -> None:
    inside = TargetConfig.model_validate({**fields, "via": via, "tags": ["x"]} if via else fields)
    fleet = make_fleet(box=TargetConfig(), inside=inside)
    ended = await fleet.run("inside", TORTURE, env=(("A", "b c"),))
    assert (ended.kind, ended.exit_code, ended.output.head) == (EndKind.EXITED, 0, EXPECTED)
    assert (tools / f"{fields['kind']}-argv").read_text().splitlines()[: len(argv)] == argv
    assert (await fleet.run("inside", "echo $A; pwd", env=(("A", "b c"),), workdir="/usr")).output.head == (
        b"b c\n/usr\n"
    )


async def test_another_shell_is_used_where_it_is_declared(make_fleet: MakeFleet, tools: Path) -> None:
    fleet = make_fleet(app=TargetConfig(kind="docker", container="app", shell="sh"))
    assert (await fleet.run("app", "echo ${BASH_VERSION:-plain}")).output.head == b"plain\n"


@pytest.mark.parametrize("via", ["box", None])
async def test_a_cancel_reaches_what_outlives_its_client(
    make_fleet: MakeFleet, tools: Path, tmp_path: Path, via: str | None
) -> None:
    fleet = make_fleet(box=TargetConfig(), app=TargetConfig(kind="docker", container="app", via=via))
    cancel = asyncio.Event()
    running = asyncio.create_task(
        fleet.run("app", f"sleep 64 & echo $! $$ >> {tmp_path}/pids; wait", cancel=cancel)
    )
    pids = await pids_in(tmp_path / "pids", 2)
    cancel.set()
    assert (await running).kind is EndKind.CANCELLED
    assert await gone(*pids)


@pytest.mark.parametrize("via", ["box", None])
async def test_a_timeout_reaches_what_outlives_its_client(
    make_fleet: MakeFleet, tools: Path, tmp_path: Path, via: str | None
) -> None:
    fleet = make_fleet(box=TargetConfig(), app=TargetConfig(kind="docker", container="app", via=via))
    ended = await fleet.run("app", f"echo $$ >> {tmp_path}/pids; sleep 65", timeout_s=3)
    assert (ended.kind, ended.exit_code) == (EndKind.TIMED_OUT, 124)
    assert await gone(*await pids_in(tmp_path / "pids", 1))


@pytest.mark.parametrize("target", ["host", "local"])
async def test_become_adds_sudo_and_takes_the_typed_one_off(
    make_fleet: MakeFleet, tools: Path, target: str
) -> None:
    fleet = make_fleet(
        host=TargetConfig(address="box", become=True), local=TargetConfig(kind="local", become=True)
    )
    ended = await fleet.run(target, "sudo echo hello")
    assert ended.output.head == b"hello\n"
    assert (tools / "sudo-argv").read_text().splitlines()[:5] == ["-n", "-H", "-u", "root", "--"]


async def test_the_hosts_own_become_leads_into_the_container(make_fleet: MakeFleet, tools: Path) -> None:
    fleet = make_fleet(
        host=TargetConfig(address="box", become=True),
        git=TargetConfig(kind="pct", container="112", via="host", become="git"),
    )
    assert (await fleet.run("git", "echo hello")).output.head == b"hello\n"
    users = (tools / "sudo-argv").read_text().split()
    assert [users[3], users[users.index("-u", 4) + 1]] == ["root", "git"]
