"""Opening: the entry that puts a question about one action to people.

It says what is asked, until when, and, where one person is not enough, how many it takes and who they can be.
It decides nothing: whether a yes is needed is the gate's, and the policy at the time of an answer counts too.
"""

from datetime import timedelta

from bot.core import Core
from bot.outcome import Outcome
from gate import authority, quorum
from gate.domain import Action, ApprovalId, Digest, PersonId, ProposalId, Risk
from ledger.codec import instant
from ledger.kinds import Json, Kind


def open_approval(
    core: Core,
    outcome: Outcome,
    action: Action,
    *,
    risk: Risk,
    requester: PersonId,
    phrase: str | None,
    list_digest: Digest,
    action_digest: Digest,
    open_s: int | None = None,
) -> None:
    """Write the opening of an approval of `action`.

    Args:
        phrase: what grants it, None where words do.
        open_s: seconds that it stays open, where that is less than usual.
    """
    proposal = ProposalId(action.id.rpartition(".")[0])
    usual_s = core.policy.approval_s
    deadline = outcome.at + timedelta(seconds=usual_s if open_s is None else min(open_s, usual_s))
    body: dict[str, Json] = {
        "approval": ApprovalId(f"{action.id}/{core.ids.short_id()}"),
        "proposal": proposal,
        "action": action.id,
        "deadline_at": instant(deadline),
        "phrase": phrase,
        "list_digest": list_digest,
        "action_digest": action_digest,
        "policy_revision": core.policy.revision,
    }
    needed = quorum.required(core.policy, target=action.target, risk=risk)
    if needed > 1:
        able = authority.deciders(core.policy, target=action.target, risk=risk, requester=requester)
        body |= {"quorum": needed, "deciders": list(able)}
    outcome.write(Kind.APPROVAL_OPENED, correlation_id=proposal, body=body)
