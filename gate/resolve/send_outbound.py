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
#: The slot of the words, and the one that says that nothing marks them as words.
TEXT, LOOSE = "text", "loose"
#: The most options of a question (K14).
MOST = 5

_NO_PLACES = "No place has a name here. Give one a name in the config, under [places]."
_NONE_ALLOWED = "No place that has a name is in outbound.allowed."


def resolve(slots: Slots, *, places: Sequence[str], allowed: Sequence[str], strict: bool) -> Decision:
    """Resolve where `slots` are to be sent.

    Args:
        slots: with the place in `to`, `target` or `recipient`, as "#ops", "@ops" or "ops"; with `loose`, the
            words in `text` may not be meant word for word ("send the logs to #ops").
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
        question = f"#{name} is no place that anything may be sent to. Where instead?"
        return _which(question, bound, options, because="not allowed")
    asked = _asked(name, bound, is_strict=strict and not allowed and slots.get(PICKED) != name)
    return asked or Allow(slots={**bound, "to": name}, because="allowed" if allowed else "named")


def _asked(name: str, bound: dict[str, str], *, is_strict: bool) -> Clarify | None:
    """Return what is asked although it is clear where to; None where nothing is."""
    if bound.pop(LOOSE, ""):
        words = Option(id="words", label="Send these words", patch={"to": name, PICKED: name, LOOSE: ""})
        question = f"Send #{name} just these words?\n{bound.get(TEXT, '')}"
        return Clarify(question=question, slots={**bound, LOOSE: "yes"}, options=(words,), because="loose")
    return _which(f"Send it to #{name}?", bound, [name], because="strict") if is_strict else None


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
