"""One turn: an inbound message or click and all that is decided about it.

Reads the facts, asks the gate, and appends one batch: what was received, what was decided, what is to be
shown. Purely synchronous and without effects beyond that append, and what waits for it (`Outcome.after`), so
it can be tried again when it loses a race and tested without a loop. Performing the effects and moving
actions on is `bot.conversation`'s.
"""

import logging
from dataclasses import dataclass, replace

from bot import (
    answering,
    asking,
    changing,
    commands,
    control_words,
    forms,
    loosening,
    moved,
    pairing,
    reasons,
    requests,
    strangers,
)
from bot.acts import dispatch
from bot.answering import Speaker
from bot.cards import Cards
from bot.core import Core
from bot.deciding import decision_on, outdated
from bot.fanout import part
from bot.outcome import Outcome
from bot.places import place_ref_doc
from bot.ports import Form, Inbound, InboundKind
from bot.pressing import Presses, fill
from bot.steering import Steering
from bot.text import Text
from bot.timing import Timing
from gate import phrases
from gate.decide import ChangeAsked, Open, Utterance
from gate.domain import Facts, Manner, PlaceId, ProposalId, TurnId
from gate.policy import Operator
from gate.redact import redact
from ledger.kinds import Json, Kind, LastTurnIs, LostRaceError

