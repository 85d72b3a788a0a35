"""Strangers: whoever is no operator gets nothing run and nothing revealed (P11).

A press by one is answered, in few words, since it would spin for ever; a code that links their account is
taken; everything else is left without an answer.
"""

from bot import pairing
from bot.core import Core
from bot.outcome import Outcome
from bot.ports import Inbound, InboundKind
from bot.text import Text


def answer(core: Core, outcome: Outcome, inbound: Inbound) -> None:
    """Answer a stranger where that is needed."""
    if inbound.account.is_bot:
        return
    if core.rehearsal:
        known = ", ".join(str(one.id) for one in core.policy.operators)
        outcome.say(Text.of(f"{inbound.account.user} is no operator here. Operators: {known}."))
    elif inbound.kind in (InboundKind.CLICK, InboundKind.FORM):
        outcome.note(Text.of("Only operators decide here. Nothing ran."))
    elif inbound.kind is InboundKind.MESSAGE and not pairing.expose(core, outcome, inbound):
        pairing.take(core, outcome, inbound)
