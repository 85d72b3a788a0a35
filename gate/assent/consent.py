"""When a message is a yes to all that waits.

Owns what consents (a yes, an order, a judgement, the deed asked for), what a remark beside it may hold, and
that a yes to one thing never widens to others. Whatever restrains a yes has been looked for before.
"""

from collections.abc import Sequence
from itertools import pairwise

from rapidfuzz import process
from rapidfuzz.distance import OSA

from gate.assent.case import COURTESY, Case, is_accounted, is_measure
from gate.assent.pending import Pending
from gate.assent.senses import Sense
from gate.assent.units import Sort, Unit
from gate.domain import Assent, AssentVerdict

_LEAD = (*COURTESY, Sense.FILLER, Sense.AND, Sense.WANT, Sense.ACK, Sense.FINE)
_AFTER_GOOD = COURTESY | {Sense.YES}
_POINTS = frozenset({Sense.REF, Sense.ALL, Sense.SEEMS, Sense.FILLER, Sense.FINE, Sense.ACK})
_SUBJECT_OF_SUITS = _POINTS | COURTESY | {Sense.YES, Sense.NOTE, Sense.ME, Sense.IS, Sense.AND, Sense.ONLY}
_ALL_OF_THEM = COURTESY | {Sense.ALL, Sense.FILLER, Sense.REF, Sense.AND}
_LABELS = frozenset({Sense.REF, Sense.FILLER, Sense.BEFORE_NAME, Sense.NOTE})
_OF_STATEMENTS = frozenset({Sense.NOTE, Sense.ME, Sense.TELLS, Sense.TOLD})
_MARKS_REMARK = frozenset({Sense.IS, Sense.TELLS, Sense.TOLD})
_BEGINS_REMARK = frozenset(
    {Sense.REF, Sense.FILLER, Sense.NOTE, Sense.ME, Sense.TELLS, Sense.TOLD, Sense.ONLY, Sense.BEFORE_NAME}
)
_NOT_IN_REMARK = frozenset({Sense.YES, Sense.SUITS, Sense.DO, Sense.WANT})
_EARLY = 6  # a statement shows its verb within so many words
_SAYS_WHAT_IS = COURTESY | {Sense.ME, Sense.REF, Sense.IS, Sense.TELLS}
_JUDGES = frozenset({Sense.YES, Sense.FINE, Sense.ACK, Sense.SUITS, Sense.SEEMS, Sense.DO, Sense.WANT})
_NOT_WISHED = frozenset({Sense.SEEMS, Sense.IS, Sense.WARN, Sense.SELF})
_MAX_STRANGE = 5  # words nobody knows in one remark
_MAX_NAMES = 3
_MIN_SLIP = 5  # letters; a shorter word is near to too many


def grant(case: Case) -> Assent | None:
    """Return the grant, or the mere acknowledgement, when every word is accounted for."""
    clauses = list(case.clauses())
    plain = [clause for clause in clauses if all(map(is_accounted, clause)) or _is_past(clause)]
    words = [found for clause in plain if (found := consents(clause, case.pending)) is not None]
    words += [yes for clause in clauses if clause not in plain for yes in _before_names(clause)]
    if not words and (everything := _names_all(case)) is not None:
        words = [everything]
    ordered = any(map(_is_order, words)) or any(
        consents(clause, case.pending) is not None and any(map(_is_order, clause)) for clause in plain
    )
    if (
        not clauses
        or _is_labelled(case)
        or not all(
            clause in plain or (words and _is_told(clause, case)) or (ordered and _is_remark(clause, case))
            for clause in clauses
        )
    ):
        return None
    if words and not ordered and (doubt := _other_answer(case, words[0])) is not None:
        because = f'may answer something else: "{doubt.text}"'
        return Assent(verdict=AssentVerdict.AMBIGUOUS, because=because)
    if words and _is_of_all(case):
        return Assent(verdict=AssentVerdict.GRANT, because=f'says yes: "{words[0].text}"')
    ranked = (Sense.ACK, Sense.FINE, Sense.AHEAD, Sense.ELSEWHERE, Sense.POLITE)
    ack = next((unit for sense in ranked for unit in case.spoken if unit.sense is sense), None)
    if ack is None:
        return None
    if case.bare_ack_grants and ack.sense is Sense.ACK:
        return Assent(verdict=AssentVerdict.GRANT, because=f'acknowledges: "{ack.text}"')
    return Assent(verdict=AssentVerdict.AMBIGUOUS, because=f'only acknowledges: "{ack.text}"')


