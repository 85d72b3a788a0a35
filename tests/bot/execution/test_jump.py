"""Through jump hosts: chains, many targets behind one, one that dies, and IPv6."""

import asyncio
import contextlib
import os
import signal
import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bot.execution.unreached import Unreached
from bot.inventory import TargetConfig
from bot.ports import EndKind
from tests.bot.execution.conftest import QUICK, MakeFleet
from tests.bot.execution.names import alias
from tests.bot.execution.processes import pids_in
from tests.bot.execution.shells import until
from tests.sshd import SSHD, Server, running

pytestmark = pytest.mark.skipif(not SSHD.exists(), reason="needs OpenSSH's sshd")

WHENCE = "tr '\\0' '\\n' < /proc/$PPID/environ | sed -n 's/^SSH_CONNECTION=//p'"


def _has_ipv6() -> bool:
    with contextlib.suppress(OSError), socket.create_server(("::1", 0), family=socket.AF_INET6):
        return True
    return False


needs_ipv6 = pytest.mark.skipif(not _has_ipv6(), reason="needs ::1")


@contextlib.contextmanager
def several(folder: Path, *names: str) -> Iterator[tuple[Server, ...]]:
    """Servers of these names, all known to the config of the first."""
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(running(folder / name, alias=name)) for name in names]
        first = servers[0]
        for server in servers[1:]:
            with first.config.open("a") as config:
                config.write(
                    server.config.read_text().replace(str(server.known_hosts), str(first.known_hosts))
                )
            with first.known_hosts.open("a") as known:
                known.write(server.known_hosts.read_text())
        yield tuple(servers)


def through(server: Server, jump: str, *names: str) -> dict[str, TargetConfig]:
    """Send these names of the config through `jump`."""
    text = server.config.read_text()
    server.config.write_text("".join(f"Host {name}\n  ProxyJump {jump}\n" for name in names) + text)
    return {name: TargetConfig() for name in names}


def connections(server: Server) -> int:
    return len(server.session_pids())


@pytest.mark.parametrize("form", ["one line", "one by one"])
async def test_a_chain_is_gone_through_in_its_order(make_fleet: MakeFleet, tmp_path: Path, form: str) -> None:
    with several(tmp_path, "outer", "inner", "far") as (outer, inner, far):
        if form == "one line":
            through(outer, "outer,inner", "far")
        else:
            through(outer, "inner", "far")
            through(outer, "outer", "inner")
        fleet = make_fleet(config=outer.config, far=TargetConfig())
        assert (await fleet.run("far", "echo there")).output.head == b"there\n"
        await until(lambda: [connections(one) for one in (outer, inner, far)] == [1, 1, 1])


async def test_a_chain_that_goes_in_a_circle_is_a_config_error(make_fleet: MakeFleet, tmp_path: Path) -> None:
    with several(tmp_path, "outer", "far") as (outer, _):
        through(outer, "outer", "far")
        through(outer, "far", "outer")
        ended = await make_fleet(config=outer.config, far=TargetConfig()).run("far", "true")
        assert (ended.kind, ended.cause) == (EndKind.NOT_STARTED, Unreached.CONFIG)
        assert "circle" in ended.note


async def test_many_targets_share_one_connection_to_their_jump_host(
    make_fleet: MakeFleet, tmp_path: Path
) -> None:
    with several(tmp_path, "jump", "far") as (jump, far):
        names = [f"web{number}" for number in range(20)]
        far.config.write_text("")
        alias(far, *names)
        jump.config.write_text(jump.config.read_text() + far.config.read_text())
        with jump.known_hosts.open("a") as known:
            known.write(far.known_hosts.read_text())
        tables = through(jump, "jump", *names)
        fleet = make_fleet(config=jump.config, **tables)
        ended = await asyncio.gather(*(fleet.run(name, "echo in") for name in names))
        assert {one.output.head for one in ended} == {b"in\n"}, {one.note for one in ended}
        await until(lambda: (connections(jump), connections(far)) == (1, 20))


