"""Words of a request: taken apart, with what carries no meaning left out.

The same reduction is applied to titles when the library is indexed and to what a person writes, so that
"how much memory is left on web1?" and the alias "memory" meet. It knows grammar words, not commands.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

_TOKEN = re.compile(r"\S+")
#: Marks around a word: ASCII ones, then curly quotes, guillemets and the ellipsis.
_EDGES = "\"'`()[]<>?!,;\u2018\u2019\u201c\u201d\u00ab\u00bb\u2026"
_POSSESSIVE = re.compile(r"(?:'s|\u2019s)$", re.IGNORECASE)


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


#: Courtesies and articles: they never change what is asked for.
COURTESIES = _set(
    """please pls plz the a an can could would will you kindly just now me us hey hi sayso
    @sayso again thanks i want to go ahead service unit daemon quickly once also right on"""
)
#: Further words without content in a question; in a request for a change they do count.
FILLERS = COURTESIES | _set(
    """is are was were be been am do does did has have had having s what what's whats which how how's hows
    much many there where show tell give get display print list check see look view find know of for in at
    from by with about into over its it's any some all my our your this that these those current
    currently still left we they anything something everything or so out if whether got"""
)
#: Words that turn a request round or put it off: with one of these, nothing is read as certain.
DOUBTS = _set(
    """not no never don't dont without except instead unless if when whenever until after before later
    tomorrow tonight every daily weekly hourly remind schedule should shouldn't why cannot can't isn't avoid
    maybe"""
)
#: Words that ask for a change: a read-only document that does not hold them was not what was meant.
CHANGES = _set(
    """add apply change clean cleanup clear configure create delete deploy destroy disable drop edit empty
    enable erase expand fix format free grow install kill make move provision prune purge reboot reload
    remove renew repair replace reset resize restart restore revoke rotate set shrink shutdown start stop
    terminate truncate uninstall update upgrade up wipe write block allow open close"""
)
#: Words that stand for something said before.
PRONOUNS = _set("it that this them these those everything all something one both")
_CHATTER = _set(
    """ok okay k yes yep yeah no nope thanks thank thx ty cheers lol haha hello hi hey good morning evening
    afternoon night bye cool great nice perfect awesome sorry oops hm hmm well sure welcome very bot sayso wow
    then and everyone all team folks guys brb lgtm gm done alright"""
)


@dataclass(frozen=True, slots=True)
class Token:
    """One word: as written without the marks around it, and folded for comparing."""

    raw: str
    folded: str


def tokens(text: str) -> tuple[Token, ...]:
    """Split `text` at white space; marks around a word go, case stays in `raw`."""
    found = []
    for match in _TOKEN.finditer(text):
        raw = _POSSESSIVE.sub("", match[0].strip(_EDGES)).rstrip(".:")
        if raw:
            found.append(Token(raw, raw.casefold().replace("\u2019", "'")))
    return tuple(found)


def content(text: str) -> tuple[str, ...]:
    """Return the folded words of a title or alias that carry meaning; `{slot}`s keep their case."""
    return meaning(tokens(text))


def meaning(words: Iterable[Token]) -> tuple[str, ...]:
    """Return those of `words` that carry meaning, as `content` does."""
    return tuple(
        token.raw if token.raw.startswith("{") else token.folded
        for token in words
        if token.folded not in FILLERS
    )


def is_chatter(text: str) -> bool:
    """Whether `text` is small talk: a greeting, thanks, an acknowledgement, or no words at all."""
    words = [token.folded for token in tokens(text)]
    letters = any(char.isalnum() for word in words for char in word)
    return not letters or all(word in _CHATTER or word in FILLERS for word in words)
