"""Remembering and forgetting by words: the facts for the gate, and the entries that change the memory.

What a fact is, and what it displaces, is decided by `gate.resolve.facts`; the ledger holds to the trust of
sources by itself. The rules it owns: a person's word is one only where the whole message says so, whatever a
tool was called with; what was told in a direct message is its teller's alone; whoever changes what is
remembered is told what that is from then on, and what it displaced.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from bot import memory
from bot.acts import fact_requests
from bot.acts.fact_requests import Forget, Remember
from bot.acts.handler import ActRequest, Bound
from bot.answering import Speaker
from bot.core import Core
from bot.outcome import Outcome
from bot.recalling import told_in_words
from bot.text import Text, muted
from bot.zones import zones_in
from gate.redact import redact
from gate.resolve import fact_words, facts, stated
from gate.resolve.decision import Act, Decision, Deny, Slots
from gate.resolve.fact_words import Told
from gate.resolve.facts import AT, Held, Known
from gate.trust import BLOCKED, LOWER_TRUST, Source, may_supersede
from ledger.beliefs import BeliefState, BeliefView, Fact, packed
from ledger.kinds import Json, Kind, RowIs

#: The slot that says that a fact is for everybody, wherever it was told.
_SHARED = "shared"
#: What a tool may say of a fact; everything else in its arguments is left aside.
_OF_TOOLS = ("subject", "predicate", "object")


class FactActs:
    """Reads, resolves and performs what is remembered and forgotten. Holds nothing."""

    acts = frozenset({Act.STORE_FACT, Act.REVISE_FACT, Act.FORGET_FACT})

    def read(self, core: Core, speaker: Speaker, request_at: datetime) -> ActRequest | None:
        """Return what the message wants remembered or forgotten; None where it wants neither."""
        match fact_requests.asked(speaker.said):
            case Remember(text=text, loose=loose, shared=shared):
                told = _split(core, speaker, text)
                if loose and told.whole:
                    return None
                slots = {"text": text, _SHARED: "yes" if shared else ""}
                act = Act.REVISE_FACT if _alike(core, speaker, told, slots) else Act.STORE_FACT
            case Forget() as wanted:
                subject = _named(core, speaker, wanted)
                # Beside a card, "forget the restart" is about that.
                if not _called(core, speaker, subject) and core.queries.pending():
                    return None
                act, slots = Act.FORGET_FACT, {"subject": subject}
            case _:
                return None
        return ActRequest(act=act, slots=slots, said=speaker.said, request_at=request_at, tool=_TOOLS[act])

    def resolve(self, core: Core, outcome: Outcome, speaker: Speaker, request: ActRequest) -> Decision:
        """Let the gate resolve it, beside what is held."""
        source = _source(request)
        slots = request.slots
        if source is not Source.USER_EXPLICIT:
            slots = {name: slots[name] for name in _OF_TOOLS if name in slots}
        if request.act is Act.FORGET_FACT:
            held = _called(core, speaker, slots.get("subject", ""))
            return facts.forget(
                slots, _known(core, outcome, speaker, request, slots=slots, held=held, source=source)
            )
        told = _told(core, speaker, slots)
        held = _alike(core, speaker, told, slots)
        known = _known(core, outcome, speaker, request, slots=slots, held=held, source=source)
        return facts.store(slots, told, known)

    def perform(
        self, core: Core, outcome: Outcome, speaker: Speaker, request: ActRequest, bound: Bound
    ) -> None:
        """Record it and say what is remembered now."""
        if request.act is Act.FORGET_FACT:
            _forget(core, outcome, speaker, bound)
        elif bound.slots.get("held", ""):
            outcome.say(
                Text.of(f"That is remembered already: {_wording(core, outcome, speaker, bound.slots)}.")
            )
        else:
            _store(core, outcome, speaker, bound)

    def denied(
        self, outcome: Outcome, speaker: Speaker, request: ActRequest, decision: Deny, commitment: str
    ) -> None:
        """Record a fact that did not take the place of one that is trusted more (K28)."""
        if request.act is Act.FORGET_FACT or not decision.because.startswith(BLOCKED):
            return
        slots = decision.slots
        body: dict[str, Json] = {name: slots[name] for name in ("predicate", "source")}
        fact = Fact(about=slots["subject"], object=slots["object"], kind=slots["kind"], said=request.said)
        _block(
            outcome, {**body, "person": speaker.operator.id}, fact, held=slots["supersedes"], act=commitment
        )


HANDLER = FactActs()

#: The tools that ask for it; see `gate.effects`.
_TOOLS = {Act.STORE_FACT: "remember", Act.REVISE_FACT: "revise", Act.FORGET_FACT: "forget"}


# ---------------------------------------------------------------- what is asked for


def _source(request: ActRequest) -> Source:
    """Return whose word it is: a person's only where their whole message says so."""
    wanted = fact_requests.asked(request.said)
    by_words = isinstance(wanted, Forget) if request.act is Act.FORGET_FACT else isinstance(wanted, Remember)
    return Source.USER_EXPLICIT if by_words else Source.LLM_INFERRED


