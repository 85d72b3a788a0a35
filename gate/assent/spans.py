"""Numbers, ordinals and ranges: "1-3", "first two", "step two", "all 3", "app1 to app3".

Owns which positions such words name. A number that no action has names nothing.
"""

import re
from collections.abc import Sequence

from gate.assent.lexicon import Lexicon
from gate.assent.normalise import Kind, Token
from gate.assent.pending import Pending
from gate.assent.senses import Sense
from gate.assent.units import Sort, Unit, unit_of

_MAX_DIGITS = 6
_SPAN = re.compile(r"#?([^\W\d_]*)(\d{1,5})-#?([^\W\d_]*)(\d{1,5})")
_NAMED = re.compile(r"#?([^\W\d_]*)(\d{1,5})")
_TO = 2
_PAIR = 2
_MAX_STEPS = 20
_UNSEEN = 1000  # positions of things that a question may have and that answers number
_TOS = frozenset({"to", "bis", "through", "thru", "a", "à", "al", "até", "tot", "الي"})


def span_at(tokens: Sequence[Token], at: int, lexicon: Lexicon, pending: Pending) -> tuple[Unit, int] | None:
    """Read "1-3", "1 to 3", "app1-app3", "first two", "step two" and "web one" as what they name."""
    token = tokens[at]
    if token.kind not in {Kind.NUMBER, Kind.VALUE, Kind.WORD} or not (pending.count or pending.several):
        return None
    following = tokens[at + 1 : at + 3]
    found = _range(token, following, pending) if pending.count else None
    if found is not None:
        items, by_index, width = found
        return unit_of(Sort.ITEM, tokens[at : at + width], items=items, by_index=by_index), width
    if not following or token.kind is Kind.VALUE:
        return None
    edge = _edge(token, following[0], lexicon, pending)
    if edge:
        sort = Sort.ITEM if pending.count else Sort.UNKNOWN
        return unit_of(sort, tokens[at : at + 2], items=edge, by_index=True), 2
    return _counted(tokens, at, lexicon, pending)


def _range(
    token: Token, following: Sequence[Token], pending: Pending
) -> tuple[frozenset[int], bool, int] | None:
    """Return what "1-3", "app1-app3" or "1 to 3" names, whether by position, and its width."""
    span = _SPAN.fullmatch(token.text)
    if span is not None:
        same = span[3] in {"", span[1]}
        items = _between(span[1], int(span[2]), int(span[4]), pending) if same else frozenset[int]()
        return (items, not span[1], 1) if items else None
    if len(following) < _TO or following[0].text not in _TOS:
        return None
    low, high = _NAMED.fullmatch(token.text), _NAMED.fullmatch(following[1].text)
    if low is None or high is None or low[1] != high[1]:
        return None
    items = _between(low[1], int(low[2]), int(high[2]), pending)
    return (items, not low[1], 3) if items else None


def _edge(one: Token, other: Token, lexicon: Lexicon, pending: Pending) -> frozenset[int]:
    """Return the first or last few: "first two", "last 2", "los dos primeros"."""
    for place, amount in ((one, other), (other, one)):
        ordinal = lexicon.ordinals.get(place.text)
        number = _number(amount, lexicon)
        if ordinal in {1, -1} and number is not None and number <= (pending.count or _MAX_STEPS):
            if not pending.count:
                return frozenset(_UNSEEN + place for place in range(ordinal, ordinal + number))
            return frozenset(range(number) if ordinal == 1 else range(pending.count - number, pending.count))
    return frozenset()


def is_before_edge(tokens: Sequence[Token], lexicon: Lexicon, pending: Pending) -> bool:
    """Tell "los dos primeros" from "los dos": the article is not part of "both"."""
    return (
        len(tokens) == _TO + 1
        and _number(tokens[0], lexicon) is None
        and tokens[0].text not in lexicon.ordinals
        and bool(_edge(tokens[1], tokens[2], lexicon, pending))
    )


def _counted(tokens: Sequence[Token], at: int, lexicon: Lexicon, pending: Pending) -> tuple[Unit, int] | None:
    """Read "step two", "one and two", "all 3" and "web one"."""
    first = lexicon.phrases.get((tokens[at].text,))
    number = _number(tokens[at + 1], lexicon)
    if number is None:
        pair = [_number(token, lexicon) for token in tokens[at : at + 3 : 2]]
        joins = lexicon.phrases.get((tokens[at + 1].text,)) is Sense.AND and len(pair) == _PAIR
        numbers = [one for one in pair if one is not None and one <= pending.count]
        if joins and len(numbers) == _PAIR and tokens[at].kind is Kind.WORD:
            items = frozenset(one - 1 for one in numbers)
            return unit_of(Sort.ITEM, tokens[at : at + 3], items=items, by_index=True), 3
        return None
    if first is Sense.ALL and number == pending.count:
        return unit_of(Sort.SENSE, tokens[at : at + 2], sense=Sense.ALL), 2
    if first is Sense.BEFORE_NAME and number <= pending.count and tokens[at + 1].kind is Kind.WORD:
        return unit_of(Sort.ITEM, tokens[at : at + 2], items=frozenset({number - 1}), by_index=True), 2
    items = pending.terms.get(f"{tokens[at].text}{number}", frozenset())
    if items and tokens[at].kind is Kind.WORD:
        return unit_of(Sort.ITEM, tokens[at : at + 2], items=items), 2
    return None


def _between(name: str, low: int, high: int, pending: Pending) -> frozenset[int]:
    """Return the actions from `low` to `high`, by position or by the number behind `name`; all must exist."""
    if not low < high <= low + pending.count:
        return frozenset()
    if not name:
        return frozenset(range(low - 1, high)) if low >= 1 and high <= pending.count else frozenset()
    found = [pending.terms.get(f"{name}{number}", frozenset()) for number in range(low, high + 1)]
    return frozenset[int]().union(*found) if all(found) else frozenset()


def _number(token: Token, lexicon: Lexicon) -> int | None:
    if token.kind is Kind.NUMBER and len(token.text) < _MAX_DIGITS:
        return int(token.text)
    return lexicon.numbers.get(token.text)


def unseen(token: Token, lexicon: Lexicon) -> frozenset[int]:
    """Return the position that a number or ordinal names where only a question is known."""
    place = lexicon.ordinals.get(token.text)
    if place is None:
        place = _number(token, lexicon) if token.kind is Kind.NUMBER else None
    return frozenset() if place is None else frozenset({_UNSEEN + place})


def position(token: Token, lexicon: Lexicon, pending: Pending) -> int | None:
    """Return the 0-based position that a number or an ordinal names in the list of actions."""
    if pending.count == 0 or token.text in pending.terms:
        return None
    if token.kind is Kind.NUMBER and len(token.text) < _MAX_DIGITS:
        number = int(token.text)
    elif token.text in lexicon.ordinals and pending.count > 1:
        number = lexicon.ordinals[token.text]
        number = pending.count if number < 0 else number
    else:
        return None
    return number - 1 if 1 <= number <= pending.count else None
