"""Several acts of one message that hang together: what to do when only part of them is clear (K18).

A parent that can be undone goes ahead, and is undone when an act under it is denied. One that cannot be
undone waits until every act under it is clear, and is left when one of them is denied. An act under another
goes after it and never without it. This says what to do next; it does and records nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from gate.errors import GateError
from gate.resolve.decision import Act

#: The act that takes another back; what is not here cannot be taken back.
UNDONE_BY: Mapping[Act, Act] = MappingProxyType(
    {
        Act.REMIND: Act.CANCEL_JOB,
        Act.SCHEDULE: Act.CANCEL_JOB,
        Act.STORE_FACT: Act.FORGET_FACT,
        Act.REVISE_FACT: Act.REVISE_FACT,
        Act.CONFIG_CHANGE: Act.CONFIG_CHANGE,
        Act.SET_GUIDANCE: Act.SET_GUIDANCE,
        Act.SET_TRUST: Act.SET_TRUST,
    }
)


class Standing(StrEnum):
    """How far one act has come, best first."""

    DONE = "done"
    CLEAR = "clear"  # bound and allowed
    ASKED = "asked"  # a question or a phrase is open
    DENIED = "denied"  # or dropped, or expired


class Next(StrEnum):
    """What to do about one act now."""

    NOTHING = "nothing"  # it is done
    DO = "do"
    WAIT = "wait"
    LEAVE = "leave"  # it is not done: denied itself, or with what it hangs on
    UNDO = "undo"


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One act of a message.

    Attributes:
        id: its commitment.
        parent: the commitment that it is part of, "" for none.
    """

    id: str
    act: Act
    standing: Standing
    parent: str = ""


_S, _N = Standing, Next

#: (its own standing, the worst standing under it) -> what to do where it can be undone, and where it cannot.
#: With nothing under it, the worst is DONE.
TABLE: Mapping[tuple[Standing, Standing], tuple[Next, Next]] = MappingProxyType(
    {
        (_S.DONE, _S.DONE): (_N.NOTHING, _N.NOTHING),
        (_S.DONE, _S.CLEAR): (_N.NOTHING, _N.NOTHING),
        (_S.DONE, _S.ASKED): (_N.NOTHING, _N.NOTHING),
        (_S.DONE, _S.DENIED): (_N.UNDO, _N.NOTHING),
        (_S.CLEAR, _S.DONE): (_N.DO, _N.DO),
        (_S.CLEAR, _S.CLEAR): (_N.DO, _N.DO),
        (_S.CLEAR, _S.ASKED): (_N.DO, _N.WAIT),
        (_S.CLEAR, _S.DENIED): (_N.LEAVE, _N.LEAVE),
        (_S.ASKED, _S.DONE): (_N.WAIT, _N.WAIT),
        (_S.ASKED, _S.CLEAR): (_N.WAIT, _N.WAIT),
        (_S.ASKED, _S.ASKED): (_N.WAIT, _N.WAIT),
        (_S.ASKED, _S.DENIED): (_N.LEAVE, _N.LEAVE),
        (_S.DENIED, _S.DONE): (_N.LEAVE, _N.LEAVE),
        (_S.DENIED, _S.CLEAR): (_N.LEAVE, _N.LEAVE),
        (_S.DENIED, _S.ASKED): (_N.LEAVE, _N.LEAVE),
        (_S.DENIED, _S.DENIED): (_N.LEAVE, _N.LEAVE),
    }
)
_WORST_FIRST = tuple(reversed(Standing))


def plan(pieces: Sequence[Piece]) -> Mapping[str, Next]:
    """Return what to do about each of `pieces` now, by its id, in an order in which parents come first.

    Raises:
        GateError: they do not hang together as trees: an id twice, a parent that is not there, or a circle.
    """
    found: dict[str, Next] = {}
    for piece in _parents_first(pieces):
        undoable = piece.act in UNDONE_BY
        under = {other.standing for other in pieces if _hangs_on(other, piece.id, pieces)}
        worst = next((standing for standing in _WORST_FIRST if standing in under), Standing.DONE)
        alone = TABLE[piece.standing, worst][0 if undoable else 1]
        found[piece.id] = _with_parent(alone, found.get(piece.parent, Next.NOTHING), undoable=undoable)
    return found


def _with_parent(alone: Next, parent: Next, *, undoable: bool) -> Next:
    if parent is Next.NOTHING:
        return alone
    if parent in (Next.DO, Next.WAIT):
        return Next.WAIT if alone is Next.DO else alone
    # The parent is left or undone, and nothing under it stays that can be taken back.
    if alone is Next.NOTHING:
        return Next.UNDO if undoable else Next.NOTHING
    return Next.UNDO if alone is Next.UNDO else Next.LEAVE


def _hangs_on(piece: Piece, above: str, pieces: Sequence[Piece]) -> bool:
    by_id = {one.id: one for one in pieces}
    parent = piece.parent
    while parent:
        if parent == above:
            return True
        parent = by_id[parent].parent
    return False


def _parents_first(pieces: Sequence[Piece]) -> list[Piece]:
    ordered: list[Piece] = []
    placed = {""}
    waiting = list(pieces)
    if len({one.id for one in pieces} - placed) < len(pieces):
        raise GateError("Two acts of one message have the same id, or one has none; report this as a bug.")
    while waiting:
        ready = [one for one in waiting if one.parent in placed]
        if not ready:
            raise GateError("The acts of a message hang on each other in a circle; report this as a bug.")
        ordered += ready
        placed |= {one.id for one in ready}
        waiting = [one for one in waiting if one.id not in placed]
    return ordered
