"""Which of several pending actions an answer means.

Owns the pairing of references (names, numbers, verbs, "the rest") with yes, no, only and except. It gives
sets, never consent: a partial answer is always shown again with one button for each action (C15). When a
reference is missing, contradicts another or covers nothing, there is no selection.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gate.assent.pending import Pending
from gate.assent.senses import Sense
from gate.assent.units import Sort, Unit

_PLUS = frozenset({Sense.YES, Sense.SUITS, Sense.ACK, Sense.FINE, Sense.DO})
_MINUS = frozenset({Sense.NO, Sense.REFUSE})
_LATER = frozenset({Sense.DEFER, Sense.HOLD})
_SPARES = frozenset({Sense.NOT, Sense.SKIP})
_EMPTY: frozenset[int] = frozenset()
_REFERS = frozenset({"i", "v", "rest"})
_DECIDES = frozenset({"+", "-", "spare", "later"})
_SAYS_NO = frozenset({"-", "spare"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What was said about which actions.

    Attributes:
        chosen: 0-based positions that were agreed to.
        rejected: positions that were left out by name; () when the rest is only implied.
        restricts: something was left out, by name or by "only".
    """

    chosen: frozenset[int]
    rejected: frozenset[int]
    restricts: bool


@dataclass(slots=True)
class _Tally:
    """What has been said so far."""

    plus: frozenset[int] = _EMPTY
    minus: frozenset[int] = _EMPTY
    only: bool = False
    spares: bool = False  # "skip 2": something is left out, which agrees to what is not
    general: bool = False  # a yes to everything, before restrictions
    rest: str = ""  # polarity given to "the rest"
    waiting: frozenset[int] = _EMPTY  # references whose polarity is still to come
    last: str = ""


def select(units: Sequence[Unit], pending: Pending) -> Selection | None:
    """Return what `units` select, or None when no action is told apart from another."""
    positional = _positional(units, pending)
    if positional is not None:
        return positional
    tally = _Tally()
    for clause in _clauses(units):
        _count(_events(clause, pending), tally)
    _settle(tally, tally.last or "+")
    return _result(tally, pending)


def _positional(units: Sequence[Unit], pending: Pending) -> Selection | None:
    """Read "n n y": one answer for each action, nothing else."""
    spoken = [unit for unit in units if unit.sort is not Sort.BREAK]
    if pending.count < 2 or len(spoken) != pending.count:  # noqa: PLR2004 - one answer has no positions
        return None
    senses = [unit.sense for unit in spoken]
    if not all(sense in {Sense.YES, Sense.NO} for sense in senses) or len(set(senses)) == 1:
        return None
    chosen = frozenset(index for index, sense in enumerate(senses) if sense is Sense.YES)
    return Selection(chosen=chosen, rejected=pending.everything - chosen, restricts=True)


def _clauses(units: Sequence[Unit]) -> Iterator[Sequence[Unit]]:
    clause: list[Unit] = []
    for unit in units:
        if unit.sort is Sort.BREAK or unit.sense is Sense.BUT:
            yield clause
            clause = []
        else:
            clause.append(unit)
    yield clause


def _events(clause: Sequence[Unit], pending: Pending) -> list[tuple[str, frozenset[int]]]:
    """Return references ("i", "v" for verbs) and polarities ("+", "-", "only", "except", "rest", "all")."""
    events: list[tuple[str, frozenset[int]]] = []
    joined = False
    before = _EMPTY  # what stands before the "and"; the words behind it narrow each other only
    marks = [(unit, _mark(unit, pending)) for unit in clause]
    for index, (unit, mark) in enumerate(marks):
        if mark == "all" and any(other in {"i", "v"} for _, other in marks[index + 1 : index + 2]):
            continue  # "both webs", "the two webs"
        if mark == "&":
            joined = True
            continue
        if not mark:
            continue
        if mark in {"i", "v"} and events and events[-1][0] in {"i", "v"}:
            last, items = events[-1]
            if joined:
                before, narrowed = items, unit.items
            else:
                narrowed = _narrow(items - before or items, unit.items)
            events[-1] = ("v" if "v" in {last, mark} else "i", before | narrowed)
        else:
            before = _EMPTY
            events.append((mark, unit.items))
        joined = False
    return events


def _narrow(one: frozenset[int], other: frozenset[int]) -> frozenset[int]:
    """Join two references to one thing: "restart caddy on web1"."""
    return one & other or one | other


def _mark(unit: Unit, pending: Pending) -> str:
    if unit.sort is Sort.VERB:
        return "v" if unit.items and unit.items != pending.everything else ("+" if unit.items else "")
    if unit.sort is Sort.ITEM:
        told_apart = unit.items != pending.everything or pending.count == 0
        return "i" if told_apart else ""
    if unit.items:
        return "i"  # a number where only the question is known
    return _SENSE_MARKS.get(unit.sense, "") if unit.sense is not None else ""


