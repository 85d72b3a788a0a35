"""Keys of ours: in files, in an agent, with certificates, and those that cannot be used."""

import contextlib
import os
import shlex
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bot.execution.unreached import Unreached
from bot.ports import EndKind
from tests.bot.execution.conftest import MakeFleet
from tests.sshd import SSHD, Server, make_key, running

pytestmark = pytest.mark.skipif(not SSHD.exists(), reason="needs OpenSSH's programs")


@pytest.fixture
def own(tmp_path: Path, server: Server) -> Server:
    """The shared server as seen through client files of this test's own."""
    mine = replace(server, folder=tmp_path)
    for name in ("host.pub", "client", "client.pub"):
        (tmp_path / name).write_bytes((server.folder / name).read_bytes())
    mine.client_key.chmod(0o600)
    mine.write_client_files()
    return mine


@contextlib.contextmanager
def agent(folder: Path, *keys: Path) -> Iterator[str]:
    """A real ssh-agent that holds `keys`."""
    path = str(folder / "agent")
    with subprocess.Popen(["ssh-agent", "-D", "-a", path], stdout=subprocess.DEVNULL) as process:
        try:
            while not _listens(path):
                assert process.poll() is None
                time.sleep(0.005)
            for key in keys:
                _keygen("ssh-add", "-q", str(key), env={"SSH_AUTH_SOCK": path})
            yield path
        finally:
            process.terminate()


def _listens(path: str) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(path) == 0


def _keygen(*argv: str, env: dict[str, str] | None = None) -> None:
    subprocess.run(argv, check=True, capture_output=True, env={**os.environ, **(env or {})}, timeout=60)


def _lock(key: Path) -> None:
    _keygen("ssh-keygen", "-q", "-p", "-N", "open sesame", "-f", str(key))


@pytest.mark.parametrize("only", ["yes", "no"])
async def test_a_key_of_the_agent_gets_in_where_its_file_is_encrypted(
    make_fleet: MakeFleet, own: Server, only: str
) -> None:
    """Also where IdentitiesOnly leaves no other key of the agent: six wrong ones would use up all tries."""
    others = [own.folder / f"other{number}" for number in range(8)]
    for key in others:
        make_key(key)
    with agent(own.folder, *others, own.client_key) as path:
        _lock(own.client_key)
        text = own.config.read_text().replace("IdentitiesOnly yes", f"IdentitiesOnly {only}")
        if only == "no":
            _keygen("ssh-add", "-q", "-D", env={"SSH_AUTH_SOCK": path})
            _keygen("ssh-keygen", "-q", "-p", "-P", "open sesame", "-N", "", "-f", str(own.client_key))
            _keygen("ssh-add", "-q", str(own.client_key), env={"SSH_AUTH_SOCK": path})
            _lock(own.client_key)
        own.config.write_text(f"{text}  IdentityAgent {path}\n")
        ended = await make_fleet(config=own.config).run("box", "echo in; ssh-add -l")
    assert ended.output.head.startswith(b"in\n")
    assert b"Could not open a connection" in ended.output.head  # the agent is not lent to the other side


async def test_a_public_file_picks_the_agents_key(make_fleet: MakeFleet, own: Server) -> None:
    with agent(own.folder, own.client_key) as path:
        own.client_key.unlink()
        own.config.write_text(f"{own.config.read_text()}  IdentityAgent {path}\n")
        assert (await make_fleet(config=own.config).run("box", "echo in")).output.head == b"in\n"


