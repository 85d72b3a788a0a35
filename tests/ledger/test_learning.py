"""What was learned: capabilities, outcomes, answers, tries, and what is known since when."""

from dataclasses import replace
from datetime import timedelta

import pytest

from gate.domain import Digest, PersonId, ProposalId, Risk, RouteKind, TargetId
from gate.errors import TransitionError
from gate.supervise.domain import Outcome, RunId, Terminal
from gate.supervise.events import EndCause, Ended
from ledger.kinds import Kind, LostRaceError, RowIs
from ledger.learning import CapabilityState, Knowledge
from ledger.projections import reset
from ledger.views import PRUNED
from tests.gate.makers import NOW
from tests.ledger.entries.actions import ended, queued, settled, started
from tests.ledger.entries.beliefs import stored
from tests.ledger.entries.learning import kept, on_guidance, retired, taught, trusted
from tests.ledger.entries.proposals import Planned, decided, made, opened, planned
from tests.ledger.entries.runs import run_started, run_went
from tests.ledger.story import Story


def of(number: int, *, runbook: str | None = None, command: str = "systemctl restart caddy") -> Planned:
    """The only action of proposal `number`."""
    one = planned(proposal=ProposalId(f"k0000{number}"), command=command)
    return replace(one, action=replace(one.action, runbook=runbook), route=RouteKind.APPROVAL)


def ran(tale: Story, one: Planned, kind: Kind = Kind.ACTION_SUCCEEDED, **how: object) -> None:
    """Let an action be asked, granted and run to `kind`."""
    tale.write(made(one), opened(one))
    tale.write(decided(one, Kind.APPROVAL_GRANTED), queued(one))
    tale.write(started(one))
    tale.write(ended(one, kind, **how))  # type: ignore[arg-type] # passed on
    tale.at += timedelta(minutes=1)


# ---------------------------------------------------------------- capabilities


def test_a_kept_runbook_is_there_with_what_it_came_from(tale: Story) -> None:
    tale.write(kept(with_whom="bo"))
    view = tale.queries.capability("c5d8f2")
    assert view is not None
    assert (view.runbook, view.title, view.state) == ("restart-caddy", "restart caddy", CapabilityState.KEPT)
    assert (view.kept_by, view.with_whom, view.kept_at) == (PersonId("ana"), PersonId("bo"), NOW)
    assert (view.document, view.proposals) == ("version: 1\n", (ProposalId("k7f3a2"),))
    assert (view.ended_by, view.ended_at) == (None, None)
    assert tale.queries.capability("zzzzzz") is None


def test_keeping_again_replaces_and_the_past_stays(tale: Story) -> None:
    tale.write(kept("c00001"))
    tale.at += timedelta(days=1)
    tale.write(kept("c00002"), kept("c00003", runbook="other"))
    states = [(one.id, one.state.value) for one in tale.queries.capabilities()]
    assert states == [("c00001", "replaced"), ("c00002", "kept"), ("c00003", "kept")]
    old = tale.queries.capabilities()[0]
    assert (old.ended_by, old.ended_at) == (PersonId("ana"), tale.at)
    assert [one.id for one in tale.queries.capabilities(kept_only=True)] == ["c00002", "c00003"]


def test_what_is_retired_is_kept_no_more(tale: Story) -> None:
    tale.write(kept())
    tale.write(retired())
    assert [one.state for one in tale.queries.capabilities()] == [CapabilityState.RETIRED]
    assert tale.queries.capabilities(kept_only=True) == ()
    with pytest.raises(TransitionError):
        tale.write(retired())


def test_keeping_races_are_noticed(tale: Story) -> None:
    tale.write(kept(), expects=(RowIs("capability", "c5d8f2", None),))
    with pytest.raises(LostRaceError):
        tale.write(retired(), expects=(RowIs("capability", "c5d8f2", "retired"),))


def test_pruned_documents_read_as_that(tale: Story) -> None:
    tale.write(kept())
    tale.at += timedelta(days=2)
    tale.ledger.prune(before=tale.at)
    assert tale.queries.capabilities()[0].document == PRUNED


def test_a_rebuild_gives_the_same_capabilities(tale: Story) -> None:
    tale.write(kept())
    tale.write(kept("c00002"))
    tale.write(retired())
    before = tale.queries.capabilities()
    tale.ledger.rebuild(reset)
    assert tale.queries.capabilities() == before


# ---------------------------------------------------------------- runs


def over(tale: Story, run: str, outcome: Outcome, cause: EndCause, terminal: Terminal | None = None) -> None:
    tale.write(run_started(run))
    tale.write(run_went(Ended(outcome=outcome, cause=cause, terminal=terminal, at=tale.at), run))


