import asyncio
import socket
from dataclasses import replace
from pathlib import Path

import asyncssh
import pytest

from bot.execution.unreached import Unreached
from bot.inventory import TargetConfig
from bot.inventory.hostkeys import fingerprint
from bot.ports import Ended, EndKind
from tests import needs
from tests.bot.execution.conftest import QUICK, MakeFleet
from tests.bot.execution.processes import pids_in
from tests.sshd import Server, free_port, make_key, prepare, running, started

NOTHING = "touch {folder}/ran"


@pytest.fixture
def own(tmp_path: Path, server: Server) -> Server:
    """The shared server as seen through client files of this test's own."""
    mine = replace(server, folder=tmp_path)
    for name in ("host.pub", "client", "client.pub"):
        (tmp_path / name).write_bytes((server.folder / name).read_bytes())
    mine.client_key.chmod(0o600)
    mine.write_client_files()
    return mine


def _refused(ended: Ended, cause: Unreached, own: Server) -> None:
    assert (ended.kind, ended.cause, ended.exit_code) == (EndKind.NOT_STARTED, cause, None)
    assert not (own.folder / "ran").exists()


async def _try(make_fleet: MakeFleet, own: Server, **table: object) -> Ended:
    fleet = make_fleet(config=own.config, box=TargetConfig.model_validate(table))
    return await fleet.run("box", NOTHING.format(folder=own.folder))


async def test_an_unknown_host_key_is_refused_with_its_fingerprint_and_how_to_trust_it(
    make_fleet: MakeFleet, own: Server
) -> None:
    own.known_hosts.write_text("")
    ended = await _try(make_fleet, own)
    _refused(ended, Unreached.HOST_KEY_UNKNOWN, own)
    assert _print_of(own.folder / "host.pub") in ended.note
    assert f"ssh-keyscan -p {own.port} -t ed25519 127.0.0.1 >> {own.known_hosts}" in ended.note


def _print_of(path: Path) -> str:
    return fingerprint(asyncssh.read_public_key(path))


async def test_a_changed_host_key_is_refused_loudly(make_fleet: MakeFleet, own: Server) -> None:
    make_key(own.folder / "other")
    own.known_hosts.write_text(f"[127.0.0.1]:{own.port} {(own.folder / 'other.pub').read_text()}")
    ended = await _try(make_fleet, own)
    _refused(ended, Unreached.HOST_KEY_CHANGED, own)
    assert "THE HOST KEY HAS CHANGED" in ended.note
    assert _print_of(own.folder / "other.pub") in ended.note
    assert _print_of(own.folder / "host.pub") in ended.note


async def test_a_host_known_by_a_key_of_another_kind_counts_as_changed(
    make_fleet: MakeFleet, own: Server
) -> None:
    other = asyncssh.generate_private_key("ecdsa-sha2-nistp256").export_public_key("openssh").decode()
    own.known_hosts.write_text(f"[127.0.0.1]:{own.port} {other}")
    _refused(await _try(make_fleet, own), Unreached.HOST_KEY_CHANGED, own)


async def test_a_revoked_host_key_is_refused(make_fleet: MakeFleet, own: Server) -> None:
    key = (own.folder / "host.pub").read_text()
    own.known_hosts.write_text(f"[127.0.0.1]:{own.port} {key}@revoked [127.0.0.1]:{own.port} {key}")
    _refused(await _try(make_fleet, own), Unreached.HOST_KEY_REVOKED, own)


async def test_a_config_that_switches_checking_off_trusts_nobody(make_fleet: MakeFleet, own: Server) -> None:
    text = own.config.read_text().replace(f"UserKnownHostsFile {own.known_hosts}", "UserKnownHostsFile none")
    own.config.write_text(text + "  StrictHostKeyChecking no\n")
    _refused(await _try(make_fleet, own), Unreached.HOST_KEY_UNKNOWN, own)


async def test_a_wrong_key_names_the_user(make_fleet: MakeFleet, own: Server) -> None:
    make_key(own.client_key)
    ended = await _try(make_fleet, own)
    _refused(ended, Unreached.AUTH, own)
    assert f"user {own.user}" in ended.note


async def test_a_closed_port_is_refused(make_fleet: MakeFleet, own: Server) -> None:
    ended = await _try(make_fleet, own, port=free_port())
    _refused(ended, Unreached.REFUSED, own)
    assert "sshd" in ended.note


async def test_a_name_without_address_is_dns(make_fleet: MakeFleet, own: Server) -> None:
    _refused(await _try(make_fleet, own, address="no-such-host.invalid"), Unreached.DNS, own)


async def test_silence_is_a_timeout(make_fleet: MakeFleet, own: Server) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        fleet = make_fleet(
            config=own.config, limits=replace(QUICK, connect_s=0.3), box=TargetConfig(port=port)
        )
        _refused(await fleet.run("box", NOTHING.format(folder=own.folder)), Unreached.TIMEOUT, own)


async def test_a_broken_known_hosts_file_is_a_config_error(make_fleet: MakeFleet, own: Server) -> None:
    fleet = make_fleet(config=own.config)
    action = await fleet.action("box", NOTHING.format(folder=own.folder))
    own.known_hosts.write_text("@nonsense box ssh-ed25519 AAAA\n")
    ended = await fleet.executor.run(action, on_output=lambda _: None, cancel=asyncio.Event())
    _refused(ended, Unreached.CONFIG, own)


