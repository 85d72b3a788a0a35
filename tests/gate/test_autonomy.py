"""The dial: levels, the ceiling that lowers, and what a dial may not look like."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.autonomy import LEVELS, Clamped, Dial, Level, UnknownLevelError, at_least, clamp, objections, rank

levels = st.sampled_from(LEVELS)


def test_each_level_permits_what_stands_below_it() -> None:
    assert [one.value for one in LEVELS] == ["off", "advise", "ask", "propose", "apply", "run"]
    for at, one in enumerate(LEVELS):
        assert [at_least(one, want) for want in LEVELS] == [place <= at for place in range(6)]


@pytest.mark.parametrize("word", ["", "plan", "RUN", "run ", "yolo"])
def test_an_unknown_word_ranks_below_everything(word: str) -> None:
    assert rank(word) == -1
    assert not at_least(word, Level.OFF)


@given(ceiling=levels, requested=levels)
def test_a_request_is_lowered_and_never_raised(ceiling: Level, requested: Level) -> None:
    found = clamp(ceiling, requested, by="autonomy.max (file)")
    assert found.value == min(ceiling, requested, key=rank)
    assert found.requested is requested
    assert bool(found.by) == (rank(requested) > rank(ceiling)) == bool(found.words)


def test_it_says_by_what_it_was_lowered() -> None:
    found = clamp(Level.PROPOSE, "run", by="autonomy.max (file)")
    assert found.words == "requested run, lowered to propose by autonomy.max (file)"
    assert clamp(Level.RUN, "run") == Clamped(value=Level.RUN, requested=Level.RUN)


@pytest.mark.parametrize(("own", "value"), [("propose", "propose"), ("run", "ask")])
def test_an_empty_request_takes_the_callers_own_which_is_lowered_too(own: str, value: str) -> None:
    assert clamp(Level.ASK if own == "run" else Level.RUN, "", own=own).value == value


@pytest.mark.parametrize(("requested", "own"), [("plan", "run"), ("", ""), ("", "plan")])
def test_an_unknown_word_is_an_error(requested: str, own: str) -> None:
    with pytest.raises(UnknownLevelError, match="Say one of: off, advise"):
        clamp(Level.RUN, requested, own=own)


def test_a_dial_of_fewer_levels_takes_no_other_and_is_bounded_below_all_of_them() -> None:
    dial = ("propose", "run")
    assert clamp(Level.OFF, "propose", dial=dial).value is Level.OFF
    with pytest.raises(UnknownLevelError, match="Say one of: propose, run") as caught:
        clamp(Level.RUN, "apply", dial=dial)
    assert caught.value.word == "apply"
    with pytest.raises(UnknownLevelError):
        clamp(Level.RUN, "plan", dial=("propose", "plan"))


# ---------------------------------------------------------------- what a dial may look like

MAX = Dial(key="max", levels=LEVELS, default="run", per_call=False)
ONE = Dial(key="one", levels=("propose", "run"), default="propose", per_call=True, clamped_by="max")


@pytest.mark.parametrize("dial", [ONE, replace(ONE, levels=LEVELS, default="run"), replace(ONE, hot=True)])
def test_a_dial_may_hold_an_ordered_part_of_its_ceiling(dial: Dial) -> None:
    assert objections(dial, {"max": MAX}) == ()


@pytest.mark.parametrize(
    ("dial", "ceiling", "why"),
    [
        (replace(ONE, clamped_by="nothing"), MAX, "there is no ceiling nothing"),
        (ONE, replace(MAX, clamped_by="one"), "a ceiling has no ceiling"),
        (ONE, replace(MAX, per_call=True), "no request may carry a ceiling"),
        (ONE, replace(MAX, hot=True), "a ceiling is not hot"),
        (replace(ONE, per_call=False), MAX, "only what a request may carry is clamped"),
        (replace(ONE, levels=()), MAX, "must both hold words"),
        (ONE, replace(MAX, levels=()), "must both hold words"),
        (replace(ONE, levels=("run", "propose")), MAX, "no ordered part"),
        (replace(ONE, levels=("propose", "yolo")), MAX, "no ordered part"),
        (replace(ONE, default="run"), replace(MAX, default="propose"), "its default is above"),
    ],
)
def test_every_other_dial_is_refused(dial: Dial, ceiling: Dial, why: str) -> None:
    (found,) = objections(dial, {"max": ceiling})
    assert why in found
