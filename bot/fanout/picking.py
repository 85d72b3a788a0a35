"""Picking: which targets an answer leaves in: "yes, but not web3", "only @db", "just the canary".

Pure. It reads names, never numbers of a list, and whole words only. What it reads is no consent: whatever is
picked is asked about anew. Sentences that name no target are none of its business.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_B = r"[ \t]+"
_ON = rf"(?:(?:on|for|at|to|with|auf|bei|en|em|sur|op|su|على){_B})?(?:(?:the|hosts?|targets?){_B})*"
_EXCEPT = (
    rf"(?:not|without|except(?:{_B}for)?|excluding|minus|skip|omit|drop|leav(?:e|ing){_B}out"
    rf"|nicht|ohne|außer|ausser|sin|salvo|excepto|no{_B}en|sans|sauf|pas|sem|exceto|não|zonder|behalve|niet"
    rf"|senza|tranne|non|بدون|إلا|ليس|ما{_B}عدا)"
)
_ALL_BUT = (
    rf"(?:(?:on|with|for|to){_B})?(?:all|everything|everywhere|everyone|everybody|every{_B}host|all{_B}hosts"
    rf"|alle|alles|überall|todos?|todas?|tous|toutes|tutti|tutte|allemaal|كل|الكل){_B}"
    rf"(?:but|except(?:{_B}for)?|without|save|bis{_B}auf|außer|ausser|ohne|menos|excepto|salvo|sauf|tranne|meno"
    r"|behalve|exceto|إلا|ما[ \t]+عدا)"
)
_ONLY = r"(?:only|just|nur|bloß|solo|sólo|solamente|seulement|uniquement|só|somente|soltanto|alleen|فقط|بس)"
_NAME = r"(?!(?:please|pls|bitte)\b)@?[^\W_](?:[\w.-]{0,251}\w)?"
_TO = rf"(?:\.\.\.?|[ \t]*(?:\u2013|\u2014)[ \t]*|{_B}(?:to|through|bis|hasta|até|à|tot|إلى){_B})"
_ITEM = rf"{_NAME}(?:{_TO}{_NAME})?"
_AND = r"(?:and|or|nor|und|oder|noch|y|e|et|ou|ni|o|en|of|و|أو)"
_ITEMS = rf"{_ITEM}(?:(?:[ \t]*[,،&][ \t]*(?:{_AND}{_B})?|{_B}{_AND}{_B}){_ON}{_ITEM}){{0,200}}"
_CANARY = r"(?P<canary>(?:the[ \t]+)?canar(?:y|ies))"
_PLEASE = r"(?:please|pls|bitte|por[ \t]+favor|s'il[ \t]+te[ \t]+pla[iî]t|alsjeblieft|من[ \t]+فضلك)"
_WHY = r"(?:[ \t,;:.\u2013\u2014-]+(?:because|since|weil|porque|parce[ \t]+que|omdat|perché|لأن)\b.*)?"
BUT = r"(?:but|aber|pero|mais|mas|maar|ma|و?لكن|بس)"
_PART = re.compile(
    rf"(?:(?P<before>.{{0,80}}?)[\s,;.،:\u2013\u2014-]+)??(?:{BUT}{_B})?(?:{_PLEASE}{_B})?"
    rf"(?:(?P<only>{_ONLY}){_B}{_ON}(?:{_CANARY}|(?P<kept>{_ITEMS}))"
    rf"|(?P<canaries>canar(?:y|ies))[ \t]+only|(?P<alone>{_ITEMS})[ \t]+only"
    rf"|(?:{_ALL_BUT}|{_EXCEPT}){_B}{_ON}(?P<left>{_ITEMS}))"
    rf"(?:[ \t,]+{_PLEASE})?{_WHY}[\s.!]*",
    re.IGNORECASE | re.DOTALL,
)
_SPLIT = re.compile(rf"[ \t]*[,،&][ \t]*(?:{_AND}{_B})?(?:{_ON})|{_B}{_AND}{_B}(?:{_ON})", re.IGNORECASE)
_RANGE = re.compile(_TO, re.IGNORECASE)
_NUMBERED = re.compile(r"(.*?)([0-9]+)([^0-9]*)")
_WORDS, _PIECES = re.compile(r"\w(?:[\w.-]*\w)?"), re.compile(r"[^\W_]+")
_MAX_CHARS = 4000


@dataclass(frozen=True, slots=True, kw_only=True)
class Picked:
    """The targets that are left in and those that are not, both in the order of the card."""

    kept: tuple[str, ...]
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unclear:
    """Why nothing is picked, in words."""

    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """What an answer may pick from.

    Attributes:
        targets: what waits, in the order of the card.
        canaries: those of them that would go first, alone.
        select: what a name or "@tag" stands for here, in lower case; None for what is not known.
    """

    targets: Sequence[str]
    canaries: Sequence[str]
    select: Callable[[str], Sequence[str] | None]


def read(said: str, waiting: Waiting, *, agrees: Callable[[str], bool]) -> Picked | Unclear | None:
    """Return what of `waiting` an answer leaves in; None where it speaks of something else.

    Args:
        agrees: whether words are a yes and nothing besides.
    """
    match = _PART.fullmatch(said.strip()) if len(said) <= _MAX_CHARS else None
    if match is None or (match["before"] and not agrees(match["before"])):
        return None
    if match["canary"] or match["canaries"]:
        if not waiting.canaries:
            return Unclear(why="None of them goes first. Name those that you mean:  only <name>")
        return _picked(set(waiting.canaries), waiting)
    words = [word.lower() for word in _SPLIT.split(match["kept"] or match["alone"] or match["left"]) if word]
    if not any(_looks_like_a_name(word, waiting) for word in words):
        return None
    named: set[str] = set()
    for word in words:
        found = _meant(word, waiting)
        if isinstance(found, Unclear):
            return found
        named |= found
    return _picked(set(waiting.targets) - named if match["left"] else named, waiting)


def names_some(said: str, *, targets: Sequence[str], command: str) -> bool:
    """Whether a yes names single ones of many: "yes web1", "yes 1". Their number, and the command, do not.

    Pieces of a name count as one too: a yes that may be to a part is a yes to nothing.
    """
    words = set(_WORDS.findall(said.lower()))
    words -= {str(len(targets)), *_WORDS.findall(command.lower()), *_PIECES.findall(command.lower())}
    names = {name.lower() for name in targets}
    names |= {piece for name in names for piece in _PIECES.findall(name)}
    return any(word.isdigit() or word in names for word in words)


def _picked(wanted: set[str], waiting: Waiting) -> Picked | Unclear:
    kept = tuple(one for one in waiting.targets if one in wanted)
    if not kept:
        return Unclear(why="That leaves nothing to run. no drops it.")
    if len(kept) == len(waiting.targets):
        return Unclear(why=f"That is all {len(kept)} of them, as it stands.")
    return Picked(kept=kept, left_out=tuple(one for one in waiting.targets if one not in wanted))


def _looks_like_a_name(word: str, waiting: Waiting) -> bool:
    """Tell "not web3" and "only 3" from "not sure" and "just go"."""
    return (
        word.startswith("@")
        or any(char.isdigit() for char in word)
        or word in waiting.targets
        or waiting.select(word) is not None
    )


def _meant(word: str, waiting: Waiting) -> set[str] | Unclear:
    """Return the targets that one word or range means, or why none."""
    if word in waiting.targets:
        return {word}
    if word.isdigit():
        example = waiting.targets[0]
        return Unclear(why=f'{word} is no name, and they have no numbers here. Say it as in "not {example}".')
    first, *more = _RANGE.split(word)
    if more:
        row = _between(first, more[-1], waiting.targets)
        return row or Unclear(why=f"From {first} to {more[-1]} is no row of them without a gap. Name each.")
    found = waiting.select(word)
    begin, dash, end = word.partition("-")
    if found is None and dash and (row := _between(begin, end, waiting.targets)):
        return row
    if found is not None and word.startswith("@"):
        meant = set(waiting.targets) & set(found)
        return meant or Unclear(why=f"Nothing of {word} is among the {len(waiting.targets)} that wait.")
    return Unclear(why=f"{word} is not among the {len(waiting.targets)} that wait.")


def _between(first: str, last: str, targets: Sequence[str]) -> set[str] | None:
    """Return the row from one target to another; None where one of it is missing or stands there twice."""
    begin, end = _NUMBERED.fullmatch(first), _NUMBERED.fullmatch(last)
    if begin is None or end is None or (begin[1], begin[3]) != (end[1], end[3]):
        return None
    named = [(match, one) for one in targets if (match := _NUMBERED.fullmatch(one))]
    row = [
        (int(match[2]), one)
        for match, one in named
        if (match[1], match[3]) == (begin[1], begin[3]) and int(begin[2]) <= int(match[2]) <= int(end[2])
    ]
    numbers = sorted(number for number, _ in row)
    whole = numbers == list(range(int(begin[2]), int(end[2]) + 1)) and {first, last} <= set(targets)
    return {one for _, one in row} if whole and row else None
