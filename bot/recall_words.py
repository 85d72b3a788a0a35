"""Whether a message asks for what is remembered, in English and Arabic: words only.

"what do you remember?" asks for all of it, "what do you know about web1?" for one thing.
"""

import re

from gate.when.text import plain

_ABOUT = re.compile(
    r"(?:(?:so|and|hey)[\s,]+)?(?:what\s+do\s+(?:you|we)\s+(?:know|remember)\s+(?:about|of)"
    r"|what\s+(?:did|have)\s+(?:i|we)\s+(?:say|said|tell\s+you|told\s+you)\s+about|do\s+you\s+(?:know|remember)(?:\s+anything)?"
    r"\s+about)\s+(?P<text>\S.*?)[\s.!?]*",
    re.IGNORECASE | re.DOTALL,
)
_ALL = frozenset({
    "what do you remember", "what do you know", "what did you remember", "what have you remembered",
    "what is remembered", "memory list", "list memory", "show memory", "memories", "facts", "list facts",
    "show facts", "what do you remember about me", "ماذا تتذكر", "ماذا تعرف", "ما الذي تتذكره",
})  # fmt: skip
_ARABIC_ABOUT = re.compile(r"(?:ماذا|ما الذي|شو|ايش) (?:تعرف|تعرفه|تتذكر|تتذكره|تذكر) عن (?=\S)")


def recalled(message: str) -> str | None:
    """Return what a whole message asks to be told of what is remembered; "" for all of it, None for no such.

    Args:
        message: one line, without who it is addressed to.
    """
    if plain(message).strip(" .!?") in _ALL:
        return ""
    if text := behind(_ARABIC_ABOUT, message):
        return text
    match = _ABOUT.fullmatch(message)
    return None if match is None else match["text"].strip(" .!?,")


def behind(pattern: re.Pattern[str], said: str) -> str:
    """Return the words of `said` behind a folded beginning, as typed; "" where it begins otherwise."""
    match = pattern.match(plain(said))
    if match is None:
        return ""
    words = said.split()
    for count in range(1, len(words)):
        if plain(" ".join(words[:count])).strip(": ") == match[0].strip(": "):
            return " ".join(words[count:]).strip(" .!?؟")
    return ""
