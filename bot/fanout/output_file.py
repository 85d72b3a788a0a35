"""The file beside the card of a fan-out: what every target printed, under a line that says how it ended.

Bounded: where there is more than a place takes, each target keeps the start and the end of its output, and it
is said how much is left out. All of it stands in the ledger, as far as it was kept.
"""

from collections.abc import Sequence

from bot.fanout.look import Look
from bot.fanout.outputs import FILE
from bot.fanout.tally import counted
from bot.phrasing import duration, size
from bot.text import visible
from ledger.views import ActionView, ProposalView

#: Characters of output in the file, all targets together.
MOST = 2_000_000


def file(view: ProposalView, look: Look, *, most: int = MOST) -> tuple[str, bytes]:
    """Return (name, content) of what the targets of `view` printed."""
    heads = [f"#{view.id} · {counted(view.actions)}"]
    heads += dict.fromkeys(look.command(one.action.command) for one in view.actions)
    room = _room([0 if one.ending is None else len(one.ending.output) for one in view.actions], most)
    parts = [visible("\n".join(heads)), *(_part(one, look, room) for one in view.actions)]
    return FILE, ("\n\n".join(parts) + "\n").encode("utf-8", "replace")


def _room(lengths: Sequence[int], most: int) -> int:
    """Return how many characters each may have for `most` in all; what short ones leave, long ones get."""
    left = most
    for count, length in enumerate(sorted(lengths)):
        share = left // (len(lengths) - count)
        if length > share:
            return share
        left -= length
    return most


def _part(one: ActionView, look: Look, room: int) -> str:
    ending = one.ending
    facts = [f"== {one.action.target.id}", one.state.value]
    if ending is not None:
        facts += [] if ending.exit_code is None else [f"exit {ending.exit_code}"]
        facts += [duration(ending.run_s)] if one.started_at is not None else []
        facts += [look.note(one)] if ending.note else []
        if ending.dropped_bytes:
            facts.append(f"{size(ending.dropped_bytes)} of {size(ending.total_bytes)} not kept")
    head, output = visible(" · ".join(facts)), "" if ending is None else ending.output.rstrip("\n")
    if not output:
        return head
    if len(output) <= room:
        return f"{head}\n{_lines(output)}"
    half = room // 2
    note = f"… {len(output) - 2 * half} characters left out here; `details {one.action.id}` has them …"
    return "\n".join([head, _lines(output[:half]), note, _lines(output[len(output) - half :])])


def _lines(output: str) -> str:
    """Return `output` with nothing unseen in it; returns of a progress bar begin lines, as on the card."""
    return visible("\n".join(output.splitlines()) if "\r" in output else output)
