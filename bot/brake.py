"""The brake: what was tightened while the ledger could not be written, held in memory until it can (D19).

It only ever tightens, and it is no record: `bot.conversation` takes the words as a turn of their own as soon
as that can be recorded, and releases the brake into the recorded switch. A restart before that forgets it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from gate.policy import Switches


@dataclass(slots=True)
class Brake:
    """Switches that hold without being recorded, by the key of the message that set them."""

    _pulled: dict[str, Switches] = field(default_factory=dict)
    _revoked: dict[str, frozenset[str]] = field(default_factory=dict)

    def pull(self, key: str, switches: Switches) -> None:
        """Hold `switches` until the message `key` is released."""
        self._pulled[key] = switches

    def revoke(self, key: str, rules: Iterable[str]) -> None:
        """Let these trust rules count for nothing until the message `key` is released."""
        self._revoked[key] = frozenset(rules)

    def release(self, key: str) -> None:
        """Let go of what the message `key` set: it is recorded now."""
        self._pulled.pop(key, None)
        self._revoked.pop(key, None)

    @property
    def revoked(self) -> frozenset[str]:
        """The trust rules that count for nothing although no entry says so yet."""
        return frozenset[str]().union(*self._revoked.values())

    def tighten(self, switches: Switches) -> Switches:
        """Return `switches` with everything that is held added."""
        held = [switches, *self._pulled.values()]
        names = [name for one in held for name in one.never_auto_act]
        return Switches(
            stopped=any(one.stopped for one in held),
            auto_off=any(one.auto_off for one in held),
            approve_everything=any(one.approve_everything for one in held),
            never_auto_act=tuple(dict.fromkeys(names)),
        )
