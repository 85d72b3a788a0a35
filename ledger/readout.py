"""Readouts: views put together from rows of the projections and the words that these name.

Pure: words are looked up by the function that is handed in. It runs no query; `ledger.queries` does.
"""

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from gate.domain import Action, ActionId, ApprovalId, Digest, PendingApproval, PersonId, PlaceId, ProposalId
from gate.fanout import Brake
from gate.ladder import Rung
from gate.lifecycle import ApprovalState
from ledger.codec import Doc, action_of, mapping, optional, parse_instant, texts, verdict_of
from ledger.kinds import Json
from ledger.views import (
    PRUNED,
    ApprovalView,
    ClarificationView,
    EndingView,
    FanoutView,
    LooseningView,
    OptionView,
    RungView,
    VoteView,
)

#: Returns the words that a payload reference names; PRUNED where they are gone, "" for no reference.
Words = Callable[[Json], str]


def request_words(parent: Doc, position: int) -> tuple[Json, Json, Json]:
    """Return the references of command, purpose and check of one action; `parent` is its proposal's body.

    What is the same for all of a fan-out stands there once.
    """
    command = parent[f"command_{position}"] if "command" not in parent else parent["command"]
    return command, parent.get("purpose"), parent.get(f"verify_{position}", parent.get("verify"))


def request_of(slots: Doc, parent: Doc, position: int, word: Words) -> Action:
    """Return what one action of a proposal is to do."""
    command, purpose, verify = request_words(parent, position)
    return action_of(
        slots,
        command=word(command),
        purpose=word(purpose),
        verify=None if verify is None else word(verify),
    )


def opened_of(row: sqlite3.Row, parent: Doc, word: Words) -> PendingApproval:
    """Return an approval as it was opened; `row` has that as `opened`, the doc of its action as `own`."""
    own = json.loads(row["own"])
    return PendingApproval(
        approval=ApprovalId(row["id"]),
        proposal=ProposalId(row["proposal"]),
        action=request_of(mapping(own["slots"]), parent, row["position"], word),
        risk=verdict_of(mapping(own["verdict"])).risk,
        action_digest=Digest(row["digest"]),
        list_digest=Digest(row["list_digest"]),
        requester=PersonId(row["requester"]),
        asked_in=PlaceId(row["asked_in"]),
        shown_in=PlaceId(row["shown_in"]),
        deadline_at=parse_instant(row["deadline_at"]),
        phrase=row["phrase"] or None,
        quorum=quorum_of(json.loads(row["opened"]), ()),
        on_behalf=behalf_of(parent),
        fanout="fanout" in parent,
    )


def behalf_of(parent: Doc) -> PersonId | None:
    """Return whom the requester of a proposal works for; None for most. `parent` is the body of its entry."""
    name = optional(parent.get("on_behalf"))
    return None if name is None else PersonId(name)


def fanout_of(parent: Doc) -> FanoutView | None:
    """Return how a fan-out goes, None for an ordinary list; `parent` is the body of its entry."""
    if "fanout" not in parent:
        return None
    doc = mapping(parent["fanout"])
    brake = {name: int(str(value)) for name, value in mapping(doc["brake"]).items()}
    return FanoutView(brake=Brake(**brake), selector=texts(doc["selector"]))


def with_votes(opened: PendingApproval, votes: Sequence[sqlite3.Row]) -> PendingApproval:
    """Return an approval with the votes that it has got since it was opened."""
    if not votes:
        return opened
    quorum = quorum_of({"quorum": opened.quorum}, votes)
    return replace(opened, quorum=quorum, votes=tuple(PersonId(vote["person"]) for vote in votes))


