"""Blast radius: dependants of dependants, nearest first, unknown stays unknown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.blast import Graph, Service, radius, union, words
from gate.domain import Radius, Target, TargetId, TargetKind, Touch, TouchKind


def host(name: str, *, depends_on: tuple[str, ...] = ()) -> Target:
    return Target(id=TargetId(name), kind=TargetKind.SSH, address=name, depends_on=depends_on)


def container(name: str, *, via: str, address: str) -> Target:
    return Target(id=TargetId(name), kind=TargetKind.PCT, address=address, via=TargetId(via))


def service(name: str, *on: str, needs: tuple[str, ...] = ()) -> Service:
    return Service(name=name, on=tuple(TargetId(target) for target in on), depends_on=needs)


GRAPH = Graph(
    services=(
        service("caddy", "web1"),
        service("caddy", "web2"),
        service("wiki", "web1", needs=("caddy", "postgres")),
        service("blog", "web1", needs=("caddy",)),
        service("status", needs=("blog",)),
        service("postgres", "ct-db"),
        service("ping", "web1", needs=("pong",)),
        service("pong", "web1", needs=("ping",)),
    ),
    targets=(
        host("web1"),
        host("web2", depends_on=("web1",)),
        host("pve1"),
        container("ct-db", via="pve1", address="112"),
        host("report", depends_on=("status",)),
    ),
)
WEB1 = TargetId("web1")


def touch(kind: TouchKind, name: str) -> Touch:
    return Touch(kind=kind, name=name)


def test_dependants_of_a_service_are_walked_nearest_first() -> None:
    found = radius([touch(TouchKind.SERVICE, "caddy.service")], WEB1, GRAPH)
    assert found.known
    assert found.origin == ("caddy",)
    assert found.services == ("blog", "wiki", "status")
    assert found.targets == (TargetId("report"),)


def test_a_cycle_ends() -> None:
    found = radius([touch(TouchKind.SERVICE, "ping")], WEB1, GRAPH)
    assert found.services == ("pong",)


def test_a_host_covers_its_services_and_its_containers() -> None:
    found = radius([touch(TouchKind.HOST, "")], TargetId("pve1"), GRAPH)
    assert found.known
    assert found.targets[0] == TargetId("ct-db")
    assert found.services == ("postgres", "wiki")


@pytest.mark.parametrize("name", ["112", "ct-112", "ct-db"])
def test_a_container_is_known_by_number_and_by_slug(name: str) -> None:
    found = radius([touch(TouchKind.CONTAINER, name)], TargetId("pve1"), GRAPH)
    assert found.known
    assert found.origin == ("ct-db",)
    assert found.services == ("postgres", "wiki")


@pytest.mark.parametrize(
    "touches",
    [
        [],
        [touch(TouchKind.SERVICE, "nginx")],
        [touch(TouchKind.PATH, "/etc/hosts")],
        [touch(TouchKind.PACKAGE, "caddy")],
        [touch(TouchKind.DEVICE, "/dev/sda")],
        [touch(TouchKind.CONTAINER, "999")],
    ],
)
def test_what_the_graph_does_not_know_is_unknown(touches: list[Touch]) -> None:
    found = radius(touches, WEB1, GRAPH)
    assert not found.known
    assert words(found) == "unknown what depends on it"


def test_a_service_of_another_host_is_not_this_one() -> None:
    assert not radius([touch(TouchKind.SERVICE, "postgres")], WEB1, GRAPH).known


def test_an_empty_graph_knows_nothing() -> None:
    assert not radius([touch(TouchKind.HOST, "")], WEB1, Graph()).known


def test_one_unknown_touch_makes_the_whole_uncertain_and_keeps_what_is_known() -> None:
    found = radius([touch(TouchKind.SERVICE, "blog"), touch(TouchKind.PATH, "/x")], WEB1, GRAPH)
    assert not found.known
    assert words(found) == "1 service and 1 target depend on it (status, report), maybe more"


def test_what_depends_on_one_of_many_depends_on_all_of_them_once() -> None:
    caddy = [radius([touch(TouchKind.SERVICE, "caddy")], TargetId(name), GRAPH) for name in ("web1", "web2")]
    both = union(caddy)
    assert both.known
    assert both.origin == ("caddy",)
    assert (both.services, both.targets) == (("blog", "wiki", "status"), ("report",))
    assert not union([*caddy, Radius(known=False)]).known


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (Radius(known=True), "nothing known depends on it"),
        (Radius(known=False), "unknown what depends on it"),
        (Radius(known=True, services=("blog",)), "1 service depends on it (blog)"),
        (Radius(known=True, services=("blog", "wiki")), "2 services depend on it (blog, wiki)"),
        (Radius(known=True, services=tuple("abcdefgh")), "8 services depend on it (a, b, +6)"),
        (Radius(known=True, targets=(TargetId("web2"),)), "1 target depends on it (web2)"),
    ],
)
def test_a_radius_in_words(found: Radius, said: str) -> None:
    assert words(found) == said


_NAMES = st.sampled_from(["a", "b", "c", "d"])


@given(
    st.lists(st.tuples(_NAMES, st.lists(_NAMES, max_size=3), st.lists(_NAMES, max_size=3)), max_size=6),
    st.lists(st.tuples(_NAMES, st.lists(_NAMES, max_size=3), st.none() | _NAMES), max_size=4),
    st.lists(st.tuples(st.sampled_from(TouchKind), _NAMES), max_size=3),
)
def test_any_graph_is_walked_to_an_end_without_naming_a_thing_twice(
    services: list[tuple[str, list[str], list[str]]],
    targets: list[tuple[str, list[str], str | None]],
    touches: list[tuple[TouchKind, str]],
) -> None:
    graph = Graph(
        services=tuple(service(name, *on, needs=tuple(needs)) for name, on, needs in services),
        targets=tuple(
            Target(
                id=TargetId(name),
                kind=TargetKind.SSH,
                address=name,
                depends_on=tuple(needs),
                via=None if via is None else TargetId(via),
            )
            for name, needs, via in targets
        ),
    )
    found = radius([touch(kind, name) for kind, name in touches], TargetId("a"), graph)
    assert len(set(found.services)) == len(found.services)
    assert len(set(found.targets)) == len(found.targets)
    assert words(found)
