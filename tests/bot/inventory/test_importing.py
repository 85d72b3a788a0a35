import tomllib
from pathlib import Path

import pytest

from bot.inventory import InventoryError, TargetConfig, build
from bot.inventory.aliases import aliases
from bot.inventory.ansible import expand, read_ini, read_yaml
from bot.inventory.importing import Found, from_ssh, to_toml
from bot.inventory.ssh_config import SshConfig, SshConfigError

INI = """
# comment
lone ansible_host=192.0.2.9

[web]
web[01:03].example ansible_port=2222
Big-Host ansible_host=192.0.2.7 ansible_user="kim" ; trailing

[db]
db1 ansible_connection=local

[prod:children]
web
db

[web:vars]
ansible_user=deploy
ansible_become=yes
ansible_ssh_private_key_file=~/.ssh/deploy
secret={{ vault }}
"""

YAML = """
all:
  vars: {ansible_user: root}
  children:
    hypervisors:
      hosts:
        pve1: {ansible_host: 192.0.2.1, ansible_port: 22022}
    apps:
      vars: {ansible_user: app}
      hosts:
        app1:
        app2: {ansible_host: "{{ somewhere }}"}
        box: {ansible_connection: community.docker.docker, ansible_host: web_1}
"""


def _tables(found: tuple[Found, ...]) -> dict[str, TargetConfig]:
    document = tomllib.loads(to_toml(found))
    return {name: TargetConfig.model_validate(table) for name, table in document["targets"].items()}


def test_ini_groups_become_tags_and_variables_become_fields() -> None:
    tables = _tables(read_ini(INI))
    assert list(tables) == ["lone", "web01.example", "web02.example", "web03.example", "big-host", "db1"]
    web = tables["web02.example"]
    assert (web.user, web.port, web.become, web.tags) == ("deploy", 2222, True, ("web", "prod"))
    assert (tables["big-host"].address, tables["big-host"].user) == ("192.0.2.7", "kim")
    assert tables["db1"].kind == "local"
    assert tables["lone"].tags == ()
    assert "IdentityFile ~/.ssh/deploy" in to_toml(read_ini(INI))


def test_yaml_groups_become_tags_and_near_variables_win() -> None:
    tables = _tables(read_yaml(YAML))
    pve1 = tables["pve1"]
    assert (pve1.address, pve1.port, pve1.user, pve1.tags) == ("192.0.2.1", 22022, "root", ("hypervisors",))
    assert (tables["app1"].user, tables["app1"].address) == ("app", None)
    assert (tables["box"].kind, tables["box"].container) == ("docker", "web_1")
    assert "# not evaluated: ansible_host" in to_toml(read_yaml(YAML))


def test_imported_tables_build_an_inventory() -> None:
    inventory = build(_tables(read_yaml(YAML)), {}, local_user="ana")
    assert inventory.tags["apps"] == ("app1", "app2", "box")


@pytest.mark.parametrize(
    "text", ["- a\n- b\n", "all: [1]", "all: {hosts: [a]}", "a: : b", "all: &x\n  children: {again: *x}\n"]
)
def test_yaml_that_is_no_inventory_is_refused(text: str) -> None:
    with pytest.raises(InventoryError):
        read_yaml(text)


@pytest.mark.parametrize("text", ["[web]\nweb[1:999999999]\n", "[web]\nweb[aa:9]\n", '[web]\nweb "open\n'])
def test_ini_that_makes_no_sense_is_refused(text: str) -> None:
    with pytest.raises(InventoryError):
        read_ini(text)


def test_ranges_keep_their_zeros_and_steps() -> None:
    assert list(expand("n[08:12:2]-[a:b]")) == ["n08-a", "n08-b", "n10-a", "n10-b", "n12-a", "n12-b"]


def test_ssh_hosts_keep_following_their_alias(tmp_path: Path) -> None:
    (tmp_path / "extra.conf").write_text("Host Inner\n  HostName 10.0.0.5\n  ProxyJump bastion\n")
    (tmp_path / "config").write_text(
        f"Include {tmp_path}/*.conf\nHost bastion b2\n  User kim\n  Port 2022\n  IdentityFile ~/.ssh/b\n"
        "Host *.example !not web?\n  User x\nHost *\n  User everyone\n"
    )
    names = aliases(tmp_path / "config")
    assert names == ("Inner", "bastion", "b2")
    config = SshConfig(path=tmp_path / "config", local_user="ana")
    text = to_toml(from_ssh(config.host(name) for name in names))
    tables = {n: TargetConfig.model_validate(t) for n, t in tomllib.loads(text)["targets"].items()}
    assert list(tables) == ["inner", "bastion", "b2"]
    assert tables["inner"].address == "Inner"
    assert "# everyone@10.0.0.5 port 22; via bastion" in text
    assert "kim@bastion port 2022; key " in text


def test_a_config_that_includes_itself_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config").write_text(f"Include {tmp_path}/config\n")
    with pytest.raises(SshConfigError):
        aliases(tmp_path / "config")


def test_names_that_cannot_stay_are_left_out_and_said() -> None:
    text = to_toml((Found(name="Web"), Found(name="web"), Found(name="all"), Found(name="???")))
    assert list(tomllib.loads(text)["targets"]) == ["web"]
    assert text.count("# left out:") == 3


def test_strange_values_stay_strings() -> None:
    text = to_toml((Found(name="a.b", address='x"\n[targets.evil]\x7f😀', comment="two\nlines"),))
    assert tomllib.loads(text)["targets"] == {"a.b": {"kind": "ssh", "address": 'x"\n[targets.evil]\x7f😀'}}
