"""The verdict on one message in one language.

Owns the order of the rules: part of it, a change, a refusal, whatever keeps it open, and only then a grant,
for which every unit must be accounted for and something must consent. Pure and total.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gate.assent.lexicon import HARMLESS, Sense
from gate.assent.match import Sort, Unit
from gate.assent.normalise import Message
from gate.assent.partial import Selection, select
from gate.assent.pending import Pending
from gate.domain import Assent, AssentVerdict

_QUESTION_MARKS = "?\u061f"
_LEAD = (Sense.POLITE, Sense.ADDRESS, Sense.FILLER, Sense.AND, Sense.WANT, Sense.ACK, Sense.FINE)
_BECAUSE = {
    Sense.IF: "sets a condition",
    Sense.HEDGE: "is not sure",
    Sense.DEFER: "puts it off",
    Sense.HOLD: "asks to wait",
    Sense.ASK: "asks something",
    Sense.BUT: "goes on with a but",
    Sense.NOT: "says not",
    Sense.SKIP: "leaves something out",
    Sense.EXCEPT: "restricts it",
    Sense.REST: "speaks of the rest",
    Sense.SELF: "speaks of somebody doing or saying it",
    Sense.CHANGE: "changes it",
    Sense.NO: "says no",
    Sense.REFUSE: "says no",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One message as one language reads it."""

    message: Message
    units: tuple[Unit, ...]
    pending: Pending
    bare_ack_grants: bool

    @property
    def spoken(self) -> tuple[Unit, ...]:
        """The units without breaks."""
        return tuple(unit for unit in self.units if unit.sort is not Sort.BREAK)

    @property
    def asks(self) -> bool:
        """Whether a question mark or a question word stands anywhere."""
        return self.marked or any(unit.sense is Sense.ASK for unit in self.spoken)

    @property
    def marked(self) -> bool:
        """Whether a question mark stands outside quotes."""
        return any(unit.sort is Sort.BREAK and unit.text in _QUESTION_MARKS for unit in self.units)

    def clauses(self) -> Iterator[tuple[Unit, ...]]:
        """Yield the units between breaks, empty clauses left out."""
        clause: list[Unit] = []
        for unit in self.units:
            if unit.sort is not Sort.BREAK and unit.sense is not Sense.THEREFORE:
                clause.append(unit)
            elif clause:
                yield tuple(clause)
                clause = []
        if clause:
            yield tuple(clause)


def judge(case: Case) -> Assent:
    """Return the verdict; the first rule that knows an answer gives it."""
    one = case.pending.count <= 1
    first = (_plain_no, _part) if one else (_part, _plain_no)
    for rule in (*first, _change, _refusal, _open, _grant):
        found = rule(case)
        if found is not None:
            return found
    return _rest(case)


def _has(case: Case, *senses: Sense) -> bool:
    return any(unit.sense in senses and unit.sort is Sort.SENSE for unit in case.spoken)


def _strange_value(case: Case) -> Unit | None:
    return next((unit for unit in case.spoken if unit.sort is Sort.VALUE), None)


# ---------------------------------------------------------------- part of it


def _part(case: Case) -> Assent | None:
    if case.asks or _has(case, Sense.IF, Sense.HEDGE, Sense.CHANGE) or _strange_value(case):
        return None
    if case.pending.count == 1 or not case.pending.words:
        return None
    found = select(case.units, case.pending)
    if found is None or (not found.chosen and case.pending.count):
        return None
    if not found.restricts and not _agrees(case, found):
        return None
    return Assent(
        verdict=AssentVerdict.PARTIAL,
        because=_part_words(case, found),
        selects=tuple(sorted(position + 1 for position in found.chosen)),
    )


def _agrees(case: Case, found: Selection) -> bool:
    """Tell whether naming some actions without excluding others is an answer about them at all.

    A sentence that merely mentions one of them is not; every word must be known.
    """
    remarks = any(unit.sense is Sense.NOTE for unit in case.spoken)
    return bool(found.chosen) and not remarks and all(_is_accounted(unit) for unit in case.spoken)


def _part_words(case: Case, found: Selection) -> str:
    if not case.pending.count:
        return "agrees to part of it"
    numbers = ", ".join(str(position + 1) for position in sorted(found.chosen))
    return f"agrees to {numbers} of {case.pending.count}"


