"""Fan-outs in the ledger: a head and what it lists read as one proposal, and are what every question sees."""

from dataclasses import replace
from datetime import timedelta

import pytest

from gate.domain import ActionId, PersonId, RouteKind, Target, TargetId, TargetKind
from gate.errors import TransitionError
from gate.fanout import Brake
from gate.lifecycle import ActionState
from ledger import remains, waiting
from ledger.kinds import Draft, Kind
from ledger.projections import TABLES, reset
from ledger.tally import Tally
from ledger.views import PRUNED, FanoutView
from tests.gate.makers import HERE, NOW, P1, P2
from tests.ledger.entries.actions import ended, queued, started, unqueued, verified
from tests.ledger.entries.learning import trusted
from tests.ledger.entries.proposals import Planned, decided, fanned_out, let_go, made, opened, planned
from tests.ledger.entries.turns import answered
from tests.ledger.story import Story

MINUTE = timedelta(minutes=1)


def on(name: str, index: int) -> Planned:
    one = planned(index=index)
    target = Target(id=TargetId(name), kind=TargetKind.SSH, address=name)
    return replace(one, action=replace(one.action, target=target, verify="test -e /run/up"))


MANY = tuple(on(f"web{index}", index) for index in range(1, 5))
ONE, TWO, THREE, FOUR = MANY
ROUND_1, ROUND_2 = {"list_digest": "1" * 64}, {"list_digest": "2" * 64}


def asked(one: Planned, name: str, round_: dict[str, str]) -> Draft:
    draft = opened(one, name=name)
    return replace(draft, body={**draft.body, **round_})


def tell(tale: Story) -> None:
    """Tell of a round of four, of which the second fails and stops the others, and of the yes to those."""
    tale.write(*fanned_out(*MANY), *(asked(one, "a", ROUND_1) for one in MANY))
    for one in MANY:
        tale.write(decided(one, Kind.APPROVAL_GRANTED, extra={"alone": True}), queued(one))
    tale.at += MINUTE
    tale.write(started(ONE, boot_id="b1"))
    tale.at += MINUTE
    tale.write(ended(ONE, output=b"fine"), verified(ONE), started(TWO))
    tale.at += MINUTE
    tale.write(
        ended(TWO, Kind.ACTION_FAILED, exit_code=1),
        *(unqueued(one) for one in (THREE, FOUR)),
        *(asked(one, "b", ROUND_2) for one in (THREE, FOUR)),
    )


def rows(tale: Story) -> dict[str, list[tuple[object, ...]]]:
    return {
        table: sorted(map(tuple, tale.ledger.reader().execute(f"SELECT * FROM {table}")), key=repr)
        for table in TABLES
    }


def test_the_head_and_what_it_lists_are_one_proposal(tale: Story) -> None:
    tell(tale)
    view = tale.queries.proposal(P1)
    assert view is not None
    assert view.fanout == FanoutView(brake=Brake(canary=1, batch=10, stop_after=1), selector=("@web",))
    assert [one.action for one in view.actions] == [one.action for one in MANY]
    assert [one.state for one in view.actions] == [
        ActionState.SUCCEEDED,
        ActionState.FAILED,
        ActionState.WAITING,
        ActionState.WAITING,
    ]
    assert replace(view, actions=()) == tale.queries.head(P1)
    assert tale.queries.action(FOUR.action.id) == view.actions[3]
    assert tale.queries.actions([FOUR.action.id, ActionId("nobody"), ONE.action.id]) == (
        view.actions[0],
        view.actions[3],
    )


def test_what_waits_of_it_is_known_to_be_of_many(tale: Story) -> None:
    tell(tale)
    pending = tale.queries.facts(HERE, PersonId("ana")).pending
    assert [one.action for one in pending] == [THREE.action, FOUR.action]
    assert all(one.fanout for one in pending)
    assert {one.list_digest for one in pending} == {"2" * 64}


def test_an_ordinary_list_is_none(tale: Story) -> None:
    tale.write(fanned_out(*MANY)[0])
    assert tale.queries.head(P1).fanout is not None
    with pytest.raises(LookupError):
        tale.queries.head(planned().action.id)  # type: ignore[arg-type] # no proposal


def test_a_rebuild_gives_the_same(tale: Story) -> None:
    tell(tale)
    before = rows(tale)
    tale.ledger.rebuild(reset)
    assert rows(tale) == before


def test_words_that_are_gone_are_gone_for_all_of_it(tale: Story) -> None:
    tell(tale)
    assert tale.ledger.prune(before=NOW + timedelta(days=1)) > 0
    view = tale.queries.proposal(P1)
    assert view is not None
    assert {(one.action.command, one.action.verify) for one in view.actions} == {(PRUNED, PRUNED)}
    assert view.fanout is not None


def test_each_command_of_it_is_counted_once(tale: Story) -> None:
    tell(tale)
    found = Tally(tale.ledger.reader)
    found.catch_up()
    assert found.routes == {"approval": 4}
    assert sum(found.origins.values()) == 4


FREE = tuple(replace(one, route=RouteKind.AUTO) for one in MANY)