def _is_labelled(case: Case) -> bool:
    """Tell whether what is said stands behind a label: "plan: restart it"."""
    colon = next((index for index, unit in enumerate(case.units) if unit.text == ":"), 0)
    return colon > 0 and all(unit.sense in _LABELS for unit in case.units[:colon])


def _is_order(unit: Unit) -> bool:
    return unit.orders or unit.sense is Sense.DO or (unit.sort is Sort.VERB and bool(unit.items))


# ---------------------------------------------------------------- a yes to something else


def _other_answer(case: Case, yes: Unit) -> Unit | None:
    """Return what makes of a mere yes the answer to another question: "yes hello", "yes it is", "✅ seen".

    An order ("go ahead") answers nothing else and is not asked about.
    """
    spoken = case.spoken
    if spoken[-1].sense is Sense.AND and len(spoken) > 1:
        return spoken[-1]  # "yes and": it breaks off
    for unit in spoken:
        if unit.sense is Sense.ELSEWHERE:
            return unit
        if unit.sense is Sense.AHEAD and (unit.start > yes.start or _is_sign(yes)):
            return unit
    return next((said for clause in case.clauses() if (said := _tells_of(clause)) is not None), None)


def _is_sign(unit: Unit) -> bool:
    return not unit.text[0].isalnum()


def _tells_of(clause: Sequence[Unit]) -> Unit | None:
    """Return what tells how things are, who it was or what somebody does, and gives no reason for a yes."""
    said = [unit for unit in clause if unit.sense is not Sense.FILLER]
    yes = next((index for index, unit in enumerate(said) if unit.sense is Sense.YES), -1)
    rest = said[yes + 1 :]
    doing = next((unit for unit in rest[:1] if _is_under_way(unit)), None) or _own_deed(rest)
    if doing is not None or not rest:
        return doing
    names = any(unit.sort is Sort.ITEM or unit.sense is Sense.ME for unit in rest)
    tells = any(unit.sense in {Sense.IS, Sense.TELLS} for unit in rest)
    if names and tells and all(unit.sort is Sort.ITEM or unit.sense in _SAYS_WHAT_IS for unit in rest):
        return rest[0]  # "caddy is the web server", "das war ich"
    return _in_one_breath(rest) if yes >= 0 else None


def _is_under_way(unit: Unit) -> bool:
    """Tell "restarting" from "restart": somebody is at it already."""
    return unit.sort is Sort.VERB and unit.text.endswith("ing")


def _own_deed(rest: Sequence[Unit]) -> Unit | None:
    """Return what the speaker does themselves: "je redémarre", "je le redémarre"."""
    said = [unit for unit in rest if unit.sense is not Sense.REF]
    return next(
        (deed for me, deed in pairwise(said) if me.sense is Sense.ME and deed.sort is Sort.VERB), None
    )


def _in_one_breath(rest: Sequence[Unit]) -> Unit | None:
    """Return what "yes it is slow" says: without a comma it tells how things are."""
    points = rest[0].sense is Sense.REF or rest[0].sort is Sort.ITEM
    begins = rest[1:] if points else [one for one in rest[:1] if one.states]
    if not begins or begins[0].sense not in {Sense.IS, Sense.NOTE, Sense.TELLS}:
        return None
    judged = any(unit.sense in _JUDGES or unit.sort is Sort.VERB for unit in rest)
    return None if judged else begins[0]


# ---------------------------------------------------------------- remarks


def _before_names(clause: Sequence[Unit]) -> list[Unit]:
    """Return the yes before "I told …": "yes I told kim". A deed there is one that somebody told of."""
    start = next((index for index, unit in enumerate(clause) if unit.sense is Sense.TOLD), 0)
    said = clause[:start] if all(map(is_accounted, clause[:start])) else ()
    return [unit for unit in said if unit.sense is Sense.YES]