# ---------------------------------------------------------------- a plain no


def _plain_no(case: Case) -> Assent | None:
    """A message that opens with a clause that is nothing but no stops at once, whatever follows (C1)."""
    first = next(case.clauses(), ())
    word = next((unit for unit in first if unit.sense is Sense.NO), None)
    if word is None or not all(unit.sense in _BESIDE_NO for unit in first) or _is_asked(case, first[-1]):
        return None
    if _has(case, Sense.YES) or (case.pending.count and any(map(_imperative, case.clauses()))):
        return None
    return Assent(verdict=AssentVerdict.REFUSE, because=f'says no: "{word.text}"', reason=_reason(case, word))


def _is_asked(case: Case, unit: Unit) -> bool:
    """Tell whether a question mark follows `unit`: "no?"."""
    following = case.units[case.units.index(unit) + 1 :]
    return bool(following) and following[0].text in _QUESTION_MARKS


_BESIDE_NO = frozenset({Sense.NO, Sense.POLITE, Sense.ADDRESS, Sense.FILLER})


# ---------------------------------------------------------------- a change


def _change(case: Case) -> Assent | None:
    if case.marked or not case.pending.words or _has(case, Sense.IF, Sense.HEDGE):
        return None
    changes = next((u for u in case.spoken if u.sense is Sense.CHANGE and u.sort is Sort.SENSE), None)
    value = _strange_value(case)
    verb = next((unit for unit in case.spoken if unit.sort is Sort.VERB and not unit.items), None)
    said = changes or value or verb
    if said is None or not _is_about_it(case, said):
        return None
    if changes is None and _has(case, Sense.ASK, Sense.DEFER, Sense.SELF):
        return None
    return Assent(verdict=AssentVerdict.CHANGE, because=f'wants it changed: "{said.text}"')


def _is_about_it(case: Case, said: Unit) -> bool:
    """Tell a changed request from a new one: it consents, corrects, or names what is pending."""
    named = any(unit.sort in {Sort.ITEM, Sort.VERB} and unit.items for unit in case.spoken)
    strangers = sum(unit.sort is Sort.UNKNOWN for unit in case.spoken)
    consents = _has(case, Sense.YES, Sense.ACK, Sense.FINE, Sense.ALL)
    if said.sense is Sense.CHANGE:
        verb = any(unit.sort is Sort.VERB for unit in case.spoken)
        return named or consents or verb or _strange_value(case) is not None
    if said.sort is Sort.VERB:
        return named and strangers == 0 and _has(case, Sense.YES, Sense.ONLY, Sense.NOT)
    corrects = _has(case, Sense.BUT, Sense.NOT, Sense.ONLY, Sense.EXCEPT, Sense.SKIP)
    return strangers <= 1 and (consents or (named and corrects))


# ---------------------------------------------------------------- a refusal


def _refusal(case: Case) -> Assent | None:
    said: list[tuple[str, Unit]] = []
    for clause in case.clauses():
        said.extend(_polarities(clause))
    if not said or said[-1][0] != "-":
        return None
    word = next(unit for polarity, unit in said if polarity == "-")
    if case.marked and said[-1][1] is not _answer_after_mark(case):
        return None
    return Assent(verdict=AssentVerdict.REFUSE, because=f'says no: "{word.text}"', reason=_reason(case, word))


def _answer_after_mark(case: Case) -> Unit | None:
    """Return the first unit after the last question mark: "ship it? no" answers itself."""
    found: Unit | None = None
    for unit in case.units:
        if unit.sort is Sort.BREAK:
            found = None if unit.text in _QUESTION_MARKS else found
        elif found is None or unit.sense in {Sense.NO, Sense.REFUSE}:
            found = unit
    return found


