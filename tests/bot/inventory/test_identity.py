import base64
import hashlib
import hmac
import os
from dataclasses import replace
from pathlib import Path

import asyncssh
import pytest

from bot.inventory import Inventory, TargetConfig, build
from bot.inventory.hostkeys import KnownHosts, KnownHostsError, fingerprint
from bot.inventory.ssh_config import SshConfigError
from gate.domain import Target, TargetId, TargetState


def _key() -> tuple[asyncssh.SSHKey, str]:
    key = asyncssh.generate_private_key("ssh-ed25519").convert_to_public()
    return key, key.export_public_key("openssh").decode().strip()


def _hashed(name: str) -> str:
    salt = b"0123456789abcdef0123"
    digest = hmac.new(salt, name.encode(), hashlib.sha1).digest()
    return f"|1|{base64.b64encode(salt).decode()}|{base64.b64encode(digest).decode()}"


def _lookup(text: str, tmp_path: Path, *, host: str = "web1", port: int = 22) -> tuple[str, ...]:
    path = tmp_path / "known_hosts"
    path.write_text(text)
    return KnownHosts().lookup(host, port=port, files=(path, tmp_path / "missing")).fingerprints


def test_plain_hashed_and_ported_names_are_found(tmp_path: Path) -> None:
    key, line = _key()
    print_ = (fingerprint(key),)
    assert _lookup(f"web1,10.0.0.1 {line}\n", tmp_path) == print_
    assert _lookup(f"{_hashed('web1')} {line}\n", tmp_path) == print_
    assert _lookup(f"[web1]:2222 {line}\n", tmp_path, port=2222) == print_
    assert _lookup(f"{_hashed('[web1]:2222')} {line}\n", tmp_path, port=2222) == print_


def test_another_host_or_port_trusts_nothing(tmp_path: Path) -> None:
    _, line = _key()
    assert _lookup(f"web2 {line}\n", tmp_path) == ()
    assert _lookup(f"[web1]:2222 {line}\n", tmp_path, port=22) == ()


def test_a_revoked_key_is_never_trusted(tmp_path: Path) -> None:
    _, line = _key()
    assert _lookup(f"web1 {line}\n@revoked * {line}\n", tmp_path) == ()


def test_an_authority_is_marked_as_one(tmp_path: Path) -> None:
    key, line = _key()
    assert _lookup(f"@cert-authority *.example,web1 {line}\n", tmp_path) == (f"ca:{fingerprint(key)}",)


def test_fingerprint_is_that_of_ssh_keygen() -> None:
    key, line = _key()
    blob = base64.b64decode(line.split()[1])
    assert fingerprint(key) == "SHA256:" + base64.b64encode(hashlib.sha256(blob).digest()).decode().rstrip(
        "="
    )


def test_a_changed_file_is_read_again_and_a_broken_one_trusts_nothing(tmp_path: Path) -> None:
    path = tmp_path / "known_hosts"
    known = KnownHosts()
    first, line = _key()
    path.write_text(f"web1 {line}\n")
    assert known.lookup("web1", port=22, files=(path,)).fingerprints == (fingerprint(first),)
    _, other = _key()
    path.write_text(f"web1 {line}\nweb1 {other}\n")
    assert len(known.lookup("web1", port=22, files=(path,)).fingerprints) == 2
    path.write_text("@nonsense web1 ssh-ed25519 AAAA\n")
    with pytest.raises(KnownHostsError):
        known.lookup("web1", port=22, files=(path,))


def _fleet(tmp_path: Path, line: str, **tables: TargetConfig) -> Inventory:
    (tmp_path / "known").write_text(f"[10.0.0.9]:2200 {line}\n")
    (tmp_path / "more").write_text("Host web1\n  User deploy\n")
    (tmp_path / "config").write_text(
        f"Include {tmp_path}/more\nHost web1 pve1\n  HostName 10.0.0.9\n  Port 2200\n  User late\n"
        f"Host *\n  UserKnownHostsFile {tmp_path}/known\n"
    )
    return build(tables, {}, ssh_config=tmp_path / "config", local_user="ana")


def _identified(inventory: Inventory, name: str) -> Target:
    return inventory.identify(inventory.targets[TargetId(name)])


