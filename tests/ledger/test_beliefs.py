"""Remembered facts: who displaces what, what is kept of it, and what goes when it is forgotten."""

from dataclasses import replace
from datetime import timedelta

import pytest

from gate.errors import TransitionError
from gate.trust import Source, may_supersede
from ledger.beliefs import BeliefState, BeliefView, Fact
from ledger.kinds import Draft, Kind, LostRaceError, RowIs
from ledger.projections import reset
from ledger.verify import verify_live
from tests.gate.makers import HERE, NOW
from tests.ledger.entries.beliefs import forgotten, stored
from tests.ledger.entries.commitments import commitment_made, job_made, job_over
from tests.ledger.entries.turns import received
from tests.ledger.story import Story

THURSDAY = Fact(about="sync", object="2026-12-03", kind="meeting", said="the sync is on Thursday")
FRIDAY = replace(THURSDAY, object="2026-12-04", said="the sync is on Friday")


def live(tale: Story) -> list[str]:
    return [one.id for one in tale.queries.live_beliefs()]


def seen(tale: Story, belief: str = "b1") -> BeliefView:
    found = tale.queries.belief(belief)
    assert found is not None
    return found


def contents(tale: Story) -> set[bytes]:
    rows = tale.ledger.reader().execute("SELECT content FROM payload WHERE content IS NOT NULL")
    return {content for (content,) in rows}


def test_a_fact_is_seen_whole(tale: Story) -> None:
    tale.write(stored(fact=THURSDAY))
    one = seen(tale)
    assert (one.subject, one.predicate, one.source) == ("s1", "at", Source.USER_EXPLICIT)
    assert (one.functional, one.private, one.person, one.place) == (True, False, "ana", HERE)
    assert (one.state, one.supersedes, one.at, one.fact) == (BeliefState.LIVE, "", NOW, THURSDAY)
    assert tale.queries.belief("b2") is None


def test_the_words_of_a_fact_stand_in_no_entry(tale: Story) -> None:
    tale.write(stored(fact=THURSDAY))
    (body,) = tale.ledger.reader().execute("SELECT body FROM entry").fetchone()
    assert "sync" not in body
    assert "2026-12-03" not in body


def test_a_newer_fact_displaces_and_both_are_kept(tale: Story) -> None:
    tale.write(stored(fact=THURSDAY))
    tale.write(stored("b2", fact=FRIDAY, supersedes="b1"), stored("b3", subject="s2"))
    assert live(tale) == ["b2", "b3"]
    assert [(one.id, one.state) for one in tale.queries.beliefs_about("s1")] == [
        ("b1", BeliefState.SUPERSEDED),
        ("b2", BeliefState.LIVE),
    ]
    assert [one.id for one in tale.queries.all_beliefs()] == ["b1", "b2", "b3"]
    assert seen(tale).fact == THURSDAY
    assert [one.id for one in tale.queries.beliefs_about("s1", "at")] == ["b1", "b2"]
    assert tale.queries.beliefs_about("s1", "is") == ()


@pytest.mark.parametrize("old", Source)
@pytest.mark.parametrize("new", Source)
def test_the_ledger_itself_holds_to_the_trust_of_sources(tale: Story, old: Source, new: Source) -> None:
    tale.write(stored(source=old))
    displacing = stored("b2", source=new, supersedes="b1")
    if may_supersede(old, new):
        tale.write(displacing)
        assert live(tale) == ["b2"]
    else:
        with pytest.raises(TransitionError, match="lower_trust_source"):
            tale.write(displacing)
        with pytest.raises(TransitionError, match="lower_trust_source"):
            tale.write(forgotten(source=new))
        assert live(tale) == ["b1"]


def test_nothing_stands_beside_a_fact_of_one_value(tale: Story) -> None:
    tale.write(stored(source=Source.LLM_INFERRED))
    with pytest.raises(LostRaceError):
        tale.write(stored("b2"))
    tale.write(stored("b2", functional=False), stored("b3", predicate="is"))
    assert live(tale) == ["b1", "b2", "b3"]


@pytest.mark.parametrize("old", ["b2", "b1"])
def test_only_what_counts_can_be_displaced_or_forgotten(tale: Story, old: str) -> None:
    tale.write(stored())
    tale.write(forgotten())
    for late in (stored("b3", supersedes=old), forgotten(old)):
        with pytest.raises(TransitionError, match=f"no belief {old} that counts"):
            tale.write(late)


def test_the_revision_changes_with_every_change(tale: Story) -> None:
    revisions = [tale.queries.belief_revision()]
    for draft in (stored(), stored("b2", supersedes="b1"), forgotten("b2")):
        tale.write(draft)
        tale.write(Draft(kind=Kind.BOT_STARTED))
        revisions.append(tale.queries.belief_revision())
    assert revisions == [0, 1, 3, 5]


