"""What a message wants remembered or forgotten, in English and Arabic: words only.

Reads whole messages such as "remember that the project sync is on Friday at 14:00", "forget the project
sync". "remember to …" asks for a reminder and "forget it" for nothing, so
neither is read here.
"""

import re
from dataclasses import dataclass

from bot.control_words import bare
from bot.recall_words import behind
from gate.when.text import plain

#: Longer messages ask for nothing of the kind; it also bounds what the patterns may cost.
MAX_CHARS = 2000

_PLEASE = (
    r"(?:(?:please|pls|also|and|ok|okay|hey)[\s,]+)*(?:(?:can|could|would|will)\s+you\s+(?:please\s+)?)?"
)
_SHARED = (
    r"(?P<shared>\s+for\s+(?:everyone|everybody|all(?:\s+of\s+us)?|us(?:\s+all)?|the\s+(?:whole\s+)?team))?"
)
_THAT = re.compile(
    rf"{_PLEASE}(?:remember|note(?:\s+down)?|keep\s+in\s+mind|memori[sz]e|(?:do\s+not|don['\u2019]?t)\s+forget"
    rf"|for\s+the\s+record){_SHARED}(?:\s*[:,]\s*(?:that\s+)?|\s+(?:this\s*:\s*|that[\s,:]+))(?P<text>\S.*)",
    re.IGNORECASE | re.DOTALL,
)
#: Without "that": the thing comes at once, and is no verb and no person.
_THING = re.compile(
    rf"{_PLEASE}(?:remember|memori[sz]e){_SHARED}\s+"
    r"(?P<text>(?:the|my|our|i\s+have|we\s+have|there\s+is|there['\u2019]s)\s+\S.*)",
    re.IGNORECASE | re.DOTALL,
)
_FORGET = re.compile(
    rf"{_PLEASE}forget\s+(?:about\s+)?(?:everything\s+(?:you\s+know\s+)?about\s+|what\s+(?:i|we)\s+(?:said|told\s+you)"
    r"\s+about\s+|(?P<that>that\s+))?(?P<text>\S.*)",
    re.IGNORECASE | re.DOTALL,
)
#: What may stand behind "forget" and names nothing.
_NOTHING = frozenset({
    "it", "that", "this", "about it", "about that", "them", "all", "all of it", "me", "everything", "it all",
    "the whole thing", "i asked", "i said that", "what i said",
})  # fmt: skip

#: Asks to remember something, and does not say what.
_NO_FACT = frozenset({"remember", "remember that", "remember this", "remember something", "تذكر"})
_NO_NAMES = ("to ", "how ", "why ", "whether ")

_FOR_ALL = "للجميع "
_ARABIC_THAT = re.compile(
    rf"(?:(?:من فضلك|رجاء|لو سمحت) )?(?:تذكر|تذكري|احفظ|سجل|لاحظ|دون) ?(?:{_FOR_ALL})?(?:ان |:|: |بان )(?=\S)"
)
_ARABIC_FORGET = re.compile(r"(?:(?:من فضلك|رجاء|لو سمحت) )?(?:انس|انسي|امسح من ذاكرتك) (?:ان |عن )?(?=\S)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Remember:
    """A sentence to keep.

    Attributes:
        loose: nothing but its own form marks it as a fact.
        shared: for everybody, wherever it was told.
    """

    text: str
    loose: bool = False
    shared: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Forget:
    """What is to be forgotten, by its name; a sentence where it was said as one."""

    text: str
    sentence: bool = False


def asked(message: str) -> Remember | Forget | None:
    """Return what a whole message wants remembered or forgotten; None for anything else."""
    said = bare(message)
    if not said or len(said) > MAX_CHARS or said.rstrip().endswith(("?", "؟")):
        return None
    return _remember(said) or _forget(said)


def _remember(said: str) -> Remember | None:
    for pattern, loose in ((_THAT, False), (_THING, True)):
        if match := pattern.fullmatch(said):
            return Remember(text=match["text"].strip(), loose=loose, shared=match["shared"] is not None)
    text = behind(_ARABIC_THAT, said)
    if not text and plain(said).strip(" .!:,") not in _NO_FACT:
        return None
    return Remember(text=text, shared=bool(text) and _FOR_ALL in plain(said[: said.find(text)]))


def _forget(said: str) -> Forget | None:
    if text := behind(_ARABIC_FORGET, said):
        return Forget(text=text)
    match = _FORGET.fullmatch(said)
    if match is None or plain(said).removeprefix("forget ").strip(" .!,") in _NOTHING:
        return None
    text = match["text"].strip(" .!,")
    if text.casefold().startswith(_NO_NAMES) or plain(text) in _NOTHING:
        return None
    return Forget(text=text, sentence=match["that"] is not None)
