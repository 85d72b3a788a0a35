"""Instructions in the ledger: held, then confirmed or rejected, each once."""

import pytest

from gate.errors import TransitionError
from ledger.guidance import GuidanceState, GuidanceView
from ledger.kinds import Kind
from tests.gate.makers import NOW
from tests.ledger.entries.learning import on_guidance, taught
from tests.ledger.story import Story

HELD, CONFIRMED, REJECTED = GuidanceState


def test_it_is_held_first(tale: Story) -> None:
    assert tale.queries.one_guidance("g4h7k9") is None
    tale.write(taught())
    found = tale.queries.one_guidance("g4h7k9")
    assert found == GuidanceView(
        id="g4h7k9",
        text="be brief",
        state=HELD,
        taught_by="ana",  # type: ignore[arg-type] # a name
        held_at=NOW,
    )
    assert tale.queries.guidance(HELD) == (found,)
    assert tale.queries.guidance(CONFIRMED) == tale.queries.guidance() == ()


def test_it_counts_once_it_is_confirmed_and_may_be_taken_away(tale: Story) -> None:
    tale.write(taught(), taught("other1"))
    tale.write(on_guidance(Kind.GUIDANCE_CONFIRMED))
    (found,) = tale.queries.guidance(CONFIRMED)
    assert (found.id, found.decided_by, found.decided_at) == ("g4h7k9", "kim", NOW)
    assert [one.id for one in tale.queries.guidance(HELD, CONFIRMED)] == ["g4h7k9", "other1"]
    tale.write(on_guidance(Kind.GUIDANCE_REJECTED, by="bo"))
    gone = tale.queries.one_guidance("g4h7k9")
    assert gone is not None
    assert (gone.state, gone.decided_by) == (REJECTED, "bo")


@pytest.mark.parametrize("first", [Kind.GUIDANCE_CONFIRMED, Kind.GUIDANCE_REJECTED])
def test_nothing_is_decided_twice(tale: Story, first: Kind) -> None:
    tale.write(taught())
    tale.write(on_guidance(first))
    for wrong in (on_guidance(Kind.GUIDANCE_CONFIRMED), on_guidance(Kind.GUIDANCE_CONFIRMED, "other1")):
        with pytest.raises(TransitionError, match="cannot be confirmed"):
            tale.write(wrong)


def test_a_rejected_one_stays_so(tale: Story) -> None:
    tale.write(taught())
    tale.write(on_guidance(Kind.GUIDANCE_REJECTED))
    with pytest.raises(TransitionError, match="cannot be rejected"):
        tale.write(on_guidance(Kind.GUIDANCE_REJECTED))
