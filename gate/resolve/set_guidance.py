"""set_guidance: holding, confirming and rejecting an instruction that sayso is taught (K55, X8).

Holding one changes nothing and needs nobody; confirming one takes a typed phrase; rejecting one, held or in
use, takes one word. What an instruction may be says gate.guidance, asked when it is held and when it is
confirmed. It records nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from gate.domain import Reason, ReasonCode
from gate.guidance import objection
from gate.resolve.decision import Allow, Clarify, Confirm, Decision, Deny, Slots


class Op(StrEnum):
    """What is done to an instruction."""

    HOLD = "hold"
    CONFIRM = "confirm"
    REJECT = "reject"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """An instruction as it stands in the record: held, or in use where it is `confirmed`."""

    text: str
    confirmed: bool


def resolve(slots: Slots, *, found: Stored | None = None, secrets: Sequence[str] = ()) -> Decision:
    """Return what becomes of a change to the instructions.

    Args:
        slots: `op`, an Op; `text` of what is to be held; `guidance`, the id of what
            is to be confirmed or rejected; `why` it is rejected.
        found: what has that id; None where nothing has that waits or counts.
        secrets: literal values that must never be stored in plain sight.
    """
    match slots["op"], found:
        case Op.HOLD, _:
            return _hold(slots, secrets)
        case Op.REJECT, Stored():
            return Allow(slots=slots, because="takes an instruction away")
        case Op.CONFIRM, Stored():
            return _confirm(slots, found, secrets)
        case _:
            name = slots.get("guidance", "")
            return _deny(slots, f"No instruction #{name} waits or counts. guidance list  shows them.")


def _hold(slots: Slots, secrets: Sequence[str]) -> Decision:
    text = slots.get("text", "").strip()
    if not text:
        return Clarify(question="What should be learned? One line.", slots=slots, free="text")
    why = objection(text, secrets=secrets)
    if why is not None:
        return _deny(slots, why)
    return Allow(slots={**slots, "text": text}, because="held until it is confirmed")


def _confirm(slots: Slots, found: Stored, secrets: Sequence[str]) -> Decision:
    name = slots["guidance"]
    if found.confirmed:
        return _deny(slots, f"#{name} counts already.")
    why = objection(found.text, secrets=secrets)
    if why is not None:
        return _deny(slots, f"#{name} cannot be confirmed. {why}")
    return Confirm(
        slots={**slots, "text": found.text},
        question=f'From then on whatever plans is told: "{found.text}"',
        phrase=f"teach guidance {name}",
        because="an instruction takes effect",
    )


def _deny(slots: Slots, text: str) -> Deny:
    return Deny(reason=Reason(code=ReasonCode.UNFIT, text=text), slots=slots)
