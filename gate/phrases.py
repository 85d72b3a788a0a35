"""Typed phrases: what a person types, letter by letter, to run something destructive.

Owns how a phrase is derived from its action (C16) and when typed text is that phrase: exact after trimming,
Unicode NFC and quote folding, case included, never fuzzy. It does not decide who may type it or how often it
counts; that is gate.decide. A near miss only changes the answer ("Not enough for this one"), never more.
"""

import re
import unicodedata

from rapidfuzz import fuzz

from gate.domain import Action, Deed, ProposalId

#: A phrase is typed on a phone: printable ASCII, one line of it.
MAX_CHARS = 80

#: Letters, digits and what paths, units and container names are made of. Spaces, quotes and the like are
#: odd: they cannot be seen or are changed by a phone while typing, so such objects get the id form.
_PLAIN = re.compile(r"[A-Za-z0-9/@_][A-Za-z0-9._/:@+=,-]*")
_VERB = re.compile(r"[a-z][a-z-]*(?: [a-z][a-z-]*){0,2}")
#: Phones turn these into one typographic character.
_REWRITTEN_BY_PHONES = ("--", "...")

_QUOTES = str.maketrans(
    {"\u2018": "'", "\u2019": "'", "\u201a": "'", "\u201b": "'", "\u2032": "'"}
    | {"\u201c": '"', "\u201d": '"', "\u201e": '"', "\u201f": '"', "\u00ab": '"', "\u00bb": '"'}
)
_WRAPPERS = frozenset("'\"`")
_NEAR = 72.0
#: Requests start with these, too; only near all of the phrase is one of them a mistyped phrase.
_ALSO_REQUESTS = frozenset({"run", "change"})
_NEARER = 85.0


def phrase_for(action: Action, deed: Deed | None) -> str:
    """Return the phrase that runs `action`, at most 80 printable ASCII characters.

    "destroy ct-112 on pve1", "reboot web1"; "run k7f3a2.1 on web1" where nothing better can be typed.
    """
    phrase = _from_deed(action, deed) if deed is not None else None
    return phrase or f"run {action.id} on {action.target.id}"[:MAX_CHARS].rstrip()


def phrase_for_many(proposal: ProposalId, deed: Deed | None, *, count: int, noun: str) -> str:
    """Return the phrase that runs one command on `count` targets: it names how many, so that this was read.

    "reboot 12 hosts", "destroy ct-112 on 12 hosts"; "run k7f3a2 on 12 hosts" where that cannot be typed.

    Args:
        noun: what the targets are called, several of them.
    """
    many = f"{count} {noun}"
    fallback = f"run {proposal} on {many}"
    if deed is None or not _VERB.fullmatch(deed.verb):
        return fallback
    if not deed.object:
        return f"{deed.verb} {many}"
    phrase = f"{deed.verb} {deed.object} on {many}"
    return phrase if _is_plain(deed.object) and len(phrase) <= MAX_CHARS else fallback


def _from_deed(action: Action, deed: Deed) -> str | None:
    """Return the phrase made of verb, object and target; None when a person could not type it."""
    target = str(action.target.id)
    if not _VERB.fullmatch(deed.verb):
        return None
    if deed.object in ("", target):
        phrase = f"{deed.verb} {target}"
    elif _is_plain(deed.object):
        phrase = f"{deed.verb} {deed.object} on {target}"
    else:
        return None
    return phrase if len(phrase) <= MAX_CHARS else None


def is_typable(phrase: str) -> bool:
    """Whether a person can type `phrase` on a phone as it stands: short, plain, nothing a phone rewrites."""
    plain = phrase.isascii() and phrase.isprintable() and not set(phrase) & set("'\"`\\")
    rewritten = any(part in phrase for part in _REWRITTEN_BY_PHONES)
    return plain and not rewritten and len(phrase) <= MAX_CHARS and phrase == " ".join(phrase.split())


def _is_plain(text: str) -> bool:
    return _PLAIN.fullmatch(text) is not None and not any(part in text for part in _REWRITTEN_BY_PHONES)


def matches(typed: str, phrase: str) -> bool:
    """Tell whether `typed` is exactly `phrase`; an empty phrase matches nothing."""
    wanted = _fold(phrase)
    return bool(wanted) and _fold(typed) == wanted


def looks_like_phrase(typed: str, phrase: str) -> bool:
    """Tell whether `typed` was meant to be `phrase` and is not: wrong case, a typo, another object.

    Never consent; it only picks the words of the answer.
    """
    if matches(typed, phrase):
        return False
    near, wanted = _fold(typed).casefold(), _fold(phrase).casefold()
    if not near or not wanted:
        return False
    if len(near) > 2 * MAX_CHARS:
        return False
    verb = wanted.split()[0]
    if verb in _ALSO_REQUESTS:
        return fuzz.ratio(near, wanted) >= _NEARER
    return near.split()[0] == verb or fuzz.ratio(near, wanted) >= _NEAR


def _fold(text: str) -> str:
    """Trim, compose, unify quotes and drop one pair of quotes around the whole."""
    plain = unicodedata.normalize("NFC", text).translate(_QUOTES).strip()
    # NOTE: at least one character must remain, so that quotes alone are not nothing.
    minimum = 3
    if len(plain) >= minimum and plain[0] == plain[-1] and plain[0] in _WRAPPERS:
        return plain[1:-1].strip()
    return plain
