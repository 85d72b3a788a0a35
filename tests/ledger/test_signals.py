"""Signals on record: what fires, what shares a card, what was done, storms and watches."""

from datetime import timedelta

import pytest

from gate.errors import TransitionError
from gate.signals import SignalStatus
from ledger.kinds import Draft, Kind, LostRaceError, SignalsAre
from ledger.projections import reset
from ledger.signal_views import Held, How, WatchState
from ledger.signals import NAMED, group_key
from ledger.views import PRUNED
from tests.gate.makers import HERE, NOW
from tests.ledger.entries.signals import (
    S1,
    S2,
    WHAT,
    grouped,
    handled,
    held,
    received,
    released,
    storm_began,
    watched,
)
from tests.ledger.story import Story


def test_a_group_holds_what_fires_and_what_was_done(tale: Story) -> None:
    tale.write(grouped(), received(), received(S2), handled())
    view = tale.queries.group("k00001")
    assert view is not None
    assert (view.is_open, view.held, view.until, view.storm, view.place) == (True, "", None, "", HERE)
    assert [one.id for one in view.firing] == [S1, S2]
    assert (view.opened_at, view.closed_at) == (NOW, None)
    (act,) = view.acts
    assert (act.how, act.ref, act.key, act.level, act.signals) == (
        How.PROPOSED,
        "p00001",
        "abc",
        "propose",
        (S1,),
    )
    assert (act.matched, act.note, act.at) == ("m", "n", NOW)
    assert tale.queries.open_group(group_key("am", "g")) == "k00001"
    assert tale.queries.open_group(group_key("am", "other")) is None
    assert tale.queries.group_of_ref("p00001") == "k00001"
    assert tale.queries.group_of_ref("none") is None
    assert [one.id for one in tale.queries.open_groups()] == ["k00001"]
    assert tale.queries.count_open_groups() == 1


def test_a_signal_is_as_it_was_reported_last(tale: Story) -> None:
    assert tale.queries.signal(S1) is None
    assert tale.queries.last_change(S1) is None
    tale.write(grouped(), received())
    tale.at += timedelta(minutes=1)
    tale.write(
        received(news="resolved"), Draft(kind=Kind.SIGNAL_RECEIVED, body={"news": "repeat", "count": 3})
    )
    view = tale.queries.signal(S1)
    assert view is not None
    assert not view.is_firing
    assert view.known.status is SignalStatus.RESOLVED
    assert (view.signal.name, view.signal.says, view.signal.severity) == ("DiskFull", "full", "page")
    assert view.at == NOW + timedelta(minutes=1)
    assert tale.queries.changes(S1, since=NOW) == 2
    assert tale.queries.changes(S1, since=NOW + timedelta(seconds=1)) == 1
    assert tale.queries.last_change(S1) == NOW + timedelta(minutes=1)


def test_a_group_ends_once(tale: Story) -> None:
    over = Draft(kind=Kind.SIGNAL_RESOLVED, body={"group": "k00001"})
    tale.write(grouped(), received(), received(news="resolved"), over)
    view = tale.queries.group("k00001")
    assert view is not None
    assert not view.is_open
    assert view.closed_at == NOW
    assert tale.queries.open_group(group_key("am", "g")) is None
    with pytest.raises(TransitionError):
        tale.write(over)


def test_what_is_held_is_released(tale: Story) -> None:
    tale.write(grouped(), received(), held(Held.FLAPPING, signal=S1), held(Held.MAINTENANCE, group="k00001"))
    assert [one.id for one in tale.queries.flapping()] == [S1]
    assert tale.queries.held_groups(Held.MAINTENANCE) == ("k00001",)
    assert tale.queries.held_groups(Held.STORM) == ()
    tale.write(received(news="resolved"))  # a change takes nothing of it away
    assert [one.held for one in tale.queries.flapping()] == ["flapping"]
    tale.write(released(signal=S1, group="k00001"), released(group="k00001"))
    assert tale.queries.flapping() == ()
    assert tale.queries.held_groups(Held.MAINTENANCE) == ()


def test_a_storm_counts_its_groups_and_names(tale: Story) -> None:
    assert tale.queries.storm() is None
    assert tale.queries.newest_group_at() is None
    other = WHAT.replace(b"DiskFull", b"Down")
    tale.write(storm_began(), grouped("k00001", storm="s00001"), grouped("k00002", storm="s00001", key="h"))
    tale.write(
        received(),
        received(S2, group="k00002", what=other),
        received(S2, news="resolved", group="k00002", what=other),
    )
    view = tale.queries.storm()
    assert view is not None
    assert view == tale.queries.storm("s00001")
    assert (view.groups, view.signals, view.firing, view.is_over, view.ended_at) == (2, 2, 1, False, None)
    assert view.names == {"DiskFull": 1, "Down": 1}
    assert view.sources == {"am": 2}
    assert NAMED > 2
    assert tale.queries.groups_since(NOW) == 2
    assert tale.queries.groups_since(NOW + timedelta(seconds=1)) == 0
    assert tale.queries.newest_group_at() == NOW
    tale.write(Draft(kind=Kind.STORM_ENDED, body={"storm": "s00001"}))
    assert tale.queries.storm() is None
    ended = tale.queries.storm("s00001")
    assert ended is not None
    assert ended.is_over
    assert ended.ended_at == NOW


def test_only_what_was_proposed_or_begun_counts_as_an_act(tale: Story) -> None:
    tale.write(grouped(), received(), *(handled(how, ref=how.value) for how in How))
    assert tale.queries.acts_since(NOW) == 2
    assert tale.queries.acts_since(NOW + timedelta(seconds=1)) == 0


def test_what_was_read_must_be_so_still(tale: Story) -> None:
    assert tale.queries.signals_seq() == 0
    tale.write(grouped(), received(), expects=(SignalsAre(0),))
    seen = tale.queries.signals_seq()
    tale.write(handled(), expects=(SignalsAre(seen),))
    with pytest.raises(LostRaceError):
        tale.write(handled(), expects=(SignalsAre(seen),))


def test_a_watch_is_as_it_was_seen_last(tale: Story) -> None:
    assert tale.queries.watch("j00001", "web1") is None
    tale.write(watched("clear"))
    tale.write(watched())
    view = tale.queries.watch("j00001", "web1")
    assert view is not None
    assert (view.state, view.value, view.at) == (WatchState.RAISED, "raised", NOW)
    assert len(tale.queries.watched("j00001")) == 1


def test_what_fires_keeps_its_labels_and_what_is_over_loses_them(tale: Story) -> None:
    tale.write(grouped(), received(), received(S2), received(S2, news="resolved"))
    later = NOW + timedelta(days=2)
    tale.ledger.prune(before=later)
    first, second = tale.queries.signal(S1), tale.queries.signal(S2)
    assert first is not None
    assert second is not None
    assert first.signal.name == "DiskFull"
    assert (second.signal.fingerprint, dict(second.signal.labels)) == (PRUNED, {})


def test_a_rebuild_gives_the_same(tale: Story) -> None:
    tale.write(grouped(), received(), handled(), held(Held.FLAPPING, signal=S1))
    before = tale.queries.group("k00001")
    tale.ledger.rebuild(reset)
    assert tale.queries.group("k00001") == before
