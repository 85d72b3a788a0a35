"""Order within a proposal: what moves next, and what is asked about at once (D4)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.domain import RouteKind
from gate.lifecycle import ACTION_ENDED, ActionState
from gate.sequence import Move, MoveKind, Step, next_move, opens_at_once

#: Letters for a step: its state, and where it is fresh, its route.
STEPS = {
    "a": Step(ActionState.PROPOSED, RouteKind.AUTO),
    "y": Step(ActionState.PROPOSED, RouteKind.APPROVAL),
    "p": Step(ActionState.PROPOSED, RouteKind.PHRASE),
    "w": Step(ActionState.WAITING, RouteKind.APPROVAL),
    "q": Step(ActionState.QUEUED, RouteKind.APPROVAL),
    "r": Step(ActionState.STARTED, RouteKind.APPROVAL),
    "+": Step(ActionState.SUCCEEDED, RouteKind.APPROVAL),
    "-": Step(ActionState.FAILED, RouteKind.AUTO),
    "c": Step(ActionState.CANCELLED, RouteKind.PHRASE),
    "?": Step(ActionState.LOST, RouteKind.PHRASE),
}


def _steps(letters: str) -> list[Step]:
    return [STEPS[letter] for letter in letters]


@pytest.mark.parametrize(
    ("letters", "kind", "index"),
    [
        ("", MoveKind.DONE, None),
        ("+-c?", MoveKind.DONE, None),
        ("a", MoveKind.QUEUE, 0),
        ("q", MoveKind.START, 0),
        ("p", MoveKind.CHALLENGE, 0),
        ("w", MoveKind.WAIT, None),
        ("y", MoveKind.WAIT, None),
        ("ra", MoveKind.WAIT, None),
        ("+a", MoveKind.QUEUE, 1),
        ("+?cq", MoveKind.START, 3),
        ("+pa", MoveKind.CHALLENGE, 1),
        # What waits holds back everything behind it, granted or not.
        ("wq", MoveKind.WAIT, None),
        ("wa", MoveKind.WAIT, None),
        ("rp", MoveKind.WAIT, None),
    ],
)
def test_the_first_that_has_not_ended_moves(letters: str, kind: MoveKind, index: int | None) -> None:
    assert next_move(_steps(letters)) == Move(kind, index)


@pytest.mark.parametrize(
    ("letters", "opened"),
    [
        ("", ()),
        ("a", ()),
        ("yy", (0, 1)),
        ("p", (0,)),
        ("pp", (0,)),
        ("yp", (0,)),
        ("py", (0, 1)),
        ("ap", ()),
        ("ayp", (1,)),
        ("+p", (1,)),
        ("+yw", (1,)),
    ],
)
def test_a_phrase_behind_others_is_not_asked_about_yet(letters: str, opened: tuple[int, ...]) -> None:
    assert opens_at_once(_steps(letters)) == opened


any_steps = st.lists(st.builds(Step, st.sampled_from(ActionState), st.sampled_from(RouteKind)), max_size=6)


@given(any_steps)
def test_nothing_overtakes(steps: list[Step]) -> None:
    move = next_move(steps)
    if move.index is not None:
        assert all(step.state in ACTION_ENDED for step in steps[: move.index])
        assert steps[move.index].state not in ACTION_ENDED


@given(any_steps)
def test_only_a_queued_action_starts_and_only_an_automatic_one_queues_itself(steps: list[Step]) -> None:
    move = next_move(steps)
    if move.kind is MoveKind.START:
        assert move.index is not None
        assert steps[move.index].state is ActionState.QUEUED
    if move.kind is MoveKind.QUEUE:
        assert move.index is not None
        assert steps[move.index] == STEPS["a"]


@given(any_steps)
def test_only_fresh_actions_are_opened_and_at_most_one_phrase(steps: list[Step]) -> None:
    opened = opens_at_once(steps)
    assert all(steps[index].state is ActionState.PROPOSED for index in opened)
    assert sum(steps[index].route is RouteKind.PHRASE for index in opened) <= 1
    assert all(steps[index].route in (RouteKind.APPROVAL, RouteKind.PHRASE) for index in opened)
