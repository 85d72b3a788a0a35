"""Forms: what a press asks to be typed, and what becomes of it when it comes back (P9).

A form is opened as the answer to a press and holds one field: the phrase of destructive work, why somebody
said no, or the request of a card to be changed. Its token is bound to what was on the card, so an answer that
comes after the card has changed is told so. Where a platform has no forms, a reply to a message that asks is
handled the same way. Nothing here grants: a typed phrase goes the way of every other answer.
"""

from dataclasses import replace

from bot import asking, tokens
from bot.answering import Speaker
from bot.card_question import shown_key
from bot.cards import Cards, how_ended
from bot.controls import may_drop
from bot.core import Core
from bot.fanout.anew import pace_of
from bot.outcome import Outcome
from bot.planning.drafts import ActionDraft, Plan
from bot.planning.grammar import request_text
from bot.ports import Form, Inbound
from bot.runbooks import inputs
from bot.text import Text, strong
from gate.domain import ProposalId
from gate.lifecycle import NOT_STARTED
from gate.redact import redact_command
from ledger.kinds import Kind
from ledger.views import ActionView, ProposalView

_HINT_MAX = 60
_LABEL_MAX = 45


def form_for(core: Core, cards: Cards, inbound: Inbound) -> Form | None:
    """Return the form that a press opens; None for the presses that open none, and for strangers'."""
    claim = tokens.parse(inbound.token)
    operator = core.find(inbound.account.key)
    if claim is None or operator is None or inbound.account.is_bot:
        return None
    if claim.choice == tokens.FILL:
        return inputs.form_for(core, claim, inbound.token, operator.id)
    view = core.queries.proposal(ProposalId(claim.subject))
    return _form_of(core, view, claim.choice) if view and cards.is_live(inbound.token, view) else None


def _form_of(core: Core, view: ProposalView, choice: str) -> Form | None:
    match choice:
        case tokens.TYPE:
            return _phrase_form(core, view)
        case tokens.DENY:
            token = reason_token(core, view.id)
            return Form(token=token, title="Denied", label="Why?", lines=True, required=False)
        case tokens.EDIT:
            return _edit_form(core, view)
        case _:
            return None


def reason_token(core: Core, proposal: ProposalId) -> str:
    """Return the token of the form that asks why `proposal` was refused."""
    return tokens.make(core.token_key, choice=tokens.REASON_FORM, subject=proposal, shown=tokens.REASON_SHOWN)


def say_phrase(core: Core, outcome: Outcome, view: ProposalView, *, privately: bool) -> None:
    """Ask in words for the phrase of `view`: `privately` beside a form that may not have opened in time."""
    form = _phrase_form(core, view)
    if form is not None:
        text = Text.of(["To run it, type:  ", strong(_phrase(view) or "")])
        _ask(outcome, text, (view.id, form.token, form.hint), privately=privately)


def say_edit(core: Core, outcome: Outcome, view: ProposalView, *, privately: bool) -> None:
    """Ask in words for a changed request; `privately` as above."""
    text = Text.of(f"Say it whole, with your change:  edit {view.id} run <command> on <target>")
    _ask(outcome, text, (view.id, _edit_token(core, view), "run <command> on <target>"), privately=privately)


def _ask(outcome: Outcome, text: Text, asks: tuple[ProposalId, str, str], *, privately: bool) -> None:
    if privately:
        outcome.note(text)
    else:
        outcome.say(text, asks=asks)


def submit(core: Core, outcome: Outcome, speaker: Speaker, claim: tokens.Claim, token: str) -> str | None:
    """Take what a form brought; return the words that go the way of an answer to the card, if any do."""
    view = core.queries.proposal(ProposalId(claim.subject))
    if view is None:
        outcome.note(Text.of("That form belongs to nothing here. Nothing ran."))
        return None
    if claim.choice == tokens.REASON_FORM:
        _give_reason(core, outcome, speaker, view.id, token)
        return None
    if not view.pending or not tokens.is_valid(core.token_key, token, shown=shown_key(view.pending)):
        outcome.note(Text.of(how_ended(view, zone=speaker.zone, now=outcome.at)))
        return None
    if claim.choice == tokens.EDIT_FORM:
        edit(core, outcome, speaker, view, speaker.said)
        return None
    return speaker.said


