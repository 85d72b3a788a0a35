"""Part of a fan-out: "yes, but not web3" makes a new card of the rest, which replaces the old one (X14).

Nothing runs from it: the new card takes a yes of its own, whatever the gate would let run by itself. What
cannot be told for certain leaves the card as it is.
"""

from collections.abc import Sequence

from bot.answering import Speaker, supersede
from bot.controls import may_drop
from bot.core import Core
from bot.fanout.anew import numbered, pace_of
from bot.fanout.folding import folded
from bot.fanout.picking import Picked, Unclear, Waiting, read
from bot.fanout.tally import counted, names
from bot.outcome import Outcome
from bot.proposing import Asked, Denied, propose
from bot.text import Text
from gate import assent
from gate.domain import AssentVerdict, ProposalId
from ledger.views import ActionView, ProposalView


def take(core: Core, outcome: Outcome, speaker: Speaker) -> bool:
    """Ask anew for the part that `speaker` names of the fan-out they answer; False where they name none."""
    view = None if speaker.about is None else core.queries.proposal(speaker.about)
    if view is None or view.fanout is None or not view.pending:
        return False
    found = read(speaker.said, _waiting(core, view), agrees=lambda words: _agrees(core, words))
    if found is None:
        return False
    if not may_drop(speaker.operator, view):
        who = view.on_behalf or view.requester
        outcome.note(Text.of(f"Only {who}, who asked, or who may approve it can change #{view.id}."))
    elif isinstance(found, Unclear):
        _leave(outcome, speaker, view, found.why)
    else:
        _replace(core, outcome, speaker, view, found)
    return True


def _waiting(core: Core, view: ProposalView) -> Waiting:
    targets = names(view.pending)
    canary = 0 if view.fanout is None else view.fanout.brake.canary

    def select(word: str) -> Sequence[str] | None:
        found = core.inventory.select(word)
        return [str(one.id) for one in found] if isinstance(found, tuple) else None

    return Waiting(targets=targets, canaries=targets[:canary], select=select)


def _agrees(core: Core, words: str) -> bool:
    """Whether words before the part are a yes, were it a mere "ok": they grant nothing here."""
    found = assent.read(words, lexicons=core.lexicons, bare_ack_grants=True)
    return found.verdict is AssentVerdict.GRANT


def _leave(outcome: Outcome, speaker: Speaker, view: ProposalView, why: str) -> None:
    outcome.say(Text.of(f"{why} Nothing ran, and #{view.id} still waits as it was."))
    outcome.shows.append(view.id)
    outcome.window = (speaker.operator.id, view.id)


def _replace(core: Core, outcome: Outcome, speaker: Speaker, view: ProposalView, picked: Picked) -> None:
    wanted = set(picked.kept)
    kept = [one for one in view.pending if str(one.action.target.id) in wanted]
    proposal = ProposalId(core.ids.short_id())
    asked = Asked(
        requester=view.requester,
        place=view.asked_in,
        shown_in=view.shown_in,
        source="partial",
        replaces=view.id,
        waits=f"part of #{view.id}",
        on_behalf=view.on_behalf,
        pace=pace_of(view, count=len(kept)),
    )
    made = propose(core, outcome, numbered((one.action for one in kept), proposal=proposal), asked)
    if isinstance(made, Denied):
        _leave(outcome, speaker, view, made.reason.text)
        return
    outcome.effects.insert(0, outcome.said(Text.of(_words(kept, picked))))
    supersede(core, outcome, view.id, by=made, place=view.shown_in)
    outcome.shows[:] = [made]
    outcome.window = (speaker.operator.id, made)


def _words(kept: Sequence[ActionView], picked: Picked) -> str:
    return f"Only {counted(kept)}, right? Left out: {folded(picked.left_out)}. Nothing ran."
