"""The question under a card: what to say, type or press, who may and until when, and how buttons are bound.

The same for one action, a list and a fan-out. It draws nothing of what is asked about; `bot.cards` does.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, tzinfo

from bot import card_words, tokens
from bot.phrasing import clock_time
from bot.ports import Button, ButtonStyle
from bot.text import muted, strong
from gate.domain import PersonId
from ledger.views import ActionView, ProposalView

#: Names who has to decide instead of the requester; () where the requester may.
Seconds = Callable[[ActionView, PersonId], Sequence[str]]


def lines(
    view: ProposalView, *, now: datetime, zone: tzinfo, types: bool, secrets: Sequence[str], seconds: Seconds
) -> card_words.Lines:
    """Return the lines that ask about what waits in `view`, which is something."""
    pending = view.pending
    asked: card_words.Lines = []
    if any(one.approval is not None and one.approval.phrase is None for one in pending):
        asked.append(card_words.how_to_agree(view, types=types))
    strict = next((one for one in pending if one.approval is not None and one.approval.phrase), None)
    if strict is not None and strict.approval is not None:
        others = seconds(strict, view.owner)
        who = f"{' or '.join(others)} types" if others else "type"
        asked.append([f"To run it, {who}:  ", strong(strict.approval.phrase or "")])
    if votes := card_words.votes(view):
        asked.append(votes)
    if steps := card_words.ladder(view, zone=zone, now=now):
        asked.append(muted(steps))
    until = f"until {clock_time(_deadline(pending), zone=zone, now=now)} · #{view.id}"
    asked.append(muted(f"{until} · {card_words.asked(view, secrets=secrets)}"))
    return asked


def buttons(view: ProposalView, *, key: bytes, types: bool) -> tuple[Button, ...]:
    """Return the buttons under a card; none where nothing waits."""
    pending = view.pending
    if not pending or view.replaced_by is not None:
        return ()
    shown = shown_key(pending)
    made = []
    if any(one.approval is not None and one.approval.phrase is None for one in pending):
        made.append((tokens.APPROVE, ButtonStyle.GO))
    if types and any(one.approval is not None and one.approval.phrase is not None for one in pending):
        made.append((tokens.TYPE, ButtonStyle.GO))
    made += [(tokens.DENY, ButtonStyle.STOP), (tokens.DETAILS, ButtonStyle.NEUTRAL)]
    if any(one.verdict.dry_run is not None for one in pending):
        made.append((tokens.PREVIEW, ButtonStyle.NEUTRAL))
    if types:
        made.append((tokens.EDIT, ButtonStyle.NEUTRAL))
    return tuple(
        Button(
            label=tokens.LABELS[choice],
            token=tokens.make(key, choice=choice, subject=view.id, shown=shown),
            style=style,
        )
        for choice, style in made
    )


def shown_key(pending: Sequence[ActionView]) -> str:
    """Return what a button of these pending actions is bound to.

    Every approval's own id counts beside the digest: an approval opened anew makes old buttons dead.
    """
    return "\n".join(
        f"{one.approval.id} {one.approval.list_digest}" for one in pending if one.approval is not None
    )


def _deadline(pending: Sequence[ActionView]) -> datetime:
    return min(one.approval.deadline_at for one in pending if one.approval is not None)
