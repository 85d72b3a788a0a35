"""Takes the targets out of a sentence: "disk space on web1?", "how is web1's memory", "uptime everywhere".

Known names count wherever they stand, an unknown one only at the end after "on": it is kept as a target word
so that it is refused by name instead of ignored. A name that is also a service is a target only after "on".
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from bot.planning.grammar import Known
from bot.planning.words import Token

_BEFORE = frozenset({"on", "at", "in", "from", "of", "for", "to"})
_SURE_BEFORE = frozenset({"on", "at"})
_ALL = frozenset({"all", "every"})
_HOSTS = frozenset(
    {"host", "hosts", "target", "targets", "server", "servers", "machine", "machines", "box", "boxes"}
)
_HERE = frozenset({"here", "localhost"})
_ON_NAME = 2
_SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Addressed:
    """A sentence without its targets; `targets` is () where it names none."""

    words: tuple[Token, ...]
    targets: tuple[str, ...] = ()


def address(words: Sequence[Token], *, known: Known, services: Collection[str] = ()) -> Addressed:
    """Split known targets, @tags, "everywhere" and "here" from the other words."""
    folded_services = {service.casefold() for service in services}
    kept: list[Token] = []
    found: list[str] = []
    for index, token in enumerate(words):
        names = _names(words, index, known)
        before = words[index - 1].folded if index else ""
        is_service = token.folded in folded_services and before not in _SURE_BEFORE
        if not names or is_service:
            kept.append(token)
            continue
        found.extend(names)
        _drop_lead(kept, after_target=bool(found[: -len(names)]), joined=before)
    return Addressed(words=tuple(kept), targets=tuple(dict.fromkeys(found)))


def _drop_lead(kept: list[Token], *, after_target: bool, joined: str) -> None:
    """Remove what led to a target: "on", "all of the" before it, or the "and" between two of them."""
    if kept and ((after_target and joined == "and") or joined in _BEFORE) and kept[-1].folded == joined:
        kept.pop()
    while kept and kept[-1].folded in _ALL | {"this", "the"}:
        kept.pop()
        if kept and kept[-1].folded in _BEFORE:
            kept.pop()


def _names(words: Sequence[Token], index: int, known: Known) -> tuple[str, ...]:
    token = words[index]
    if token.folded == "everywhere":
        return known.targets
    before = words[index - 1].folded if index else ""
    if token.folded in _HOSTS and (
        before in _ALL or (before == "the" and index > 1 and words[index - 2].folded in _ALL)
    ):
        return known.targets
    if "local" in known.targets and (token.folded in _HERE or (token.folded in _HOSTS and before == "this")):
        return ("local",)
    if token.raw.startswith("@") and token.folded != "@sayso":
        return tuple(known.spelling(name) or name for name in token.raw.split(",") if name)
    names = tuple(known.spelling(name) for name in token.raw.split(",") if name)
    return tuple(name for name in names if name) if names and all(names) else ()


def unknown_target(words: Sequence[Token]) -> Addressed | None:
    """Read "… on NAME" at the end with a name nobody knows; None where there is none."""
    said, ending = words[:-_ON_NAME], words[-_ON_NAME:]
    if not said or ending[0].folded not in _SURE_BEFORE or not _SLUG.fullmatch(ending[1].raw):
        return None
    return Addressed(words=tuple(said), targets=(ending[1].raw,))