async def test_a_host_key_that_changed_since_the_card_voids_the_action(
    make_fleet: MakeFleet, own: Server
) -> None:
    fleet = make_fleet(config=own.config)
    assert (await fleet.run("box", "true")).kind is EndKind.EXITED
    action = await fleet.action("box", NOTHING.format(folder=own.folder))
    make_key(own.folder / "other")
    with own.known_hosts.open("a") as file:
        file.write(f"[127.0.0.1]:{own.port} {(own.folder / 'other.pub').read_text()}")
    ended = await fleet.executor.run(action, on_output=lambda _: None, cancel=asyncio.Event())
    _refused(ended, Unreached.DRIFTED, own)


async def test_a_key_taken_out_of_known_hosts_ends_the_use_of_the_pooled_connection(
    make_fleet: MakeFleet, own: Server
) -> None:
    fleet = make_fleet(config=own.config)
    assert (await fleet.run("box", "true")).kind is EndKind.EXITED
    own.known_hosts.write_text("# nobody any more\n")
    _refused(await fleet.run("box", NOTHING.format(folder=own.folder)), Unreached.HOST_KEY_UNKNOWN, own)


def _rotate(server: Server) -> str:
    """Give the server another host key, as it will show from its next start on; return the public one."""
    make_key(server.folder / "host")
    kind, key = (server.folder / "host.pub").read_text().split()[:2]
    return f"[127.0.0.1]:{server.port} {kind} {key}\n"


async def test_a_new_key_beside_the_old_one_is_accepted_before_and_after_the_change(
    make_fleet: MakeFleet, tmp_path: Path
) -> None:
    """As UpdateHostKeys leaves it: both are listed until the old one is taken out."""
    server = prepare(tmp_path / "own")
    old = server.known_hosts.read_text()
    fleet = make_fleet(config=server.config)
    with started(server):
        assert (await fleet.run("box", "echo old")).output.head == b"old\n"
        new = _rotate(server)
        server.known_hosts.write_text(old + new)
        # the open connection was made under the old set alone, so it is not used for the new one
        assert (await fleet.run("box", "echo both")).output.head == b"both\n"
    with started(server):
        assert (await fleet.run("box", "echo new")).output.head == b"new\n"
        server.known_hosts.write_text(new)
        assert (await fleet.run("box", "echo only new")).output.head == b"only new\n"
        server.known_hosts.write_text(old)
        assert (await fleet.run("box", "true")).cause == Unreached.HOST_KEY_CHANGED


async def test_a_command_goes_on_over_the_connection_that_it_began_on(
    make_fleet: MakeFleet, tmp_path: Path
) -> None:
    with running(tmp_path / "own") as server:
        fleet = make_fleet(config=server.config)
        going = asyncio.create_task(fleet.run("box", f"echo $$ > {tmp_path}/pids; sleep 1; echo done"))
        await pids_in(tmp_path / "pids", 1)
        server.known_hosts.write_text(server.known_hosts.read_text() + _rotate(server))
        assert (await fleet.run("box", "true")).exit_code == 0
        assert (await going).output.head == b"done\n"


@needs.openssh
async def test_the_words_about_a_changed_key_accept_it_when_they_are_typed(
    make_fleet: MakeFleet, tmp_path: Path
) -> None:
    server = prepare(tmp_path / "own")
    _rotate(server)
    with started(server):
        fleet = make_fleet(config=server.config)
        ended = await fleet.run("box", "true")
        assert (ended.kind, ended.cause) == (EndKind.NOT_STARTED, Unreached.HOST_KEY_CHANGED)
        for start in ("ssh-keygen -R", "ssh-keyscan"):
            line = start + ended.note.partition(start)[2].partition(";")[0].rstrip(".")
            typed = await asyncio.create_subprocess_shell(line, stderr=asyncio.subprocess.PIPE)
            assert await typed.wait() == 0
            await typed.communicate()
        assert (await fleet.run("box", "echo in")).output.head == b"in\n"


async def test_a_jump_host_is_used_and_checked(make_fleet: MakeFleet, own: Server, tmp_path: Path) -> None:
    with running(tmp_path / "far", alias="far") as far:
        own.known_hosts.write_text(own.known_hosts.read_text() + far.known_hosts.read_text())
        own.config.write_text(
            f"Host far\n  ProxyJump box\n  HostName 127.0.0.1\n  Port {far.port}\n"
            f"  IdentityFile {far.client_key}\n  IdentitiesOnly yes\n"
            f"  UserKnownHostsFile {own.known_hosts}\n  GlobalKnownHostsFile none\n" + own.config.read_text()
        )
        fleet = make_fleet(config=own.config, far=TargetConfig())
        assert (await fleet.run("far", "echo through")).output.head == b"through\n"
        own.known_hosts.write_text(far.known_hosts.read_text())
        ended = await make_fleet(config=own.config, far=TargetConfig()).run("far", "true")
        assert ended.cause == Unreached.HOST_KEY_UNKNOWN
        assert "jump host box" in ended.note
