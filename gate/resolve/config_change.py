"""Changing a setting while sayso runs: what may be, what takes a phrase, what is refused and why (K15).

Pure: what is known of the setting comes in. The rules it owns: what guards the gate is never changed by
words, a change that would do nothing is never accepted (M7), and less of sayso takes one word, more of it a
phrase (D19).
"""

from dataclasses import dataclass

from gate.domain import Reason, ReasonCode
from gate.resolve.decision import Allow, Confirm, Decision, Deny, Slots

#: Beginnings of keys that no words change, whether or not there is such a setting.
GUARDED = ("safety.", "agent.commitment.", "notifications.lifecycle.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is known of the setting that is to be changed.

    Attributes:
        asks, would_ask: what counts of it now and what would, as text, before any ceiling lowers it.
        problem: why it cannot hold the value; "" where it can.
        protected: whether only the owner's config may set it.
        restarts: whether a change takes a restart.
        held: what the config says, where that keeps the change from counting, as "propose (file)"; else "".
        loosens: whether sayso would do more without being asked than now.
    """

    asks: str
    would_ask: str
    problem: str = ""
    protected: bool = False
    restarts: bool = False
    held: str = ""
    loosens: bool = False


def resolve(slots: Slots, *, known: Known | None, nearest: str = "", hint: str = "") -> Decision:
    """Return what becomes of a change.

    Args:
        slots: "key", and "value" unless it is to be unset.
        known: None where there is no such setting.
        nearest: the key of a setting that is called much the same; "" for none.
        hint: what else a person may say to the same end, as "posture approve_all"; "" for nothing.
    """
    key = slots["key"]
    if key.casefold().startswith(GUARDED):
        return _deny(
            slots, ReasonCode.PROTECTED_SETTING, f"{key} is protected. {_elsewhere(key)}", "protected"
        )
    if known is None:
        near = f" Nearest: {nearest}." if nearest else ""
        text = f"There is no setting {key}.{near}  settings  lists what there is. Nothing changed."
        return _deny(slots, ReasonCode.UNKNOWN_SETTING, text, "unknown")
    refused = _refused(slots, known, hint)
    if refused is not None:
        return refused
    if known.loosens:
        what = f"{key} would go from {known.asks} to {known.would_ask}, and sayso does more by itself."
        return Confirm(
            slots=slots, question=what, phrase=f"raise {key} to {known.would_ask}", because="loosens"
        )
    return Allow(slots=slots, because="in bounds")


def _refused(slots: Slots, known: Known, hint: str) -> Deny | None:
    key = slots["key"]
    if known.protected:
        instead = f" Say  {hint}  instead, or change it there." if hint else ""
        text = f"{key} is protected. {_elsewhere(key)}{instead}"
        return _deny(slots, ReasonCode.PROTECTED_SETTING, text, "protected")
    if known.problem:
        return _deny(slots, ReasonCode.BAD_SETTING, f"{key}: {known.problem} Nothing changed.", "value")
    if known.restarts:
        text = f"{key} takes a restart, so nothing changed. {_elsewhere(key)}"
        return _deny(slots, ReasonCode.RESTART_REQUIRED, text, "restart")
    if known.held:
        text = f"{key}: the config says {known.held}; nothing said here goes above that. {_elsewhere(key)}"
        return _deny(slots, ReasonCode.PROTECTED_SETTING, text, "held")
    if known.asks == known.would_ask:
        return _deny(
            slots, ReasonCode.BAD_SETTING, f"{key} is {known.asks} already. Nothing changed.", "same"
        )
    return None


def _elsewhere(key: str) -> str:
    return f"Change {key} in the config file and restart."


def _deny(slots: Slots, code: ReasonCode, text: str, because: str) -> Deny:
    return Deny(reason=Reason(code=code, text=text), slots=slots, because=because)
