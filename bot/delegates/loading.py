"""Delegates of a config: names become targets and places, checked before (bot.delegates.config)."""

from collections.abc import Mapping

from bot.delegates.config import EVERY, AgentConfig, instant
from bot.delegates.delegate import Delegate, Quota
from bot.inventory import Inventory
from bot.places import parse
from gate.domain import PersonId, TargetId


def delegates_of(
    agents: Mapping[str, AgentConfig], *, places: Mapping[str, str], inventory: Inventory
) -> dict[PersonId, Delegate]:
    """Return the agents that may ask, by their name in the record."""
    made = [
        Delegate(
            name=name,
            place=parse(places.get(one.place, one.place)),
            on_behalf=PersonId(one.for_) if one.for_ else None,
            max_risk=one.max_risk,
            targets=_targets(one.targets, inventory),
            denied=frozenset(one.denied),
            expires_at=instant(one.expires) if one.expires else None,
            quota=Quota(per_hour=one.per_hour, pending=one.pending),
            quiet=one.reads == "quiet",
        )
        for name, one in agents.items()
    ]
    return {one.id: one for one in made}


def _targets(spoken: tuple[str, ...], inventory: Inventory) -> frozenset[TargetId]:
    found: set[TargetId] = set()
    for name in spoken:
        if name == EVERY:
            found.update(inventory.targets)
        elif name.startswith("@"):
            found.update(one.id for one in inventory.targets.values() if name[1:] in one.tags)
        else:
            found.add(TargetId(name))
    return frozenset(found)