def _is_told(clause: Sequence[Unit], case: Case) -> bool:
    """Tell whether unknown words stand only where names do: "I told kim", "thanks for the heads-up"."""
    start = next((index for index, unit in enumerate(clause) if unit.sense is Sense.TOLD), None)
    if start is None or not all(map(is_accounted, clause[:start])):
        return False
    names = [unit for unit in clause[start:] if not is_accounted(unit)]
    about = [unit for unit in clause[start:] if _is_about_deeds(unit)]
    return len(names) <= _MAX_NAMES and not about and all(_is_name(unit, case.restraining) for unit in names)


def _is_about_deeds(unit: Unit) -> bool:
    return unit.sort in {Sort.VERB, Sort.ITEM} or unit.sense in _NOT_IN_REMARK


def _is_remark(clause: Sequence[Unit], case: Case) -> bool:
    """Tell a statement in words nobody knows from a wish, a warning or talk of something else.

    It begins as a statement, holds a verb of one, asks for nothing and restrains nothing in any language.
    Only an order ("roll it back") may stand beside it: a mere yes may answer something else.
    """
    begins = clause[0].sense in _BEGINS_REMARK or clause[0].sort is not Sort.SENSE
    strange = [unit for unit in clause if not is_accounted(unit)]
    return (
        begins
        and any(unit.sense in _MARKS_REMARK for unit in clause[:_EARLY])
        and not any(unit.sort is Sort.VERB or unit.sense in _NOT_IN_REMARK for unit in clause)
        and not (case.pending.count > 1 and any(unit.items for unit in clause))
        and len(strange) <= _MAX_STRANGE
        and all(_is_harmless(unit, case.restraining) for unit in strange)
    )


def _is_harmless(unit: Unit, restraining: frozenset[str]) -> bool:
    return unit.sense is Sense.AGO or is_measure(unit) or _is_name(unit, restraining)


def _is_name(unit: Unit, restraining: frozenset[str]) -> bool:
    """Tell whether a unit is an unknown word that restrains in no language."""
    return unit.sort is Sort.UNKNOWN and not unit.opaque and not _restrains(unit.text, restraining)


def _is_past(clause: Sequence[Unit]) -> bool:
    """Tell whether a clause tells of a time gone by: "I told the team yesterday"."""
    known = all(is_accounted(unit) or unit.sense is Sense.AGO for unit in clause)
    return known and _is_statement(clause) and not any(map(_is_about_deeds, clause))


def _restrains(word: str, restraining: frozenset[str]) -> bool:
    """Tell whether a word restrains in another language, or is a slip of one that does."""
    if word in restraining:
        return True
    near = process.extract(word, restraining, scorer=OSA.distance, score_cutoff=1, limit=None)
    return any(min(len(word), len(known)) >= _MIN_SLIP for known, _, _ in near)


# ---------------------------------------------------------------- all of it


def _is_of_all(case: Case) -> bool:
    """Tell whether a yes is one to exactly what waits: "destroy the old one" is not."""
    clauses = list(case.clauses())
    if case.pending.count <= 1:
        return not any(_widens(clause, case.pending) for clause in clauses)
    if any(unit.sense is Sense.REF and "one" in unit.text.split() for unit in case.spoken):
        return False
    everything = case.pending.everything
    named = frozenset[int]().union(*(unit.items for unit in case.spoken if unit.items != everything))
    if named and named != everything:
        return False
    asked = [clause for clause in clauses if consents(clause, case.pending) is not None]
    wished = frozenset[int]().union(*(u.items for clause in asked for u in clause if u.items != everything))
    if wished and wished != everything:
        return False  # "restart web1 and web2, web3 is fine"
    return not any(
        any(unit.sense is Sense.NOTE for unit in clause) and any(unit.sort is Sort.VERB for unit in clause)
        for clause in clauses
    )


