import tomllib

import pytest
from pydantic import ValidationError

from bot.inventory import InventoryError, ServiceConfig, TargetConfig, build
from gate.blast import radius
from gate.domain import TargetId, Touch, TouchKind


@pytest.mark.parametrize(
    "table",
    [
        {"adress": "typo.example"},
        {"kind": "pct"},
        {"kind": "docker", "container": "-it"},
        {"kind": "docker", "container": "a; reboot"},
        {"kind": "kubectl", "pod": "--all"},
        {"kind": "local", "address": "10.0.0.1"},
        {"kind": "ssh", "container": "web"},
        {"address": "-oProxyCommand=reboot"},
        {"user": "root; reboot"},
        {"become": "-u"},
        {"port": 0},
        {"port": "22"},
        {"kind": "telnet"},
        {"tags": ["@web"]},
        {"shell": "bash -x"},
    ],
)
def test_a_table_that_cannot_be_meant_is_refused(table: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        TargetConfig.model_validate(table)


def test_tables_from_toml_are_taken_as_they_are() -> None:
    tables = tomllib.loads(
        """
        [pve1]
        address = "10.0.0.2"
        become = true
        tags = ["prod"]
        [git]
        kind = "pct"
        via = "pve1"
        container = "112"
        [api]
        kind = "kubectl"
        pod = "deploy/api"
        namespace = "shop"
        container = "app"
        """
    )
    inventory = build(
        {name: TargetConfig.model_validate(t) for name, t in tables.items()}, {}, local_user="ana"
    )
    api = inventory.targets[TargetId("api")]
    assert api.wrapper == ("kubectl", "exec", "-n", "shop", "deploy/api", "-c", "app", "--")
    assert inventory.targets[TargetId("pve1")].become == "root"


@pytest.mark.parametrize(
    ("targets", "services", "words"),
    [
        ({"ct": TargetConfig(kind="docker", container="x", via="gone")}, {}, "no such target"),
        (
            {
                "a": TargetConfig(kind="docker", container="x", via="b"),
                "b": TargetConfig(kind="docker", container="y", via="a"),
            },
            {},
            "circle",
        ),
        ({"a": TargetConfig(depends_on=("gone",))}, {}, "no such service or target"),
        ({"all": TargetConfig()}, {}, "reserved"),
        ({"a": TargetConfig()}, {"s": ServiceConfig(on=("gone",))}, "no such target or tag"),
        ({"a": TargetConfig()}, {"s": ServiceConfig(on=("@gone",))}, "no such target or tag"),
    ],
)
def test_references_that_lead_nowhere_are_refused(
    targets: dict[str, TargetConfig], services: dict[str, ServiceConfig], words: str
) -> None:
    with pytest.raises(InventoryError, match=words):
        build(targets, services, local_user="ana")


def test_the_graph_tells_what_depends_on_a_service_and_a_container() -> None:
    inventory = build(
        {
            "web1": TargetConfig(tags=("web",)),
            "pve1": TargetConfig(),
            "git": TargetConfig(kind="pct", container="112", via="pve1"),
        },
        {
            "caddy": ServiceConfig(on=("@web",)),
            "blog": ServiceConfig(on=("web1",), depends_on=("caddy",)),
            "forge": ServiceConfig(on=("git",)),
        },
        local_user="ana",
    )
    caddy = radius((Touch(kind=TouchKind.SERVICE, name="caddy"),), TargetId("web1"), inventory.graph())
    assert (caddy.known, caddy.services) == (True, ("blog",))
    container = radius((Touch(kind=TouchKind.CONTAINER, name="112"),), TargetId("pve1"), inventory.graph())
    assert (container.known, container.services) == (True, ("forge",))


@pytest.mark.parametrize(
    "table",
    [
        {"become_password_file": "/x"},
        {"become_password_env": "X", "become": False},
        {"become": True, "become_password_file": "/x", "become_password_env": "X"},
        {"become": True, "become_password_env": "not a name"},
        {"become": True, "become_password_file": ""},
        {"kind": "docker", "container": "app", "become": True, "become_password_file": "/x"},
    ],
)
def test_a_password_needs_a_sudo_of_the_host_and_one_source(table: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        TargetConfig.model_validate(table)
