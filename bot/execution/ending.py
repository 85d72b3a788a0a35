"""Ends: what the ledger records when an action ends, and what its end does to the rest of its proposal.

One batch for each end: the end itself, the grants it takes back from what follows, the approvals it opens for
it, and the edit of the card. Output is redacted and capped here; what ran was neither.
"""

from collections.abc import Mapping

from bot.core import Core
from bot.opening import open_approval
from bot.outcome import Outcome
from bot.ports import Captured, Ended, EndKind
from bot.runbooks import judging
from gate.digest import list_digest
from gate.domain import Digest, PersonId, ProposalId, RouteKind, TurnId
from gate.lifecycle import ACTION_ENDED, ActionState
from gate.redact import MASK, redact
from ledger.kinds import ActionIs, Json, Kind
from ledger.views import ActionView, ProposalView

_KINDS = {
    EndKind.TIMED_OUT: Kind.ACTION_FAILED,
    EndKind.CANCELLED: Kind.ACTION_CANCELLED,
    EndKind.NOT_STARTED: Kind.ACTION_FAILED,
    EndKind.LOST: Kind.ACTION_LOST,
}


def record(
    core: Core,
    view: ActionView,
    ended: Ended,
    *,
    by: PersonId | None = None,
    files: Mapping[str, bool] | None = None,
) -> None:
    """Record the end of a started action and stop what follows if it did not succeed.

    Args:
        by: who stopped it.
        files: what its runbook wanted to be looked at afterwards, and whether it was there.
    """
    proposal = _parent(core, view)
    outcome = _outcome(core, proposal)
    outcome.expect(ActionIs(view.action.id, ActionState.STARTED))
    hidden = judging.finds_secret(core, view)
    kind = write_end(core, outcome, proposal.id, view, ended, by=by, hidden=hidden)
    judging.judge(core, outcome, view, ended, files=files or {})
    if kind is not Kind.ACTION_SUCCEEDED:
        _stop_rest(core, outcome, proposal, after=view)
    outcome.refresh(proposal.id, place=proposal.shown_in)
    core.ledger.append(outcome.batch())


def record_check(core: Core, view: ActionView, checked: Ended) -> None:
    """Record how the verify command ended; a failed check stops what follows."""
    proposal = _parent(core, view)
    outcome = _outcome(core, proposal)
    write_check(core, outcome, proposal.id, view, checked)
    if checked.exit_code != 0:
        _stop_rest(core, outcome, proposal, after=view)
    outcome.refresh(proposal.id, place=proposal.shown_in)
    core.ledger.append(outcome.batch())


def void(core: Core, view: ActionView, *, note: str) -> None:
    """End a queued action that may not start any more."""
    proposal = _parent(core, view)
    outcome = _outcome(core, proposal)
    outcome.expect(ActionIs(view.action.id, ActionState.QUEUED))
    write_void(outcome, proposal.id, view, note=note)
    _stop_rest(core, outcome, proposal, after=view)
    outcome.refresh(proposal.id, place=proposal.shown_in)
    core.ledger.append(outcome.batch())


def challenge(core: Core, view: ProposalView, one: ActionView) -> None:
    """Ask for the phrase of a destructive action whose turn has come."""
    outcome = _outcome(core, view)
    outcome.expect(ActionIs(one.action.id, ActionState.PROPOSED))
    _open(core, outcome, view, one, digest=list_digest([one.digest]))
    outcome.card(view.id, place=view.shown_in)
    show_again(outcome, view, window=False)
    core.ledger.append(outcome.batch())


def write_end(
    core: Core,
    outcome: Outcome,
    proposal: ProposalId,
    view: ActionView,
    ended: Ended,
    *,
    by: PersonId | None = None,
    hidden: bool = False,
) -> Kind:
    """Write how an action ended, and return of which kind that is; `hidden` as in `ending_text`."""
    kind = _KINDS.get(ended.kind) or (Kind.ACTION_SUCCEEDED if ended.exit_code == 0 else Kind.ACTION_FAILED)
    shown = redact(ending_text(ended.output, hidden=hidden), extra=core.secrets)
    outcome.write(
        kind,
        correlation_id=proposal,
        body={**_body(view, ended), "masked": shown.count, **({"by": by} if by else {})},
        words={"output": shown.text} if shown.text else {},
    )
    return kind


def write_check(core: Core, outcome: Outcome, proposal: ProposalId, view: ActionView, checked: Ended) -> None:
    """Write how a verify command ended."""
    shown = redact(output_text(checked.output), extra=core.secrets)
    outcome.write(
        Kind.ACTION_VERIFIED,
        correlation_id=proposal,
        body={
            "action": view.action.id,
            "exit_code": checked.exit_code,
            "note": checked.note,
            "ok": checked.exit_code == 0,
        },
        words={"output": shown.text} if shown.text else {},
    )


