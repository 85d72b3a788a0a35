"""Naming: many actions in few words, "reload nginx on 12 hosts", wherever their card is not in sight."""

from collections.abc import Sequence

from bot.fanout.tally import counted, names
from bot.phrasing import listed, named, title
from ledger.views import ActionView

#: So many are named one by one.
_FEW = 3


def several(actions: Sequence[ActionView], *, secrets: Sequence[str]) -> str:
    """Return what `actions` are called: each by its name where few, else "reload nginx on 12 hosts"."""
    if len(actions) <= _FEW:
        return ", ".join(named(one, secrets=secrets) for one in actions)
    found: dict[str, list[ActionView]] = {}
    for one in actions:
        found.setdefault(title(one, secrets=secrets), []).append(one)
    return listed([_group(called, members) for called, members in found.items()])


def _group(called: str, members: Sequence[ActionView]) -> str:
    where = ", ".join(names(members)) if len(members) <= _FEW else counted(members)
    return f"{called} on {where}"
