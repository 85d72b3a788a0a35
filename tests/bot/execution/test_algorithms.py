"""Which key exchange a connection uses, on a real sshd that says what was agreed on."""

from dataclasses import replace
from pathlib import Path

import asyncssh
import pytest
from asyncssh.kex import get_default_kex_algs

from bot.execution import trust
from bot.execution.trust import key_exchanges
from bot.inventory.ssh_config import SshHost
from tests import needs
from tests.bot.execution.conftest import MakeFleet
from tests.sshd import openssh, prepare

HOST = SshHost(alias="box", address="box", port=22, user="bo", key_name="box")
FAST, USUAL = "ecdh-sha2-nistp256", "curve25519-sha256"


@needs.openssh
@pytest.mark.parametrize(
    ("server_says", "user_says", "agreed"),
    [
        pytest.param("", "", FAST, id="nobody says anything"),
        pytest.param(f"KexAlgorithms {USUAL}\n", "", USUAL, id="the server does not know it"),
        pytest.param("", f"  KexAlgorithms {USUAL}\n", USUAL, id="the user chose another"),
        pytest.param("", f"  KexAlgorithms ^{USUAL}\n", USUAL, id="the user prefers another"),
    ],
)
async def test_the_exchange_that_is_less_work_for_the_server_is_agreed_on(
    make_fleet: MakeFleet, tmp_path: Path, server_says: str, user_says: str, agreed: str
) -> None:
    server = prepare(tmp_path / "own")
    server.write_client_files(extra=user_says)
    with openssh(server, options=f"LogLevel DEBUG1\n{server_says}"):
        fleet = make_fleet(config=server.config)
        assert (await fleet.run("box", "true")).exit_code == 0
    assert f"kex: algorithm: {agreed} " in (server.folder / "sshd.log").read_text()


def test_what_withstands_a_quantum_computer_comes_before_it() -> None:
    offered = list(key_exchanges(HOST))
    strong = [name for name in offered if "mlkem" in name or "sntrup" in name]
    assert offered.index(FAST) < offered.index(USUAL)
    assert all(offered.index(name) < offered.index(FAST) for name in strong)


def test_nothing_is_left_out_and_nothing_asyncssh_refuses() -> None:
    offered = key_exchanges(HOST)
    assert sorted(offered) == sorted(name.decode() for name in get_default_kex_algs())
    asyncssh.SSHClientConnectionOptions(kex_algs=offered, config=None, client_keys=[], known_hosts=None)


@pytest.mark.parametrize("missing", [FAST, USUAL])
def test_where_only_some_are_left_asyncssh_chooses(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    left = [name for name in get_default_kex_algs() if name.decode() != missing]
    monkeypatch.setattr(trust, "get_default_kex_algs", lambda: left)
    assert key_exchanges(HOST) == ()


def test_whoever_chose_for_themselves_is_left_alone() -> None:
    assert key_exchanges(replace(HOST, picks_key_exchanges=True)) == ()
