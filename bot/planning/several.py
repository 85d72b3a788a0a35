"""Requests for many targets that do not say for certain which: "uptime on all of them", "… on @web but web3".

Asks; without this the first would go to the target that is meant where none is named, the second to some that
were left out. Reads only what is certain but for its targets; everything else is left to `titles`.
"""

from collections.abc import Sequence
from itertools import pairwise

from bot.planning import groups
from bot.planning.addressing import address
from bot.planning.drafts import Option, Question
from bot.planning.titles import MAX_OPTIONS, Context, certain, label_of, request_of
from bot.planning.words import Token, tokens

#: Nobody asks for something certain in more words.
_LONG = 60
_MANY = frozenset(
    {"all", "both", "each", "every", "everything", "most", "several", "some", "them", "these", "those"}
)


def unclear(text: str, *, context: Context) -> Question | None:
    """Return what has to be asked about the targets of `text`; None where nothing has."""
    words = tokens(text)
    if len(words) > _LONG:
        return None
    return _which_of_many(words, context=context) or _leaving_out(words, context=context)


def _which_of_many(words: Sequence[Token], *, context: Context) -> Question | None:
    """Ask where many are spoken of and none is named: "uptime on all of them", "uptime, all"."""
    said = _before_many(words)
    found = certain(said, context=context) if said else None
    if found is None or found[0][0].missing or not context.known.targets:
        return None
    whole = certain(words, context=context)
    if address(words, known=context.known, services=context.services).targets or (whole and whole[1]):
        return None
    names = (groups.ALL, *(f"@{tag}" for tag in context.known.tags), *context.known.targets)
    options = tuple(
        Option(label=label_of(found[0][0], (name,)), request=request_of(found[0][0], (name,)))
        for name in names[:MAX_OPTIONS]
    )
    return Question(text="On which targets?", options=options)


def _before_many(words: Sequence[Token]) -> Sequence[Token]:
    """Return what stands before words for many in the place of a target; nothing where they are none."""
    for index, (lead, name) in enumerate(pairwise(words)):
        if lead.folded in groups.LEADS and name.folded in _MANY:
            return words[:index]
    return words[:-1] if words and words[-1].folded == groups.ALL else ()


def _leaving_out(words: Sequence[Token], *, context: Context) -> Question | None:
    """Ask for names where some of many are left out: "uptime on all servers but db1"."""
    for index, token in enumerate(words):
        if token.folded not in groups.WITHOUT or not address(words[index:], known=context.known).targets:
            continue
        found = certain(words[:index], context=context)
        if found is not None and any(name == groups.ALL or name.startswith("@") for name in found[1]):
            return Question(text=groups.leaving_out(request_of(found[0][0], ())))
    return None
