"""What recovery asks of the ledger: boot ids of starts, and checks that were never recorded."""

from dataclasses import replace

from gate.domain import ActionId
from ledger import remains
from ledger.kinds import Kind
from tests.ledger.entries.actions import ended, queued, started, verified
from tests.ledger.entries.proposals import decided, fanned_out, made, opened, planned
from tests.ledger.story import Story

PLAIN, TWO = planned(), planned(index=2)
ONE = replace(PLAIN, action=replace(PLAIN.action, verify="systemctl is-active caddy"))


def start(tale: Story, *, boot_id: str | None = None) -> None:
    tale.write(made(ONE, TWO), opened(ONE), opened(TWO))
    tale.write(decided(ONE, Kind.APPROVAL_GRANTED), queued(ONE), started(ONE, boot_id=boot_id))


def test_the_boot_id_of_a_start_is_told(tale: Story) -> None:
    start(tale, boot_id="b1")
    assert remains.boot_id(tale.ledger.reader(), ONE.action.id) == "b1"


def test_a_start_without_a_boot_id_tells_none(tale: Story) -> None:
    start(tale)
    assert remains.boot_id(tale.ledger.reader(), ONE.action.id) is None


def test_an_action_that_never_started_has_none_though_its_neighbour_has(tale: Story) -> None:
    start(tale, boot_id="b1")
    assert remains.boot_id(tale.ledger.reader(), TWO.action.id) is None


def test_a_success_without_its_check_is_found_until_the_check_is_recorded(tale: Story) -> None:
    start(tale)
    assert remains.unchecked(tale.ledger.reader()) == ()
    tale.write(ended(ONE, Kind.ACTION_SUCCEEDED))
    assert remains.unchecked(tale.ledger.reader()) == (ActionId(ONE.action.id),)
    tale.write(verified(ONE))
    assert remains.unchecked(tale.ledger.reader()) == ()


def test_so_is_that_of_a_fan_out_whose_check_stands_in_its_head_once(tale: Story) -> None:
    both = [
        replace(one, action=replace(one.action, verify="systemctl is-active caddy")) for one in (PLAIN, TWO)
    ]
    tale.write(*fanned_out(*both), *map(opened, both))
    for one in both:
        tale.write(decided(one, Kind.APPROVAL_GRANTED), queued(one), started(one))
        tale.write(ended(one, Kind.ACTION_SUCCEEDED))
    assert remains.unchecked(tale.ledger.reader()) == (PLAIN.action.id, TWO.action.id)
    tale.write(verified(both[0]))
    assert remains.unchecked(tale.ledger.reader()) == (TWO.action.id,)
