"""Whose word outweighs whose."""

import pytest

from gate.trust import TRUST, Source, may_supersede

BY_TRUST = (Source.USER_EXPLICIT, Source.SYSTEM_TOOL, Source.LLM_INFERRED)


@pytest.mark.parametrize("old", Source)
@pytest.mark.parametrize("new", Source)
def test_only_as_much_trust_or_more_displaces(old: Source, new: Source) -> None:
    assert may_supersede(old, new) == (BY_TRUST.index(new) <= BY_TRUST.index(old))


def test_what_a_person_said_gives_way_to_a_person_only() -> None:
    assert [new for new in Source if may_supersede(Source.USER_EXPLICIT, new)] == [Source.USER_EXPLICIT]


def test_every_source_has_its_trust() -> None:
    assert set(TRUST) == set(Source)
    assert sorted(TRUST.values(), reverse=True) == [TRUST[one] for one in BY_TRUST] == [1.0, 0.85, 0.60]