def test_ssh_config_with_include_fills_what_the_table_leaves_out(tmp_path: Path) -> None:
    key, line = _key()
    inventory = _fleet(tmp_path, line, web1=TargetConfig(), other=TargetConfig(address="web1", user="kim"))
    web1 = _identified(inventory, "web1")
    assert (web1.address, web1.port, web1.user) == ("10.0.0.9", 2200, "deploy")
    assert web1.host_keys == (fingerprint(key),)
    assert _identified(inventory, "other").user == "kim"


def test_without_an_ssh_config_the_defaults_are_plain(tmp_path: Path) -> None:
    inventory = build({"web1": TargetConfig()}, {}, known_hosts=(tmp_path / "none",), local_user="ana")
    web1 = _identified(inventory, "web1")
    assert (web1.address, web1.port, web1.user, web1.host_keys) == ("web1", 22, "ana", ())


def test_a_container_is_its_host_and_the_way_in(tmp_path: Path) -> None:
    key, line = _key()
    inventory = _fleet(
        tmp_path,
        line,
        pve1=TargetConfig(user="root", become="root"),
        git=TargetConfig(kind="pct", via="pve1", container="112"),
        app=TargetConfig(kind="docker", via="git", container="app", become=True),
    )
    app = _identified(inventory, "app")
    assert (app.address, app.port, app.user, app.host_keys) == ("10.0.0.9", 2200, "root", (fingerprint(key),))
    assert app.wrapper == (
        *("sudo", "-n", "-H", "-u", "root", "--", "pct", "exec", "112", "--"),
        *("docker", "exec", "app"),
    )
    assert inventory.identify(app) == app


def test_a_new_host_key_makes_another_target(tmp_path: Path) -> None:
    _, line = _key()
    inventory = _fleet(tmp_path, line, web1=TargetConfig())
    before = _identified(inventory, "web1")
    _, other = _key()
    (tmp_path / "known").write_text(f"[10.0.0.9]:2200 {other}\n# changed\n")
    assert _identified(inventory, "web1") != before


def test_a_changed_included_file_is_seen(tmp_path: Path) -> None:
    _, line = _key()
    inventory = _fleet(tmp_path, line, web1=TargetConfig())
    assert _identified(inventory, "web1").user == "deploy"
    (tmp_path / "more").write_text("Host web1\n  User somebody\n")
    os.utime(tmp_path / "more", ns=(1, 1))
    assert _identified(inventory, "web1").user == "somebody"


def test_what_left_the_inventory_comes_back_destroyed(tmp_path: Path) -> None:
    _, line = _key()
    inventory = _fleet(tmp_path, line, web1=TargetConfig())
    gone = replace(inventory.targets[TargetId("web1")], id=TargetId("gone"))
    assert inventory.identify(gone).state is TargetState.DESTROYED


def test_a_container_of_a_destroyed_host_is_destroyed(tmp_path: Path) -> None:
    _, line = _key()
    inventory = _fleet(
        tmp_path,
        line,
        pve1=TargetConfig(state="destroyed"),
        git=TargetConfig(kind="pct", via="pve1", container="112"),
    )
    assert _identified(inventory, "git").state is TargetState.DESTROYED


def test_a_broken_ssh_config_names_its_line(tmp_path: Path) -> None:
    (tmp_path / "config").write_text("Host web1\n  Port many\n")
    inventory = build({"web1": TargetConfig()}, {}, ssh_config=tmp_path / "config", local_user="ana")
    with pytest.raises(SshConfigError, match="line 2"):
        _identified(inventory, "web1")


def test_jump_hosts_are_read_in_order(tmp_path: Path) -> None:
    (tmp_path / "config").write_text(
        "Host web1\n  ProxyJump kim@bastion:2022,inner\n"
        "Host web2\n  ProxyJump ssh://kim@[2001:db8::1]:2022/,[::1],ana@2001:db8::22\n"
        "Host web3\n  ProxyJump none\n"
    )
    inventory = build({"web1": TargetConfig()}, {}, ssh_config=tmp_path / "config", local_user="ana")
    jumps = [
        [(hop.alias, hop.user, hop.port) for hop in inventory.identifier.host(name).jump]
        for name in ("web1", "web2", "web3")
    ]
    assert jumps == [
        [("bastion", "kim", 2022), ("inner", "", 0)],
        [("2001:db8::1", "kim", 2022), ("::1", "", 0), ("2001:db8::22", "ana", 0)],
        [],
    ]
