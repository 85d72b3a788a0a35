"""Tally: each entry is counted once, whatever happens to the projections, and what waits is read as it is."""

from datetime import timedelta
from pathlib import Path

import pytest

from gate.domain import Risk, RouteKind
from gate.lifecycle import ActionState
from ledger import tally
from ledger.kinds import Draft, Effect, EffectKind, Kind
from ledger.projections import reset
from ledger.tally import Tally, waiting
from tests.gate.makers import HERE, NOW, P2
from tests.ledger.entries.actions import ended, queued, started
from tests.ledger.entries.commitments import commitment_made, job_made, occurred
from tests.ledger.entries.proposals import decided, made, opened, planned
from tests.ledger.entries.turns import answered, received
from tests.ledger.story import Story, open_real

ONE = planned()
OTHER = planned(proposal=P2, command="uptime", risk=Risk.READ_ONLY, route=RouteKind.AUTO)


def counted(tale: Story) -> Tally:
    found = Tally(tale.ledger.reader)
    found.catch_up()
    return found


def tell(tale: Story) -> None:
    tale.write(received(), made(ONE), opened(ONE), answered())
    tale.write(decided(ONE, Kind.APPROVAL_GRANTED, extra={"alone": True}), queued(ONE))
    tale.write(started(ONE))
    tale.write(commitment_made("confirm"), commitment_made("deny", commitment="m2"))


def test_an_empty_ledger_counts_nothing_and_is_complete(tale: Story) -> None:
    found = Tally(tale.ledger.reader)
    assert not found.is_complete
    found.catch_up()
    assert (found.is_complete, found.seq, dict(found.kinds), dict(found.routes)) == (True, 0, {}, {})


def test_entries_are_counted_by_kind_and_by_the_fixed_words_in_them(tale: Story) -> None:
    tell(tale)
    tale.write(made(OTHER))
    found = counted(tale)
    assert found.of(Kind.TURN_RECEIVED) == 1
    assert found.of(Kind.COMMITMENT_MADE) == 2
    assert found.of(Kind.TURN_CRASHED) == 0
    assert found.details(Kind.COMMITMENT_MADE) == {"confirm": 1, "deny": 1}
    assert found.details(Kind.APPROVAL_GRANTED) == {"": 1}
    assert found.routes == {RouteKind.APPROVAL: 1, RouteKind.AUTO: 1}
    assert sum(found.kinds.values()) == found.seq == tale.ledger.head().seq


def test_commands_are_counted_by_what_asked_for_them(tale: Story) -> None:
    tale.write(made(ONE, requester="agent:claude", source="partial"), made(OTHER, source="schedule"))
    assert counted(tale).origins == {"agent": 1, "schedule": 1}


def test_an_end_is_counted_by_how_it_came(tale: Story) -> None:
    tale.write(commitment_made("clarify"))
    body = {"commitment": "m1", "how": "cancelled", "by": "ana"}
    tale.write(Draft(kind=Kind.COMMITMENT_ABORTED, correlation_id="m1", body=body))
    assert counted(tale).details(Kind.COMMITMENT_ABORTED) == {"cancelled": 1}


def test_an_entry_that_stands_for_many_counts_as_many(tale: Story) -> None:
    missed = occurred(is_missed=True)
    tale.write(job_made(), Draft(kind=missed.kind, body={**missed.body, "count": 40}))
    assert counted(tale).of(Kind.OCCURRENCE_MISSED) == 40


@pytest.mark.parametrize("piece", [1, 2, 3, 10_000])
def test_pieces_of_any_size_count_the_same(tale: Story, piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    tell(tale)
    whole = counted(tale)
    monkeypatch.setattr(tally, "PIECE", piece)
    parts = counted(tale)
    assert (parts.kinds, parts.routes, parts.seq) == (whole.kinds, whole.routes, whole.seq)


def test_only_what_is_new_is_read_again(tale: Story) -> None:
    found = counted(tale)
    tell(tale)
    found.catch_up()
    read: list[str] = []
    tale.ledger.reader().set_trace_callback(read.append)
    tale.write(received())
    before = found.seq
    found.catch_up()
    tale.ledger.reader().set_trace_callback(None)
    assert [line for line in read if "GROUP BY" in line and f"seq > {before} " not in line] == []
    assert found.of(Kind.TURN_RECEIVED) == 2
    found.catch_up()
    assert found.of(Kind.TURN_RECEIVED) == 2


def test_a_piece_that_cannot_be_read_is_counted_later_and_once(
    tale: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell(tale)
    found = Tally(tale.ledger.reader)
    with monkeypatch.context() as broken:
        broken.setattr(tally, "_ROUTES", "SELECT a, b FROM nowhere WHERE ? < ? + ?")
        with pytest.raises(Exception, match="no such table"):
            found.catch_up()
        assert (found.seq, dict(found.kinds), found.is_complete) == (0, {}, False)
    found.catch_up()
    assert found.kinds == counted(tale).kinds


def test_counts_outlive_a_restart_and_rebuilt_projections(tmp_path: Path) -> None:
    tale = Story.begin(tmp_path)
    tell(tale)
    before = counted(tale)
    tale.ledger.rebuild(reset)
    assert counted(tale).kinds == before.kinds
    tale.ledger.close()
    ledger = open_real(tmp_path)
    again = Tally(ledger.reader)
    again.catch_up()
    assert (again.kinds, again.routes) == (before.kinds, before.routes)
    ledger.close()


# ---------------------------------------------------------------- what waits


def test_nothing_waits_at_first(tale: Story) -> None:
    found = waiting(tale.ledger.reader())
    assert (found.approvals, found.commitments, found.inbox, found.outbox) == ((), 0, 0, 0)
    assert set(found.actions.values()) == {0}
    assert found.newest_at is None


def test_what_waits_is_told_with_its_age(tale: Story) -> None:
    tale.write(made(ONE), opened(ONE))
    tale.at = NOW + timedelta(minutes=5)
    effect = Effect(kind=EffectKind.SAY, place=HERE, body={"text": []}, nonce="n1")
    tale.write(commitment_made("clarify"), commitment_made("allow", commitment="m2"), effects=(effect,))
    tale.ledger.inbox.commit("e1", HERE, "{}", NOW)
    tale.ledger.inbox.commit("e2", HERE, "{}", NOW)
    tale.ledger.inbox.finish("e1", NOW)
    found = waiting(tale.ledger.reader())
    assert found.approvals == (NOW,)
    assert (found.commitments, found.inbox, found.outbox) == (1, 1, 1)
    assert found.newest_at == tale.at


def test_what_runs_and_what_nobody_settled_is_counted(tale: Story) -> None:
    tell(tale)
    assert waiting(tale.ledger.reader()).actions == {
        ActionState.QUEUED: 0,
        ActionState.STARTED: 1,
        ActionState.LOST: 0,
    }
    assert waiting(tale.ledger.reader()).approvals == ()
    tale.write(ended(ONE, Kind.ACTION_LOST))
    assert waiting(tale.ledger.reader()).actions[ActionState.LOST] == 1
