"""What people call a remembered event, from the id it is remembered by or the words that told it.

"grok_next_reset" is called the grok reset, the grok renewal, and so on in Arabic (K22). The last word alone
is a name too ("the meeting"); where two events share it, a person is asked. Of "the 1:1 with Bo" that word is
"1:1", and a sync or a 1:1 is a meeting as well.
"""

import re

from gate.when.text import plain

#: Words of an id that nobody says.
_SILENT = frozenset({"next", "date", "at", "on", "time", "the", "day"})
#: Words of one meaning about an event, and what Arabic says for each, before the noun.
_RENEWALS = (("reset", "resets", "renewal", "renews"), ("اعادة تعيين", "تجديد", "اعادة ضبط"))
_ENDS = (
    ("ends", "end", "expiry", "expires", "expiration", "renewal", "reset"),
    ("انتهاء", "نهاية", "تجديد", "اعادة تعيين"),
)
_FAMILIES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    **dict.fromkeys(("reset", "resets", "renewal", "renews"), _RENEWALS),
    **dict.fromkeys(("ends", "end", "expiry", "expires", "expiration"), _ENDS),
    "meeting": (("meeting",), ("اجتماع",)),
    "standup": (("standup", "stand-up", "stand up"), ("الاجتماع اليومي",)),
    "appointment": (("appointment",), ("موعد",)),
    "deadline": (("deadline",), ("الموعد النهائي",)),
    "release": (("release",), ("اصدار",)),
    "maintenance": (("maintenance",), ("صيانة",)),
    "flight": (("flight",), ("رحلة",)),
}
_NOUNS = {
    "subscription": "اشتراك",
    "certificate": "شهادة",
    "domain": "نطاق",
    "team": "فريق",
    "license": "ترخيص",
}


#: Kinds of meetings that have a name of their own.
_MEETINGS = frozenset({
    "sync", "1:1", "1-1", "1on1", "one-on-one", "call", "retro", "retrospective", "planning", "review",
    "demo", "interview", "workshop", "huddle", "kickoff", "kick-off", "catch-up", "catchup", "session",
})  # fmt: skip
#: Words before a name that are no part of it.
_BEFORE = frozenset({"the", "my", "our", "your", "his", "her", "their", "this", "that", "a", "an"})
#: Words behind which a name goes on without being about its kind: "the 1:1 with Bo".
_LINKS = frozenset({"with", "of", "for", "about", "in", "at", "to", "by", "from", "between"})
_ARABIC = re.compile("[\u0600-\u06ff]")


def names_of(predicate: str) -> tuple[str, ...]:
    """Return the names of an event remembered as `predicate`, most exact first; () for an empty one."""
    whole, short = _names(predicate.casefold().replace("-", "_").split("_"))
    return tuple(dict.fromkeys((*whole, *short)))


def called(about: str, kind: str = "") -> tuple[str, ...]:
    """Return the names of an event that a person told of, most exact first; () where no word is left.

    Args:
        about: what they called it: "the 1:1 with Bo".
        kind: what they said it is: "meeting"; "" for nothing.
    """
    words = bare(about).casefold().split()
    if _ARABIC.search(about):  # there the noun comes first
        noun = plain(words[0]).removeprefix("ال")
        kinds = [one for english, arabic in _FAMILIES.values() if noun in arabic for one in english]
        return tuple(dict.fromkeys([" ".join(words), words[0], *kinds, *filter(None, [kind.casefold()])]))
    cut = next((place for place, word in enumerate(words) if place and word in _LINKS), len(words))
    whole, short = _names(words[:cut])
    kinds = [kind.casefold()] if kind else []
    if words[cut - 1 : cut] and words[cut - 1] in _MEETINGS:
        whole.append(" ".join([*words[: cut - 1], "meeting"]))
        kinds.append("meeting")
    rest = " ".join(words[cut:])
    names = [f"{name} {rest}" for name in (*whole, *kinds)] if rest else []
    return tuple(dict.fromkeys([*names, *whole, *short, *kinds]))


def is_event(about: str) -> bool:
    """Whether a name is that of something that takes place, by its noun: "the 1:1 with Bo"."""
    words = bare(about).casefold().split()
    if _ARABIC.search(about):
        noun = plain(words[0]).removeprefix("ال")
        return any(noun in arabic for _, arabic in _FAMILIES.values())
    cut = next((place for place, word in enumerate(words) if place and word in _LINKS), len(words))
    return any(word in _MEETINGS or word in _FAMILIES for word in words[max(0, cut - 1) : cut])


def bare(about: str) -> str:
    """Return a name without the articles before it, its words as they were written: "1:1 with Bo"."""
    words = about.split()
    while len(words) > 1 and words[0].casefold() in _BEFORE:
        words = words[1:]
    return " ".join(words)


def _names(words: list[str]) -> tuple[list[str], list[str]]:
    """Return the names of whole words, and the kinds alone where the words say more than a kind."""
    words = [word for word in words if word not in _SILENT]
    if not any(words):
        return [], []
    *first, last = words
    english, arabic = _FAMILIES.get(last, ((last,), ()))
    said = " ".join(first)
    names = [f"{said} {kind}".strip() for kind in english]
    in_arabic = " ".join(_NOUNS.get(word, word) for word in first)
    names += [f"{kind} {in_arabic}".strip() for kind in arabic]
    return names, [*english, *arabic] if first else []
