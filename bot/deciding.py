"""Deciding: puts an utterance before the gate, and so an answer that names its proposal by id or button."""

from dataclasses import dataclass, replace

from bot import answering, controls
from bot.answering import Speaker
from bot.core import Core
from bot.hearing import reader
from bot.outcome import Outcome
from gate.decide import Choice, Decision, Utterance, decide
from gate.domain import Facts, Manner, ProposalId


def decision_on(core: Core, facts: Facts, utterance: Utterance) -> Decision:
    """Return what the gate makes of `utterance`."""
    return decide(facts, utterance, policy=core.policy_now(), read=reader(core), now=core.now())


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
    )
    decision = decision_on(core, facts, utterance)
    answering.apply(core, outcome, decision, replace(speaker, about=named.proposal))
