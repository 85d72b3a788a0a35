"""The digest: what a task or a period came to, in three lines, and one more for what was learned (N35).

One function for both. After a task it is said by itself, as a turn of the bot that shows nothing pending, so
it opens no window and closes none. It counts what is recorded; what never ran changed nothing.
"""

import base64
from collections import Counter
from collections.abc import Collection, Sequence
from datetime import datetime, tzinfo

from bot import learning
from bot.core import Core
from bot.fanout.folding import folded
from bot.origin import Origin, origin_of
from bot.outcome import Outcome
from bot.phrasing import clock_time, plural
from bot.text import Text
from gate.domain import TurnId
from gate.lifecycle import ActionState, ApprovalState
from ledger.kinds import Kind
from ledger.views import ActionView, ProposalView

_DECIDED = ("at once", "approved", "refused", "expired", "waiting", "dropped")


def digest(
    core: Core,
    views: Sequence[ProposalView],
    *,
    since: datetime,
    until: datetime,
    zone: tzinfo,
    now: datetime,
) -> Text:
    """Return the digest of what was done between two instants."""
    actions = [one for view in views for one in view.actions]
    started = [one for one in actions if one.started_at is not None]
    counts: Counter[str] = Counter(_decided(one) for one in actions)
    parts = [f"{counts[name]} {name}" for name in _DECIDED if counts[name]]
    ends = Counter(one.state for one in started)
    bad = [f"{ends[state]} {state.value}" for state in _BAD if ends[state]]
    changed = dict.fromkeys(str(one.action.target.id) for one in started if _has_changed(one))
    open_ones = [f"#{view.id}" for view in views if view.pending]
    lost = _lost(views)
    size, root = newest_root(core.ledger.checkpoint())
    first, last = (clock_time(at, zone=zone, now=now) for at in (since, until))
    span = first if first == last else f"{first}-{last}"
    return Text.of(
        " · ".join(
            [
                f"{span}: {plural(len(started), 'command')}{_origins(views)}",
                ", ".join(parts) or "nothing asked",
                *bad,
            ]
        ),
        f"changed: {_places(changed) or 'nothing'} · open: {', '.join(open_ones) or 'none'}"
        f" · unknown: {', '.join(lost) or 'none'}",
        *learning.digest_lines(core.queries, since=since, until=until),
        f"ledger {size} entries, root {root[:4]}…{root[-4:]}",
    )


#: More names of what was changed are folded: "web1 to web12".
_MOST_NAMES = 6


def _places(changed: Collection[str]) -> str:
    return ", ".join(changed) if len(changed) <= _MOST_NAMES else folded(changed, most=_MOST_NAMES)


def _lost(views: Sequence[ProposalView]) -> list[str]:
    """Return "#k7f3a2.3" for each unknown end, "3 of #k7f3a2" where a fan-out has several."""
    found: list[str] = []
    for view in views:
        lost = [f"#{one.action.id}" for one in view.actions if one.state is ActionState.LOST]
        many = view.fanout is not None and len(lost) > 1
        found += [f"{len(lost)} of #{view.id}"] if many else lost
    return found


_BAD = (ActionState.FAILED, ActionState.LOST)


#: What is behind what ran, where it is not people alone.
_BY = {
    Origin.PERSON: "by people",
    Origin.AGENT: "by agents",
    Origin.MODEL: "planned by a model",
    Origin.ALERT: "by alerts",
    Origin.SCHEDULE: "scheduled",
    Origin.RUNBOOK: "of runbooks",
}


def _origins(views: Sequence[ProposalView]) -> str:
    """Return " (3 by people, 2 by agents)" of what was started; "" where all of it was by people."""
    counts = Counter(
        origin_of(view.requester, view.source)
        for view in views
        for one in view.actions
        if one.started_at is not None
    )
    if not set(counts) - {Origin.PERSON}:
        return ""
    return f" ({', '.join(f'{counts[one]} {words}' for one, words in _BY.items() if counts[one])})"


def tell(core: Core, view: ProposalView) -> None:
    """Say the digest of a task that is over, in the place that its card stands in.

    A process that ends before this is recorded leaves it to the next one.

    Raises:
        LedgerUnwritableError: it is not said.
    """
    outcome = Outcome(
        at=core.now(), place=view.shown_in, turn=TurnId(core.ids.token()), new_nonce=core.ids.token
    )
    zone = core.zone_for(view.requester)
    outcome.say(digest(core, [view], since=view.made_at, until=outcome.at, zone=zone, now=outcome.at))
    outcome.write(
        Kind.TURN_ANSWERED,
        correlation_id=view.id,
        body={"turn": outcome.turn, "place": view.shown_in, "shows": [], "window": None},
    )
    core.ledger.append(outcome.batch())


def newest_root(note: str) -> tuple[str, str]:
    """Return size and root (hex) of a checkpoint's text, for people to compare with one held elsewhere."""
    lines = note.splitlines()
    return lines[1], base64.b64decode(lines[2]).hex()


def _has_changed(one: ActionView) -> bool:
    """Whether a started action may have changed its target."""
    return one.verdict.risk.rank > 0 and (one.ending is None or one.ending.ran)


def _decided(one: ActionView) -> str:
    if one.approval is None:
        return "at once" if one.started_at is not None else "dropped"
    return {
        ApprovalState.GRANTED: "approved",
        ApprovalState.REFUSED: "refused",
        ApprovalState.EXPIRED: "expired",
        ApprovalState.PENDING: "waiting",
    }.get(one.approval.state, "dropped")
