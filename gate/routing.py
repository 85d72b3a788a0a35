"""Routing: to which place the card goes of what needs a yes, and which other places are named for some of it.

An entry names a target, an "@tag" or a risk (and holds for stricter ones too). The most specific one counts:
target before tag before risk, of tags the one that is listed first, of risks the strictest. Places are words
of the config here; where they lead is not known to the gate.
"""

from collections.abc import Sequence

from gate.domain import Risk, Target


def place_for(routes: Sequence[tuple[str, str]], waiting: Sequence[tuple[Target, Risk]]) -> str | None:
    """Return the place for a list, None where no route names any of it.

    Args:
        routes: (name, place) in the order of the config.
        waiting: target and risk of each action that needs a yes, in their order; of targets that are named
            the first action's counts.
    """
    listed = dict(routes)
    of_targets = [str(target.id) for target, _ in waiting]
    tags = {f"@{tag}" for target, _ in waiting for tag in target.tags}
    of_tags = [name for name in listed if name in tags]
    strictest = max((risk.rank for _, risk in waiting), default=-1)
    of_risks = [risk.value for risk in sorted(Risk, key=lambda one: -one.rank) if risk.rank <= strictest]
    return next((listed[name] for name in (*of_targets, *of_tags, *of_risks) if name in listed), None)


def places_for(routes: Sequence[tuple[str, str]], waiting: Sequence[tuple[Target, Risk]]) -> tuple[str, ...]:
    """Return every place that a route names for some action of a list by itself, in the order of the config.

    The people there are asked about that action, whatever else was said in the same breath.
    """
    found = {place_for(routes, [one]) for one in waiting}
    return tuple(place for place in dict.fromkeys(place for _, place in routes) if place in found)
