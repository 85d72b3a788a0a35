"""A fleet does what is said of it: healthy hosts answer, and each fault is the one that its name says."""

import itertools
import time
from collections.abc import Iterator
from pathlib import Path

import asyncssh
import pytest

from bot.inventory import build
from gate.domain import TargetId
from tests.bot.sending import until
from tests.simulators.fleet import ADDRESSES, Fault, Fleet, fleet, named
from tests.sshd import SSHD

FLOOD = 3_000_000
pytestmark = pytest.mark.skipif(not SSHD.exists(), reason="the fleet is made of OpenSSH's server")


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    folder: Path = tmp_path_factory.mktemp("fleet")
    with fleet(folder / "f", count=32, faults=dict.fromkeys(Fault, 1), flood_bytes=FLOOD) as found:
        yield found


def connect(hosts: Fleet, name: str, *, login_s: float = 20.0) -> "asyncssh.connect":
    return asyncssh.connect(name, config=[hosts.config], login_timeout=login_s, preferred_auth="publickey")


def test_names_are_many_and_faults_spread() -> None:
    found = named(500, {Fault.REFUSES: 25, Fault.HANGS: 10, Fault.DROPS: 5, Fault.FLOODS: 1})
    assert len(found) == 500
    where = [number for number, fault in enumerate(found.values()) if fault is not None]
    assert len(where) == 41
    assert max(after - before for before, after in itertools.pairwise(where)) < 20
    assert found == named(500, {Fault.REFUSES: 25, Fault.HANGS: 10, Fault.DROPS: 5, Fault.FLOODS: 1})


def test_more_faults_than_hosts_are_refused() -> None:
    with pytest.raises(ValueError, match="do not fit"):
        named(3, {Fault.HANGS: 4})


async def test_every_healthy_host_answers_at_its_address(hosts: Fleet) -> None:
    for name in hosts.having(None)[:14]:
        async with connect(hosts, name) as connection:
            ended = await connection.run('echo "$SSH_CONNECTION"')
        assert str(ended.stdout).split()[2] == hosts.address(name)


def test_a_block_for_each_host_leads_to_the_same_places(tmp_path: Path) -> None:
    with fleet(tmp_path / "f", count=10, faults={Fault.REFUSES: 1}, blocks=True) as found:
        inventory = build(found.targets(), {}, ssh_config=found.config)
        led = {name: inventory.identifier.host(name) for name in found.names}
    assert found.config.read_text().count("Host h") == 10
    assert all(led[name].address == found.address(name) for name in found.having(None))
    assert all(led[name].port == found.server.port for name in found.having(None))
    assert led[found.having(Fault.REFUSES)[0]].address not in ADDRESSES


def test_hosts_where_nobody_answers_share_nothing(tmp_path: Path) -> None:
    with fleet(tmp_path / "f", count=12, faults={Fault.REFUSES: 2, Fault.HANGS: 2}) as found:
        inventory = build(found.targets(), {}, ssh_config=found.config)
        silent = [*found.having(Fault.REFUSES), *found.having(Fault.HANGS)]
        spots = {inventory.identifier.host(name).address for name in silent}
        keys = {inventory.identify(inventory.targets[TargetId(name)]).host_keys for name in silent}
    assert len(spots) == len(keys) == 4


def test_the_inventory_trusts_every_host(hosts: Fleet) -> None:
    inventory = build(hosts.targets("all"), {}, ssh_config=hosts.config)
    assert inventory.tags["all"] == tuple(map(TargetId, hosts.names))
    assert all(inventory.identify(one).host_keys for one in inventory.targets.values())


async def test_one_refuses(hosts: Fleet) -> None:
    (name,) = hosts.having(Fault.REFUSES)
    with pytest.raises(ConnectionRefusedError):
        await connect(hosts, name)


async def test_one_hangs_for_as_long_as_it_is_let(hosts: Fleet) -> None:
    (name,) = hosts.having(Fault.HANGS)
    began = time.monotonic()
    with pytest.raises(asyncssh.ConnectionLost, match="timeout"):
        await connect(hosts, name, login_s=0.5)
    assert time.monotonic() - began >= 0.5


async def test_one_begins_a_command_and_drops(hosts: Fleet, tmp_path: Path) -> None:
    (name,) = hosts.having(Fault.DROPS)
    begun, over = tmp_path / "begun", tmp_path / "over"
    async with connect(hosts, name) as connection:
        # What it began goes on without its connection, and may be later than the end of that.
        ended = await connection.run(f"touch {begun}; sleep 60; touch {over}")
        assert ended.exit_status is None
        await connection.wait_closed()
    await until(begun.exists)
    assert not over.exists()


async def test_one_floods_and_ends_well(hosts: Fleet) -> None:
    (name,) = hosts.having(Fault.FLOODS)
    async with connect(hosts, name) as connection:
        ended = await connection.run("echo over")
    assert ended.exit_status == 0
    assert len(str(ended.stdout)) == FLOOD + len("over\n")
    assert str(ended.stdout).endswith("over\n")