def _split(core: Core, speaker: Speaker, text: str) -> Told:
    remembered = memory.anchors(core, speaker.operator.id, alone=speaker.alone)
    return fact_words.split(text, remembered=remembered, zones=zones_in(text))


def _told(core: Core, speaker: Speaker, slots: Slots) -> Told:
    if "text" in slots:
        return _split(core, speaker, slots["text"])
    said, subject = slots.get("object", ""), slots.get("subject", "")
    is_time = bool(subject and said) and stated.read(said, speaker.zone) is not None
    return Told(
        subject=subject, time=said if is_time else "", object="" if is_time else said, definite=is_time
    )


def _named(core: Core, speaker: Speaker, wanted: Forget) -> str:
    """Return the name of what is to be forgotten."""
    if not wanted.sentence:
        return wanted.text
    told = _split(core, speaker, wanted.text)
    return wanted.text if told.whole else told.subject


def _is_private(speaker: Speaker, slots: Slots) -> bool:
    """Whether a fact is its teller's alone: told in private, and not said to be for everybody."""
    return speaker.alone and not slots.get(_SHARED, "")


def _key(core: Core, speaker: Speaker, subject: str, slots: Slots) -> str:
    owner = speaker.operator.id if _is_private(speaker, slots) else None
    return memory.subject_key(core, subject, owner=owner)


def _alike(core: Core, speaker: Speaker, told: Told, slots: Slots) -> tuple[BeliefView, ...]:
    """Return the facts about the very same thing, among those that are told like this one."""
    key = _key(core, speaker, told.subject, slots)
    recalled = memory.recall(core, speaker.operator.id, alone=speaker.alone)
    return tuple(one for one in recalled.beliefs if one.subject == key)


def _called(core: Core, speaker: Speaker, subject: str) -> tuple[BeliefView, ...]:
    """Return the facts that may be meant, those only that may be shown here."""
    return memory.about(core, speaker.operator.id, subject, alone=speaker.alone)


def _known(
    core: Core,
    outcome: Outcome,
    speaker: Speaker,
    request: ActRequest,
    *,
    slots: Slots,
    held: Sequence[BeliefView],
    source: Source,
) -> Known:
    text = slots.get("text", "") or f"{slots.get('subject', '')}: {slots.get('object', '')}"
    words = "\n".join(slots.values())
    return Known(
        person=speaker.operator.id,
        source=source,
        held=[
            Held(
                id=one.id,
                about=one.fact.about,
                predicate=one.predicate,
                object=one.fact.object,
                said=one.fact.said,
                source=one.source,
                person=one.person,
                functional=one.functional,
            )
            for one in held
            if one.fact is not None
        ],
        request_at=request.request_at,
        decided_at=outcome.at,
        zone=speaker.zone,
        remembered=memory.anchors(core, speaker.operator.id, alone=speaker.alone),
        zones=zones_in(words),
        secret=bool(redact(text, extra=core.secrets).count)
        or fact_words.tells_secret(_told(core, speaker, slots), text),
    )


# ---------------------------------------------------------------- what is done


