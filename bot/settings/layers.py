"""Which value wins: default < file < environment < flag < runtime < call, with what each displaced.

Pure: layers come in as mappings of validated values. The rules it owns: the highest layer wins, except for
safety keys, where the most restrictive of the layers that set it wins whatever their order (D19); the
default counts only when no layer sets the key; and no reader sees more than the ceiling of a key (M9).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from bot.settings.registry import BY_KEY, SETTINGS
from bot.settings.setting import Scope, Setting, Value
from gate.autonomy import Clamped, Level, clamp


class Layer(StrEnum):
    """Where a value can come from, lowest first."""

    DEFAULT = "default"
    FILE = "file"
    ENVIRONMENT = "environment"
    FLAG = "flag"
    RUNTIME = "runtime"
    CALL = "call"  # one request, for settings of that scope only (M6)


_SHORT = {Layer.ENVIRONMENT: "env:{where}"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One layer's word on one key; `where` names the file, variable, flag or ledger entry."""

    layer: Layer
    where: str
    value: Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """The value that counts.

    Attributes:
        origin: the layers it comes from; more than one where a safety key is put together (a union).
        displaced: what other layers say instead, lowest first, the default included.
        requested: what the layers ask for, where a ceiling lowered it; else None.
        clamped_by: that ceiling with its origin, as "autonomy.max (file)"; else "".
    """

    setting: Setting
    value: Value
    origin: tuple[Candidate, ...]
    displaced: tuple[Candidate, ...] = ()
    requested: Value | None = None
    clamped_by: str = ""

    @property
    def lowered(self) -> str:
        """Return "requested run, lowered to propose by autonomy.max (file)"; "" where nothing lowered it."""
        if self.requested is None:
            return ""
        asked, now = Level(str(self.requested)), Level(str(self.value))
        return Clamped(value=now, requested=asked, by=self.clamped_by).words

    @property
    def level(self) -> Level:
        """The value of a dial."""
        return Level(str(self.value))

    @property
    def is_set(self) -> bool:
        """Whether any layer set it."""
        return self.origin[0].layer is not Layer.DEFAULT

    @property
    def why(self) -> str:
        """The origin in words, for a card or `sayso config show`."""
        names = ", ".join(
            f"{candidate.layer} {candidate.where}" if candidate.where else str(candidate.layer)
            for candidate in self.origin
        )
        tightened = self.setting.tightest is not None and any(
            candidate.layer is not Layer.DEFAULT for candidate in self.displaced
        )
        return f"{names}, the most restrictive" if tightened else names


def resolve(layers: Mapping[Layer, Mapping[str, Candidate]]) -> dict[str, Resolved]:
    """Return the value of every registered setting; `layers` maps each layer to what it sets, by key."""
    return {setting.key: resolve_one(setting.key, layers) for setting in SETTINGS}


def resolve_one(key: str, layers: Mapping[Layer, Mapping[str, Candidate]]) -> Resolved:
    """Return the value of one registered setting.

    Raises:
        KeyError: there is no such setting.
    """
    setting = BY_KEY[key]
    found = _resolve_one(setting, _said(setting, layers))
    if not setting.clamped_by:
        return found
    ceiling = resolve_one(setting.clamped_by, layers)
    clamped = clamp(ceiling.level, str(found.value), dial=setting.words, by=_named(ceiling))
    if not clamped.by:
        return found
    return replace(found, value=clamped.value, requested=clamped.requested, clamped_by=clamped.by)


def _named(ceiling: Resolved) -> str:
    """Return "autonomy.max (file)", "autonomy.max (env:SAYSO_AUTONOMY_MAX)" and the like."""
    origins = (_SHORT.get(one.layer, str(one.layer)).format(where=one.where) for one in ceiling.origin)
    return f"{ceiling.setting.key} ({', '.join(origins)})"


def _said(setting: Setting, layers: Mapping[Layer, Mapping[str, Candidate]]) -> list[Candidate]:
    given = [
        layers[layer][setting.key]
        for layer in Layer
        if setting.key in layers.get(layer, {}) and (layer is not Layer.CALL or setting.scope is Scope.CALL)
    ]
    return [Candidate(layer=Layer.DEFAULT, where="", value=setting.default), *given]


def _resolve_one(setting: Setting, said: Sequence[Candidate]) -> Resolved:
    default, *given = said
    if not given:
        return Resolved(setting=setting, value=default.value, origin=(default,))
    if setting.tightest is None:
        return Resolved(setting=setting, value=given[-1].value, origin=(given[-1],), displaced=(*said[:-1],))
    value = setting.tightest([candidate.value for candidate in given])
    origin = tuple(candidate for candidate in given if _contributes(candidate.value, value))
    displaced = tuple(candidate for candidate in said if candidate not in origin)
    return Resolved(setting=setting, value=value, origin=origin, displaced=displaced)


def _contributes(part: Value, whole: Value) -> bool:
    if isinstance(part, tuple) and isinstance(whole, tuple):
        return bool(set(part) & set(whole)) or part == whole
    return part == whole
