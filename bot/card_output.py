"""Output on a card: the first and last lines of much of it, and the whole as a file where that can be shown.

Pure text. All of it stands in the ledger as well, as far as it was kept.
"""

from collections.abc import Sequence

from bot.phrasing import named
from bot.text import visible
from ledger.views import ActionView, ProposalView

#: Lines shown on the card itself, and where the whole hangs on it as a file: what a phone shows at once.
INLINE_LINES, BESIDE_FILE = 40, 16
_FILE = "output.txt"


def inline(one: ActionView, *, beside_file: bool) -> str:
    """Return what a command printed as its card shows it; where lines are left out it says how many."""
    lines = _lines(one)
    most = BESIDE_FILE if beside_file else INLINE_LINES
    if len(lines) <= most:
        return "\n".join(lines)
    half = most // 2
    where = f"whole in {_FILE}" if beside_file else f"`show {one.action.id}` has them"
    note = f"… {len(lines) - 2 * half} lines left out here; {where} …"
    return "\n".join([*lines[:half], note, *lines[-half:]])


def file(view: ProposalView, *, secrets: Sequence[str]) -> tuple[str, bytes] | None:
    """Return (name, content) of what a card beside a file leaves out, whole; None where it is all there."""
    found = [one for one in view.actions if long(one)]
    if not found:
        return None
    parts = ["\n".join(_lines(one)) for one in found]
    if len(view.actions) > 1:
        heads = [f"# {one.action.index} {named(one, secrets=secrets)}" for one in found]
        parts = [f"{head}\n{part}" for head, part in zip(heads, parts, strict=True)]
    return _FILE, visible("\n\n".join(parts) + "\n").encode("utf-8", "replace")


def long(one: ActionView) -> int:
    """Return how many lines a command printed, where that is more than a phone shows at once; else 0."""
    count = len(_lines(one))
    return count if count > BESIDE_FILE else 0


def _lines(one: ActionView) -> list[str]:
    return [] if one.ending is None else one.ending.output.rstrip("\n").splitlines()
