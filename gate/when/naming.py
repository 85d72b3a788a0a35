"""What people call a remembered event, from the id it is remembered by.

"grok_next_reset" is called the grok reset, the grok renewal, and so on in Arabic (K22). The last word alone
is a name too ("the meeting"); where two events share it, a person is asked.
"""

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


def names_of(predicate: str) -> tuple[str, ...]:
    """Return the names of an event remembered as `predicate`, most exact first; () for an empty one."""
    words = [word for word in predicate.casefold().replace("-", "_").split("_") if word not in _SILENT]
    if not any(words):
        return ()
    *first, last = words
    english, arabic = _FAMILIES.get(last, ((last,), ()))
    said = " ".join(first)
    names = [f"{said} {kind}".strip() for kind in english]
    in_arabic = " ".join(_NOUNS.get(word, word) for word in first)
    names += [f"{kind} {in_arabic}".strip() for kind in arabic]
    names += [*english, *arabic] if first else []
    return tuple(dict.fromkeys(names))
