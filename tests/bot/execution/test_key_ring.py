"""Key files are read once for many connections, and again when one of them is another."""

import asyncio
import os
from dataclasses import replace
from pathlib import Path

import asyncssh
import pytest
from asyncssh.public_key import SSHKeyPair

from bot.execution.key_ring import Handed, KeyRing
from bot.execution.keys import offer
from bot.inventory.ssh_config import SshHost
from tests.sshd import make_key


@pytest.fixture
def host(tmp_path: Path) -> SshHost:
    make_key(tmp_path / "key")
    files = (str(tmp_path / "key"),)
    return SshHost(
        alias="box",
        address="box",
        port=22,
        user="bo",
        key_name="box",
        identity_files=files,
        identities_only=True,
    )


async def hand(ring: KeyRing, host: SshHost) -> Handed:
    return await ring.hand(host, offer(host))


def pairs(handed: Handed) -> list[SSHKeyPair]:
    return [pair for pair in handed.client_keys if isinstance(pair, SSHKeyPair)]


def public(path: Path) -> bytes:
    return asyncssh.read_public_key(path.with_name(path.name + ".pub")).public_data


async def test_every_connection_has_pairs_of_its_own_of_keys_read_once(host: SshHost) -> None:
    ring = KeyRing()
    (one,), (other,) = [pairs(handed) for handed in await asyncio.gather(hand(ring, host), hand(ring, host))]
    assert one is not other
    assert one._key is other._key  # type: ignore[attr-defined] # of a local pair
    one.set_sig_algorithm(b"ssh-other")
    one.set_comment("another")
    (third,) = pairs(await hand(ring, host))
    assert (third.sig_algorithm, third.get_comment()) == (other.sig_algorithm, other.get_comment())
    data = b"what is signed"
    assert asyncssh.read_public_key(f"{host.identity_files[0]}.pub").verify(data, third.sign(data))
    ring.forget()


def _take_its_place(new: Path, old: Path, *, dated_back: bool) -> None:
    for one, other in ((new, old), (Path(f"{new}.pub"), Path(f"{old}.pub"))):
        was = other.stat()
        if dated_back:
            os.utime(one, ns=(was.st_atime_ns, was.st_mtime_ns))
            one.rename(other)
        else:
            other.write_bytes(one.read_bytes())


@pytest.mark.parametrize("how", ["written over", "put in its place, dated back"])
async def test_a_key_that_was_changed_is_seen_by_the_next_connection(
    host: SshHost, tmp_path: Path, how: str
) -> None:
    ring, key = KeyRing(), tmp_path / "key"
    (old,) = pairs(await hand(ring, host))
    make_key(tmp_path / "new")
    _take_its_place(tmp_path / "new", key, dated_back=how != "written over")
    handed = await hand(ring, host)
    (new,) = pairs(handed)
    assert old.public_data != new.public_data == public(key)
    assert list(handed.agent_identities) == [public(key)]
    ring.forget()


async def test_a_certificate_that_was_put_beside_is_seen_by_the_next_connection(
    host: SshHost, tmp_path: Path
) -> None:
    ring = KeyRing()
    assert [pair.has_cert for pair in pairs(await hand(ring, host))] == [False]
    make_key(tmp_path / "ca")
    signed = asyncssh.read_private_key(tmp_path / "ca").generate_user_certificate(
        asyncssh.read_public_key(tmp_path / "key.pub"), "sayso"
    )
    signed.write_certificate(tmp_path / "key-cert.pub")
    assert [pair.has_cert for pair in pairs(await hand(ring, host))] == [True, False]
    (tmp_path / "key-cert.pub").unlink()
    certified = replace(host, certificate_files=(str(tmp_path / "mine"),))
    with pytest.raises(OSError, match="mine"):
        await hand(ring, certified)
    signed.write_certificate(tmp_path / "mine")
    handed = await hand(ring, certified)
    assert [pair.has_cert for pair in pairs(handed)] == [True, False]
    assert list(handed.client_certs) == []
    ring.forget()


async def test_the_usual_keys_are_seen_when_they_come_and_go(
    host: SshHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".ssh").mkdir()
    bare, ring = replace(host, identity_files=(), identities_only=False), KeyRing()
    assert await hand(ring, bare) == Handed(client_keys=(), client_certs=(), agent_identities=())
    key = tmp_path / ".ssh" / "id_ed25519"
    make_key(key)
    assert [pair.public_data for pair in pairs(await hand(ring, bare))] == [public(key)]
    make_key(key)
    assert [pair.public_data for pair in pairs(await hand(ring, bare))] == [public(key)]
    key.unlink()
    assert pairs(await hand(ring, bare)) == []
    ring.forget()


async def test_a_public_file_that_is_no_key_does_not_ask_for_all_keys_of_the_agent(
    host: SshHost, tmp_path: Path
) -> None:
    """asyncssh takes an empty list of the agent's keys to offer for all of them."""
    ring = KeyRing()
    (tmp_path / "key.pub").write_text("no key\n")
    assert list((await hand(ring, host)).agent_identities) == [b"none"]
    ring.forget()


async def test_a_file_that_is_no_key_is_an_error_each_time(host: SshHost, tmp_path: Path) -> None:
    ring, loose = KeyRing(), replace(host, identities_only=False)
    (tmp_path / "key").write_text("no key\n")
    for _ in range(2):
        with pytest.raises(ValueError, match="private key"):
            await hand(ring, loose)
    make_key(tmp_path / "key")
    assert len(pairs(await hand(ring, loose))) == 1
    ring.forget()


async def test_keys_are_kept_for_a_short_while_and_few_of_them(host: SshHost, tmp_path: Path) -> None:
    ring = KeyRing(keep_s=0.05)
    await hand(ring, host)
    assert len(ring._found) == 1
    await asyncio.sleep(0.15)
    assert not ring._found
    ring = KeyRing()
    for number in range(30):
        path = tmp_path / f"key{number}"
        make_key(path)
        await hand(ring, replace(host, identity_files=(str(path),)))
    assert 1 <= len(ring._found) <= 8
    ring.forget()
    assert not ring._found
