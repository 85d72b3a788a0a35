"""Naming: many actions in few words, "reload nginx on 12 hosts", wherever their card is not in sight."""

from collections.abc import Sequence

from bot.fanout.tally import counted, names
from bot.phrasing import listed, title
from ledger.views import ActionView

#: So many are named one by one.
_FEW = 3


def several(actions: Sequence[ActionView], *, secrets: Sequence[str]) -> str:
    """Return what `actions` are called: each by its name where few, else "reload nginx on 12 hosts"."""
    found: dict[str, list[ActionView]] = {}
    for one in actions:
        found.setdefault(title(one, secrets=secrets), []).append(one)
    groups = [_group(called, members) for called, members in found.items()]
    return ", ".join(groups) if len(actions) <= _FEW else listed(groups)


def _group(called: str, members: Sequence[ActionView]) -> str:
    where = ", ".join(names(members)) if len(members) <= _FEW else counted(members)
    return f"{called} on {where}"