async def test_an_agent_that_is_gone_is_passed_over(
    make_fleet: MakeFleet, own: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSH_AUTH_SOCK", str(own.folder / "no-agent"))
    assert (await make_fleet(config=own.config).run("box", "echo in")).output.head == b"in\n"


async def test_an_encrypted_key_without_an_agent_is_named(make_fleet: MakeFleet, own: Server) -> None:
    _lock(own.client_key)
    ended = await make_fleet(config=own.config).run("box", f"touch {own.folder}/ran")
    assert (ended.kind, ended.cause) == (EndKind.NOT_STARTED, Unreached.AUTH)
    assert f"{own.client_key} is encrypted" in ended.note
    assert f"ssh-add {own.client_key}" in ended.note
    assert not (own.folder / "ran").exists()


async def test_a_file_that_is_not_there_is_passed_over_and_named_where_it_was_the_only_one(
    make_fleet: MakeFleet, own: Server
) -> None:
    text = own.config.read_text()
    own.config.write_text(text.replace("  IdentityFile", "  IdentityFile ~/.ssh/id_nobody\n  IdentityFile"))
    assert (await make_fleet(config=own.config).run("box", "echo in")).output.head == b"in\n"
    own.config.write_text(text.replace(str(own.client_key), str(own.folder / "nothing")))
    ended = await make_fleet(config=own.config).run("box", "true")
    assert (ended.kind, ended.cause) == (EndKind.NOT_STARTED, Unreached.AUTH)
    assert f"{own.folder}/nothing is not there" in ended.note


@pytest.mark.parametrize("form", ["-m RFC4716", "-m PEM -t rsa", "-t ecdsa -C 'ana at home; rm -rf /'"])
async def test_keys_of_other_forms_and_with_a_comment_are_read(
    make_fleet: MakeFleet, tmp_path: Path, form: str
) -> None:
    with running(tmp_path / "own") as server:
        server.client_key.unlink()
        _keygen("ssh-keygen", "-q", "-N", "", *shlex.split(form), "-f", str(server.client_key))
        public = server.client_key.with_name("client.pub").read_text()
        (server.folder / "authorized_keys").write_text(public)
        assert (await make_fleet(config=server.config).run("box", "echo in")).output.head == b"in\n"


@pytest.mark.parametrize("where", ["beside", "named", "agent"])
async def test_a_certificate_of_an_authority_gets_in(
    make_fleet: MakeFleet, tmp_path: Path, where: str
) -> None:
    make_key(tmp_path / "ca")
    options = f"TrustedUserCAKeys {tmp_path / 'ca.pub'}\n"
    with running(tmp_path / "own", options=options) as server:
        (server.folder / "authorized_keys").write_text("")
        fleet = make_fleet(config=server.config)
        assert (await fleet.run("box", "true")).cause == Unreached.AUTH
        sign = ("ssh-keygen", "-q", "-s", str(tmp_path / "ca"), "-I", "sayso", "-n", server.user)
        _keygen(*sign, str(server.folder / "client.pub"))
        certificate = server.folder / "client-cert.pub"
        text = server.config.read_text()
        with contextlib.ExitStack() as stack:
            if where == "named":
                server.config.write_text(f"{text}  CertificateFile {certificate.rename(tmp_path / 'mine')}\n")
            elif where == "agent":
                path = stack.enter_context(agent(tmp_path, server.client_key))
                server.client_key.unlink()
                server.config.write_text(f"{text}  IdentityAgent {path}\n")
            ended = await make_fleet(config=server.config).run("box", "echo in")
        assert ended.output.head == b"in\n", ended.note


@pytest.mark.parametrize(
    ("principal", "validity", "trusted"),
    [
        ("127.0.0.1", "+1h", True),
        ("elsewhere.example", "+1h", False),
        ("127.0.0.1", "20200101:20200201", False),
    ],
)
async def test_a_certificate_of_a_host_counts_for_its_name_and_time(
    make_fleet: MakeFleet, tmp_path: Path, *, principal: str, validity: str, trusted: bool
) -> None:
    make_key(tmp_path / "ca")
    folder = tmp_path / "own"
    with running(folder, options=f"HostCertificate {folder}/host-cert.pub\n") as server:
        server.known_hosts.write_text(
            f"@cert-authority [127.0.0.1]:{server.port} {(tmp_path / 'ca.pub').read_text()}"
        )
        assert (await make_fleet(config=server.config).run("box", "true")).kind is EndKind.NOT_STARTED
        sign = ("ssh-keygen", "-q", "-s", str(tmp_path / "ca"), "-I", "box", "-h", "-V", validity)
        _keygen(*sign, "-n", principal, str(server.folder / "host.pub"))
        ended = await make_fleet(config=server.config).run("box", f"touch {tmp_path}/ran")
        assert (ended.exit_code == 0) is trusted is (tmp_path / "ran").exists()
        if not trusted:
            assert (ended.kind, ended.cause) == (EndKind.NOT_STARTED, Unreached.HOST_KEY_UNKNOWN)
