"""Several acts of one message: what waits for what, and what is taken back."""

import itertools
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.errors import GateError
from gate.resolve.decision import Act
from gate.resolve.partial import TABLE, UNDONE_BY, Next, Piece, Standing, plan

S, N = Standing, Next
REMIND, SEND = Act.REMIND, Act.SEND_OUTBOUND  # one can be undone, the other cannot


def _family(act: Act, own: Standing, *children: Standing, child: Act = REMIND) -> list[Piece]:
    family = [Piece(id="p", act=act, standing=own)]
    return family + [
        Piece(id=f"c{index}", act=child, standing=standing, parent="p")
        for index, standing in enumerate(children, start=1)
    ]


def test_the_table_tells_every_case() -> None:
    assert set(TABLE) == set(itertools.product(Standing, Standing))


@pytest.mark.parametrize(
    ("act", "own", "children", "expected"),
    [
        # what cannot be undone waits until all under it is clear, and goes first then
        (SEND, S.CLEAR, (S.CLEAR, S.ASKED), (N.WAIT, N.WAIT, N.WAIT)),
        (SEND, S.CLEAR, (S.CLEAR, S.CLEAR), (N.DO, N.WAIT, N.WAIT)),
        (SEND, S.DONE, (S.CLEAR, S.DONE), (N.NOTHING, N.DO, N.NOTHING)),
        (SEND, S.CLEAR, (S.CLEAR, S.DENIED), (N.LEAVE, N.LEAVE, N.LEAVE)),
        (SEND, S.DONE, (S.CLEAR, S.DENIED), (N.NOTHING, N.DO, N.LEAVE)),
        # what can be undone goes ahead, and is undone
        (REMIND, S.CLEAR, (S.ASKED,), (N.DO, N.WAIT)),
        (REMIND, S.DONE, (S.ASKED,), (N.NOTHING, N.WAIT)),
        (REMIND, S.DONE, (S.DONE, S.DENIED), (N.UNDO, N.UNDO, N.LEAVE)),
        (REMIND, S.CLEAR, (S.DENIED,), (N.LEAVE, N.LEAVE)),
        # nothing under it goes without it
        (REMIND, S.DENIED, (S.CLEAR, S.ASKED), (N.LEAVE, N.LEAVE, N.LEAVE)),
        (REMIND, S.ASKED, (S.CLEAR,), (N.WAIT, N.WAIT)),
        (REMIND, S.ASKED, (S.DENIED,), (N.LEAVE, N.LEAVE)),
        (SEND, S.CLEAR, (), (N.DO,)),
    ],
)
def test_a_parent_and_what_hangs_on_it(
    act: Act, own: Standing, children: tuple[Standing, ...], expected: tuple[Next, ...]
) -> None:
    assert tuple(plan(_family(act, own, *children)).values()) == expected


def test_what_was_done_and_cannot_be_undone_is_left_as_it_is() -> None:
    family = _family(REMIND, S.DONE, S.DONE, S.DENIED, child=SEND)
    assert plan(family) == {"p": N.UNDO, "c1": N.NOTHING, "c2": N.LEAVE}


def test_a_denial_far_below_counts_all_the_way_up() -> None:
    chain = [
        Piece(id="c", act=REMIND, standing=S.DENIED, parent="b"),
        Piece(id="b", act=REMIND, standing=S.DONE, parent="a"),
        Piece(id="a", act=REMIND, standing=S.DONE),
        Piece(id="other", act=SEND, standing=S.CLEAR),
    ]
    assert plan(chain) == {"a": N.UNDO, "b": N.UNDO, "c": N.LEAVE, "other": N.DO}


@pytest.mark.parametrize(
    "broken",
    [
        [Piece(id="a", act=SEND, standing=S.CLEAR), Piece(id="a", act=SEND, standing=S.CLEAR)],
        [Piece(id="", act=SEND, standing=S.CLEAR)],
        [Piece(id="a", act=SEND, standing=S.CLEAR, parent="gone")],
        [
            Piece(id="a", act=SEND, standing=S.CLEAR, parent="b"),
            Piece(id="b", act=SEND, standing=S.CLEAR, parent="a"),
        ],
    ],
)
def test_what_does_not_hang_together_is_our_mistake(broken: list[Piece]) -> None:
    with pytest.raises(GateError):
        plan(broken)


def test_what_takes_back_is_an_act_and_sending_is_never_taken_back() -> None:
    assert not {Act.EXEC, Act.SEND_OUTBOUND, Act.POST_ARTIFACT, Act.MUTATE_FS} & set(UNDONE_BY)


@st.composite
def _forests(draw: st.DrawFn) -> list[Piece]:
    count = draw(st.integers(1, 5))
    return [
        Piece(
            id=f"n{index}",
            act=draw(st.sampled_from([REMIND, SEND])),
            standing=draw(st.sampled_from([S.CLEAR, S.ASKED, S.DENIED])),
            parent=draw(st.sampled_from(["", *[f"n{above}" for above in range(index)]])),
        )
        for index in range(count)
    ]


@given(_forests(), st.data())
def test_in_whatever_order_it_ends_and_leaves_no_half(pieces: list[Piece], data: st.DataObject) -> None:
    for _ in range(len(pieces) * 4):
        todo = plan(pieces)
        ready = [one for one in pieces if todo[one.id] in (N.DO, N.UNDO) or one.standing is S.ASKED]
        if not ready:
            break
        one = data.draw(st.sampled_from(ready))
        if todo[one.id] is N.DO:
            after = S.DONE
        elif todo[one.id] is N.UNDO:
            after = S.DENIED
        else:
            after = data.draw(st.sampled_from([S.CLEAR, S.DENIED]))
        pieces = [replace(piece, standing=after) if piece.id == one.id else piece for piece in pieces]
    else:
        pytest.fail("it goes on for ever")
    by_id = {one.id: one for one in pieces}
    for piece in pieces:
        parent = by_id.get(piece.parent)
        if piece.standing is S.DONE and parent is not None:
            assert parent.standing is S.DONE or piece.act not in UNDONE_BY
        if piece.standing is S.DENIED and parent is not None and parent.standing is S.DONE:
            assert parent.act not in UNDONE_BY