def _polarities(clause: Sequence[Unit]) -> Iterator[tuple[str, Unit]]:  # noqa: C901 - one pass, one state
    """Yield what in a clause says yes or no, in order."""
    known = all(unit.sort not in {Sort.UNKNOWN, Sort.VALUE} for unit in clause)
    negated: Unit | None = None
    for unit in clause:
        if unit.sort is Sort.VERB or (unit.sense is Sense.REFUSE and unit.sort is Sort.SENSE):
            double = negated is not None and unit.sense is Sense.REFUSE
            if unit.sort is Sort.VERB:
                yield from (("-", negated),) if negated is not None else ()
            elif not double:
                yield "-", unit
            negated = None
        elif unit.sense is Sense.NO:
            if known or len(clause) == 1:
                yield "-", unit
        elif unit.sense is Sense.NOT:
            negated = unit
        elif negated is not None and unit.sense in _NEGATABLE:
            yield "-", negated
            negated = None
        elif unit.sense is Sense.YES:
            yield "+", unit
    if negated is not None and known:
        yield "-", negated
    elif negated is None and known and _imperative(clause) is not None:
        yield "+", clause[0]


_NEGATABLE = frozenset(
    {Sense.YES, Sense.ACK, Sense.FINE, Sense.DO, Sense.REF, Sense.WANT, Sense.ALL, Sense.SEEMS}
)


def _reason(case: Case, word: Unit) -> str:
    """Return what else was said, as the reason: after the refusal, else before it."""
    clean = case.message.clean
    clause = next(clause for clause in case.clauses() if word in clause)
    said = [unit for unit in case.spoken if unit.sense is not Sense.THEREFORE]
    ends = [unit.end for unit in said if unit.end <= clause[0].start]
    later = [unit for unit in said if unit.start >= clause[-1].end]
    starts = [] if all(unit.sense in _COURTESY for unit in later) else [unit.start for unit in later]
    after = clean[min(starts) :] if starts else ""
    before = clean[: max(ends)] if ends else ""
    return " ".join((after or before).split()).strip(_EDGES)


_EDGES = " ,.;:-\u2013\u2014!\u060c()"


# ---------------------------------------------------------------- it stays open


def _open(case: Case) -> Assent | None:
    """Anything that conditions, hedges, defers, asks or negates keeps it open or is about something else."""
    stopper = next((unit for unit in case.spoken if unit.sense in _BECAUSE and unit.sort is Sort.SENSE), None)
    if case.asks:
        verdict = AssentVerdict.AMBIGUOUS if _is_relevant(case) else AssentVerdict.OTHER
        asking = next((unit for unit in case.spoken if unit.sense is Sense.ASK), None)
        words = f'asks: "{asking.text}"' if asking is not None else "asks a question"
        return Assent(verdict=verdict, because=words, question=True)
    if stopper is None or stopper.sense is None:
        return None
    verdict = AssentVerdict.AMBIGUOUS if _is_relevant(case) else AssentVerdict.OTHER
    return Assent(verdict=verdict, because=f'{_BECAUSE[stopper.sense]}: "{stopper.text}"')


def _is_relevant(case: Case) -> bool:
    """Tell whether the message is about the proposal: it points there and is half understood, or wholly."""
    strange = sum(unit.sort in {Sort.UNKNOWN, Sort.VALUE} for unit in case.spoken)
    points = any(unit.items for unit in case.spoken) or _has(case, *_POINTING)
    return strange <= len(case.spoken) / 2 if points else strange == 0


_POINTING = (Sense.YES, Sense.REF, Sense.ACK, Sense.FINE, Sense.HEDGE, Sense.HOLD, Sense.IF)


# ---------------------------------------------------------------- a grant


def _is_accounted(unit: Unit) -> bool:
    if unit.sort is Sort.SENSE:
        # NOTE: "only" that left nothing out: what restricts is found before.
        return unit.sense in HARMLESS or unit.sense is Sense.ONLY
    return unit.sort in {Sort.ITEM, Sort.VERB} and bool(unit.items)


def _grant(case: Case) -> Assent | None:
    if not case.spoken or not all(_is_accounted(unit) for unit in case.spoken):
        return None
    word = next(
        (found for clause in case.clauses() if (found := _consent(clause, case.pending)) is not None), None
    )
    if word is not None and _is_of_all(case):
        return Assent(verdict=AssentVerdict.GRANT, because=f'says yes: "{word.text}"')
    ranked = (Sense.ACK, Sense.FINE, Sense.POLITE)
    ack = next((unit for sense in ranked for unit in case.spoken if unit.sense is sense), None)
    if ack is None:
        return None
    if case.bare_ack_grants and ack.sense is Sense.ACK:
        return Assent(verdict=AssentVerdict.GRANT, because=f'acknowledges: "{ack.text}"')
    return Assent(verdict=AssentVerdict.AMBIGUOUS, because=f'only acknowledges: "{ack.text}"')


