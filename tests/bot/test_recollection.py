"""What is remembered between turns: read anew where it changed, and nothing where it cannot be read."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from bot import memory
from bot.recollection import Recollection, speaking_of
from gate.domain import PersonId, PlaceId
from gate.trust import Source
from ledger.beliefs import BeliefReader, BeliefState, BeliefView, Fact
from tests.kit import conversation, person

NOW = datetime(2026, 11, 30, 10, tzinfo=UTC)
ANA, BO = PersonId("ana"), PersonId("bo")
WEEKDAYS = "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9;BYMINUTE=30;BYSECOND=0"


def belief(
    name: str, about: str = "sync", when: str = "2026-12-01T14:00:00+01:00", *, predicate: str = "at"
) -> BeliefView:
    fact = Fact(about=about, object=when, kind="", said=f"{about} is on {when}")
    return BeliefView(
        id=name,
        subject=name,
        predicate=predicate,
        source=Source.USER_EXPLICIT,
        functional=True,
        private=False,
        person=ANA,
        place=PlaceId("here"),
        state=BeliefState.LIVE,
        supersedes="",
        at=NOW,
        fact=fact,
    )


class Store(BeliefReader):
    """Facts that a test puts there, and how often they were read."""

    def __init__(self, *facts: BeliefView) -> None:
        self.facts = list(facts)
        self.revision = 1
        self.read: list[str] = []

    def belief_revision(self) -> int:
        return self.revision

    def live_beliefs(self, *, known: Mapping[str, BeliefView] | None = None) -> tuple[BeliefView, ...]:
        self.read += [one.id for one in self.facts if one.id not in (known or {})]
        return tuple(self.facts)


class Broken(Store):
    """A store that cannot be read."""

    def belief_revision(self) -> int:
        raise OSError("the disk is gone")


def names(
    kept: Recollection, store: Store, who: PersonId | None = None, *, at: datetime = NOW
) -> dict[str, datetime | None]:
    found = kept.recall(store, person=who, zone=UTC, now=at)
    return {anchor.name: anchor.at for anchors in found.remembered.names.values() for anchor in anchors}


def test_what_did_not_change_is_not_read_again() -> None:
    store, kept = Store(belief("b1")), Recollection()
    first = kept.recall(store, person=None, zone=UTC, now=NOW)
    assert kept.recall(store, person=None, zone=UTC, now=NOW) is first
    assert store.read == ["b1"]
    store.facts.append(belief("b2"))
    store.revision += 1
    assert set(names(kept, store)) == {"b1", "b2"}
    assert store.read == ["b1", "b2"]
    store.facts.pop(0)
    store.revision += 1
    assert set(names(kept, store)) == {"b2"}


def test_only_events_are_anchors_and_a_date_that_cannot_be_read_is_unknown() -> None:
    store = Store(
        belief("b1"),
        belief("b2", "rack", "in the cellar", predicate="is"),
        belief("b3", "party", "when Bo is back"),
        replace(belief("b4"), fact=None),
    )
    assert names(Recollection(), store) == {"b1": NOW.replace(month=12, day=1, hour=13), "b3": None}


def test_what_was_told_in_private_is_for_its_teller_alone() -> None:
    store, kept = Store(belief("b1"), replace(belief("b2"), private=True)), Recollection()
    assert set(names(kept, store, ANA)) == {"b1", "b2"}
    assert set(names(kept, store, BO)) == {"b1"}
    assert set(names(kept, store)) == {"b1"}


def test_an_event_that_comes_again_is_the_next_one() -> None:
    store = Store(belief("b1", "standup", f"2026-11-02T09:30:00+01:00[Europe/Vienna] {WEEKDAYS}"))
    kept = Recollection()
    assert names(kept, store) == {"b1": datetime(2026, 12, 1, 8, 30, tzinfo=UTC)}
    later = datetime(2026, 12, 1, 8, 30, tzinfo=UTC)
    assert names(kept, store, at=later) == {"b1": datetime(2026, 12, 2, 8, 30, tzinfo=UTC)}
    assert store.read == ["b1"]


def test_a_recurrence_that_is_over_is_where_it_was() -> None:
    store = Store(belief("b1", "course", "2026-11-02T09:30:00+01:00[] FREQ=DAILY;COUNT=2"))
    assert names(Recollection(), store) == {"b1": datetime(2026, 11, 2, 8, 30, tzinfo=UTC)}


def test_a_day_is_the_readers_day() -> None:
    store, kept = Store(belief("b1", when="2026-12-01")), Recollection()
    tokyo = kept.recall(store, person=None, zone=ZoneInfo("Asia/Tokyo"), now=NOW).remembered.dated
    assert [one.at for one in tokyo] == [datetime(2026, 11, 30, 15, tzinfo=UTC)]
    assert names(kept, store) == {"b1": datetime(2026, 12, 1, tzinfo=UTC)}


def test_many_people_do_not_pile_up() -> None:
    store, kept = Store(belief("b1")), Recollection()
    for number in range(40):
        kept.recall(store, person=PersonId(f"p{number}"), zone=UTC, now=NOW)
    assert len(kept._kept) <= 16


def test_a_store_that_cannot_be_read_gives_no_anchors_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    found = Recollection().recall(Broken(), person=None, zone=UTC, now=NOW)
    assert (found.failed, found.beliefs, found.remembered.names) == (True, (), {})
    assert "could not be read" in caplog.text


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("the Project Sync", ["b1"]),
        ("the meeting", ["b1", "b2"]),
        ("Bo", ["b2"]),
        ("rack 4", ["b3"]),
        ("the moon", []),
        ("the", []),
        ("", []),
    ],
)
def test_facts_are_found_by_name_else_by_their_words(words: str, found: list[str]) -> None:
    facts = [
        belief("b1", "project sync"),
        belief("b2", "1:1 with Bo"),
        belief("b3", "web1", "in rack 4", predicate="is"),
    ]
    assert [one.id for one in speaking_of(facts, words)] == found


async def test_a_subject_is_one_name_however_it_is_written(tmp_path: Path) -> None:
    async with conversation(tmp_path, operators=(person("ana"),)) as kit:
        key = memory.subject_key(kit.core, "the Project  Sync", owner=None)
        assert key == memory.subject_key(kit.core, "project sync", owner=None)
        others = {
            memory.subject_key(kit.core, "project sync", owner=ANA),
            memory.subject_key(kit.core, "project sync", owner=BO),
            memory.subject_key(kit.core, "project syncs", owner=None),
        }
        assert key not in others
        assert len(others) == 3
        assert memory.anchors(kit.core, ANA).names == {}
        assert memory.recall(kit.core, ANA, alone=True).failed is False


def test_the_instant_that_is_looked_at_moves_with_the_clock() -> None:
    store, kept = Store(belief("b1")), Recollection()
    first = kept.recall(store, person=None, zone=UTC, now=NOW)
    # An event that comes once needs no second look, however late it is.
    assert kept.recall(store, person=None, zone=UTC, now=NOW + timedelta(days=400)) is first
