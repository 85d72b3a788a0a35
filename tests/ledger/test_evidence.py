"""The entries behind a run: its own and those of its proposals, as they are stored, and nothing else."""

from datetime import timedelta

from gate.domain import Digest, ProposalId
from gate.supervise.domain import Outcome, StepId
from gate.supervise.events import EndCause, Ended, Proposed
from ledger.chain import entry_hash
from ledger.kinds import Kind
from tests.gate.makers import NOW
from tests.ledger.entries.operators import switched
from tests.ledger.entries.proposals import decided, made, opened, planned
from tests.ledger.entries.runs import run_entered, run_started, run_went
from tests.ledger.story import Story


def proposed(proposal: str) -> Proposed:
    return Proposed(
        step=StepId("restart"),
        number=1,
        proposal=proposal,
        command="true",
        command_digest=Digest("c" * 64),
        request=None,
        at=NOW,
    )


def test_a_run_is_told_by_its_entries_and_those_of_its_proposals(tale: Story) -> None:
    mine, other = planned(proposal=ProposalId("k00001")), planned(proposal=ProposalId("k00002"))
    tale.write(made(other), opened(other))
    tale.write(run_started(), run_entered())
    tale.write(run_went(proposed("k00001")))
    tale.write(made(mine), opened(mine), switched("auto_off", value=True))
    tale.write(decided(other, Kind.APPROVAL_REFUSED))
    tale.write(decided(mine, Kind.APPROVAL_REFUSED))
    tale.at += timedelta(seconds=1)
    tale.write(run_went(Ended(outcome=Outcome.ABORTED, cause=EndCause.ABORTED, at=tale.at)))
    found = tale.queries.run_entries("r4m8n2")
    assert [one.kind for one in found] == [
        "run:started",
        "run:entered",
        "run:proposed",
        "proposal:made",
        "approval:opened",
        "approval:refused",
        "run:ended",
    ]
    assert {one.correlation_id for one in found} == {"r4m8n2", "k00001"}
    for one in found:
        fields = {name: value for name, value in one._asdict().items() if name != "hash"}
        assert entry_hash(**fields) == one.hash


def test_a_run_without_proposals_has_its_own_entries_alone(tale: Story) -> None:
    tale.write(run_started(), run_entered())
    assert [one.kind for one in tale.queries.run_entries("r4m8n2")] == ["run:started", "run:entered"]


def test_what_never_ran_has_none(tale: Story) -> None:
    assert tale.queries.run_entries("zzzzzz") == ()
