"""Routing: the place of a card, by the most specific name."""

import pytest

from gate.domain import Risk, Target
from gate.routing import place_for, places_for
from tests.gate.makers import PVE1, WEB1

RESTART, DESTROY = (WEB1, Risk.REVERSIBLE_LOW), (PVE1, Risk.DESTRUCTIVE)


@pytest.mark.parametrize(
    ("routes", "waiting", "place"),
    [
        ({}, [RESTART], None),
        ({"web1": "a"}, [], None),
        ({"web1": "a"}, [RESTART], "a"),
        ({"web1": "a"}, [DESTROY], None),
        ({"@prod": "a"}, [RESTART], "a"),
        ({"@prod": "a"}, [DESTROY], None),
        ({"prod": "a"}, [RESTART], None),
        ({"reversible_low": "a"}, [RESTART], "a"),
        ({"config_mutation": "a"}, [RESTART], None),
        ({"config_mutation": "a"}, [DESTROY], "a"),
        ({"read_only": "a", "config_mutation": "b"}, [DESTROY], "b"),
        ({"reversible_low": "a", "@prod": "b", "web1": "c"}, [RESTART], "c"),
        ({"reversible_low": "a", "@prod": "b"}, [RESTART], "b"),
        ({"destructive": "a", "@prod": "b"}, [RESTART, DESTROY], "b"),
        ({"destructive": "a", "reversible_low": "b"}, [RESTART, DESTROY], "a"),
        ({"pve1": "a", "web1": "b"}, [RESTART, DESTROY], "b"),
        ({"pve1": "a", "@prod": "b"}, [RESTART, DESTROY], "a"),
    ],
)
def test_target_before_tag_before_risk(
    routes: dict[str, str], waiting: list[tuple[Target, Risk]], place: str | None
) -> None:
    assert place_for(tuple(routes.items()), waiting) == place


def test_of_two_tags_the_first_that_is_listed_counts() -> None:
    both = Target(id=WEB1.id, kind=WEB1.kind, tags=("web", "prod"))
    routes = (("@prod", "a"), ("@web", "b"))
    assert place_for(routes, [(both, Risk.READ_ONLY)]) == "a"
    assert place_for(routes[::-1], [(both, Risk.READ_ONLY)]) == "b"


def test_of_tags_of_several_targets_the_order_of_the_config_counts_not_the_order_of_who_asks() -> None:
    web = Target(id=WEB1.id, kind=WEB1.kind, tags=("web",)), Risk.REVERSIBLE_LOW
    db = Target(id=PVE1.id, kind=PVE1.kind, tags=("db",)), Risk.REVERSIBLE_LOW
    routes = (("@db", "dba"), ("@web", "web"))
    assert place_for(routes, [web, db]) == place_for(routes, [db, web]) == "dba"
    assert places_for(routes, [web, db]) == places_for(routes, [db, web]) == ("dba", "web")


def test_each_action_is_shown_where_it_would_be_by_itself() -> None:
    routes = (("destructive", "security"), ("@prod", "prod"), ("pve1", "hypervisors"))
    assert place_for(routes[:2], [RESTART, DESTROY]) == "prod"
    assert places_for(routes[:2], [RESTART, DESTROY]) == ("security", "prod")
    assert places_for(routes, [RESTART, DESTROY]) == ("prod", "hypervisors")
    assert places_for((), [RESTART]) == ()
