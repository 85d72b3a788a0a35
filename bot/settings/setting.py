"""One setting: type, default, scope, hot or not, help, ceiling, and how a safety key is merged.

Which settings there are stands in bot.settings.registry. The rules it owns: a key whose `tightest` is set is
a safety key, and of the layers that set it the most restrictive wins, whatever their order (D19); a key with
`clamped_by` never reads above that ceiling; and a registry that breaks the rules of gate.autonomy about
ceilings does not load (M10).
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import get_args

from gate.autonomy import Dial, objections

#: What a setting may hold. Enums are StrEnum, so they are str too.
Value = bool | int | str | tuple[str, ...]
Tightest = Callable[[Sequence[Value]], Value]


class Scope(StrEnum):
    """How wide one value reaches."""

    DAEMON = "daemon"
    PLACE = "place"
    CALL = "call"  # a request may carry its own ("with 2h timeout")


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting.

    Attributes:
        type: annotation that validates it, strictly.
        hot: a value set at run time counts at once; of any other it takes a restart, but for a ceiling, which
            may be lowered at run time.
        tightest: picks the most restrictive of the values that layers set; None: the highest layer wins.
        clamped_by: the key of the ceiling that it never reads above; "" for none.
        is_ceiling: whether it bounds others.
    """

    key: str
    type: object
    default: Value
    help: str
    scope: Scope = Scope.DAEMON
    hot: bool = False
    tightest: Tightest | None = None
    clamped_by: str = ""
    is_ceiling: bool = False

    @property
    def words(self) -> tuple[str, ...]:
        """The words it may hold, in order; () where it holds something else."""
        if isinstance(self.type, type) and issubclass(self.type, StrEnum):
            return tuple(self.type)
        listed = get_args(self.type)
        return listed if listed and all(isinstance(one, str) for one in listed) else ()

    @property
    def dial(self) -> Dial:
        """What the rules about ceilings read of it."""
        return Dial(
            key=self.key,
            levels=self.words,
            default=str(self.default),
            per_call=self.scope is Scope.CALL,
            hot=self.hot,
            clamped_by=self.clamped_by,
        )

    @property
    def is_protected(self) -> bool:
        """Whether the owner's config alone sets it: what guards the gate or the record, but for ceilings."""
        return self.section == "ledger" or (self.tightest is not None and not self.is_ceiling)

    @property
    def at_run_time(self) -> bool:
        """Whether a value that is set at run time counts."""
        return self.hot or self.is_ceiling

    @property
    def section(self) -> str:
        """The table of the config file it stands in."""
        return self.key.partition(".")[0]

    @property
    def name(self) -> str:
        """Its key within the section."""
        return self.key.partition(".")[2]

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return "SAYSO_" + self.key.replace(".", "_").upper()


def strictest_of(*loosest_first: Value) -> Tightest:
    """Return what picks the word that stands last in this order."""
    rank = {value: index for index, value in enumerate(loosest_first)}
    return lambda values: max(values, key=rank.__getitem__)


def smallest(values: Sequence[Value]) -> Value:
    """Return the smallest number."""
    return min(value for value in values if isinstance(value, int))


def smallest_unless_off(values: Sequence[Value]) -> Value:
    """Return the smallest number but 0, which is off; 0 where all are."""
    return min((value for value in values if isinstance(value, int) and value > 0), default=0)


def union(values: Sequence[Value]) -> Value:
    """Return every name that any of them names."""
    return tuple(sorted({item for value in values if isinstance(value, tuple) for item in value}))


def narrowed(values: Sequence[Value]) -> Value:
    """Return what all name that name any; one with nothing in common with those below is left out."""
    left: tuple[str, ...] = ()
    for value in values:
        if isinstance(value, tuple) and value:
            left = tuple(one for one in left if one in value) or left or value
    return left


class RegistryError(Exception):
    """The registry of settings breaks its own rules; report this as a bug."""


def check(settings: Iterable[Setting]) -> None:
    """Hold a registry to its rules.

    Raises:
        RegistryError: two settings share a key or a variable, or one is clamped as none may be (M10).
    """
    settings = tuple(settings)
    found = [
        f"two settings are called {name}"
        for names in ([one.key for one in settings], [one.variable for one in settings])
        for name in dict.fromkeys(names)
        if names.count(name) > 1
    ]
    dials = {one.key: one.dial for one in settings}
    for dial in dials.values():
        found += objections(dial, dials) if dial.clamped_by else ()
    bounds = {dial.clamped_by for dial in dials.values() if dial.clamped_by in dials}
    found += [
        f"{one.key}: say is_ceiling of what bounds others"
        for one in settings
        if one.is_ceiling != (one.key in bounds)
    ]
    if found:
        raise RegistryError("; ".join(found))
