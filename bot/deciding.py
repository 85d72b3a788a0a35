"""Deciding: puts an utterance before the gate, and so an answer that names its proposal by id or button."""

from dataclasses import dataclass, replace

from bot import answering, controls
from bot.answering import Speaker
from bot.core import Core
from bot.fanout.picking import names_some
from bot.fanout.repacing import is_spoken_of
from bot.hearing import reader
from bot.outcome import Outcome
from gate.decide import AskedAgain, Choice, Decision, Granted, Utterance, Voted, decide
from gate.domain import Facts, Manner, ProposalId
from ledger import waiting


def decision_on(core: Core, facts: Facts, utterance: Utterance) -> Decision:
    """Return what the gate makes of `utterance`; a yes that may be to some of many is asked about again."""
    decision = decide(facts, utterance, policy=core.policy_now(), read=reader(core), now=core.now())
    if isinstance(decision, Granted | Voted) and (because := _no_plain_yes(decision, utterance)):
        return AskedAgain(approvals=decision.approvals, because=because)
    return decision


def _no_plain_yes(decision: Granted | Voted, utterance: Utterance) -> str:
    """Return why words that agree may be to less than all of a fan-out; "" where they are not.

    Assent is read against one target alone, so it knows neither the others nor the pace.
    """
    first = decision.approvals[0]
    if not first.fanout or utterance.choice is not None or decision.manner is Manner.PHRASE:
        return ""
    targets = [str(one.action.target.id) for one in decision.approvals]
    if names_some(utterance.text, targets=targets, command=first.action.command):
        return "names some of them, and the card is for all"
    return "says how they are to go, and the card goes otherwise" if is_spoken_of(utterance.text) else ""


def outdated(core: Core, proposal: ProposalId | None, *, seen: int | None) -> bool:
    """Whether what waits of `proposal` was asked anew after the newest entry that was `seen`."""
    if proposal is None or seen is None:
        return False
    return waiting.asked_anew(core.ledger.reader(), proposal, since=seen)


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """An answer that names what it answers; `index` is the one action of the proposal, None for all of it."""

    proposal: ProposalId
    choice: Choice
    reason: str = ""
    manner: Manner = Manner.COMMAND
    index: int | None = None


def answer_about(core: Core, outcome: Outcome, facts: Facts, speaker: Speaker, named: Named) -> None:
    """Decide about one proposal that was named, by id or by button."""
    if core.queries.proposal(named.proposal) is None:
        controls.unknown_id(core, outcome, speaker, named.proposal)
        return
    utterance = Utterance(
        person=speaker.operator,
        text=named.reason,
        refers_to=named.proposal,
        index=named.index,
        choice=named.choice,
        manner=named.manner,
        # A button is of one card, and dead once that was asked anew.
        outdated=named.manner is not Manner.BUTTON and outdated(core, named.proposal, seen=speaker.seen),
    )
    decision = decision_on(core, facts, utterance)
    answering.apply(core, outcome, decision, replace(speaker, about=named.proposal))
