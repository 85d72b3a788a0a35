"""The inventory as a value: targets and services by name, and how a spoken name becomes targets.

Selection is by slug, "@tag" or "all", never by pattern. A destroyed target is refused when it is named and
left out of groups. Who a target is (host keys, user) is asked of `bot.inventory.identity`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz, process, utils

from bot.inventory.identity import Identifier
from gate.blast import Graph, Service
from gate.domain import Reason, ReasonCode, Target, TargetId, TargetState

_SEPARATORS = re.compile(r"[,\s]+")
_NEAREST_MIN_SCORE = 60.0  # rapidfuzz ratio, 0 to 100; below it a suggestion confuses more than it helps
_NEAREST_MAX = 3


class InventoryError(Exception):
    """The targets or services in the config do not fit together; mend the table that the message names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoSuchTarget:
    """A selection that names nothing that can be reached.

    Attributes:
        name: the part of the selection that failed, as typed.
        nearest: names like it, best first, at most three.
        destroyed: it exists in the config, in state "destroyed".
    """

    name: str
    nearest: tuple[str, ...] = ()
    destroyed: bool = False

    @property
    def reason(self) -> Reason:
        """What to tell the person."""
        if self.destroyed:
            text = f"{self.name} is marked destroyed in the config. Nothing runs there. targets lists all."
            return Reason(code=ReasonCode.DESTROYED_TARGET, text=text)
        what = f"tag {self.name}" if self.name.startswith("@") else f"target {self.name}"
        hint = f" Did you mean {_either(self.nearest)}?" if self.nearest else ""
        return Reason(code=ReasonCode.UNKNOWN_TARGET, text=f"No {what}.{hint} targets lists all.")


def _either(names: tuple[str, ...]) -> str:
    if len(names) == 1:
        return names[0]
    return f"{', '.join(names[:-1])} or {names[-1]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """Every target and service, in the order of the config."""

    targets: Mapping[TargetId, Target]
    services: Mapping[str, Service]
    identifier: Identifier

    @property
    def tags(self) -> dict[str, tuple[TargetId, ...]]:
        """Active targets by tag, in the order of the config."""
        found: dict[str, list[TargetId]] = {}
        for target in self.targets.values():
            if target.state is TargetState.ACTIVE:
                for tag in target.tags:
                    found.setdefault(tag, []).append(target.id)
        return {tag: tuple(ids) for tag, ids in found.items()}

    def graph(self) -> Graph:
        """Return what the blast radius walks over."""
        return Graph(services=tuple(self.services.values()), targets=tuple(self.targets.values()))

    def select(self, wanted: str) -> tuple[Target, ...] | NoSuchTarget:
        """Return the targets that `wanted` names, in the order named, each once.

        Args:
            wanted: names, "@tag" or "all", separated by commas or blanks; case does not matter.
        """
        chosen: dict[TargetId, Target] = {}
        for part in parts(wanted):
            found = self._one(part.lower(), part)
            if isinstance(found, NoSuchTarget):
                return found
            chosen.update((target.id, target) for target in found)
        return tuple(chosen.values()) or NoSuchTarget(name=wanted.strip())

    def _one(self, name: str, typed: str) -> tuple[Target, ...] | NoSuchTarget:
        if name == "all" or (name == "@all" and "all" not in self.tags):  # many type it like a tag
            active = tuple(t for t in self.targets.values() if t.state is TargetState.ACTIVE)
            return active or NoSuchTarget(name=typed)
        if name.startswith("@"):
            ids = self.tags.get(name[1:])
            if ids:
                return tuple(self.targets[id_] for id_ in ids)
            return NoSuchTarget(name=typed, nearest=_nearest(name, [f"@{tag}" for tag in self.tags]))
        target = self.targets.get(TargetId(name))
        if target is None:
            active_ids = [t.id for t in self.targets.values() if t.state is TargetState.ACTIVE]
            return NoSuchTarget(name=typed, nearest=_nearest(name, active_ids))
        if target.state is TargetState.DESTROYED:
            return NoSuchTarget(name=typed, destroyed=True)
        return (target,)

    def identify(self, target: Target) -> Target:
        """Return `target` as it would be reached right now; destroyed if it left the inventory."""
        return self.identifier.identify(target, self.targets)


def parts(wanted: str) -> list[str]:
    """Return the words that name targets in `wanted`, each a name, "@tag" or "all"."""
    return [part for part in _SEPARATORS.split(wanted.strip()) if part]


def _nearest(name: str, names: Sequence[str]) -> tuple[str, ...]:
    found = process.extract(
        name,
        names,
        scorer=fuzz.ratio,
        processor=utils.default_process,
        limit=_NEAREST_MAX,
        score_cutoff=_NEAREST_MIN_SCORE,
    )
    return tuple(choice for choice, _score, _index in found)