def test_what_needs_nobody_is_queued_together(tale: Story) -> None:
    tale.write(*fanned_out(*FREE), let_go(*FREE[:3]))
    view = tale.queries.proposal(P1)
    assert view is not None
    assert [one.state for one in view.actions] == [*[ActionState.QUEUED] * 3, ActionState.PROPOSED]
    assert [one.queued_at for one in view.actions] == [NOW, NOW, NOW, None]
    assert {one.approval for one in view.actions} == {None}
    before = rows(tale)
    tale.ledger.rebuild(reset)
    assert rows(tale) == before
    tale.write(started(FREE[0], grant=None))


@pytest.mark.parametrize(
    ("listed", "named"),
    [
        pytest.param((*FREE[:3], FOUR), FREE, id="one of them needs a yes"),
        pytest.param(FREE[:3], FREE, id="one of them is no action"),
        pytest.param(FREE, (*FREE, FREE[0]), id="one is named twice"),
    ],
)
def test_what_may_not_be_queued_is_not_queued_with_others(
    tale: Story, listed: tuple[Planned, ...], named: tuple[Planned, ...]
) -> None:
    with pytest.raises(TransitionError):
        tale.write(*fanned_out(*listed), let_go(*named))
    assert tale.queries.proposal(P1) is None


def test_what_has_moved_on_is_not_queued_again(tale: Story) -> None:
    tale.write(*fanned_out(*FREE), let_go(*FREE))
    tale.write(started(FREE[0], grant=None))
    tale.write(unqueued(FREE[1]), asked(FREE[1], "b", ROUND_2))
    for again in FREE:
        with pytest.raises(TransitionError):
            tale.write(let_go(again))


def test_what_is_of_another_proposal_is_not_queued_with_it(tale: Story) -> None:
    other = planned(proposal=P2, route=RouteKind.AUTO)
    tale.write(*fanned_out(*FREE), made(other))
    with pytest.raises(TransitionError):
        tale.write(let_go(*FREE, other))


def test_a_rule_is_used_once_by_each_that_it_queues(tale: Story) -> None:
    tale.write(trusted())
    tale.write(*fanned_out(*FREE), let_go(*FREE[:3], rule="t3r9a7"), let_go(FREE[3]))
    found = tale.queries.trust_rule("t3r9a7")
    assert found is not None
    assert found.used == 3


def test_the_yes_is_used_as_long_as_something_of_its_list_runs(tale: Story) -> None:
    reader = tale.ledger.reader()
    tale.write(*fanned_out(*MANY), *(asked(one, "a", ROUND_1) for one in MANY))
    for one in MANY:
        tale.write(decided(one, Kind.APPROVAL_GRANTED, extra={"alone": True}), queued(one))
    assert waiting.used(reader, P1) == {}
    tale.at += MINUTE
    tale.write(started(ONE))
    assert waiting.used(reader, P1) == {"1" * 64: None}
    tale.at += MINUTE
    tale.write(ended(ONE))
    assert waiting.used(reader, P1) == {"1" * 64: NOW + 2 * MINUTE}


def test_what_ran_of_one_list_uses_no_yes_to_another(tale: Story) -> None:
    tell(tale)
    reader = tale.ledger.reader()
    for one in (THREE, FOUR):
        tale.write(
            decided(one, Kind.APPROVAL_GRANTED, name="b", extra={"alone": True}), queued(one, grant="b")
        )
    assert waiting.used(reader, P1) == {"1" * 64: NOW + 3 * MINUTE}
    tale.write(ended(FOUR, Kind.ACTION_CANCELLED, exit_code=None))
    assert waiting.used(reader, P1) == {"1" * 64: NOW + 3 * MINUTE}, "what never started used nothing"


def test_the_boot_id_of_each_is_found(tale: Story) -> None:
    tell(tale)
    assert remains.boot_id(tale.ledger.reader(), ONE.action.id) == "b1"
    assert remains.boot_id(tale.ledger.reader(), TWO.action.id) is None


def test_what_is_listed_without_its_head_is_refused(tale: Story) -> None:
    with pytest.raises(ValueError, match="Expecting value"):
        tale.write(fanned_out(*MANY)[1])
    assert tale.ledger.head().seq == 0


def test_what_is_asked_anew_is_told_by_the_turn_that_asked(tale: Story) -> None:
    tale.write(*fanned_out(*MANY), *(asked(one, "a", ROUND_1) for one in MANY), answered())
    reader = tale.ledger.reader()
    assert not waiting.asked_anew(reader, P1, since=0), "it was asked about once"
    for one in MANY:
        tale.write(decided(one, Kind.APPROVAL_GRANTED, extra={"alone": True}), queued(one))
    tale.write(started(ONE))
    before = tale.ledger.head().seq
    tale.write(
        ended(ONE, Kind.ACTION_FAILED, exit_code=1),
        *(draft for one in MANY[1:] for draft in (unqueued(one), asked(one, "b", ROUND_2))),
        answered(),
    )
    head = tale.ledger.head().seq
    assert waiting.asked_anew(reader, P1, since=before)
    assert waiting.asked_anew(reader, P1, since=head - 1), "that its card is not shown yet"
    assert not waiting.asked_anew(reader, P1, since=head)
    for one in MANY[1:]:
        tale.write(decided(one, Kind.APPROVAL_REFUSED, name="b"))
    assert not waiting.asked_anew(reader, P1, since=0), "nothing waits"