def test_only_runs_that_ended_by_themselves_say_how_well_a_runbook_works(tale: Story) -> None:
    tale.write(run_started("r00000"))
    over(tale, "r00001", Outcome.COMPLETED, EndCause.TERMINAL, Terminal.SUCCESS)
    over(tale, "r00002", Outcome.FAILED, EndCause.TERMINAL, Terminal.FAILURE)
    over(tale, "r00003", Outcome.ABORTED, EndCause.EXPIRED)
    over(tale, "r00004", Outcome.ESCALATED, EndCause.LOST)
    over(tale, "r00005", Outcome.ESCALATED, EndCause.BUDGET)
    tale.write(run_started("r00006", undoes="r00002"))
    tale.write(run_went(Ended(outcome=Outcome.FAILED, cause=EndCause.TERMINAL, at=NOW), "r00006"))
    found = tale.queries.run_outcomes()
    assert [(one.run, one.good) for one in found] == [
        (RunId("r00001"), True),
        (RunId("r00002"), False),
        (RunId("r00005"), False),
    ]
    assert {(one.runbook, one.title, one.at) for one in found} == {
        ("restart-service", "Restart a service", NOW)
    }
    assert tale.queries.run_outcomes(runbook="restart-service") == found
    assert tale.queries.run_outcomes(runbook="other") == ()


# ---------------------------------------------------------------- commands


def test_commands_of_documents_are_told_by_revision_and_step(tale: Story) -> None:
    ran(tale, of(1, runbook=f"{'a' * 64}#df"))
    ran(tale, of(2, runbook=f"{'a' * 64}#df"), Kind.ACTION_FAILED, exit_code=1)
    ran(tale, of(3))
    found = tale.queries.command_outcomes()
    assert [(one.proposal, one.revision, one.step, one.good) for one in found] == [
        ("k00001", "a" * 64, "df", True),
        ("k00002", "a" * 64, "df", False),
    ]
    assert found[0].at == NOW


def test_what_never_ran_says_nothing(tale: Story) -> None:
    one = of(1, runbook=f"{'a' * 64}#df")
    ran(tale, one, Kind.ACTION_LOST, exit_code=None)
    tale.write(settled(one, ran=False))
    assert tale.queries.command_outcomes() == ()
    assert tale.queries.tries(Digest(made_digest(tale, one)), limit=4) == ()


def made_digest(tale: Story, one: Planned) -> str:
    return tale.queries.action(one.action.id).digest


def test_tries_are_the_newest_of_exactly_this_action(tale: Story) -> None:
    ran(tale, of(1))
    ran(tale, of(2), Kind.ACTION_FAILED, exit_code=3, output=b"starting\nno such unit\n")
    ran(tale, of(3), Kind.ACTION_FAILED, exit_code=None, output=b"")
    ran(tale, of(4, command="true"))
    digest = Digest(made_digest(tale, of(1)))
    found = tale.queries.tries(digest, limit=2)
    assert [(one.proposal, one.good, one.exit_code, one.why) for one in found] == [
        ("k00002", False, 3, "no such unit"),
        ("k00003", False, None, ""),
    ]
    assert {one.target for one in found} == {TargetId("web1")}
    assert [one.good for one in tale.queries.tries(digest, limit=4)] == [True, False, False]


def test_answers_are_grouped_by_command_and_target(tale: Story) -> None:
    ran(tale, of(1))
    ran(tale, of(2), Kind.ACTION_FAILED, exit_code=1)
    no = of(3)
    tale.write(made(no), opened(no))
    tale.write(decided(no, Kind.APPROVAL_REFUSED))
    late = of(4)
    tale.write(made(late), opened(late))
    tale.write(decided(late, Kind.APPROVAL_EXPIRED))
    ran(tale, of(5, runbook=f"{'a' * 64}#df"))
    ran(tale, of(6, command="true"))
    first, second = tale.queries.answered_commands(since=NOW)
    assert (first.command, first.target, first.risk) == (
        "systemctl restart caddy",
        TargetId("web1"),
        Risk.REVERSIBLE_LOW,
    )
    assert first.action == "k00003.1"
    assert (first.answers, first.ends) == ((True, True, False), (True, False))
    assert (second.command, second.answers) == ("true", (True,))
    assert tale.queries.answered_commands(since=tale.at + timedelta(hours=1)) == ()


# ---------------------------------------------------------------- knowledge


def test_what_is_known_since_when(tale: Story) -> None:
    tale.write(kept(), taught())
    tale.at += timedelta(minutes=1)
    tale.write(trusted())
    tale.at += timedelta(minutes=1)
    tale.write(on_guidance(Kind.GUIDANCE_CONFIRMED), taught("g00002"))
    private = stored("b2", subject="s2")
    tale.write(stored("b1"), replace(private, body={**private.body, "private": True}))
    found = tale.queries.knowledge(since=NOW, until=tale.at)
    assert found == (
        Knowledge(what="runbook", id="restart-caddy", at=NOW),
        Knowledge(what="trust rule", id="t3r9a7", at=NOW + timedelta(minutes=1)),
        Knowledge(what="instruction", id="g4h7k9", at=NOW + timedelta(minutes=2)),
        Knowledge(what="fact", id="b1", at=NOW + timedelta(minutes=2)),
    )
    assert tale.queries.knowledge(since=NOW, until=NOW + timedelta(seconds=1)) == found[:1]
    assert tale.queries.knowledge(since=NOW + timedelta(minutes=3), until=tale.at) == ()
