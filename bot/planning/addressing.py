"""Takes the targets out of a sentence: "disk space on web1?", "how is web1's memory", "uptime everywhere".

Known names count wherever they stand, an unknown one only at the end after "on": it is kept as a target word
so that it is refused by name instead of ignored. A name that is also a service is a target only after "on".
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from bot.planning import groups
from bot.planning.grammar import Known
from bot.planning.groups import Sureness
from bot.planning.words import Token

_BEFORE = frozenset({"on", "at", "in", "from", "of", "for", "to", "across"})
_SURE_BEFORE = frozenset({"on", "at"})
#: A tag and a word for targets mean these after such a word too: "logs of caddy from all web servers".
_BEFORE_TAG = groups.LEADS | {"in", "from", "of", "for"}
_ALL = frozenset({"all", "every"})
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
    index = 0
    while index < len(words):
        token, before = words[index], words[index - 1].folded if index else ""
        group = _group(words, index, known)
        names = (group.target,) if group else _names(words, index, known)
        is_service = token.folded in folded_services and before not in _SURE_BEFORE
        index += group.count if group else 1
        if not names or (is_service and not group):
            kept.append(token)
            continue
        _drop_lead(kept, after_target=bool(found), joined=before)
        found.extend(names)
    return Addressed(words=tuple(kept), targets=tuple(dict.fromkeys(found)))


def _group(words: Sequence[Token], index: int, known: Known) -> groups.Group | None:
    """Return the group that begins at `index` where it means targets for certain."""
    group = groups.read([token.folded for token in words[index : index + groups.MOST_WORDS]], known.tags)
    if group is None or group.sure is Sureness.ALONE:
        return group
    before = words[index - 1].folded if index else ""
    last = words[index + group.count - 1].folded
    leads = _BEFORE_TAG if last in groups.HOSTS else groups.LEADS
    return group if group.sure is Sureness.LED and before in leads else None


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
    before = words[index - 1].folded if index else ""
    if "local" in known.targets and (
        token.folded in _HERE or (token.folded in groups.HOSTS and before == "this")
    ):
        return ("local",)
    if token.raw.startswith("@") and token.folded != "@sayso":
        return tuple(known.spelling(name) or name for name in token.raw.split(",") if name)
    names = tuple(known.spelling(name) for name in token.raw.split(",") if name)
    return tuple(name for name in names if name) if names and all(names) else ()


def unknown_target(words: Sequence[Token]) -> Addressed | None:
    """Read "… on NAME" or "… on all NAME servers" at the end, of a name nobody knows; None without one."""
    for index, token in enumerate(words):
        if index and token.folded in groups.LEADS:
            group = groups.read([one.folded for one in words[index + 1 : index + 1 + groups.MOST_WORDS]], ())
            if group and group.sure is Sureness.UNKNOWN and index + 1 + group.count == len(words):
                return Addressed(words=tuple(words[:index]), targets=(group.target,))
    said, ending = words[:-_ON_NAME], words[-_ON_NAME:]
    if not said or ending[0].folded not in _SURE_BEFORE or not _SLUG.fullmatch(ending[1].raw):
        return None
    return Addressed(words=tuple(said), targets=(ending[1].raw,))
