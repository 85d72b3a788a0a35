"""Phrases of lexicon files: alternatives written out, words folded as those of a message are.

Owns the notation "(nobody|no one) is (on it|there)". It knows no senses and no languages.
"""

import functools
import re
from collections.abc import Iterator, Sequence

from gate.assent.normalise import Kind, fold, words_of
from gate.errors import RuleError

Phrase = tuple[str, ...]


def written_out(name: str, texts: Sequence[str], mark: Phrase = ()) -> Iterator[Phrase]:
    """Write out "(nobody|no one) is (on it|there)" as phrases; "(the|)" may be left out; each ends in `mark`.

    Lexicons write out tens of thousands of phrases of few parts, so each part is read once.
    """
    for text in texts:
        if "(" not in text:
            yield phrase_of(name, text) + mark
            continue
        found: list[Phrase] = [()]
        for part in re.split(r"[()]", text):
            heard = [_part(one) for one in part.split("|")]
            words = [one for one in heard if one is not None]
            if len(words) != len(heard):
                raise RuleError(f"lexicon {name}.toml: {text!r} is no phrase")
            found = [before + after for before in found for after in words]
        if () in found:
            raise RuleError(f"lexicon {name}.toml: {text!r} is no phrase")
        yield from [phrase + mark for phrase in found] if mark else found


#: Small ASCII letters and blanks read as themselves, other letters when folded: a test compares `words_of`.
_PLAIN_PART = re.compile(r"(?:[a-z]+(?: [a-z]+)*)?")
_LETTERS = re.compile(r"[^\W\d_]+(?: [^\W\d_]+)*")


@functools.lru_cache(maxsize=32_768)
def _part(text: str) -> Phrase | None:
    """Return the words of one part of a phrase; None when it holds what no phrase may hold."""
    if _PLAIN_PART.fullmatch(text):
        return tuple(text.split())
    if _LETTERS.fullmatch(text):
        words = tuple(fold(text).split(" "))
        if all(map(str.isalpha, words)):
            return words
    tokens = words_of(text)
    if any(token.kind in {Kind.CODE, Kind.QUOTE, Kind.MENTION} for token in tokens):
        return None
    return tuple(token.text for token in tokens)


def phrase_of(name: str, text: object) -> Phrase:
    """Read a phrase that has no alternatives."""
    found = _part(text) if isinstance(text, str) else None
    if not found:
        raise RuleError(f"lexicon {name}.toml: {text!r} is no phrase")
    return found
