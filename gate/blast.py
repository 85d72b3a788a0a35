"""Blast radius: what depends on the things a command touches.

Owns the walk over the inventory graph (C14, N34, X6): dependants of dependants, nearest first, safe in
cycles. What the graph does not know is "unknown", never "nothing". It does not decide what a radius leads
to; that is the route's business.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gate.domain import Radius, Target, TargetId, Touch, TouchKind

_NAMED = 2  # dependants named in words before the rest becomes a count


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """One service of the inventory.

    Attributes:
        on: targets it runs on; () when the owner did not say.
        depends_on: names of services or targets it needs.
    """

    name: str
    on: tuple[TargetId, ...] = ()
    depends_on: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """The inventory as far as it says what needs what; an empty one knows nothing."""

    services: tuple[Service, ...] = ()
    targets: tuple[Target, ...] = ()


#: A node of the walk: (is it a target, name).
_Node = tuple[bool, str]


def radius(touches: Sequence[Touch], target: TargetId, graph: Graph) -> Radius:
    """Return what depends on what `touches` of a command on `target` name.

    `known` is True only when every touch was found in the graph; what is found is listed either way.
    """
    origins: dict[_Node, None] = {}
    known = bool(touches)
    for touch in touches:
        found = _find(touch, target, graph)
        known = known and bool(found)
        origins.update(dict.fromkeys(found))
    reached = _walk(tuple(origins), _dependants(graph)) if origins else ()
    return Radius(
        known=known,
        origin=tuple(name for _, name in origins),
        services=tuple(name for is_target, name in reached if not is_target),
        targets=tuple(TargetId(name) for is_target, name in reached if is_target),
    )


def union(radii: Iterable[Radius]) -> Radius:
    """Return what depends on any of what has these radii; known where each of them is."""
    found = tuple(radii)
    return Radius(
        known=all(one.known for one in found),
        origin=tuple(dict.fromkeys(name for one in found for name in one.origin)),
        services=tuple(dict.fromkeys(name for one in found for name in one.services)),
        targets=tuple(dict.fromkeys(name for one in found for name in one.targets)),
    )


def _find(touch: Touch, target: TargetId, graph: Graph) -> tuple[_Node, ...]:
    """Return the nodes that one touch means; () when the graph does not know it."""
    if touch.kind is TouchKind.SERVICE:
        name = touch.name.removesuffix(".service")
        return tuple(
            (False, service.name)
            for service in graph.services
            if service.name == name and (not service.on or target in service.on)
        )
    if touch.kind is TouchKind.HOST:
        return tuple((True, str(node.id)) for node in graph.targets if node.id == target)
    if touch.kind is TouchKind.CONTAINER:
        return tuple(
            (True, str(node.id))
            for node in graph.targets
            if node.via == target and touch.name in _container_names(node)
        )
    return ()  # paths, packages and devices: the graph says nothing about them


def _container_names(node: Target) -> tuple[str, ...]:
    """Return what a command may call a container: its slug, its address, and "ct-<number>"."""
    return (str(node.id), node.address, f"ct-{node.address}")


def _dependants(graph: Graph) -> Mapping[_Node, tuple[_Node, ...]]:
    """Return who is affected directly when a node fails, each list sorted by name."""
    targets = {str(node.id) for node in graph.targets}
    services = {service.name for service in graph.services}
    edges: dict[_Node, set[_Node]] = {}

    def need(dependant: _Node, names: Iterable[str]) -> None:
        for name in names:
            # A name that is both is read as both: too wide a radius is only shown, too narrow one misleads.
            for is_target, known in ((False, services), (True, targets)):
                if name in known:
                    edges.setdefault((is_target, name), set()).add(dependant)

    for service in graph.services:
        need((False, service.name), service.depends_on)
        for host in service.on:
            edges.setdefault((True, str(host)), set()).add((False, service.name))
    for node in graph.targets:
        need((True, str(node.id)), node.depends_on)
        if node.via is not None:
            edges.setdefault((True, str(node.via)), set()).add((True, str(node.id)))
    return {node: tuple(sorted(found)) for node, found in edges.items()}


def _walk(origins: tuple[_Node, ...], edges: Mapping[_Node, tuple[_Node, ...]]) -> tuple[_Node, ...]:
    """Return everything reachable from `origins`, breadth first, without the origins."""
    seen = dict.fromkeys(origins)
    level: Sequence[_Node] = origins
    while level:
        following = dict.fromkeys(
            dependant for node in level for dependant in edges.get(node, ()) if dependant not in seen
        )
        seen.update(following)
        level = tuple(following)
    return tuple(node for node in seen if node not in origins)


def words(found: Radius) -> str:
    """Say a radius in a few words: "8 services depend on it (blog, wiki, +6)"."""
    if found.count == 0:
        return "nothing known depends on it" if found.known else "unknown what depends on it"
    counts = [
        _counted(len(names), noun)
        for names, noun in ((found.services, "service"), (found.targets, "target"))
        if names
    ]
    names = (*found.services, *(str(name) for name in found.targets))
    shown = list(names[:_NAMED])
    if len(names) > _NAMED:
        shown.append(f"+{len(names) - _NAMED}")
    verb = "depends" if found.count == 1 else "depend"
    tail = "" if found.known else ", maybe more"
    return f"{' and '.join(counts)} {verb} on it ({', '.join(shown)}){tail}"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