_SENSE_MARKS = (
    {Sense.ONLY: "only", Sense.EXCEPT: "except", Sense.REST: "rest", Sense.ALL: "all", Sense.AND: "&"}
    | dict.fromkeys(_PLUS, "+")
    | dict.fromkeys(_MINUS, "-")
    | dict.fromkeys(_SPARES, "spare")
    | dict.fromkeys(_LATER, "later")
)


def _count(events: Sequence[tuple[str, frozenset[int]]], tally: _Tally) -> None:
    """Add one clause to the tally."""
    refers = [mark for mark, _ in events if mark in _REFERS]
    refers_first = bool(events) and events[0][0] in _REFERS
    if tally.waiting and refers and not refers_first:
        _settle(tally, "+")  # "web1 and db1, skip web2"
    polarity = ""
    for index, (said, items) in enumerate(events):
        tally.spares = tally.spares or said == "spare"
        mark = "-" if said in _DECIDES and said != "+" else said
        if said in _SAYS_NO and tally.waiting and _goes_before(events[index + 1 :]):
            _settle(tally, "+")
            polarity = tally.last = "-"
        elif mark in {"+", "-"}:
            polarity = _decide(mark, polarity, events, tally)
        elif mark in {"only", "except"}:
            _restrict(mark, tally)
            polarity = "-" if mark == "except" else "+"
        elif mark == "all":
            tally.general = tally.general or polarity != "-"
        elif mark == "rest":
            tally.rest = polarity or "?"
        else:
            _refer(items, polarity, tally)
    if any(mark == "v" for mark, _ in events) and tally.waiting:
        _settle(tally, "+")  # naming the deed asks for it: "revoke and rotate. keep the tokens"


def _decide(mark: str, before: str, events: Sequence[tuple[str, frozenset[int]]], tally: _Tally) -> str:
    """Take a yes or no into account; return the polarity that what follows has."""
    refers_first = events[0][0] in _REFERS
    polarity = "-" if "-" in (mark, before) and not refers_first else mark
    if tally.waiting or tally.rest == "?":
        _settle(tally, mark)
        polarity = "" if refers_first else polarity
    elif mark == "+" and not any(other in _REFERS for other, _ in events):
        tally.general = True
    tally.last = mark
    return polarity


def _goes_before(later: Sequence[tuple[str, frozenset[int]]]) -> bool:
    """Tell "1 but not 2" from "1 no 2 yes": the no stands before what it leaves out."""
    return bool(later) and later[0][0] in _REFERS and not any(mark in _DECIDES for mark, _ in later)


def _restrict(mark: str, tally: _Tally) -> None:
    if mark == "except":
        tally.general = True
    else:
        tally.only = True
        if tally.waiting:
            _settle(tally, "+")


def _refer(items: frozenset[int], polarity: str, tally: _Tally) -> None:
    if polarity == "+":
        tally.plus |= items
    elif polarity == "-":
        tally.minus |= items
    else:
        tally.waiting |= items


def _settle(tally: _Tally, polarity: str) -> None:
    """Give the references that wait their polarity."""
    if polarity == "+":
        tally.plus |= tally.waiting
    else:
        tally.minus |= tally.waiting
    tally.waiting = _EMPTY
    if tally.rest == "?":
        tally.rest = polarity


def _result(tally: _Tally, pending: Pending) -> Selection | None:
    everything = pending.everything
    if pending.count and tally.rest == "+":
        tally.plus |= everything - tally.minus - tally.plus
    if tally.plus & tally.minus or not (tally.plus or tally.minus):
        return None
    restricts = bool(tally.minus) or tally.only or tally.rest == "-"
    chosen = tally.plus
    if not chosen and (tally.general or tally.spares):
        chosen = everything - tally.minus
    if pending.count == 0:
        return _of_question(tally, pending)
    rejected = tally.minus | (everything - chosen if tally.rest == "-" or tally.only else _EMPTY)
    if not chosen or chosen == everything:
        return Selection(chosen=chosen, rejected=rejected, restricts=restricts) if rejected else None
    return Selection(chosen=chosen, rejected=rejected, restricts=restricts)


def _of_question(tally: _Tally, pending: Pending) -> Selection | None:
    """With only a question to go by, part of it is meant when something is in and something is out."""
    is_in = tally.plus or tally.general or (tally.spares and pending.joined)
    is_part = is_in and (tally.minus or tally.only or tally.rest == "-")
    return Selection(chosen=_EMPTY, rejected=tally.minus, restricts=True) if is_part else None
