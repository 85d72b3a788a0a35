"""Many targets in plain words: "everywhere", "on all servers", "on every web server".

Reads where such words stand, never what the rest of a sentence means. A tag counts only by its exact name.
One that nobody knows is kept as a tag where a word such as "servers" follows, so that it is refused by name.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto

#: What the inventory takes for every target that is active.
ALL = "all"
HOSTS = frozenset(
    {"host", "hosts", "target", "targets", "server", "servers", "machine", "machines", "box", "boxes"}
    | {"node", "nodes"}
)
#: So many words are enough to read a group and to tell where it ends.
MOST_WORDS = 7
#: Words after which "all" or "every web" can only mean targets.
LEADS = frozenset({"on", "across"})

_EACH = frozenset({"all", "every", "each"})
_ARTICLES = frozenset({"the", "my", "our", "your"})
#: Words before "servers" that pick some of them, by what this module cannot know.
_SOME = frozenset(
    {"affected", "and", "but", "except", "failed", "not", "of", "or", "other", "remaining", "some", "such"}
    | {"that", "these", "this", "those", "which"}
)
#: What may follow a name without being part of it.
_AFTER = frozenset(
    {"and", "because", "in", "now", "please", "pls", "purpose", "right", "run", "so", "thanks", "then"}
    | {"timeout", "to", "too", "verify", "with"}
)
#: Words that leave some of them out.
WITHOUT = frozenset(
    {"apart", "but", "except", "excepting", "excluding", "minus", "not", "other", "save", "without"}
)


def leaving_out(request: str) -> str:
    """Return what is said where `request` is for all but some."""
    return (
        "Nothing ran. Leaving targets out is not read here. "
        f"Name those that are meant:  {request} on <target>,<target>"
    )


class Sureness(Enum):
    """What has to stand before a group for it to mean targets."""

    ALONE = auto()  # nothing: "everywhere", "all servers"
    LED = auto()  # one of `LEADS`: "all", "every web"
    UNKNOWN = auto()  # likewise, and nobody knows the tag


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Some targets in words: the target word that means them, and of how many words it was read."""

    target: str
    count: int
    sure: Sureness


def read(words: Sequence[str], tags: Sequence[str]) -> Group | None:
    """Read a group at the start of `words`; None where there is none.

    Args:
        words: in lower case, without the marks around them; "" ends a sentence or a clause.
        tags: as the inventory spells them, with or without "@".

    Example inputs: "everywhere", "all", "all of the servers", "every web server", "each @web host".
    """
    if words and words[0] == "everywhere":
        return Group(target=ALL, count=1, sure=Sureness.ALONE)
    if not words or words[0] not in _EACH:
        return None
    at = 1
    if words[at : at + 1] == ["of"] and words[at + 1 : at + 2] and words[at + 1] in _ARTICLES:
        at += 1
    if words[at : at + 1] and words[at] in _ARTICLES:
        at += 1
    if _ends(words, at):
        whole = at == 1 and words[0] == ALL
        return Group(target=ALL, count=1, sure=Sureness.LED) if whole else None
    if words[at] in HOSTS:
        return Group(target=ALL, count=at + 1, sure=Sureness.ALONE)
    return _tagged(words, at, tags)


def _tagged(words: Sequence[str], at: int, tags: Sequence[str]) -> Group | None:
    """Read "web servers" at `at`: one tag, and a word for targets or the end of what is said."""
    name = words[at].removeprefix("@")
    hosts = words[at + 1] in HOSTS if at + 1 < len(words) else False
    if not hosts and not _ends(words, at + 1):
        return None
    tag = next((one for one in tags if one.removeprefix("@").casefold() == name), None)
    count = at + 1 + hosts
    if tag is not None:
        sure = Sureness.ALONE if words[at].startswith("@") else Sureness.LED
        return Group(target=f"@{tag.removeprefix('@')}", count=count, sure=sure)
    if not hosts or name in _SOME:
        return None
    return Group(target=f"@{name}", count=count, sure=Sureness.UNKNOWN)


def _ends(words: Sequence[str], at: int) -> bool:
    return at >= len(words) or not words[at] or words[at] in _AFTER


# ---------------------------------------------------------------- in a line of text

_WORD = re.compile(r"[ \t]*(@?[A-Za-z0-9](?:[\w.-]*\w)?)(?![\w/@-])")
#: The end, or a mark that ends what is said; in "all,web1" the comma goes on.
_CLOSES = re.compile(r"$|[;:.!?`]|,(?:[ \t]|$)")


def at(text: str, start: int, tags: Sequence[str]) -> tuple[Group, int] | None:
    """Read a group at `start` of a line: it and where it ends."""
    words: list[str] = []
    ends: list[int] = []
    place = start
    while len(words) < MOST_WORDS and (match := _WORD.match(text, place)):
        words.append(match[1].lower())
        ends.append(place := match.end())
    if len(words) < MOST_WORDS:
        rest = text[place:].lstrip(" \t")
        words.append("" if _CLOSES.match(rest) else rest)
    group = read(words, tags)
    return None if group is None else (group, ends[group.count - 1])