def _store(core: Core, outcome: Outcome, speaker: Speaker, bound: Bound) -> None:
    slots = bound.slots
    belief = core.ids.short_id()
    old = core.queries.belief(slots["supersedes"]) if slots["supersedes"] else None
    fact = _fact(slots)
    body: dict[str, Json] = {
        "belief": belief,
        "subject": _key(core, speaker, slots["subject"], slots),
        "predicate": slots["predicate"],
        "source": slots["source"],
        "functional": bool(slots["functional"]),
        "person": speaker.operator.id,
        "place": outcome.place,
        "private": _is_private(speaker, slots),
        "supersedes": slots["supersedes"],
    }
    if old is not None and not may_supersede(old.source, Source(slots["source"])):
        _block(outcome, body, fact, held=old.id, act=bound.commitment)
        outcome.say(Text.of("Not stored: a source that is trusted more said otherwise."))
        return
    outcome.expect(RowIs("belief", belief, None))
    if old is not None:
        outcome.expect(RowIs("belief", old.id, BeliefState.LIVE))
    outcome.write(
        Kind.BELIEF_STORED, correlation_id=bound.commitment, body=body, words={"fact": packed(fact)}
    )
    lines = [f"Remembered: {_wording(core, outcome, speaker, slots)}."]
    if old is not None and old.fact is not None:
        lines.append(f"Before that it was: {told_in_words(core, old, now=outcome.at, zone=speaker.zone)}.")
    # Nothing of it stays in the outbox, so that forgetting it takes it all.
    outcome.say(Text.of(*lines, muted(_notes(fact, slots, speaker, now=outcome.at))), fleeting=True)


def _block(outcome: Outcome, body: Mapping[str, Json], fact: Fact, *, held: str, act: str) -> None:
    kept = {name: body[name] for name in ("predicate", "source", "person")}
    outcome.write(
        Kind.BELIEF_BLOCKED,
        correlation_id=act,
        body={**kept, "place": outcome.place, "belief": held, "blocked": LOWER_TRUST, "audit": BLOCKED},
        words={"fact": packed(fact)},
    )


def _forget(core: Core, outcome: Outcome, speaker: Speaker, bound: Bound) -> None:
    one = core.queries.belief(bound.slots["belief"])
    outcome.expect(RowIs("belief", bound.slots["belief"], BeliefState.LIVE))
    outcome.write(
        Kind.BELIEF_FORGOTTEN,
        correlation_id=bound.commitment,
        body={
            "belief": bound.slots["belief"],
            "by": speaker.operator.id,
            "source": Source.USER_EXPLICIT.value,
            "place": outcome.place,
        },
    )
    name = "that" if one is None or one.fact is None else one.fact.about
    outcome.say(
        Text.of(
            f"Forgotten: {_masked(core, name)}.",
            muted(
                "Its words are gone from the record, with those of the messages that told it; that something"
                " was remembered and forgotten stays. What the chat itself keeps is not sayso's."
            ),
        ),
        fleeting=True,
    )


def _notes(fact: Fact, slots: Slots, speaker: Speaker, *, now: datetime) -> str:
    found = stated.read(fact.object, speaker.zone) if slots["predicate"] == AT else None
    notes = []
    if found is not None and found.at < now and not found.rrule:
        notes.append("That has passed, so no time can be counted from it.")
    elif found is not None:
        if found.whole_day:
            notes.append("Without a time of day, so times before it count from 00:00.")
        lead = "a day" if found.whole_day else "an hour"
        notes.append(f'Say "remind me {lead} before {fact.about}".')
    notes.append(f'"forget {fact.about}" drops it.')
    if _is_private(speaker, slots):
        notes.append(
            'Told in private, so it is only for you, and only there: "remember for everyone that …".'
        )
    return " ".join(notes)


def _wording(core: Core, outcome: Outcome, speaker: Speaker, slots: Slots) -> str:
    fact = _fact(slots)
    told = facts.wording(
        fact.about, slots["predicate"], fact.object, fact.said, now=outcome.at, zone=speaker.zone
    )
    return _masked(core, told)


def _fact(slots: Slots) -> Fact:
    return Fact(about=slots["subject"], object=slots["object"], kind=slots["kind"], said=slots["said"])


def _masked(core: Core, text: str) -> str:
    return redact(text, extra=core.secrets).text
