"""The verdict on one message in one language.

Owns the order of the rules: part of it, a change, a refusal, whatever keeps it open, and only then a grant,
for which every unit must be accounted for and something must consent. Pure and total.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from gate.assent.case import COURTESY, QUESTION_MARKS, Case, has, is_accounted, strange_value
from gate.assent.consent import consents, grant, imperative
from gate.assent.partial import Selection, select
from gate.assent.pending import Pending
from gate.assent.senses import Sense
from gate.assent.units import Sort, Unit
from gate.domain import Assent, AssentVerdict

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
    Sense.BEYOND: "asks for more",
    Sense.WARN: "warns",
    Sense.NO: "says no",
    Sense.REFUSE: "says no",
}


def judge(case: Case) -> Assent:
    """Return the verdict; the first rule that knows an answer gives it."""
    case = _resolved(case)
    one = case.pending.count <= 1
    first = (_plain_no, _part) if one else (_part, _plain_no)
    for rule in (*first, _change, _refusal, _open, grant):
        found = rule(case)
        if found is not None:
            return found
    return _rest(case)


def _resolved(case: Case) -> Case:
    """Drop a wait that the speaker ended: "hang on. ok, checked. go ahead"."""
    clauses = list(case.clauses())
    if len(clauses) < _WAIT_LOOK_GO or not any(unit.sense is Sense.HOLD for unit in clauses[0]):
        return case
    waits = all(unit.sense is Sense.HOLD or unit.sense in _BESIDE_NO for unit in clauses[0])
    looked = any(unit.sense in _LOOKED for clause in clauses[1:-1] for unit in clause)
    if not (waits and looked and consents(clauses[-1], case.pending)):
        return case
    return replace(case, units=case.units[case.units.index(clauses[0][-1]) + 1 :])


_WAIT_LOOK_GO = 3
_LOOKED = frozenset({Sense.ACK, Sense.FINE, Sense.NOTE, Sense.TELLS, Sense.TOLD})


# ---------------------------------------------------------------- part of it


def _part(case: Case) -> Assent | None:
    if case.asks or has(case, Sense.IF, Sense.HEDGE, Sense.CHANGE):
        return None
    if any(unit.sort is Sort.VALUE and not unit.items for unit in case.spoken):
        return None
    if case.pending.count == 1 or not case.pending.words:
        return None
    found = select(case.units, case.pending) or _deed_on_some(case)
    if found is None or (not found.chosen and case.pending.count):
        return None
    if not found.restricts and not _agrees(case, found):
        return None
    return Assent(
        verdict=AssentVerdict.PARTIAL,
        because=_part_words(case, found),
        selects=tuple(sorted(position + 1 for position in found.chosen)),
    )


def _deed_on_some(case: Case) -> Selection | None:
    """Read "restart web1 and web2, web3 is being debugged": a deed for some, a remark on others."""
    if case.pending.count == 0:
        return None
    wished = [clause for clause in case.clauses() if imperative(clause) and all(map(is_accounted, clause))]
    others = [unit for clause in case.clauses() if clause not in wished for unit in clause]
    if not wished or not others or any(unit.sense in _SAYS_YES or unit.sort is Sort.VERB for unit in others):
        return None
    named = [unit.items for clause in wished for unit in clause if unit.sort is Sort.ITEM]
    chosen = frozenset[int]().union(*named)
    if not chosen or chosen == case.pending.everything:
        return None
    return Selection(chosen=chosen, rejected=case.pending.everything - chosen, restricts=True)


def _agrees(case: Case, found: Selection) -> bool:
    """Tell whether naming some actions without excluding others is an answer about them at all.

    A sentence that merely mentions one of them is not; every word must be known.
    """
    remarks = any(unit.sense is Sense.NOTE for unit in case.spoken)
    return bool(found.chosen) and not remarks and all(is_accounted(unit) for unit in case.spoken)


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
    if has(case, Sense.YES) or (case.pending.count and any(map(imperative, case.clauses()))):
        return None
    return Assent(verdict=AssentVerdict.REFUSE, because=f'says no: "{word.text}"', reason=_reason(case, word))


def _is_asked(case: Case, unit: Unit) -> bool:
    """Tell whether a question mark follows `unit`: "no?"."""
    following = case.units[case.units.index(unit) + 1 :]
    return bool(following) and following[0].text in QUESTION_MARKS


_BESIDE_NO = COURTESY | {Sense.NO, Sense.FILLER}


# ---------------------------------------------------------------- a change


def _change(case: Case) -> Assent | None:
    if case.marked or not case.pending.words or has(case, Sense.IF, Sense.HEDGE):
        return None
    changes = next((u for u in case.spoken if u.sense is Sense.CHANGE and u.sort is Sort.SENSE), None)
    value = strange_value(case)
    verb = next((unit for unit in case.spoken if unit.sort is Sort.VERB and not unit.items), None)
    said = changes or value or verb
    if said is None or not _is_about_it(case, said):
        said = _replaced(case)
    if said is None:
        return None
    if changes is None and has(case, Sense.ASK, Sense.DEFER, Sense.SELF):
        return None
    return Assent(verdict=AssentVerdict.CHANGE, because=f'wants it changed: "{said.text}"')


def _replaced(case: Case) -> Unit | None:
    """Return what is wanted in place of something pending: "staging, not prod", "reload instead"."""
    strange = [unit for unit in case.spoken if unit.sort in {Sort.UNKNOWN, Sort.VALUE} and not unit.opaque]
    if len(strange) != 1 or case.pending.count > 1:
        return None
    last = case.spoken[-1]
    bare = all(unit is strange[0] or unit.sense in _BESIDE_VALUE for unit in case.spoken)
    if strange[0].sort is Sort.VALUE and bare and len(case.spoken) > 1:
        return strange[0]  # "on web2 please", "with --wait"
    if last.sense is Sense.CHANGE and len(case.spoken) <= _SHORT:
        return strange[0]
    for before, after in pairwise(unit for unit in case.spoken if unit.sense is not Sense.FILLER):
        if before.sense in _NOT_THIS and after.sort is Sort.ITEM and after.items:
            return strange[0]
    return None


_SHORT = 6
_NOT_THIS = frozenset({Sense.NOT, Sense.NO, Sense.REFUSE})
_BESIDE_VALUE = frozenset(
    {
        Sense.FILLER, Sense.POLITE, Sense.ADDRESS, Sense.AHEAD, Sense.ONLY, Sense.BEFORE_NAME, Sense.BUT,
        Sense.CHANGE, Sense.REF, Sense.DO, Sense.WANT, Sense.AND, Sense.YES, Sense.ACK, Sense.FINE,
    }
)  # fmt: skip


def _is_about_it(case: Case, said: Unit) -> bool:
    """Tell a changed request from a new one: it consents, corrects, or names what is pending."""
    named = any(unit.sort in {Sort.ITEM, Sort.VERB} and unit.items for unit in case.spoken)
    strangers = sum(unit.sort is Sort.UNKNOWN for unit in case.spoken)
    consents = has(case, Sense.YES, Sense.ACK, Sense.FINE, Sense.ALL)
    if said.sense is Sense.CHANGE:
        verb = any(unit.sort is Sort.VERB for unit in case.spoken)
        return named or consents or verb or strange_value(case) is not None
    if said.sort is Sort.VERB:
        return named and strangers == 0 and has(case, Sense.YES, Sense.ONLY, Sense.NOT, Sense.REFUSE)
    corrects = has(case, Sense.BUT, Sense.NOT, Sense.ONLY, Sense.EXCEPT, Sense.SKIP)
    return strangers <= 1 and (consents or (named and corrects) or has(case, Sense.ONLY))


# ---------------------------------------------------------------- a refusal


def _refusal(case: Case) -> Assent | None:
    said: list[tuple[str, Unit]] = []
    for clause in case.clauses():
        said.extend(_polarities(clause, case.pending))
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
            if unit.text in QUESTION_MARKS:
                found = None
        elif found is None or unit.sense in {Sense.NO, Sense.REFUSE}:
            found = unit
    return found


def _polarities(clause: Sequence[Unit], pending: Pending) -> Iterator[tuple[str, Unit]]:
    """Yield what in a clause says yes or no, in order."""
    known = all(unit.sort not in {Sort.UNKNOWN, Sort.VALUE} for unit in clause)
    negated: Unit | None = None
    for unit in clause:
        if negated is not None and _takes_no(unit, negated, pending):
            if unit.sense is not Sense.REFUSE or unit.sort is Sort.VERB:
                yield "-", negated
            negated = None
        elif unit.sense is Sense.REFUSE and unit.sort is Sort.SENSE:
            yield "-", unit
            negated = unit if unit.text.endswith(_NEGATION) else None
        elif unit.sense is Sense.NO and (known or len(clause) == 1):
            yield "-", unit
        elif unit.sense in {Sense.NOT, Sense.SKIP} and unit.sort is Sort.SENSE:
            tells = unit.sense is Sense.SKIP and any(
                one.sense in _TELLS for one in clause[: clause.index(unit)]
            )
            negated = None if tells else unit  # "we keep backups" leaves nothing out
        elif unit.sense in _SAYS_YES:
            yield "+", unit
    if negated is not None and known and negated.sense is Sense.NOT:
        yield "-", negated
    elif negated is None and known and imperative(clause) is not None:
        yield "+", clause[0]


def _takes_no(unit: Unit, negated: Unit, pending: Pending) -> bool:
    """Tell whether `unit` is what was negated: the deed, a yes, or for "leave" the thing itself."""
    if negated.sense is Sense.SKIP:
        whole = bool(unit.items) and unit.items == pending.everything
        return unit.sense in {Sense.REF, Sense.ALL} or whole
    if unit.sort is Sort.VERB or unit.sense is Sense.REFUSE:
        return True
    return unit.sense in (_SAYS_YES | {Sense.DO} if negated.sense is Sense.REFUSE else _NEGATABLE)


_TELLS = frozenset({Sense.NOTE, Sense.ME, Sense.TELLS, Sense.SELF})
_NEGATION = ("not", "no", "non", "nicht", "niet")
_SAYS_YES = frozenset({Sense.YES, Sense.SUITS})
_NEGATABLE = frozenset(
    {Sense.YES, Sense.ACK, Sense.FINE, Sense.DO, Sense.REF, Sense.WANT, Sense.ALL, Sense.SEEMS, Sense.SUITS}
)


def _reason(case: Case, word: Unit) -> str:
    """Return what else was said, as the reason: after the refusal, else before it."""
    clean = case.message.clean
    clause = next(clause for clause in case.clauses() if word in clause)
    said = [unit for unit in case.spoken if unit.sense is not Sense.THEREFORE]
    ends = [unit.end for unit in said if unit.end <= clause[0].start]
    later = [unit for unit in said if unit.start >= clause[-1].end]
    starts = [] if all(unit.sense in COURTESY for unit in later) else [unit.start for unit in later]
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
    points = any(unit.items for unit in case.spoken) or has(case, *_POINTING)
    return strange <= len(case.spoken) / 2 if points else strange == 0


_POINTING = (Sense.YES, Sense.REF, Sense.ACK, Sense.FINE, Sense.HEDGE, Sense.HOLD, Sense.IF)


def _rest(case: Case) -> Assent:
    """Whatever no rule knew: open when it is about the proposal, something else otherwise."""
    if not case.spoken:
        quoted = bool(case.message.quoted)
        verdict = AssentVerdict.AMBIGUOUS if quoted else AssentVerdict.OTHER
        return Assent(verdict=verdict, because="only quotes" if quoted else "says nothing")
    strange = next((unit for unit in case.spoken if not is_accounted(unit)), None)
    # A request that names the same target is still a new request: "run df -h on web1".
    points = has(case, Sense.YES, Sense.ACK, Sense.FINE, Sense.REF, Sense.ALL)
    about = _is_relevant(case) and (points or (strange is None and any(unit.items for unit in case.spoken)))
    verdict = AssentVerdict.AMBIGUOUS if about else AssentVerdict.OTHER
    if strange is None:
        return Assent(verdict=verdict, because="neither yes nor no")
    return Assent(verdict=verdict, because=f'not understood: "{strange.text}"')
