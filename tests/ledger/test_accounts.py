"""Linked accounts and the codes that link them: what each entry does, and what can be asked."""

from datetime import timedelta

import pytest

from gate.domain import PersonId
from ledger.accounts import PairingView
from ledger.kinds import Kind, LostRaceError, PairingIsOpen
from tests.gate.makers import HERE, NOW
from tests.ledger.entries.operators import missed, offered, paired, pairing_ended, unpaired
from tests.ledger.entries.turns import clarified
from tests.ledger.story import LATER, Story

ANA, KIM = PersonId("ana"), PersonId("kim")


def open_ids(tale: Story) -> list[str]:
    return [one.id for one in tale.queries.pairings()]


def test_an_offered_code_is_seen_whole(tale: Story) -> None:
    assert tale.queries.pairings() == ()
    tale.write(offered())
    assert tale.queries.pairings() == (
        PairingView(id="c1", person=ANA, mac="mac of c1", deadline_at=LATER, wrong=0),
    )


def test_a_new_code_of_the_same_person_ends_the_older_one_only(tale: Story) -> None:
    tale.write(offered("c1"), offered("c2", person="kim"), offered("c3"))
    assert sorted(open_ids(tale)) == ["c2", "c3"]


def test_codes_are_listed_by_their_deadline(tale: Story) -> None:
    tale.write(offered("c1"), offered("c2", person="kim", deadline_at=NOW + timedelta(minutes=1)))
    assert open_ids(tale) == ["c2", "c1"]


def test_a_wrong_guess_counts_against_every_open_code(tale: Story) -> None:
    tale.write(offered("c1"), missed(), offered("c2", person="kim"), missed())
    assert {one.id: one.wrong for one in tale.queries.pairings()} == {"c1": 2, "c2": 1}


def test_an_ended_code_is_open_no_more(tale: Story) -> None:
    tale.write(offered("c1"), offered("c2", person="kim"), pairing_ended("c1"))
    assert open_ids(tale) == ["c2"]


def test_a_code_links_one_account_once(tale: Story) -> None:
    tale.write(offered())
    tale.write(paired("chat::1"), expects=(PairingIsOpen("c1"),))
    assert tale.queries.paired("chat::1") == ANA
    assert tale.queries.paired("chat::2") is None
    assert open_ids(tale) == []
    with pytest.raises(LostRaceError):
        tale.write(paired("chat::2"), expects=(PairingIsOpen("c1"),))
    assert tale.queries.paired("chat::2") is None


def test_accounts_are_listed_in_the_order_of_their_linking(tale: Story) -> None:
    tale.write(paired("chat::9"), paired("chat::1"), paired("chat::5", person="kim"))
    assert tale.queries.accounts_of(ANA) == ("chat::9", "chat::1")
    assert tale.queries.accounts_of(KIM) == ("chat::5",)
    assert tale.queries.accounts_of(PersonId("bo")) == ()


def test_an_account_linked_anew_is_the_last_persons(tale: Story) -> None:
    tale.write(paired("chat::1"), paired("chat::1", person="kim"))
    assert tale.queries.paired("chat::1") == KIM
    assert tale.queries.accounts_of(ANA) == ()


def test_an_unlinked_account_is_nobodys(tale: Story) -> None:
    tale.write(paired("chat::1"), paired("chat::2"), unpaired("chat::1"))
    assert tale.queries.paired("chat::1") is None
    assert tale.queries.accounts_of(ANA) == ("chat::2",)


def test_where_a_code_was_shown_is_known_when_it_is_over_too(tale: Story) -> None:
    assert tale.queries.offered_in("c1") is None
    tale.write(offered(), paired())
    assert tale.queries.offered_in("c1") == HERE
    assert tale.queries.offered_in("c2") is None


def test_an_open_code_is_a_deadline(tale: Story) -> None:
    soon = NOW + timedelta(minutes=1)
    tale.write(clarified(Kind.CLARIFICATION_ASKED), offered(deadline_at=soon))
    assert tale.queries.next_deadline() == soon
    tale.write(pairing_ended())
    assert tale.queries.next_deadline() == LATER
