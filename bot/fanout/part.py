"""A fan-out otherwise: "yes, but not web3", "yes, but no canary" make a new card that replaces the old (X14).

Nothing runs from it: the new card takes a yes of its own, whatever the gate would let run by itself. What
cannot be told for certain leaves the card as it is.
"""

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial

from bot.answering import Speaker, supersede
from bot.controls import may_drop
from bot.core import Core
from bot.fanout import picking, repacing
from bot.fanout.anew import numbered, pace_of
from bot.fanout.folding import folded
from bot.fanout.picking import Picked, Unclear, Waiting
from bot.fanout.tally import counted, names
from bot.outcome import Outcome
from bot.planning import pacing
from bot.planning.pacing import Said
from bot.proposing import Asked, Denied, propose
from bot.text import Text
from gate import assent
from gate.domain import AssentVerdict, ProposalId, strictest
from gate.fanout import FROM, Pace, brake_for
from ledger.views import ActionView, ProposalView


def take(core: Core, outcome: Outcome, speaker: Speaker) -> bool:
    """Ask anew for what `speaker` wants otherwise of the fan-out they answer; False where that is nothing."""
    view = None if speaker.about is None else core.queries.proposal(speaker.about)
    if view is None or view.fanout is None or not view.pending:
        return False
    agrees = partial(_agrees, core)
    found = picking.read(speaker.said, _waiting(core, view), agrees=agrees) or repacing.read(
        speaker.said, names(view.pending), canaries=view.fanout.brake.canary, agrees=agrees
    )
    if found is None:
        return False
    if not may_drop(speaker.operator, view):
        who = view.on_behalf or view.requester
        outcome.note(Text.of(f"Only {who}, who asked, or who may approve it can change #{view.id}."))
    elif isinstance(found, Unclear):
        _leave(outcome, speaker, view, found.why)
    elif isinstance(found, Said):
        _repace(core, outcome, speaker, view, found)
    else:
        _pick(core, outcome, speaker, view, found)
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


def _pick(core: Core, outcome: Outcome, speaker: Speaker, view: ProposalView, picked: Picked) -> None:
    wanted = set(picked.kept)
    kept = [one for one in view.pending if str(one.action.target.id) in wanted]
    words = f"Only {counted(kept)}, right? Left out: {folded(picked.left_out)}. Nothing ran."
    pace = pace_of(view, count=len(kept))
    _replace(core, outcome, speaker, view, kept, pace=pace, words=words)


def _repace(core: Core, outcome: Outcome, speaker: Speaker, view: ProposalView, said: Said) -> None:
    count = len(view.pending)
    if count < FROM:
        _leave(outcome, speaker, view, f"{counted(view.pending)} left: too few for another pace.")
        return
    pace = repacing.changed(pace_of(view, count=count) or Pace(), said)
    by_name = {str(one.action.target.id): one for one in view.pending}
    kept = [by_name[name] for name in pacing.ordered(list(by_name), said.first)]
    risk = strictest(*(one.verdict.risk for one in kept))
    as_it_is = Pace() if view.fanout is None else Pace(**asdict(view.fanout.brake))
    before, after = (brake_for(one, count=count, risk=risk) for one in (as_it_is, pace))
    if before == after and kept == list(view.pending):
        _leave(outcome, speaker, view, "That is how it goes already.")
        return
    first = [f"{', '.join(said.first)} first"] if said.first else []
    words = f"{', '.join(filter(None, [*first, pacing.words(said.pace)]))}, right? Nothing ran."
    _replace(core, outcome, speaker, view, kept, pace=pace, words=words[:1].upper() + words[1:])


def _replace(
    core: Core,
    outcome: Outcome,
    speaker: Speaker,
    view: ProposalView,
    kept: Sequence[ActionView],
    *,
    pace: Pace | None,
    words: str,
) -> None:
    """Put a card of `kept` in the place of that of `view`."""
    proposal = ProposalId(core.ids.short_id())
    asked = Asked(
        requester=view.requester,
        place=view.asked_in,
        shown_in=view.shown_in,
        source="partial",
        replaces=view.id,
        waits=f"in place of #{view.id}",
        on_behalf=view.on_behalf,
        pace=pace,
        # how they were named stays true where all of them stay
        selector=view.fanout.selector if view.fanout and len(kept) == len(view.actions) else (),
    )
    made = propose(core, outcome, numbered((one.action for one in kept), proposal=proposal), asked)
    if isinstance(made, Denied):
        _leave(outcome, speaker, view, made.reason.text)
        return
    outcome.effects.insert(0, outcome.said(Text.of(words)))
    supersede(core, outcome, view.id, by=made, place=view.shown_in)
    outcome.shows[:] = [made]
    outcome.window = (speaker.operator.id, made)