#: Losing a race this often means that something else is wrong.
MAX_TRIES = 8

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turns:
    """Takes inbound events one by one.

    Attributes:
        presses: handles pressed buttons.
        steering: carries out control words.
        own_threads: the platforms where what answers a request gets a thread of its own.
    """

    core: Core
    cards: Cards
    presses: Presses
    steering: Steering
    own_threads: frozenset[str] = frozenset()

    def take(
        self, inbound: Inbound, *, inbox: str, seen: int, refers_to: ProposalId | None = None
    ) -> Outcome:
        """Decide about `inbound` and record it.

        Args:
            inbox: key of the committed inbox row, finished by the same batch.
            seen: the newest entry whose answer was on the screen when this arrived (X2).
            refers_to: the proposal whose card the message answers explicitly.

        Returns:
            What stands in the ledger now and what is to be done about it.

        Raises:
            LedgerError: nothing was written, so nothing may happen.
        """
        for attempt in range(MAX_TRIES):
            try:
                decided = self.core.stopwatch(Timing.TURN)
                outcome = self._compose(inbound, seen=seen, refers_to=refers_to)
                decided()
                self.core.probe("turn.composed")
                self.core.ledger.append(outcome.batch(inbox=inbox))
            except LostRaceError:
                if attempt == MAX_TRIES - 1:
                    raise
                continue
            self.core.probe("turn.recorded")
            _finish(outcome)
            return outcome
        raise AssertionError("unreachable: the last try raises")

    def nothing(self, inbound: Inbound) -> Outcome:
        """Return the outcome of a message that is not for sayso."""
        return self._new_outcome(inbound)

    def form_for(self, inbound: Inbound) -> Form | None:
        """Return the form that a press opens; nothing is decided or recorded."""
        return forms.form_for(self.core, self.cards, inbound)

    def crashed(self, inbound: Inbound, *, inbox: str, error: BaseException) -> Outcome:
        """Record a turn that failed inside sayso: it ran nothing, and says so."""
        outcome = self._new_outcome(inbound)
        operator = self._operator(inbound)
        self._received(outcome, inbound, operator, kind=Kind.TURN_CRASHED)
        what = redact(f"{type(error).__name__}: {error}", extra=self.core.secrets).text
        if operator is not None:  # strangers are told nothing, of faults neither (P11)
            outcome.say(
                Text.of(
                    "That failed inside sayso. Nothing ran from this message.",
                    f"Recorded as: {what[:200]}",
                )
            )
        crash = outcome.drafts[0]
        outcome.drafts[0] = replace(crash, body={**crash.body, "error": what[:500]})
        self.core.ledger.append(outcome.batch(inbox=inbox))
        return outcome

    def too_late(self, inbound: Inbound, *, inbox: str, words: str) -> Outcome:
        """Record a message that waited out an absence of sayso and is too old to act on."""
        outcome = self._new_outcome(inbound)
        operator = self._operator(inbound)
        self._received(outcome, inbound, operator, kind=Kind.TURN_RECEIVED)
        if operator is not None and inbound.kind is not InboundKind.EDIT:
            outcome.say(Text.of(words))
        self.core.ledger.append(outcome.batch(inbox=inbox))
        return outcome

    # ------------------------------------------------------------ composing

    def _compose(self, inbound: Inbound, *, seen: int, refers_to: ProposalId | None) -> Outcome:
        core = self.core
        outcome = self._new_outcome(inbound)
        place = outcome.place
        if inbound.kind is InboundKind.MOVED:
            moved.record(core, outcome, inbound)
            return outcome
        operator = self._operator(inbound)
        last = core.queries.last_turn(place)
        if inbound.kind is InboundKind.MESSAGE:
            outcome.expect(LastTurnIs(place, None if last is None else last[0]))
        if operator is None:
            self._received(outcome, inbound, operator, kind=Kind.TURN_RECEIVED)
            strangers.answer(core, outcome, inbound)
            return outcome
        own_thread = bool(inbound.place.thread) and inbound.place.platform in self.own_threads
        facts = self._facts(place, operator, seen, own_thread=own_thread)
        consumes: Json = facts.window is not None
        if consumes and own_thread:
            consumes = "everybody's"
        self._received(outcome, inbound, operator, kind=Kind.TURN_RECEIVED, consumes=consumes)
        speaker = Speaker(
            operator=operator,
            said=inbound.text,
            event=inbound.event_id,
            zone=core.zone_for(operator.id),
            alone=inbound.direct,
            sent_at=inbound.sent_at,
            reply_to=inbound.reply_to,
            about=refers_to or (facts.window.proposal if facts.window is not None else None),
            seen=seen,
        )
        engaged = inbound.addressed or (own_thread and facts.window is not None)
        engaged = engaged or (last is not None and last[1] == operator.id)
        if inbound.kind is InboundKind.CLICK:
            self.presses.press(outcome, facts, speaker, inbound.token, inbound.place.platform)
        elif inbound.kind is InboundKind.FORM:
            fill(core, outcome, facts, speaker, inbound.token)
        elif pairing.known(core, outcome, inbound, operator):
            pass
        elif inbound.kind is InboundKind.MESSAGE and not inbound.forwarded:
            utterance = Utterance(
                person=operator,
                text=inbound.text,
                refers_to=refers_to,
                manner=Manner.WORDS if refers_to is None else Manner.REPLY,
                engaged=engaged,
                own_thread=own_thread,
                unread=self._unread(facts, inbound.text, seen),
                outdated=outdated(core, refers_to, seen=seen),
            )
            self._message(outcome, facts, speaker, utterance, seen=seen)
        self._answered(outcome)
        return outcome

    def _facts(self, place: PlaceId, operator: Operator, seen: int, *, own_thread: bool) -> Facts:
        """Return the facts; a window that opened after the words were said is none for them (D2, X2).

        In a card's own thread the next message counts whichever operator it comes from.
        """
        queries = self.core.queries
        facts = queries.facts(place, operator.id)
        if own_thread and len(theirs := queries.windows(place)) == 1:
            facts = replace(facts, window=replace(theirs[0], person=operator.id))
        window = facts.window
        if window is None:
            return facts
        unseen = queries.answered_after(window.opened_by, seen)
        if unseen or not queries.was_shown(window.proposal, place):
            return replace(facts, window=None)
        return facts

    def _unread(self, facts: Facts, text: str, seen: int) -> frozenset[ProposalId]:
        """Return the proposals of which `text` is the phrase and whose card it cannot answer (C16, X2).

        Its card was not shown before; or no card of it is here, and the words are as good a request.
        """
        core = self.core
        typed = {one.proposal for one in facts.pending if one.phrase and phrases.matches(text, one.phrase)}
        if not typed:
            return frozenset()
        requests = bool(asking.requested(core, text))
        return frozenset(
            one
            for one in typed
            if not (shown := core.queries.cards_shown(one, by=seen)).get(
                facts.place, any(shown.values()) and (one in text or not requests)
            )
        )

    def _operator(self, inbound: Inbound) -> Operator | None:
        """Return who speaks; None for strangers, and for apps in whoever's name."""
        return None if inbound.account.is_bot else self.core.find(inbound.account.key)

    def _new_outcome(self, inbound: Inbound) -> Outcome:
        core = self.core
        return Outcome(
            at=core.now(),
            place=core.place_of(inbound.place),
            turn=TurnId(core.ids.token()),
            new_nonce=core.ids.token,
            account=inbound.account,
        )

    def _received(
        self,
        outcome: Outcome,
        inbound: Inbound,
        operator: Operator | None,
        *,
        kind: Kind,
        consumes: Json = True,
    ) -> None:
        fresh = inbound.kind is InboundKind.MESSAGE and not inbound.forwarded
        outcome.write(
            kind,
            body={
                "turn": outcome.turn,
                "place": outcome.place,
                "place_ref": place_ref_doc(inbound.place),
                "direct": inbound.direct,
                "person": "" if operator is None else operator.id,
                "account": inbound.account.key,
                "event": inbound.event_id,
                "kind": inbound.kind.value,
                "consumes_window": consumes if fresh and operator is not None else False,
                "rehearsal": self.core.rehearsal,
            },
            # Of a stranger it is recorded that they came, not what they said (P11).
            words={} if operator is None else {"text": inbound.text},
        )

    def _answered(self, outcome: Outcome) -> None:
        window = outcome.window
        if window is not None and set(outcome.shows) != {window[1]}:
            window = None
        outcome.write(
            Kind.TURN_ANSWERED,
            body={
                "turn": outcome.turn,
                "place": outcome.place,
                "shows": list(dict.fromkeys(outcome.shows)),
                "window": None if window is None else {"person": window[0], "proposal": window[1]},
            },
        )

    # ------------------------------------------------------------ messages

    def _message(
        self,
        outcome: Outcome,
        facts: Facts,
        speaker: Speaker,
        utterance: Utterance,
        *,
        seen: int,
    ) -> None:
        core = self.core
        command = control_words.parse(speaker.said)
        if self.steering.tighten(outcome, speaker, command):
            return
        if _typed(core, outcome, speaker, seen=seen):
            return
        if command is not None and not _is_about_what_waits(command, facts):
            self.steering.carry_out(outcome, facts, speaker, command)
            return
        first = utterance.engaged and requests.first(core, outcome, speaker, waits=facts.window is not None)
        if first or reasons.take(core, outcome, speaker, facts) or part.take(core, outcome, speaker):
            return
        decision = decision_on(core, facts, utterance)
        if isinstance(decision, Open):
            if command is not None:
                self.steering.carry_out(outcome, facts, speaker, command)
            elif utterance.engaged:
                requests.take(core, outcome, speaker)
            return
        if isinstance(decision, ChangeAsked) and changing.take(core, outcome, speaker, decision):
            return
        answering.apply(core, outcome, decision, speaker)


def _finish(outcome: Outcome) -> None:
    """Do what waited for the batch to stand; what fails is done by the next start, from the ledger."""
    for one in outcome.after:
        try:
            one()
        except Exception:
            log.exception("what was recorded is not in effect yet")


def _typed(core: Core, outcome: Outcome, speaker: Speaker, *, seen: int) -> bool:
    """Carry out that whose phrase was typed: a loosening or an act; False for other words."""
    return loosening.loosen(core, outcome, speaker, seen=seen) or dispatch.confirm(
        core, outcome, speaker, seen=seen
    )


def _is_about_what_waits(command: commands.Command, facts: Facts) -> bool:
    """Whether a control word is first of all an answer to what waits ("cancel", "what depends on it")."""
    if facts.window is None:
        return False
    match command:
        case commands.Cancel(ref=None):
            return True
        case commands.DependsOn(name=None, ref=None):
            return True
        case _:
            return False
