"""One spelling for a text, so that the readers know only one: digits, letters and marks.

Arabic loses its vowel signs, tatweel and hamza seats, and keeps a prefix that tatweel set apart as its own
word. Code between backticks is nothing that people say about time; it becomes one opaque mark.
"""

import re
import unicodedata

_DIGITS = {0x660 + n: str(n) for n in range(10)} | {0x6F0 + n: str(n) for n in range(10)}
_LETTERS = str.maketrans("أإآٱىیئکةؤ", "ااااييي" + "كهو", "ء")
_SIGNS = str.maketrans(
    "،؛؟\u066b\u2044\u2019\u2018\u02bc\u2010\u2011\u2012\u2013\u2014\u2212", ",;?./'''------"
)
_TABLE = _DIGITS | _LETTERS | _SIGNS
_PREFIX = re.compile(r"(?<!\w)([بول])\u0640+")
_MARKS = re.compile(r"[\u0640\u064b-\u065f\u0670\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_CODE = re.compile(r"`+[^`]*`+")
_NAME = re.compile(r"[A-Z][a-z]\w+")
_SPACE = re.compile(r"\s+")


def plain(text: str) -> str:
    """Return `text` folded: lower case, ASCII digits, one form for each Arabic letter, single blanks."""
    folded = unicodedata.normalize(
        "NFKC", text.replace("½", " 1/2").replace("¼", " 1/4").replace("¾", " 3/4")
    )
    folded = _MARKS.sub("", _PREFIX.sub(r"\1 ", folded)).translate(_TABLE).casefold()
    return _SPACE.sub(" ", _CODE.sub(" \u2400 ", folded)).strip()


def names_in(text: str) -> frozenset[str]:
    """Return the words that are written like names, folded: "Lagos" of "9am Lagos"."""
    return frozenset(word.casefold() for word in _NAME.findall(text))
