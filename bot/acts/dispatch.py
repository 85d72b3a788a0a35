"""From words to an act that is done, asked about or denied: what all acts share (K1, K5, K36 to K41).

A family of acts reads the words and hands over facts; the gate resolves; this records the decision and
carries on: performs at once what is allowed, posts the question with its options, asks for the phrase, or
says why not. Whatever fails on the way is a denial (C9): nothing is done and the person is told.
"""

import json
import logging
from dataclasses import dataclass
from datetime import timedelta

from bot import choices, loosening
from bot.acts import record
from bot.acts.handler import ActHandler, ActRequest, Bound, NothingLeftError, RecordsDenials
from bot.answering import Speaker
from bot.core import Core
from bot.outcome import Outcome
from bot.text import Text, strong
from gate import phrases
from gate.domain import PlaceId, Reason, ReasonCode
from gate.resolve import engine
from gate.resolve.decision import Act, Allow, Clarify, Confirm, Decision, Deny, Slots
from ledger.commitments import OPEN, CommitmentView
from ledger.kinds import Json
from ledger.views import ClarificationView, OptionView

#: Acts that may wait for a person in one place; the oldest gives way (K33).
MAX_OPEN = 20

#: How long the phrase of an act that expired is still known as that.
_REMEMBERED = timedelta(days=1)

#: How long a turn may take until its act is resolved; facts that are older decide nothing.
_LONGEST = timedelta(seconds=30)

_UNHEALTHY = (
    "Blocked: the part of sayso that decides about this is not well. Nothing was done. Tell its owner."
)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    """One request on its way."""

    core: Core
    outcome: Outcome
    speaker: Speaker
    handler: ActHandler
    request: ActRequest

    def resolve(self) -> tuple[Decision, dict[str, Json]]:
        """Let the gate resolve it; whatever is wrong with it or its facts, the answer is no (C9, K4).

        Returns:
            The decision and what is recorded of it.
        """
        asked = engine.Request(
            tool=self.request.tool,
            act=self.request.act,
            args=self.request.slots,
            source=engine.Source.CHAT,
            place=self.outcome.place,
            now=self.outcome.at,
        )
        try:
            found = engine.authorize(asked, resolve=self._resolved)
            if self.core.now() - self.outcome.at > _LONGEST:
                raise TimeoutError("what it was resolved by is old by now")  # noqa: TRY301 - a denial like others
        except Exception:  # noqa: BLE001 - whatever it is, nothing is done and the person is told
            _log.exception("resolving %s failed", self.request.act.value)
            reason = Reason(code=ReasonCode.UNHEALTHY, text=_UNHEALTHY)
            denied = Deny(reason=reason, slots=self.request.slots, because="engine")
            return denied, {"tool": self.request.tool, "source": engine.Source.CHAT.value}
        return found.decision, dict(found.audit.body())

    def _resolved(self, _asked: engine.Request) -> Decision:
        return self.handler.resolve(self.core, self.outcome, self.speaker, self.request)

    def carry_on(self, decision: Decision, *, commitment: str) -> None:
        """Do what the decision says, in the same batch as its record."""
        match decision:
            case Allow(slots=slots):
                self.perform(Bound(commitment=commitment, slots=slots))
            case Clarify():
                self._ask(decision, commitment=commitment)
            case Confirm():
                self._ask_for_phrase(decision, commitment=commitment)
            case Deny(reason=reason):
                if isinstance(self.handler, RecordsDenials):
                    self.handler.denied(self.outcome, self.speaker, self.request, decision, commitment)
                self.outcome.say(Text.of(*choices.masked(self.core, reason.text).splitlines()))

    def perform(self, bound: Bound) -> bool:
        """Do it, and record that it was done, or that there was nothing left to do; whether it was done."""
        try:
            self.handler.perform(self.core, self.outcome, self.speaker, self.request, bound)
        except NothingLeftError as left:
            self.outcome.say(Text.of(str(left)))
            record.left_undone(self.outcome, bound.commitment)
            return False
        record.committed(self.outcome, bound.commitment)
        return True

    def waits_s(self, decision: Decision) -> int:
        """Return the seconds that `decision` waits for a person."""
        policy = self.core.policy
        return record.open_s(
            self.request.act, decision, clarification_s=policy.clarification_s, approval_s=policy.approval_s
        )

    def _ask(self, question: Clarify, *, commitment: str) -> None:
        options = [
            (one.label, json.dumps({"option": one.id, "patch": dict(one.patch)}, ensure_ascii=False))
            for one in question.options
            if one.patch is not None  # every question has a cancel of its own
        ]
        choice = choices.Choice(
            question=question.question,
            options=options,
            open_s=self.waits_s(question),
            commitment=commitment,
            free=question.free,
        )
        choices.ask(self.core, self.outcome, self.speaker, choice)

    def _ask_for_phrase(self, wanted: Confirm, *, commitment: str) -> None:
        core = self.core
        who = loosening.who_types(core.policy, self.speaker.operator)
        question = choices.masked(core, wanted.question)
        phrase = strong(choices.masked(core, wanted.phrase))
        self.outcome.say(Text.of(*question.splitlines(), [f"{who}:  ", phrase]), choice=commitment)


def take(core: Core, outcome: Outcome, speaker: Speaker) -> bool:
    """Do, ask about or deny the act that `speaker` asks for; False where the words ask for none."""
    for handler in core.acts:
        request = handler.read(core, speaker, speaker.sent_at or outcome.at)
        if request is not None:
            begin(core, outcome, speaker, handler, request)
            return True
    return False