async def test_a_jump_host_that_dies_loses_what_ran_and_is_dialled_anew(
    make_fleet: MakeFleet, tmp_path: Path
) -> None:
    with several(tmp_path, "jump", "far") as (jump, _):
        tables = through(jump, "jump", "far")
        fleet = make_fleet(config=jump.config, **tables)
        going = asyncio.create_task(fleet.run("far", f"echo $$ >> {tmp_path}/pids; sleep 30"))
        await pids_in(tmp_path / "pids", 1)
        for pid in jump.session_pids():
            os.kill(pid, signal.SIGKILL)
        ended = await asyncio.wait_for(going, timeout=60)
        assert (ended.kind, ended.note) == (EndKind.LOST, "connection lost")
        again = await fleet.run("far", f"echo once >> {tmp_path}/ran")
        assert (again.kind, again.exit_code) == (EndKind.EXITED, 0)
        assert (tmp_path / "ran").read_text() == "once\n"


async def test_a_jump_host_that_is_down_is_named_and_so_is_what_it_cannot_reach(
    make_fleet: MakeFleet, tmp_path: Path
) -> None:
    with several(tmp_path, "jump", "far") as (jump, far):
        tables = through(jump, "jump", "far")
        text = jump.config.read_text()
        os.kill(far.pid, signal.SIGSTOP)  # takes connections, and says nothing
        quick = replace(QUICK, connect_s=1.0)
        ended = await make_fleet(config=jump.config, limits=quick, **tables).run("far", "true")
        assert (ended.kind, ended.cause) == (EndKind.NOT_STARTED, Unreached.TIMEOUT)
        os.kill(far.pid, signal.SIGCONT)
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            jump.config.write_text(text.replace(f"Port {far.port}", f"Port {closed.getsockname()[1]}"))
            with jump.known_hosts.open("a") as known:
                public = " ".join((far.folder / "host.pub").read_text().split()[:2])
                known.write(f"[127.0.0.1]:{closed.getsockname()[1]} {public}\n")
            ended = await make_fleet(config=jump.config, **tables).run("far", "true")
            assert (ended.kind, ended.cause) == (EndKind.NOT_STARTED, Unreached.UNREACHABLE)
            assert "the jump host cannot reach 127.0.0.1" in ended.note
            jump.config.write_text(text.replace(f"Port {jump.port}", f"Port {closed.getsockname()[1]}"))
            ended = await make_fleet(config=jump.config, **tables).run("far", "true")
            assert (ended.kind, ended.cause) == (EndKind.NOT_STARTED, Unreached.REFUSED)
            assert ended.note.startswith("far, jump host jump: ")


@needs_ipv6
async def test_an_ipv6_address_is_reached_plainly_and_through_a_jump_host(
    make_fleet: MakeFleet, tmp_path: Path
) -> None:
    with running(tmp_path / "own", options="ListenAddress ::1\n") as server:
        tables = alias(server, "six", address="::1") | alias(server, "behind", address="::1")
        through(server, f"{server.user}@[::1]:{server.port}", "behind")
        with server.config.open("a") as config:
            config.write(
                f"Host ::1\n  IdentityFile {server.client_key}\n  IdentitiesOnly yes\n"
                f"  UserKnownHostsFile {server.known_hosts}\n"
            )
        tables["plain"] = TargetConfig(address="::1", port=server.port, user=server.user)
        fleet = make_fleet(config=server.config, **tables)
        for name in tables:
            ended = await fleet.run(name, WHENCE)
            assert ended.output.head.startswith(b"::1 "), (name, ended.note)
        server.known_hosts.write_text("")
        ended = await fleet.run("six", "true")
        assert ended.cause == Unreached.HOST_KEY_UNKNOWN
        assert f"ssh-keyscan -p {server.port} -t ed25519 ::1 >>" in ended.note