def _widens(clause: Sequence[Unit], pending: Pending) -> bool:
    """Tell whether a clause speaks of more than the one thing: "restart all hosts", "the new one"."""
    for index, unit in enumerate(clause):
        praised = _is_praised(clause[index:]) or _is_statement(clause)
        if unit.sense is Sense.ALL and not pending.several and not praised:
            return True
        if unit.sense is Sense.REF and unit.text == "one" and index and clause[index - 1].sense is Sense.NOTE:
            return True
    return False


def _is_praised(clause: Sequence[Unit]) -> bool:
    """Tell "that all looks right" from a wish for all of it."""
    deeds = any(unit.sort is Sort.VERB or unit.sense is Sense.DO for unit in clause)
    return not deeds and any(unit.sense is Sense.SEEMS for unit in clause)


def _is_statement(clause: Sequence[Unit]) -> bool:
    return any(unit.sense in _OF_STATEMENTS or unit.sense is Sense.IS for unit in clause)


# ---------------------------------------------------------------- what consents


def consents(clause: Sequence[Unit], pending: Pending) -> Unit | None:
    """Return the unit by which a clause consents: a yes, a judgement, all of them, or the deed asked for."""
    if pending.count > 1 and all(
        unit.sense in _ALL_OF_THEM or unit.items == pending.everything for unit in clause
    ):
        whole = next((unit for unit in clause if unit.sense is Sense.ALL), None)
        if whole is not None:
            return whole
    for index, unit in enumerate(clause):
        if unit.sense is Sense.YES:
            # A tick before a word may stand for what the word says: "✅ checked".
            ticks = _is_sign(unit) and any(one.sense in _OF_STATEMENTS for one in clause)
            return None if ticks else unit
        if unit.sense is Sense.SUITS and all(one.sense in _SUBJECT_OF_SUITS for one in clause[:index]):
            return unit
        if unit.sense in _OF_STATEMENTS:
            # From here on it is a statement, "I need to approve it", unless a yes is joined to it.
            joined = zip(clause[index:], clause[index + 1 :], strict=False)
            return next(
                (yes for and_, yes in joined if and_.sense is Sense.AND and yes.sense is Sense.YES), None
            )
        if unit.sense is Sense.SEEMS and _is_judgement(clause, index):
            return unit
    return imperative(clause)


def _names_all(case: Case) -> Unit | None:
    """Return the first number of a list that counts every action and says nothing else: "1, 2 and 3"."""
    numbers = [unit for unit in case.spoken if unit.by_index]
    rest = [unit for unit in case.spoken if not unit.by_index]
    counted = frozenset[int]().union(*(unit.items for unit in numbers))
    whole = case.pending.count > 1 and counted == case.pending.everything
    return numbers[0] if whole and all(unit.sense in _ALL_OF_THEM for unit in rest) else None


def _is_judgement(clause: Sequence[Unit], at: int) -> bool:
    """Tell "that sounds good to me" from "caddy looks good now": nothing but pointing, and good ends it."""
    good = next((i for i in range(at, len(clause)) if clause[i].sense in {Sense.FINE, Sense.ACK}), None)
    if good is None:
        return False
    before = all(unit.sense in _POINTS or unit.sense in COURTESY for unit in clause[:good])
    return before and all(unit.sense in _AFTER_GOOD for unit in clause[good + 1 :])


def imperative(clause: Sequence[Unit]) -> Unit | None:
    """Return the deed when the clause is the wish for it ("restart it", "please do it"), not about it."""
    if any(unit.sense in _OF_STATEMENTS or unit.sense in _NOT_WISHED for unit in clause):
        return None  # "restart is done"
    for index, unit in enumerate(clause):
        if unit.sort is Sort.VERB or unit.sense is Sense.DO:
            if _is_under_way(unit):
                return None
            named = any(other.sort is Sort.ITEM for other in clause)
            if unit.sense is Sense.REFUSE and not named:
                return None
            rest = clause[index + 1 :]
            objects = any(other.sense in {Sense.REF, Sense.ALL} or other.items for other in rest)
            return unit if unit.sort is Sort.VERB or objects else None
        if unit.sense not in _LEAD:
            return None
    return None
