"""Spelling: short forms, stretched words and typos, mended within limits.

Owns what a slip may become. A word that any language knows is no slip; words of two letters stay as they are;
nothing is mended into a word that refuses, restricts or conditions, and a slip that could be several things
stays unknown. It knows no senses beyond that.
"""

import re
from collections.abc import Sequence

from rapidfuzz import process
from rapidfuzz.distance import OSA

from gate.assent.lexicon import Lexicon, Lexicons
from gate.assent.normalise import Kind, Token, plain
from gate.assent.pending import Pending

_MIN_MENDED = 5  # letters; shorter words turn into each other ("no", "go", "now")
_MIN_STRANGE = 3  # shorter words are never taken for slips
_MIN_PAIR = 6
_LONG = 9  # from here two slips are forgiven
_MAX_MENDED = 6  # typos mended in one message; more is another language
_STRETCHED = re.compile(r"(.)\1{2,}")
_WAW = "\u0648"


def mend(tokens: Sequence[Token], lexicon: Lexicon, lexicons: Lexicons, pending: Pending) -> list[Token]:
    """Spell out short forms, shorten stretched words and mend typos."""
    mended: list[Token] = []
    typos = 0
    for at, token in enumerate(tokens):
        if token.kind is not Kind.WORD:
            mended.append(token)
            continue
        known = token.text in lexicons.vocabulary  # "neee" is a word of its own somewhere
        word = token.text if known else unstretch(token.text, lexicon)
        spelled = lexicon.spelling.get(word) or _joined(word, lexicon)
        if (
            lexicon.typos
            and spelled is None
            and typos < _MAX_MENDED
            and _is_strange(word, token, lexicons, pending)
        ):
            typos += 1
            word = _mended(word, tokens, at, lexicon)
        for part in spelled or (word,):
            same = part == token.text
            mended.append(token if same else Token(part, plain(part), Kind.WORD, token.start, token.end))
    return mended


def _mended(word: str, tokens: Sequence[Token], at: int, lexicon: Lexicon) -> str:
    if len(word) >= _MIN_MENDED:
        return _nearest(word, lexicon)
    paired = _in_pair(tokens, at, lexicon)
    return _swapped(word, lexicon) if paired == word and len(word) == _MIN_MENDED - 1 else paired


def _joined(word: str, lexicon: Lexicon) -> tuple[str, ...] | None:
    """Split the Arabic "and" off a word that is known without it."""
    if word.startswith(_WAW) and word not in lexicon.vocabulary and word[1:] in lexicon.vocabulary:
        return _WAW, word[1:]
    return None


def _in_pair(tokens: Sequence[Token], at: int, lexicon: Lexicon) -> str:
    """Mend a slip in a short word by its neighbour: "go ahed", "gpo ahead"; else return it as it is."""
    word = tokens[at].text
    for first in (at - 1, at):
        pair = tokens[max(first, 0) : first + 2]
        if len(pair) != 2 or any(token.kind is not Kind.WORD for token in pair):  # noqa: PLR2004 - a pair
            continue
        found = process.extractOne(
            " ".join(token.text for token in pair), lexicon.pairs, scorer=OSA.distance, score_cutoff=1
        )
        if found is None or len(found[0]) < _MIN_PAIR:
            continue
        whole = str(found[0]).split()
        other = 0 if first < at else 1
        if whole[other] == tokens[at - 1 if other == 0 else at + 1].text:
            return whole[1 - other]
    return word


def unstretch(word: str, lexicon: Lexicon) -> str:
    """Shorten "yesss" to yes and "noooo" to no."""
    if word in lexicon.vocabulary or _STRETCHED.search(word) is None:
        return word
    for shorter in (_STRETCHED.sub(r"\1", word), _STRETCHED.sub(r"\1\1", word)):
        if len(shorter) > 1 and shorter in lexicon.vocabulary:
            return shorter
    return word


def _is_strange(word: str, token: Token, lexicons: Lexicons, pending: Pending) -> bool:
    return (
        len(word) >= _MIN_STRANGE
        and word.isalpha()
        and word not in lexicons.vocabulary
        and not pending.meant_by(token)
    )


def _nearest(word: str, lexicon: Lexicon) -> str:
    """Return the one known word that `word` is a slip of, or `word` itself."""
    limit = 2 if len(word) >= _LONG else 1
    found = process.extract(word, lexicon.vocabulary, scorer=OSA.distance, score_cutoff=limit, limit=None)
    best = [str(candidate) for candidate, distance, _ in found if distance == found[0][1]]
    if any(_is_inflected(word, candidate) for candidate in best):
        return word
    if not best or not lexicon.guarded.isdisjoint(best):
        return word
    # Several nearest words are fine where they mean the same: "approvd" is approve or approved.
    senses = {lexicon.phrases.get((candidate,)) for candidate in best}
    if len(best) > 1 and (len(senses) > 1 or None in senses):
        return word
    nearest = min(best)
    return word if len(nearest) < _MIN_MENDED - 1 or (limit == 1 and nearest[0] != word[0]) else nearest


def _is_inflected(word: str, known: str) -> bool:
    """Tell another form from a slip: "restarted" is no "restart", "reapprove" no "approve"."""
    if word == known + known[-1]:
        return False  # "bothh"
    return word.startswith(known) or word.endswith(known) or known.startswith(word) or known.endswith(word)


def _swapped(word: str, lexicon: Lexicon) -> str:
    """Return the known word of four letters of which two neighbours changed places: "godo"."""
    swaps = (word[:at] + word[at + 1] + word[at] + word[at + 2 :] for at in range(len(word) - 1))
    found = {swap for swap in swaps if swap in lexicon.vocabulary}
    return found.pop() if len(found) == 1 and lexicon.guarded.isdisjoint(found) else word
