"""The entries that a proposal is written down with.

An ordinary list fits into one. A fan-out names what is the same for all of it once, and its actions follow in
as many entries as they need. Decides nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from bot.core import Core
from bot.judging import Judged
from bot.outcome import Outcome
from gate.domain import Digest, ProposalId
from gate.fanout import Brake
from ledger.chain import canonical
from ledger.codec import Doc, action_doc, radius_doc, verdict_doc
from ledger.kinds import Json, Kind

if TYPE_CHECKING:  # only its shape is needed here
    from bot.proposing import Asked

#: Characters of actions in one entry; a body holds 262 144.
_PIECE_CHARS = 200_000


def write(
    core: Core,
    outcome: Outcome,
    asked: "Asked",
    judged: Sequence[Judged],
    brake: Brake | None,
    *,
    digest: Digest,
) -> None:
    """Write down a proposal of `judged`; `brake` makes it a fan-out."""
    proposal = ProposalId(judged[0].action.id.rpartition(".")[0])
    actions = [_action_body(one) for one in judged]
    listed: list[Json] = list(actions) if brake is None else []
    outcome.write(
        Kind.PROPOSAL_MADE,
        correlation_id=proposal,
        body={
            **_head(core, outcome, asked, proposal=proposal, digest=digest),
            **({} if brake is None else {"fanout": _fanout(brake, asked.selector)}),
            "actions": listed,
        },
        words=_words(judged) if brake is None else _shared_words(judged[0]),
    )
    for piece in () if brake is None else _pieces(actions):
        outcome.write(
            Kind.PROPOSAL_LISTED,
            correlation_id=proposal,
            body={
                "proposal": proposal,
                "requester": asked.requester,
                "source": asked.source,
                "actions": piece,
            },
        )


def write_queued(outcome: Outcome, proposal: ProposalId, free: Sequence[Judged]) -> None:
    """Write down that members of a fan-out that need nobody's yes may start, by the rules that let them."""
    by_rule: dict[str, list[Json]] = {}
    for one in free:
        by_rule.setdefault(one.route.rule, []).append(one.action.id)
    for rule, actions in by_rule.items():
        outcome.write(
            Kind.PROPOSAL_QUEUED,
            correlation_id=proposal,
            body={"proposal": proposal, "actions": actions, "rule": rule},
        )


def _head(
    core: Core, outcome: Outcome, asked: "Asked", *, proposal: ProposalId, digest: Digest
) -> dict[str, Json]:
    return {
        "proposal": proposal,
        "turn": outcome.turn,
        "requester": asked.requester,
        "asked_in": asked.place,
        "shown_in": asked.shown_in,
        "source": asked.source,
        **({} if asked.on_behalf is None else {"on_behalf": asked.on_behalf}),
        **({"unasked": True} if asked.unasked else {}),
        "replaces": asked.replaces,
        "list_digest": digest,
        "policy_revision": core.policy.revision,
        "rules_revision": core.rules.revision,
        "posture": core.policy_now().posture.value,
        "rehearsal": core.rehearsal,
    }


def _fanout(brake: Brake, selector: Sequence[str]) -> Doc:
    return {"brake": asdict(brake), "selector": list(selector)}


def _pieces(actions: Sequence[Doc]) -> Iterator[list[Json]]:
    """Return `actions` in pieces that each fit into an entry."""
    piece: list[Json] = []
    chars = 0
    for action in actions:
        length = len(canonical(action))
        if piece and chars + length > _PIECE_CHARS:
            yield piece
            piece, chars = [], 0
        piece.append(action)
        chars += length + 1
    yield piece


def _action_body(one: Judged) -> Doc:
    return {
        "slots": action_doc(one.action),
        "verdict": verdict_doc(one.verdict),
        "radius": radius_doc(one.radius),
        "route": one.route.kind.value,
        "because": one.route.because,
        "rule": one.route.rule,
        "phrase": one.route.phrase,
        "digest": one.digest,
    }


def _words(judged: Sequence[Judged]) -> dict[str, str]:
    words = {"purpose": judged[0].action.purpose}
    for one in judged:
        words[f"command_{one.action.index}"] = one.action.command
        if one.action.verify is not None:
            words[f"verify_{one.action.index}"] = one.action.verify
    return words


def _shared_words(one: Judged) -> dict[str, str]:
    """Return the words that are the same for all of a fan-out."""
    words = {"purpose": one.action.purpose, "command": one.action.command}
    return words if one.action.verify is None else {**words, "verify": one.action.verify}
