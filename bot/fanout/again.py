"""Again: "retry the failed ones" asks anew for the targets where a command failed or never got its turn.

A change with an unknown end is never among them: its target is frozen until a person settles it, and the
answer names it. Reading with an unknown end changed nothing: what is asked for anew is a step of its own.
Nor is what still waits or runs, or what a person refused or cancelled. The new proposal has the same pace and
passes the gate like any other.
"""

from collections.abc import Sequence
from datetime import datetime

from bot.answering import Speaker
from bot.controls import ask_anew
from bot.core import Core
from bot.fanout.folding import folded
from bot.fanout.tally import Fate, Tally, counted, fate, names
from bot.outcome import Outcome
from bot.text import Text
from gate.domain import ProposalId
from gate.lifecycle import ApprovalState
from ledger.views import ActionView, ProposalView

#: What a proposal of this kind is recorded to come from.
RETRY = "retry"
#: How many of the newest proposals are looked through for one that went to many; few are mostly enough.
_LOOKS = (3, 60)
_BEGINNING = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
_OPEN = (Fate.RUNNING, Fate.CHECKING, Fate.QUEUED, Fate.WAITING)


def newest(core: Core, outcome: Outcome) -> ProposalView | None:
    """Return the newest fan-out, or try to repeat the failed part of one, of the place of this turn."""
    for limit in _LOOKS:
        for view in core.queries.proposals(since=_BEGINNING, limit=limit):
            here = outcome.place in (view.asked_in, view.shown_in)
            if here and (view.fanout is not None or view.source == RETRY):
                return view
    return None


def failed(core: Core, outcome: Outcome, speaker: Speaker, view: ProposalView) -> None:
    """Ask anew for what failed of `view`."""
    tally = Tally.of(view.actions)
    chosen = [one for one in view.actions if _counts(one, tally)]
    notes = _left_out(view, tally)
    if not chosen:
        none = f"Nothing of #{view.id} failed{' yet' if tally.of_fate(*_OPEN) else ''}."
        outcome.say(Text.of(none, *notes, *_of_the_whole(core, view)))
        return
    already = _asked_already(core, chosen)
    if already is not None:
        outcome.say(Text.of(f"#{already} asks for that already.", *notes))
        outcome.shows.append(already)
        return
    made = ask_anew(core, outcome, speaker, view, chosen, source=RETRY)
    if made is not None:
        lost = ", has an unknown end" if any(fate(one) is Fate.LOST for one in chosen) else ""
        what = f"#{made} is for {counted(chosen)} of #{view.id}: where it failed{lost} or did not run."
        outcome.effects.insert(0, outcome.said(Text.of(what, *notes)))


def _counts(one: ActionView, tally: Tally) -> bool:
    """Whether `one` failed, its check did, it was read in vain, or its turn never came and nobody said no."""
    if one in tally.of_fate(Fate.FAILED, Fate.UNVERIFIED):
        return True
    if one in tally.of_fate(Fate.LOST):
        return not one.freezes
    expired = one.approval is not None and one.approval.state is ApprovalState.EXPIRED
    return expired and one in tally.of_fate(Fate.NOT_RUN)


def _left_out(view: ProposalView, tally: Tally) -> list[str]:
    """Return what is not among the failed ones, where somebody may think that it is."""
    notes = []
    if lost := [one for one in tally.of_fate(Fate.LOST) if one.freezes]:
        how = f"#{lost[0].action.id}" if len(lost) == 1 else f"#{view.id}"
        notes.append(
            f"Not {folded(names(lost))}: unknown end, so nothing is repeated there before it is settled:"
            f"  settle {how.removeprefix('#')} ran, because …"
        )
    if killed := tally.of_fate(Fate.KILLED):
        notes.append(f"Not {folded(names(killed))}: cancelled by a person.")
    if waiting := tally.of_fate(Fate.WAITING):
        notes.append(f"{counted(waiting)} of #{view.id} still wait on its own card.")
    return notes


def _of_the_whole(core: Core, view: ProposalView) -> list[str]:
    """Return how to say that what failed before `view` took a part of it over is meant; nothing elsewhere."""
    near = core.queries.proposals(since=_BEGINNING, limit=_LOOKS[0])
    whole = next((one for one in near if one.replaced_by == view.id), None)
    if whole is None:
        return []
    tally = Tally.of(whole.actions)
    if not any(_counts(one, tally) for one in whole.actions):
        return []
    return [f"Of what it took the place of:  retry the failed of #{whole.id}"]


def _asked_already(core: Core, chosen: Sequence[ActionView]) -> ProposalId | None:
    """Return the attempt that has not ended and is for any of `chosen`, so that no yes runs it twice."""
    wanted = {(one.action.command, one.action.target.id) for one in chosen}
    for name in core.queries.unfinished():
        view = core.queries.proposal(name)
        if view is None or view.source != RETRY:
            continue
        if any((one.action.command, one.action.target.id) in wanted for one in view.actions):
            return view.id
    return None
