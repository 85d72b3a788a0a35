"""Settings as they are at this moment: the layers of the start, and what was set at run time since.

The one accessor: whoever needs a setting that may change asks here for each request and keeps no copy (M16).
It decides and writes nothing; `bot.dialling` changes settings.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from bot.settings.layers import Candidate, Layer, Resolved, resolve, resolve_one
from bot.settings.registry import BY_KEY
from bot.settings.strings import from_text
from gate.autonomy import Level

Said = Mapping[str, Candidate]


def _nothing() -> Said:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Every setting, read when it is asked for.

    Attributes:
        start: what file, environment and flags said when the process started.
        runtime: returns what was set at run time, by key.
    """

    start: Mapping[Layer, Said] = field(default_factory=dict)
    runtime: Callable[[], Said] = _nothing

    def value(self, key: str, call: str | None = None) -> Resolved:
        """Return one setting as it counts now.

        Args:
            call: what a request asks for itself; "" and None ask for nothing. It counts for settings of that
                scope only; of any other it is dropped (M6).

        Raises:
            KeyError: there is no such setting.
            StringError: `call` is no value that this setting takes, as an unknown level.
        """
        layers = dict(self._layers())
        if call:
            value = from_text(BY_KEY[key], call)
            layers[Layer.CALL] = {key: Candidate(layer=Layer.CALL, where="", value=value)}
        return resolve_one(key, layers)

    def all(self) -> dict[str, Resolved]:
        """Return every setting as it counts now."""
        return resolve(self._layers())

    def without_runtime(self, key: str) -> Resolved:
        """Return one setting as it would count if nothing were set at run time."""
        return resolve_one(key, self.start)

    def if_set(self, key: str, value: Candidate | None, *, read: str = "") -> Resolved:
        """Return `read`, else `key` itself, as it would count with `key` set at run time; None: unset."""
        layers = dict(self._layers())
        said = {name: one for name, one in layers[Layer.RUNTIME].items() if name != key}
        layers[Layer.RUNTIME] = said if value is None else {**said, key: value}
        return resolve_one(read or key, layers)

    def number(self, key: str) -> int:
        """Return a setting that holds a number."""
        value = self.value(key).value
        if not isinstance(value, int):
            raise TypeError(f"{key} holds no number")
        return value

    def text(self, key: str) -> str:
        """Return a setting that holds text or a word of a list."""
        value = self.value(key).value
        if not isinstance(value, str):
            raise TypeError(f"{key} holds no text")
        return value

    def level(self, key: str, call: str | None = None) -> Level:
        """Return the level that a dial permits now; see `value`."""
        return self.value(key, call).level

    def _layers(self) -> Mapping[Layer, Said]:
        # What another version let people set at run time counts only where this one does too.
        said = {key: one for key, one in self.runtime().items() if key in BY_KEY and BY_KEY[key].at_run_time}
        return {**self.start, Layer.RUNTIME: said}
