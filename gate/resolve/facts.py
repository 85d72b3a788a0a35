"""Remembering, correcting and forgetting facts (K18, K28, K29, D22).

Binds what a fact is about, when or what that is, and what it takes the place of. The rules it owns: what
people told is displaced by what people tell, and what a model makes up displaces nothing; a person's own
newer word about one thing counts at once, somebody else's is asked about; a time that is not understood is
asked for and never made up; what a secret is, is not remembered. The ledger holds to the trust of sources by
itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time, tzinfo

from gate import when
from gate.domain import PersonId, Reason, ReasonCode
from gate.resolve import stated
from gate.resolve.decision import Allow, Clarify, Decision, Deny, Option, Slots
from gate.resolve.fact_words import Told
from gate.resolve.times import zone_name
from gate.trust import BLOCKED, LOWER_TRUST, Source, may_supersede
from gate.when import Ask, Impossible, Remembered, Resolved, Why
from gate.when import Reason as Cause

#: What a fact says about its subject: when it is, or anything else.
AT, IS = "at", "is"
#: Slots that only say how a question was answered; they are gone once the fact is bound.
WORKING = frozenset({"text", "time", "how", "dated", "sure"})
REPLACE, BOTH, WORDS = "replace", "both", "words"

_EXAMPLE = '"the project sync is on Friday at 14:00"'
_MOST = 8
_LABEL = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A remembered fact that counts, as far as a decision reads it."""

    id: str
    about: str
    predicate: str
    object: str
    said: str
    source: Source
    person: PersonId
    functional: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What a fact is resolved by.

    Attributes:
        person: who asks.
        source: whose word it is; never read out of what a tool was called with.
        held: the facts that count about the very same thing, or those that are to be forgotten.
        secret: the words hold what looks like a credential.
        request_at: when the words were said that are to be read, aware.
        decided_at: the instant of the decision, aware.
        zone: the zone that the person's wall clock is in.
        remembered: the events that a time may be counted from.
        zones: zones by folded name.
    """

    person: PersonId
    source: Source
    held: Sequence[Held]
    request_at: datetime
    decided_at: datetime
    zone: tzinfo
    remembered: Remembered
    zones: Mapping[str, tzinfo]
    secret: bool = False


# ---------------------------------------------------------------- remembering


def store(slots: Slots, told: Told, known: Known) -> Decision:
    """Resolve a fact that is to be remembered, or that corrects what is.

    Args:
        slots: "time" an answer to "when is it?", "dated" a picked time, "how" a picked way; what else there
            is stays as it is.
        told: the sentence, taken apart.
    """
    if known.secret:
        return _deny(
            ReasonCode.UNFIT,
            "Not stored: that looks like a secret, and what is remembered is shown to people. Keep it in a"
            " password manager, and delete the message here.",
            slots,
            because="secret",
        )
    if not told.subject or not (told.object or told.time):
        return Clarify(
            question=f"What is to be remembered? Say it like {_EXAMPLE}.",
            slots=slots,
            free="text",
            because="missing slot",
        )
    bound = _object(slots, told, known)
    if isinstance(bound, Clarify | Deny):
        return bound
    predicate, stands_for = bound
    kept = {name: value for name, value in slots.items() if name not in WORKING}
    fact = {
        **kept,
        "subject": told.subject,
        "kind": told.kind,
        "predicate": predicate,
        "object": stands_for,
        "said": slots.get("text", "") or f"{told.subject}: {told.object or told.time}",
        "source": known.source.value,
        "functional": "" if told.whole else "yes",
        "supersedes": "",
    }
    return _beside(fact, slots, told, known)


def _beside(fact: dict[str, str], slots: Slots, told: Told, known: Known) -> Decision:
    """Return what becomes of a fact that was bound, beside what is held about the same thing."""
    alike = [one for one in known.held if one.predicate == fact["predicate"]]
    same = next((one for one in alike if one.object == fact["object"]), None)
    if same is not None:
        return Allow(slots={**fact, "held": same.id}, because="known already")
    rival = next((one for one in alike if one.functional), None)
    if rival is None or told.whole:
        return Allow(slots=fact, because="new")
    if known.source is Source.LLM_INFERRED or not may_supersede(rival.source, known.source):
        return _deny(
            ReasonCode.UNFIT,
            f"Not stored: {_told_of(rival, known)} stands, and {_WHOSE[known.source]} does not take its"
            f' place. A person can: "remember that {told.subject} is …".',
            {**fact, "supersedes": rival.id},
            because=f"{BLOCKED} {LOWER_TRUST}",
        )
    how = slots.get("how", "")
    if how == BOTH:
        return Allow(slots={**fact, "functional": ""}, because="beside what is known")
    own = rival.person == known.person and told.definite
    if how == REPLACE or own or rival.source is not Source.USER_EXPLICIT:
        return Allow(slots={**fact, "supersedes": rival.id}, because="displaces")
    return Clarify(
        question=f"Remembered so far: {_told_of(rival, known)}. And now?",
        # A time that was read once is not read again when the answer comes (K25).
        slots={**fact, **slots, **({"dated": fact["object"]} if fact["predicate"] == AT else {})},
        options=(
            Option(id=REPLACE, label=_cut(f"Replace it: {_shown(fact, known)}"), patch={"how": REPLACE}),
            Option(id=BOTH, label="Keep both", patch={"how": BOTH}),
        ),
        because="another is known",
    )


_WHOSE = {
    Source.USER_EXPLICIT: "this",
    Source.SYSTEM_TOOL: "what a tool read",
    Source.LLM_INFERRED: "what was only inferred",
}


def _object(slots: Slots, told: Told, known: Known) -> tuple[str, str] | Clarify | Deny:
    """Return predicate and object of a fact; a question where its time is not certain."""
    if slots.get("dated", ""):
        return AT, slots["dated"]
    words = slots.get("time", "") or told.time
    if not words:
        return IS, told.object
    if slots.get("how", "") == WORDS:
        return IS, words
    found = _resolved(words, known)
    match found:
        case Resolved():
            return AT, _stated(found, known)
        case Impossible(reason=Cause.PAST | Cause.EVENT_PASSED, asked_at=datetime() as at):
            return AT, at.date().isoformat() if at.time() == time.min else at.isoformat()
        case _:
            return _no_time(found, words, slots, told, known)


def _no_time(found: when.Outcome, words: str, slots: Slots, told: Told, known: Known) -> Clarify | Deny:
    if isinstance(found, Impossible):
        return _deny(ReasonCode.IMPOSSIBLE_TIME, f"Not stored: {words} does not exist.", slots)
    asked = found if isinstance(found, Ask) else Ask(options=(), why=Why.UNREAD)
    return _ask(asked, words, slots, told, known)


def _resolved(words: str, known: Known) -> when.Outcome:
    """Read the time by itself; from a remembered event only where the words need one."""
    found = when.resolve(words, request_at=known.request_at, zone=known.zone, zones=known.zones)
    if isinstance(found, Ask) and found.why is Why.UNKNOWN_EVENT:
        return when.resolve(
            words,
            request_at=known.request_at,
            zone=known.zone,
            anchors=known.remembered,
            zones=known.zones,
            nearby_days=0,
        )
    return found


def _stated(found: Resolved, known: Known) -> str:
    return stated.stated(found, zone_name=zone_name(found.at.tzinfo) or zone_name(known.zone))


def _ask(found: Ask, words: str, slots: Slots, told: Told, known: Known) -> Clarify:
    options = [
        Option(
            id=f"reading_{number}",
            label=_cut(stated.told(text, now=known.decided_at, zone=known.zone)),
            patch={"dated": text},
        )
        for number, one in enumerate(found.options[:_MOST], start=1)
        for text in [_stated(one, known)]
    ]
    undated = Option(id=WORDS, label="No date, keep the words", patch={"how": WORDS, "time": words})
    return Clarify(
        question=f'When is it? "{words}" is not certain. Say it like "2026-12-01 14:00".',
        slots={**slots, "subject": told.subject},
        options=(*options, undated),
        free="time",
        because=found.why.value,
    )


# ---------------------------------------------------------------- forgetting


def forget(slots: Slots, known: Known) -> Decision:
    """Resolve a fact that is to be forgotten; `known.held` are the facts that it may be.

    Args:
        slots: "subject" is what was called by name, "belief" a picked one; "sure" once it was picked.
    """
    if known.source is not Source.USER_EXPLICIT:
        return _deny(ReasonCode.UNFIT, "Nothing was forgotten: only a person can have that done.", slots)
    subject = slots.get("subject", "").strip()
    picked = slots.get("belief", "")
    if not subject and not picked:
        return Clarify(
            question='What is to be forgotten? Say its name, like "the project sync".',
            slots=slots,
            free="subject",
            because="missing slot",
        )
    found = [one for one in known.held if picked in ("", one.id)]
    if not found:
        return _deny(
            ReasonCode.UNKNOWN_ID,
            f"Nothing is remembered about {subject or 'that'}.  what do you remember?  lists what is.",
            slots,
        )
    one = found[0]
    if len(found) == 1 and (one.person == known.person or slots.get("sure", "")):
        return Allow(slots={"belief": one.id}, because="forget")
    alone = len(found) == 1
    return Clarify(
        question=f"{_told_of(one, known)}. Forget it?" if alone else "Several are known. Which one?",
        slots=slots,
        options=tuple(
            Option(
                id=f"belief_{number}",
                label="Forget it" if alone else _cut(_told_of(one, known)),
                patch={"belief": one.id, "sure": "yes"},
            )
            for number, one in enumerate(found[:_MOST], start=1)
        ),
        because="another's" if alone else "which",
    )


# ---------------------------------------------------------------- words


def wording(about: str, predicate: str, stands_for: str, said: str, *, now: datetime, zone: tzinfo) -> str:
    """Return a fact in words: "project sync, Tue 1 Dec 14:00 CET"; the sentence that said it for others."""
    if predicate == AT:
        return f"{about}, {stated.told(stands_for, now=now, zone=zone)}"
    return " ".join(said.split()).rstrip(" .")


def _told_of(one: Held, known: Known) -> str:
    told = wording(one.about, one.predicate, one.object, one.said, now=known.decided_at, zone=known.zone)
    if one.source is not Source.USER_EXPLICIT:
        return f"{told} ({one.source.value.replace('_', ' ')})"
    return told if one.person == known.person else f"{told} (told by {one.person})"


def _shown(fact: Slots, known: Known) -> str:
    if fact["predicate"] == AT:
        return stated.told(fact["object"], now=known.decided_at, zone=known.zone)
    return fact["object"]


def _cut(text: str) -> str:
    return text if len(text) <= _LABEL else f"{text[: _LABEL - 1]}…"


def _deny(code: ReasonCode, text: str, slots: Slots, *, because: str = "") -> Deny:
    return Deny(reason=Reason(code=code, text=text), slots=slots, because=because or code.value)