def approval_of(
    row: sqlite3.Row, votes: Sequence[sqlite3.Row], rungs: Sequence[sqlite3.Row], word: Words
) -> ApprovalView:
    """Return one approval; `row` has the body that opened it as `opened`, and when as `opened_at`."""
    doc, opened = json.loads(row["doc"]), json.loads(row["opened"])
    return ApprovalView(
        id=ApprovalId(row["id"]),
        action=ActionId(row["action"]),
        state=ApprovalState(row["state"]),
        deadline_at=parse_instant(row["deadline_at"]),
        phrase=row["phrase"] or None,
        list_digest=Digest(row["list_digest"]),
        decided_by=PersonId(row["decided_by"]) if row["decided_by"] else None,
        decided_at=instant_or_none(row["decided_at"]),
        said=word(doc.get("said")),
        why=word(doc["reason"]) if "reason" in doc else str(doc.get("why", "")),
        alone=bool(doc.get("alone", False)),
        quorum=quorum_of(opened, votes),
        deciders=tuple(PersonId(name) for name in texts(opened.get("deciders", []))),
        votes=tuple(
            VoteView(
                person=PersonId(vote["person"]),
                at=parse_instant(vote["at"]),
                said=word(json.loads(vote["doc"]).get("said")),
            )
            for vote in votes
        ),
        opened_at=parse_instant(row["opened_at"]),
        rungs=tuple(_rung_of(one) for one in rungs),
    )


def approval_words(row: sqlite3.Row, votes: Sequence[sqlite3.Row]) -> Iterator[Json]:
    """Return the references of what `approval_of` reads."""
    doc = json.loads(row["doc"])
    yield doc.get("said")
    yield doc.get("reason")
    for vote in votes:
        yield json.loads(vote["doc"]).get("said")


def _rung_of(row: sqlite3.Row) -> RungView:
    doc = json.loads(row["doc"])
    return RungView(
        rung=Rung(row["rung"]),
        at=parse_instant(row["at"]),
        to=texts(doc.get("to", [])),
        where=str(doc.get("where", "")),
    )


def quorum_of(opened: Doc, votes: Sequence[sqlite3.Row]) -> int:
    """Return how many people an approval takes: what was asked for first, or more since."""
    asked = [opened.get("quorum", 1), *(json.loads(vote["doc"])["needed"] for vote in votes)]
    return max(int(str(one)) for one in asked)


def ending_of(doc: Doc, *, output: str, settled: str) -> EndingView:
    """Return how an action ended; the words are those of `ending_words`, "" for none."""
    verify = doc.get("verify")
    exit_code = doc["exit_code"]
    verified = None if verify is None else mapping(verify)["exit_code"]
    return EndingView(
        note=str(doc["note"]),
        exit_code=exit_code if isinstance(exit_code, int) else None,
        run_s=float(str(doc["run_s"])),
        output=output,
        total_bytes=int(str(doc["total_bytes"])),
        dropped_bytes=int(str(doc["dropped_bytes"])),
        verify_exit=verified if isinstance(verified, int) else None,
        checked=verify is not None,
        settled=settled,
        ran=did_run(doc),
        by=str(doc.get("by", "")),
    )


def ending_words(doc: Doc) -> tuple[Json, Json]:
    """Return the references of the output of an ended action, and of why it was settled; None for none."""
    settled = doc.get("settled")
    return doc.get("output"), None if settled is None else mapping(settled)["why"]


def did_run(doc: Doc) -> bool:
    """Whether an ended action ran, or may have; False where that is ruled out, or was settled so."""
    settled = doc.get("settled")
    return doc.get("end") != "not_started" if settled is None else bool(mapping(settled)["ran"])


def clarification_of(row: sqlite3.Row, word: Words) -> ClarificationView:
    """Return one choice."""
    doc = json.loads(row["doc"])
    choices = word(doc["choices"])
    # A choice whose words were pruned can only end; there is nothing left to choose from.
    options = [] if choices == PRUNED else json.loads(choices)
    return ClarificationView(
        id=row["id"],
        place=PlaceId(row["place"]),
        person=PersonId(row["person"]),
        said=word(doc["said"]),
        question=word(doc["question"]),
        options=tuple(OptionView(label=one[0], request=one[1]) for one in options),
        deadline_at=parse_instant(row["deadline_at"]),
        commitment=doc.get("commitment", ""),
        free=doc.get("free", ""),
        so_far=word(doc["so_far"]) if "so_far" in doc else "",
    )


def loosening_of(row: sqlite3.Row) -> LooseningView:
    """Return one loosening."""
    return LooseningView(
        id=row["id"],
        place=PlaceId(row["place"]),
        person=PersonId(row["person"]),
        phrase=row["phrase"],
        deadline_at=parse_instant(row["deadline_at"]),
        wants=dict(mapping(json.loads(row["doc"])["wants"])),
    )


def instant_or_none(text: str) -> datetime | None:
    """Return the instant that a column holds; None for an empty one."""
    return parse_instant(text) if text else None
