"""Routing: to which place the card goes of what needs a yes.

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
        waiting: target and risk of each action that needs a yes, in their order; of matches that are equally
            specific the first action's counts.
    """
    listed = dict(routes)
    of_targets = [str(target.id) for target, _ in waiting]
    tags = [{f"@{tag}" for tag in target.tags} for target, _ in waiting]
    of_tags = [name for carried in tags for name in listed if name in carried]
    strictest = max((risk.rank for _, risk in waiting), default=-1)
    of_risks = [risk.value for risk in sorted(Risk, key=lambda one: -one.rank) if risk.rank <= strictest]
    return next((listed[name] for name in (*of_targets, *of_tags, *of_risks) if name in listed), None)