def begin(core: Core, outcome: Outcome, speaker: Speaker, handler: ActHandler, request: ActRequest) -> None:
    """Resolve a new request, record it, and carry on."""
    step = _Step(core=core, outcome=outcome, speaker=speaker, handler=handler, request=request)
    commitment = core.ids.short_id()
    decision, audit = step.resolve()
    _make_room(core, outcome, outcome.place)
    record.made(
        outcome,
        request,
        decision,
        commitment=commitment,
        person=speaker.operator.id,
        audit=audit,
        waits_s=step.waits_s(decision),
    )
    step.carry_on(decision, commitment=commitment)


# ---------------------------------------------------------------- answers


def pick(
    core: Core, outcome: Outcome, speaker: Speaker, choice: ClarificationView, option: OptionView
) -> None:
    """Merge a picked option into the act that waits for it, and resolve again. Never consent (C11)."""
    patch = json.loads(option.request)
    _answer(core, outcome, speaker, choice, patch["patch"], option=patch["option"])


def fill(core: Core, outcome: Outcome, speaker: Speaker, choice: ClarificationView) -> None:
    """Take the words of `speaker` as the slot that was asked for."""
    _answer(core, outcome, speaker, choice, {choice.free: speaker.said}, option="words")


def _answer(
    core: Core, outcome: Outcome, speaker: Speaker, choice: ClarificationView, patch: Slots, *, option: str
) -> None:
    view = core.queries.commitment(choice.commitment)
    if view is None or view.state not in OPEN or not view.slots:
        outcome.say(Text.of("That is not open any more. Nothing was done. Ask again."))
        return
    # Words are said now, and "in an hour" in them counts from now; an option was worked out back then (K25).
    at = speaker.sent_at or outcome.at if option == "words" else None
    request = record.request_of(view, patch=patch, at=at)
    step = _Step(
        core=core, outcome=outcome, speaker=speaker, handler=_handler(core, request.act), request=request
    )
    decision, _ = step.resolve()
    record.answered(
        outcome,
        view,
        decision,
        option=option,
        person=speaker.operator.id,
        waits_s=step.waits_s(decision),
    )
    step.carry_on(decision, commitment=view.id)


def confirm(core: Core, outcome: Outcome, speaker: Speaker, *, seen: int) -> bool:
    """Do the act whose phrase was just typed; False when the words are no such phrase.

    Args:
        seen: the newest entry that could be read when it was typed; a phrase that was not asked for yet is
            the request for it, sent twice.
    """
    meant = [
        view
        for view in core.queries.open_commitments()
        # One whose words were pruned has neither slots nor a phrase to type.
        if view.slots and view.asked_seq <= seen and phrases.matches(speaker.said, view.phrase)
    ]
    if not meant:
        return _too_late(core, outcome, speaker)
    # Two people may have asked for the same: it counts for the one whose request this person may confirm.
    refusals = [loosening.refusal(core, view.person, speaker) for view in meant]
    view, refusal = next(
        (both for both in zip(meant, refusals, strict=True) if both[1] is None), (meant[0], refusals[0])
    )
    if refusal is not None:
        outcome.say(Text.of(refusal.text))
        return True
    alone = speaker.operator.id == view.person
    record.confirmed(outcome, view, said=speaker.said, by=speaker.operator.id, alone=alone)
    request = record.request_of(view, patch={})
    step = _Step(
        core=core, outcome=outcome, speaker=speaker, handler=_handler(core, request.act), request=request
    )
    done = step.perform(Bound(commitment=view.id, slots=view.slots))
    _close(outcome, view, f"done, by {speaker.operator.id}" if done else "nothing was done")
    return True


def _too_late(core: Core, outcome: Outcome, speaker: Speaker) -> bool:
    """Say that the phrase that was typed is of an act that expired; False when it is no such phrase."""
    for view in core.queries.expired_commitments(since=outcome.at - _REMEMBERED):
        if phrases.matches(speaker.said, view.phrase):
            record.revive_refused(outcome, view, said=speaker.said, by=speaker.operator.id)
            outcome.say(Text.of("That expired. Nothing was done. Ask again."))
            return True
    return False


def drop(core: Core, outcome: Outcome, speaker: Speaker) -> bool:
    """Drop the newest act of `speaker` here that waits for its phrase; False where there is none."""
    mine = [
        one
        for one in core.queries.open_commitments(outcome.place)
        if one.person == speaker.operator.id and one.phrase
    ]
    if not mine:
        return False
    abort(core, outcome, mine[-1].id, how="cancelled")
    return True


def abort(core: Core, outcome: Outcome, commitment: str, *, how: str) -> None:
    """End an act that waits, as nothing that was done; nothing where it waits no more."""
    view = core.queries.commitment(commitment)
    if view is not None and view.state in OPEN:
        record.aborted(outcome, view, how=how)
        _close(outcome, view, "dropped, nothing was done")


def _close(outcome: Outcome, view: CommitmentView, how: str) -> None:
    if view.phrase:
        outcome.close_choice(view.id, Text.of(how), place=view.place)


def _make_room(core: Core, outcome: Outcome, place: PlaceId) -> None:
    waiting = core.queries.open_commitments(place)
    for view in waiting[: max(0, len(waiting) - MAX_OPEN + 1)]:
        record.aborted(outcome, view, how="pending_cap")


def _handler(core: Core, act: Act) -> ActHandler:
    return next(one for one in core.acts if act in one.acts)


def expire(outcome: Outcome, view: CommitmentView) -> None:
    """Record that nobody answered in time, and let what was asked show it."""
    record.expired(outcome, view)
    _close(outcome, view, "expired, nothing was done")
