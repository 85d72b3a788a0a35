"""Routing: the place of a card, by the most specific name."""

import pytest

from gate.domain import Risk, Target
from gate.routing import place_for
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
