"""Reminding: what is said, and when (K11, K23).

Binds a time by `timing` and says what the reminder is about: what the message says beside its time, or the
event that it is counted from. Where it is said, and who may ask for it, is decided elsewhere; so is whether
words ask for a reminder at all.
"""

from gate.resolve import telling, timing, which_time
from gate.resolve.decision import Allow, Decision, Slots
from gate.resolve.times import Times, slots_of
from gate.when import Resolved
from gate.when.text import plain
from gate.when.wording import Wording, take_apart

#: What may stand between the time and what is reminded of, at either end of what is left.
_LEADING = frozenset({
    "to", "about", "that", "of", "for", "and", "please", "pls", ":", ",", "-", "عن", "ان", "بان",
    "من", "فضلك",
})  # fmt: skip
_TRAILING = frozenset({"please", "pls", "thanks", ":", ",", "-", "at", "on", "in"})
_ARTICLES = frozenset({"the", "my", "our", "a", "an", "next"})


def resolve(slots: Slots, *, times: Times) -> Decision:
    """Resolve a reminder.

    Args:
        slots: "text" is what is said, where that is known; else it is taken from "about", the message
            without the words that ask for a reminder. For the time see `timing.bind`. What it does not know
            stays as it is.
    """
    wording = take_apart(slots.get("about", ""), remembered=times.remembered, zones=times.zones)
    rest = _trimmed(wording.rest)
    text = slots.get("text", "").strip()
    bound = timing.bind(slots, times, busy=bool(text or rest) and not wording.events)
    if not isinstance(bound, Resolved):
        return bound
    kept = {name: value for name, value in slots.items() if name not in timing.WORKING}
    said = text or _said(rest, wording, bound, times) or _asked(times)
    return Allow(slots={**kept, **slots_of(bound), "text": said}, because=f"anchor {bound.anchor}")


def _said(rest: str, wording: Wording, bound: Resolved, times: Times) -> str:
    """Return what is left of the message, or the event and how far it is then."""
    event = times.event(bound.anchor)
    if event is None or event.at is None:
        return rest
    of_event = any(event in mention.anchors for mention in wording.events)
    if rest and not (of_event and _names_only(rest, event.aliases)):
        return rest
    return f"{which_time.name_of(event.name, times)} {telling.away(event.at - bound.at)}"


def _asked(times: Times) -> str:
    """Return what a reminder says that was asked for with a time alone."""
    at = times.request_at.astimezone(times.zone)
    return f"you asked for this {telling.full(at, now=times.request_at)}"


def _names_only(rest: str, aliases: tuple[str, ...]) -> bool:
    words = [word for word in plain(rest).split() if word not in _ARTICLES]
    said = " ".join(words)
    return any(plain(alias) in {said, said.removeprefix("ال")} for alias in aliases)


def _trimmed(text: str) -> str:
    """Return `text` without the small words that joined it to what asked for it."""
    words = text.split()
    while words and (plain(words[0]) in _LEADING or not plain(words[0])):
        words = words[1:]
    while words and plain(words[-1]).rstrip(".!,") in _TRAILING | {""}:
        words = words[:-1]
    return " ".join(words).rstrip(" ,;:").removesuffix(".")
