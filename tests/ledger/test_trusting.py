"""Trust rules in the ledger: made once, counted by every use, revoked for good."""

from dataclasses import replace
from datetime import timedelta

import pytest

from gate.domain import Risk, RouteKind
from gate.errors import TransitionError
from gate.trust_rules import TrustRule
from ledger.kinds import LostRaceError, RowIs
from ledger.views import PRUNED
from tests.gate.makers import NOW, P2, WEB1
from tests.ledger.entries.actions import queued
from tests.ledger.entries.learning import trusted, untrusted
from tests.ledger.entries.proposals import made, planned
from tests.ledger.story import LATER, Story

RULE = TrustRule(
    id="t3r9a7",
    argv=("systemctl", "restart", "caddy"),
    targets=(WEB1.id,),
    ceiling=Risk.REVERSIBLE_LOW,
    expires_at=LATER,
    until="2 Mar 2026",
    made_by="ana",  # type: ignore[arg-type] # a name
    with_whom="kim",  # type: ignore[arg-type] # a name
)


def test_a_rule_reads_as_it_was_made(tale: Story) -> None:
    assert tale.queries.trust_rules() == ()
    assert tale.queries.trust_rule("t3r9a7") is None
    tale.write(trusted())
    found = tale.queries.trust_rule("t3r9a7")
    assert found is not None
    assert found.rule == RULE
    assert (found.command, found.made_at, found.used, found.revoked_by) == (
        "systemctl restart caddy",
        NOW,
        0,
        None,
    )
    assert tale.queries.trust_rules() == (found,)


def test_a_rule_may_be_of_one_person(tale: Story) -> None:
    tale.write(trusted(with_whom=None))
    assert tale.queries.trust_rules()[0].rule.with_whom is None


def test_a_revoked_rule_never_counts_again(tale: Story) -> None:
    tale.write(trusted())
    tale.write(untrusted())
    assert tale.queries.trust_rules() == ()
    found = tale.queries.trust_rule("t3r9a7")
    assert found is not None
    assert found.revoked_by == "bo"
    for wrong in (untrusted(), untrusted("other1")):
        with pytest.raises(TransitionError, match="no rule"):
            tale.write(wrong)


def test_every_action_that_is_queued_under_a_rule_counts(tale: Story) -> None:
    tale.write(trusted(), trusted("other1"))
    auto = replace(planned(proposal=P2, route=RouteKind.AUTO), rule="t3r9a7")
    tale.write(made(auto))
    tale.write(queued(auto, grant=None))
    assert [one.used for one in tale.queries.trust_rules()] == [1, 0]
    assert tale.queries.action(auto.action.id).rule == "t3r9a7"
    other = planned(route=RouteKind.AUTO)
    tale.write(made(other))
    tale.write(queued(other, grant=None))
    assert [one.used for one in tale.queries.trust_rules()] == [1, 0]
    assert tale.queries.action(other.action.id).rule == ""


def test_a_decision_can_expect_that_a_rule_still_counts(tale: Story) -> None:
    tale.write(trusted())
    tale.write(trusted("other1"), expects=(RowIs("trust_rule", "t3r9a7", "active"),))
    tale.write(untrusted())
    with pytest.raises(LostRaceError):
        tale.write(untrusted("other1"), expects=(RowIs("trust_rule", "t3r9a7", "active"),))


def test_without_its_words_a_rule_covers_nothing(tale: Story) -> None:
    tale.write(trusted())
    tale.ledger.prune(before=NOW + timedelta(days=1))
    found = tale.queries.trust_rules()[0]
    assert (found.command, found.rule.argv) == (PRUNED, ())