def edit(core: Core, outcome: Outcome, speaker: Speaker, view: ProposalView, request: str) -> None:
    """Propose `request` instead of `view`, whose card is dead then (X14)."""
    if not view.pending:
        outcome.note(Text.of(how_ended(view, zone=speaker.zone, now=outcome.at)))
        return
    if not may_drop(speaker.operator, view):
        outcome.note(
            Text.of(f"Only {view.requester}, who asked, or who may approve it can change #{view.id}.")
        )
        return
    asking.instead(core, outcome, speaker, view, request)


def _give_reason(core: Core, outcome: Outcome, speaker: Speaker, proposal: ProposalId, token: str) -> None:
    owed = core.queries.owes(proposal, speaker.operator.id)
    if not owed or not tokens.is_valid(core.token_key, token, shown=tokens.REASON_SHOWN):
        outcome.note(Text.of(f"No reason is owed for #{proposal} any more."))
        return
    if not speaker.said.strip():
        return
    outcome.write(
        Kind.REASON_GIVEN,
        correlation_id=proposal,
        body={"proposal": proposal, "by": speaker.operator.id, "reason_state": "given"},
        words={"reason": speaker.said},
    )
    outcome.say(Text.of(f"Noted with #{proposal}."))


def _phrase_form(core: Core, view: ProposalView) -> Form | None:
    phrase = _phrase(view)
    if phrase is None:
        return None
    token = tokens.make(
        core.token_key, choice=tokens.PHRASE_FORM, subject=view.id, shown=shown_key(view.pending)
    )
    label = phrase if len(phrase) <= _LABEL_MAX else "The phrase on the card"
    return Form(token=token, title="Type the phrase", label=label, hint=phrase[:_HINT_MAX])


def _phrase(view: ProposalView) -> str | None:
    found = (one.approval.phrase for one in view.pending if one.approval is not None)
    return next((phrase for phrase in found if phrase), None)


def _edit_form(core: Core, view: ProposalView) -> Form | None:
    """Return the form to change a request in; None where its text would not read back as the same."""
    drafts = drafts_of(core, view)
    request = "\n".join(map(request_text, drafts))
    read = asking.planned(core, request)
    same = isinstance(read, Plan) and [replace(one, purpose="") for one in read.drafts] == drafts
    if not same or redact_command(request, extra=core.secrets).count:
        return None
    return Form(
        token=_edit_token(core, view),
        title="Change the request",
        label="Request",
        initial=request,
        lines=True,
    )


def _edit_token(core: Core, view: ProposalView) -> str:
    return tokens.make(
        core.token_key, choice=tokens.EDIT_FORM, subject=view.id, shown=shown_key(view.pending)
    )


def drafts_of(core: Core, view: ProposalView) -> list[ActionDraft]:
    """Return what would ask for all of `view` that has not started; of a fan-out it is one command."""
    left = [one for one in view.actions if one.state in NOT_STARTED]
    pace = pace_of(view, count=len(left))
    if pace is None or not left:
        return [draft_of(core, one) for one in left]
    targets = tuple(str(one.action.target.id) for one in left)
    return [replace(draft_of(core, left[0]), target_words=targets, pace=pace)]


def draft_of(core: Core, one: ActionView) -> ActionDraft:
    """Return what would ask for `one`; a limit that holds without being asked for is not named."""
    action = one.action
    return ActionDraft(
        target_words=(str(action.target.id),),
        command=action.command,
        purpose="",
        timeout_s=None
        if action.timeout_s == core.settings.number("bot.action_timeout_s")
        else action.timeout_s,
        workdir=action.workdir,
        verify=action.verify,
    )
