import json
from datetime import timedelta
from pathlib import Path

import pytest

from gate.domain import PlaceId, ProposalId
from ledger.kinds import Batch, DraftError, Effect, EffectKind, LostRaceError, ProposalIsNew
from ledger.outbox import NoSuchEffectError, OutboxState
from tests.ledger.support import START, TestProjections, batch, card, draft, ledger_in


def refresh(nonce: str) -> Effect:
    return Effect(kind=EffectKind.REFRESH, place=PlaceId("here"), body={"subject": "k7f3a2"}, nonce=nonce)


def test_an_event_is_pending_until_its_batch_finishes_it(tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        assert ledger.inbox.commit("e1", "here", '{"text":"hi"}', START)
        (item,) = ledger.inbox.pending()
        assert (item.key, item.place_key, item.document) == ("e1", "here", '{"text":"hi"}')
        assert item.at == "2026-03-01T12:00:00.000000Z"
        ledger.append(Batch(at=START, drafts=(draft(),), inbox="e1"))
        assert ledger.inbox.pending() == []


def test_a_redelivery_is_recognised_before_and_after_it_is_done(tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        assert ledger.inbox.commit("e1", "here", "{}", START)
        assert not ledger.inbox.commit("e1", "here", "{}", START)
        ledger.inbox.finish("e1", START)
        assert not ledger.inbox.commit("e1", "here", "{}", START + timedelta(days=9))
    with ledger_in(tmp_path, seed=50) as ledger:
        assert not ledger.inbox.commit("e1", "here", "{}", START)


def test_pending_events_survive_a_restart_in_their_order(tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        for key in ("c", "a", "b"):
            ledger.inbox.commit(key, "here", "{}", START)
    with ledger_in(tmp_path, seed=50) as ledger:
        assert [item.key for item in ledger.inbox.pending()] == ["c", "a", "b"]


def test_a_lost_race_leaves_the_event_open(tmp_path: Path) -> None:
    stale = ProposalIsNew(ProposalId("x"))
    with ledger_in(tmp_path, projections=TestProjections(void={stale})) as ledger:
        ledger.inbox.commit("e1", "here", "{}", START)
        with pytest.raises(LostRaceError):
            ledger.append(Batch(at=START, drafts=(draft(),), expects=(stale,), inbox="e1"))
        assert len(ledger.inbox.pending()) == 1


def test_what_is_done_keeps_no_words(tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        ledger.inbox.commit("e1", "here", '{"text":"private"}', START)
        ledger.inbox.finish("e1", START)
        ledger.inbox.finish("e1", START)
        assert ledger.reader().execute("SELECT document FROM inbox").fetchall() == [("",)]


def test_finishing_what_never_arrived_is_a_bug(tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        with pytest.raises(DraftError, match="No inbound event 'e1'"):
            ledger.inbox.finish("e1", START)
        with pytest.raises(DraftError):
            ledger.append(Batch(at=START, drafts=(draft(),), inbox="e1"))
        assert ledger.head().seq == 0


def test_effects_are_written_with_their_batch_and_settled_one_by_one(tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        done = ledger.append(
            Batch(at=START, drafts=(draft(),), effects=(card(), card(nonce="n2"), card("other", "n3")))
        )
        first, second, third = done.outbox
        (item, *_) = ledger.outbox.pending()
        assert (item.id, item.seq, item.kind, item.place) == (first, 1, EffectKind.CARD, "here")
        assert (item.subject, item.body, item.nonce) == ("k7f3a2", {"subject": "k7f3a2"}, "n1")
        ledger.outbox.done(first, '{"message":"7"}')
        ledger.outbox.failed(second, "no such channel")
        ledger.outbox.uncertain(third)
        assert ledger.outbox.pending() == []
        assert [item.id for item in ledger.outbox.unsure()] == [third]
        (posted,) = ledger.outbox.posted("k7f3a2")
        assert (posted.ref, posted.state) == ('{"message":"7"}', OutboxState.DONE)
        ledger.outbox.done(third, '{"message":"8"}')
        assert [item.ref for item in ledger.outbox.posted("other")] == ['{"message":"8"}']
        assert ledger.outbox.posted("nobody") == []


def test_what_was_performed_without_a_message_is_not_posted(tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        (effect,) = ledger.append(Batch(at=START, drafts=(), effects=(card(),))).outbox
        ledger.outbox.done(effect)
        assert ledger.outbox.posted("k7f3a2") == []


def test_an_effect_without_a_subject(tmp_path: Path) -> None:
    say = Effect(kind=EffectKind.SAY, place=PlaceId("here"), body={"lines": ["hi"]}, nonce="n")
    with ledger_in(tmp_path) as ledger:
        ledger.append(Batch(at=START, drafts=(), effects=(say,)))
        (item,) = ledger.outbox.pending()
        ledger.outbox.done(item.id, "{}")
        assert item.subject == ""
        assert ledger.outbox.posted("") == []


@pytest.mark.parametrize("settle", ["done", "failed", "uncertain"])
def test_an_effect_is_settled_once(tmp_path: Path, settle: str) -> None:
    with ledger_in(tmp_path) as ledger:
        (effect,) = ledger.append(Batch(at=START, drafts=(), effects=(card(),))).outbox
        ledger.outbox.done(effect)
        with pytest.raises(NoSuchEffectError, match=f"Its number: {effect}"):
            getattr(ledger.outbox, settle)(effect, "late")
        with pytest.raises(NoSuchEffectError):
            getattr(ledger.outbox, settle)(99, "nothing")


def test_pending_effects_survive_a_restart(tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        ledger.append(Batch(at=START, drafts=(), effects=(card(nonce="kept"),)))
    with ledger_in(tmp_path, seed=50) as ledger:
        assert [item.nonce for item in ledger.outbox.pending()] == ["kept"]
        ledger.append(batch())


def test_what_a_place_has_seen_ends_before_what_is_not_yet_shown(tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        assert ledger.outbox.seen(PlaceId("here")) == 0
        ledger.append(batch())
        (effect,) = ledger.append(Batch(at=START, drafts=(draft(),), effects=(card(),))).outbox
        assert ledger.outbox.seen(PlaceId("here")) == 1
        assert ledger.outbox.seen(PlaceId("elsewhere")) == 2
        ledger.outbox.done(effect)
        assert ledger.outbox.seen(PlaceId("here")) == 2


def test_what_was_posted_after_a_message_was_not_seen_by_who_wrote_it(tmp_path: Path) -> None:
    here = PlaceId("here")
    with ledger_in(tmp_path) as ledger:
        ledger.append(batch())
        for number, position in ((2, 100), (3, 200)):
            (effect,) = ledger.append(
                Batch(at=START, drafts=(draft(f"p{number}"),), effects=(card(nonce=f"n{number}"),))
            ).outbox
            ledger.outbox.done(effect, json.dumps(["script", "", "here", "", f"m{number}", position]))
        assert ledger.outbox.seen(here, by=99) == 1
        assert ledger.outbox.seen(here, by=100) == 2
        assert ledger.outbox.seen(here, by=199) == 2
        assert ledger.outbox.seen(here, by=200) == 3
        assert ledger.outbox.seen(here) == 3
        assert ledger.outbox.seen(PlaceId("elsewhere"), by=1) == 3
        assert ledger.outbox.seen(here, by=99, channel="here") == 1
        assert ledger.outbox.seen(here, by=99, channel="where it moved to") == 3


def test_messages_without_an_order_of_their_own_count_as_seen(tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        first, second, third = ledger.append(
            Batch(
                at=START,
                drafts=(draft(),),
                effects=(card(nonce="n1"), card(nonce="n2"), refresh(nonce="n3")),
            )
        ).outbox
        ledger.outbox.done(first, json.dumps(["script", "", "here", "", "m1"]))
        assert ledger.outbox.seen(PlaceId("here"), by=5) == 0
        ledger.outbox.done(second)
        assert ledger.outbox.seen(PlaceId("here"), by=5) == 1
        assert third in {item.id for item in ledger.outbox.pending()}


def test_the_newest_event_of_a_place_is_found_by_its_kind(tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        assert ledger.inbox.newest(like="script:%") == {}
        for key, place in (
            ("script::m:1", "here"),
            ("script::m:2", "here"),
            ("script::c:3", "here"),
            ("script::m:4", "there"),
            ("other::m:5", "here"),
        ):
            ledger.inbox.commit(key, place, "{}", START)
        ledger.inbox.finish("script::m:2", START)
        assert ledger.inbox.newest(like="script:%:m:%") == {"here": "script::m:2", "there": "script::m:4"}
        assert ledger.inbox.newest(like="script:%")["here"] == "script::c:3"