def write_void(outcome: Outcome, proposal: ProposalId, view: ActionView, *, note: str) -> None:
    """Write that a queued action never starts."""
    ended = Ended(kind=EndKind.CANCELLED, note=note)
    outcome.write(Kind.ACTION_CANCELLED, correlation_id=proposal, body=_body(view, ended))


def _stop_rest(core: Core, outcome: Outcome, proposal: ProposalView, *, after: ActionView) -> None:
    """Take back the grants of what follows and ask for a new yes (D4).

    Where nothing of the proposal ever needed a yes, there is none to ask for: reading goes on. What runs by
    a trust rule stands in for a yes, and stops.
    """
    rest = [
        one
        for one in proposal.actions
        if one.action.index > after.action.index and one.state not in ACTION_ENDED
    ]
    if all(one.route is RouteKind.AUTO and one.approval is None and not one.rule for one in proposal.actions):
        return
    for one in rest:
        if one.state is ActionState.QUEUED:
            outcome.expect(ActionIs(one.action.id, ActionState.QUEUED))
            outcome.write(
                Kind.ACTION_UNQUEUED,
                correlation_id=proposal.id,
                body={
                    "action": one.action.id,
                    "route": one.route.value,
                    "why": f"{after.action.id} did not succeed",
                },
            )
    asked = [
        one
        for one in rest
        if one.route is not RouteKind.PHRASE and one.state in (ActionState.QUEUED, ActionState.PROPOSED)
    ]
    digest = list_digest([one.digest for one in asked])
    for one in asked:
        outcome.expect(ActionIs(one.action.id, one.state))
        _open(core, outcome, proposal, one, digest=digest)
    if asked:
        outcome.card(proposal.id, place=proposal.shown_in)
        show_again(outcome, proposal, window=True)


def _open(core: Core, outcome: Outcome, proposal: ProposalView, one: ActionView, *, digest: Digest) -> None:
    open_approval(
        core,
        outcome,
        one.action,
        risk=one.verdict.risk,
        requester=proposal.owner,
        phrase=one.phrase,
        list_digest=digest,
        action_digest=one.digest,
    )


def show_again(outcome: Outcome, proposal: ProposalView, *, window: bool) -> None:
    """Write that the bot showed the proposal again by itself, and whose next words count for it (D2)."""
    person: Json = {"person": proposal.requester, "proposal": proposal.id} if window else None
    outcome.write(
        Kind.TURN_ANSWERED,
        correlation_id=proposal.id,
        body={"turn": outcome.turn, "place": proposal.shown_in, "shows": [proposal.id], "window": person},
    )


def ending_text(output: Captured, *, hidden: bool) -> str:
    """Return what is recorded of an output before it is redacted.

    Args:
        hidden: what it wrote is a secret that its runbook looks for, and nobody knows that value yet; only
            what it complained of is kept.
    """
    if not hidden:
        return output_text(output)
    complaints = "" if output.streams is None else output.streams.stderr.decode("utf-8", "replace")
    return f"{MASK}\n{complaints}" if output.total else ""


def output_text(output: Captured) -> str:
    """Return what was kept of the output as text, with a line where some was dropped."""
    head = output.head.decode("utf-8", "replace")
    if not output.dropped:
        return head + output.tail.decode("utf-8", "replace")
    return f"{head}\n… {output.dropped} bytes not kept …\n{output.tail.decode('utf-8', 'replace')}"


def _body(view: ActionView, ended: Ended) -> dict[str, Json]:
    return {
        "action": view.action.id,
        "end": ended.kind.value,
        "cause": ended.cause,
        "note": ended.note,
        "exit_code": ended.exit_code,
        "connect_s": round(ended.connect_s, 3),
        "run_s": round(ended.run_s, 3),
        "total_bytes": ended.output.total,
        "dropped_bytes": ended.output.dropped,
        "sha256": ended.output.sha256,
    }


def _parent(core: Core, view: ActionView) -> ProposalView:
    name = ProposalId(view.action.id.rpartition(".")[0])
    found = core.queries.proposal(name)
    if found is None:
        raise LookupError(f"no proposal {name}")
    return found


def _outcome(core: Core, proposal: ProposalView) -> Outcome:
    return Outcome(
        at=core.now(),
        place=proposal.shown_in,
        turn=TurnId(core.ids.token()),
        new_nonce=core.ids.token,
    )
