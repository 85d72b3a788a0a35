"""Presses and forms: what a token that came back is worth (P3, C25).

Author, place and the state of what it is about are checked on every press; whatever is wrong with one is told
to whoever pressed and to nobody else. What a form brings goes the way of a reply to the card.
"""

from dataclasses import dataclass, replace

from bot import answering, controls, forms, requests, tokens
from bot.answering import Speaker, record_denial
from bot.cards import Cards
from bot.core import Core
from bot.deciding import Named, answer_about, decision_on
from bot.outcome import Outcome
from bot.runbooks import stopping
from bot.text import Text
from gate.decide import Choice, Rejected, Utterance
from gate.domain import Facts, Manner, ProposalId, Reason, ReasonCode
from ledger.views import ProposalView

_NO_SUCH_BUTTON = Reason(
    code=ReasonCode.UNKNOWN_ID, text="That button belongs to nothing here. pending lists what waits."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Presses:
    """Handles pressed buttons. `with_forms` are the platforms that show the form that a press opens."""

    core: Core
    cards: Cards
    with_forms: frozenset[str] = frozenset()

    def press(self, outcome: Outcome, facts: Facts, speaker: Speaker, token: str, platform: str) -> None:
        """Handle a press of the button that carries `token`."""
        core = self.core
        claim = tokens.parse(token)
        if claim is None:
            _no_such_button(outcome, speaker)
        elif claim.choice == tokens.PICK:
            requests.press(core, outcome, speaker, claim, token)
        elif claim.choice == tokens.ROLLBACK:
            stopping.press(core, outcome, replace(speaker, said="[Roll back]"), claim, token)
        elif claim.choice == tokens.DROP:
            requests.press_drop(core, outcome, speaker, claim, token)
        elif claim.choice == tokens.FILL:
            requests.press_fill(core, outcome, speaker, claim, token, opens=platform in self.with_forms)
        else:
            view = core.queries.proposal(ProposalId(claim.subject))
            if view is None or claim.choice not in tokens.LABELS:
                _no_such_button(outcome, speaker)
                return
            pressed = replace(speaker, said=f"[{tokens.LABELS[claim.choice]}]", about=view.id)
            if not self.cards.is_live(token, view):
                reason = Reason(code=ReasonCode.ALREADY_DECIDED, text="That button is of an older card.")
                answering.apply(core, outcome, Rejected(reason=reason), pressed)
            elif claim.choice in _ANSWERS:
                named = Named(proposal=view.id, choice=_ANSWERS[claim.choice], manner=Manner.BUTTON)
                answer_about(core, outcome, facts, pressed, named)
            else:
                self._look(outcome, pressed, view, claim.choice, opens=platform in self.with_forms)

    def _look(
        self, outcome: Outcome, pressed: Speaker, view: ProposalView, choice: str, *, opens: bool
    ) -> None:
        """Handle a press that decides nothing; `opens` where its form was shown."""
        match choice:
            case tokens.PREVIEW:
                controls.preview(self.core, outcome, pressed, view)
            case tokens.TYPE:
                forms.say_phrase(self.core, outcome, view, privately=opens)
            case tokens.EDIT:
                forms.say_edit(self.core, outcome, view, privately=opens)
            case _:
                outcome.say(self.cards.details(view, now=outcome.at, zone=pressed.zone))


_ANSWERS = {tokens.APPROVE: Choice.APPROVE, tokens.DENY: Choice.DENY}


def fill(core: Core, outcome: Outcome, facts: Facts, speaker: Speaker, token: str) -> None:
    """Handle a form that was filled in, in `speaker`'s words."""
    claim = tokens.parse(token)
    if claim is None or claim.choice in tokens.LABELS:
        _no_such_button(outcome, speaker)
        return
    if claim.choice == tokens.FILL_FORM:
        requests.submit_fill(core, outcome, speaker, claim, token)
        return
    said = forms.submit(core, outcome, speaker, claim, token)
    if said is None:
        return
    about = ProposalId(claim.subject)
    utterance = Utterance(person=speaker.operator, text=said, refers_to=about, manner=Manner.REPLY)
    answering.apply(core, outcome, decision_on(core, facts, utterance), replace(speaker, about=about))


def _no_such_button(outcome: Outcome, speaker: Speaker) -> None:
    outcome.note(Text.of(_NO_SUCH_BUTTON.text))
    record_denial(outcome, _NO_SUCH_BUTTON, person=speaker.operator.id, said=speaker.said)