def _is_of_all(case: Case) -> bool:
    """Tell whether a yes to several actions is one to all: "destroy the old one" is not."""
    if case.pending.count <= 1:
        return True
    if any(unit.sense is Sense.REF and "one" in unit.text.split() for unit in case.spoken):
        return False
    everything = case.pending.everything
    named = frozenset[int]().union(*(unit.items for unit in case.spoken if unit.items != everything))
    if named and named != everything:
        return False
    return not any(
        any(unit.sense is Sense.NOTE for unit in clause) and any(unit.sort is Sort.VERB for unit in clause)
        for clause in case.clauses()
    )


def _consent(clause: Sequence[Unit], pending: Pending) -> Unit | None:
    """Return the unit by which a clause consents: a yes, a judgement, all of them, or the deed asked for."""
    if pending.count > 1 and all(unit.sense in _ALL_OF_THEM for unit in clause):
        whole = next((unit for unit in clause if unit.sense is Sense.ALL), None)
        if whole is not None:
            return whole
    for index, unit in enumerate(clause):
        if unit.sense is Sense.YES:
            return unit
        if unit.sense is Sense.NOTE:
            return None  # from here on it is a statement: "I need to approve it"
        if unit.sense is Sense.SEEMS and _is_judgement(clause, index):
            return unit
    return _imperative(clause)


def _is_judgement(clause: Sequence[Unit], at: int) -> bool:
    """Tell "that sounds good to me" from "caddy looks good now": nothing but pointing, and good ends it."""
    good = next((i for i in range(at, len(clause)) if clause[i].sense in {Sense.FINE, Sense.ACK}), None)
    if good is None:
        return False
    before = all(unit.sense in _POINTS or unit.sense in _COURTESY for unit in clause[:good])
    return before and all(unit.sense in _AFTER_GOOD for unit in clause[good + 1 :])


_COURTESY = frozenset({Sense.POLITE, Sense.ADDRESS})
_AFTER_GOOD = _COURTESY | {Sense.YES}
_POINTS = frozenset({Sense.REF, Sense.ALL, Sense.SEEMS, Sense.FILLER, Sense.FINE, Sense.ACK})
_ALL_OF_THEM = frozenset({Sense.ALL, Sense.POLITE, Sense.ADDRESS, Sense.FILLER, Sense.REF})


def _imperative(clause: Sequence[Unit]) -> Unit | None:
    """Return the deed when the clause is the wish for it ("restart it", "please do it"), not about it."""
    if any(unit.sense in {Sense.NOTE, Sense.SEEMS, Sense.IS} for unit in clause):
        return None  # "restart is done"
    for index, unit in enumerate(clause):
        if unit.sort is Sort.VERB or unit.sense is Sense.DO:
            named = any(other.sort is Sort.ITEM for other in clause)
            if unit.sense is Sense.REFUSE and not named:
                return None
            rest = clause[index + 1 :]
            objects = any(other.sense in {Sense.REF, Sense.ALL} or other.items for other in rest)
            return unit if unit.sort is Sort.VERB or objects else None
        if unit.sense not in _LEAD:
            return None
    return None


def _rest(case: Case) -> Assent:
    """Whatever no rule knew: open when it is about the proposal, something else otherwise."""
    if not case.spoken:
        quoted = bool(case.message.quoted)
        verdict = AssentVerdict.AMBIGUOUS if quoted else AssentVerdict.OTHER
        return Assent(verdict=verdict, because="only quotes" if quoted else "says nothing")
    strange = next((unit for unit in case.spoken if not _is_accounted(unit)), None)
    # A request that names the same target is still a new request: "run df -h on web1".
    points = _has(case, Sense.YES, Sense.ACK, Sense.FINE, Sense.REF, Sense.ALL)
    about = _is_relevant(case) and (points or (strange is None and any(unit.items for unit in case.spoken)))
    verdict = AssentVerdict.AMBIGUOUS if about else AssentVerdict.OTHER
    if strange is None:
        return Assent(verdict=verdict, because="neither yes nor no")
    return Assent(verdict=verdict, because=f'not understood: "{strange.text}"')
