"""Sending words to another place: which place is meant, and whether anything may be sent there (K14).

Only a place that has a name counts as one; which there are, and which of them are allowed, are arguments. It
knows neither what is sent (see `post_artifact`) nor what a place is made of. The rules it owns: nothing goes
to a place that nobody named, an empty list of allowed places allows every named one, and a question always
has an answer, as an option or in words.
"""

from collections.abc import Sequence

from gate.domain import Reason, ReasonCode
from gate.resolve.decision import Allow, Clarify, Decision, Deny, Option, Slots

#: Where a request may say where to, in the order in which they are looked at.
TARGET_SLOTS = ("to", "target", "recipient")
#: The slot that only the answer to a question fills: the place that was picked.
PICKED = "picked"
#: The most options of a question (K14).
MOST = 5

_NO_PLACES = "No place has a name here. Give one a name in the config, under [places]."
_NONE_ALLOWED = "No place that has a name is in outbound.allowed."


def resolve(slots: Slots, *, places: Sequence[str], allowed: Sequence[str], strict: bool) -> Decision:
    """Resolve where `slots` are to be sent.

    Args:
        slots: with the place in `to`, `target` or `recipient`, as "#ops", "@ops" or "ops".
        places: the names that there are.
        allowed: those of them that anything may be sent to; empty: all.
        strict: a place that no list allows is asked about, however clearly it was named.

    Returns:
        Allow with `to` bound to the name of a place, Clarify with what is allowed, or Deny where there is
        nowhere to send anything to.
    """
    bound = {name: value for name, value in slots.items() if name not in (*TARGET_SLOTS, PICKED)}
    options = [place for place in places if not allowed or place in allowed]
    if not options:
        why = _NONE_ALLOWED if places else _NO_PLACES
        reason = Reason(code=ReasonCode.CANNOT_PLACE, text=f"Nothing was sent. {why}")
        return Deny(reason=reason, slots=dict(slots), because="no places")
    said = next((slots[name].strip() for name in TARGET_SLOTS if slots.get(name, "").strip()), "")
    name = place_of(said, places)
    if not said:
        return _which("Send it where?", bound, options, because="no target")
    if not name:
        return _which(f'No place here is called "{said}". Send it where?', bound, options, because="unknown")
    if name not in options:
        return _which(
            f"#{name} is no place that anything may be sent to. Where instead?",
            bound,
            options,
            because="not allowed",
        )
    if strict and not allowed and slots.get(PICKED) != name:
        return _which(f"Send it to #{name}?", bound, [name], because="strict")
    return Allow(slots={**bound, "to": name}, because="allowed" if allowed else "named")


def place_of(said: str, places: Sequence[str]) -> str:
    """Return the name that `said` ("#Ops", "@ops", "to ops.") means; "" where it means none."""
    word = said.strip().rstrip(".!,;:").casefold().removeprefix("to ").strip()
    word = word.removeprefix("#").removeprefix("@")
    return word if word in places else ""


def _which(question: str, bound: Slots, places: Sequence[str], *, because: str) -> Clarify:
    options = tuple(
        Option(id=f"place_{place}", label=f"#{place}", patch={"to": place, PICKED: place})
        for place in places[:MOST]
    )
    return Clarify(question=question, slots=bound, options=options, free="to", because=because)