def test_what_is_known_is_not_read_again(tale: Story) -> None:
    tale.write(stored(), stored("b2", subject="s2"))
    marked = replace(seen(tale), fact=None)
    tale.write(forgotten("b2"), stored("b3", subject="s3"))
    known = {"b1": marked, "b2": seen(tale, "b2")}
    assert [one.id for one in tale.queries.live_beliefs(known=known)] == ["b1", "b3"]
    assert tale.queries.live_beliefs(known=known)[0] is marked


def test_a_decision_may_count_on_a_fact(tale: Story) -> None:
    tale.write(stored())
    expects = (RowIs("belief", "b1", BeliefState.LIVE), RowIs("belief", "b2", None))
    tale.write(stored("b2", supersedes="b1"), expects=expects)
    with pytest.raises(LostRaceError):
        tale.write(stored("b3", supersedes="b1"), expects=expects[:1])


# ---------------------------------------------------------------- forgetting


def told(tale: Story, draft: Draft, said: bytes) -> None:
    """Write a turn that stores a fact, with the record of the act, as the core does."""
    act = draft.correlation_id
    asked = replace(commitment_made("allow", commitment=act), words={"slots": said, "said": said})
    tale.write(replace(received("t1"), words={"text": said}), *([asked] if act else []), draft)
    tale.at += timedelta(minutes=1)


def test_forgetting_takes_every_word_that_told_it(tale: Story) -> None:
    told(tale, Draft(kind=Kind.BOT_STARTED), b"something else")
    told(tale, stored(fact=THURSDAY, commitment="c1"), b"remember that the sync is on Thursday")
    asked = commitment_made("clarify", commitment="c2")
    tale.write(replace(received("t2"), words={"text": b"no, another day"}), asked)
    told(tale, Draft(kind=Kind.BOT_STARTED), b"what time is it")
    answered = Draft(
        kind=Kind.COMMITMENT_CLARIFIED,
        correlation_id="c2",
        body={"commitment": "c2", "decision": "allow", "expires_at": ""},
        words={"slots": b"on Friday"},
    )
    friday = stored("b2", fact=FRIDAY, supersedes="b1", commitment="c2")
    tale.write(replace(received("t3"), words={"text": b"on Friday"}), answered, friday)
    tale.at += timedelta(minutes=1)
    told(tale, Draft(kind=Kind.BOT_STARTED), b"how is web1")
    told(tale, forgotten("b2"), b"forget the sync")
    assert contents(tale) == {b"something else", b"what time is it", b"how is web1", b"forget the sync"}
    assert live(tale) == []
    assert [(one.state, one.fact) for one in tale.queries.beliefs_about("s1")] == [
        (BeliefState.SUPERSEDED, None),
        (BeliefState.FORGOTTEN, None),
    ]


def test_a_ledger_that_forgot_is_whole_and_rebuilds(tale: Story) -> None:
    told(tale, stored(fact=THURSDAY, commitment="c1"), b"remember that the sync is on Thursday")
    told(tale, forgotten(), b"forget it")
    report = verify_live(tale.ledger.path, keys=(tale.ledger.verifier,), held={})
    assert (report.ok, report.pruned) == (True, 4)
    before = tale.queries.beliefs_about("s1")
    tale.ledger.rebuild(reset)
    assert tale.queries.beliefs_about("s1") == before


def test_a_fact_that_nobody_told_in_words_takes_no_words_of_others(tale: Story) -> None:
    told(tale, Draft(kind=Kind.BOT_STARTED), b"something else")
    tale.write(stored(fact=THURSDAY))
    tale.write(forgotten())
    assert contents(tale) == {b"something else"}


def test_retention_leaves_what_a_job_is_to_say(tale: Story) -> None:
    tale.write(job_made())
    tale.ledger.prune(before=NOW + timedelta(days=1))
    assert contents(tale) == {b"drink water"}
    tale.write(job_over())
    tale.ledger.prune(before=NOW + timedelta(days=1))
    assert contents(tale) == set()


def test_retention_leaves_what_is_to_be_remembered(tale: Story) -> None:
    told(tale, stored(fact=THURSDAY, commitment="c1"), b"remember that the sync is on Thursday")
    tale.ledger.prune(before=NOW + timedelta(days=1))
    assert seen(tale).fact == THURSDAY
    tale.write(stored("b2", fact=FRIDAY, supersedes="b1"))
    tale.ledger.prune(before=NOW + timedelta(days=1))
    assert seen(tale).fact is None
    assert seen(tale, "b2").fact == FRIDAY
