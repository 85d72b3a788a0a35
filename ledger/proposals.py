"""Reading proposals: their actions, approvals and ends, with the words of all of them read at once.

A fan-out has hundreds of actions and is drawn while it runs, so nothing here asks once for each of them.
"""

import functools
import json
import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from gate.domain import (
    Action,
    ActionId,
    Digest,
    PersonId,
    PlaceId,
    ProposalId,
    Radius,
    RouteKind,
    Verdict,
)
from gate.lifecycle import ActionState
from ledger.codec import Doc, action_of, instant, mapping, optional, parse_instant, radius_of, verdict_of
from ledger.kinds import Json
from ledger.reader import Reader
from ledger.readout import (
    approval_of,
    approval_words,
    behalf_of,
    did_run,
    ending_of,
    ending_words,
    fanout_of,
    instant_or_none,
    request_words,
)
from ledger.views import ActionView, ApprovalView, EndingView, LastRun, ProposalView

#: Characters of output beyond which a view is made anew each time, so that none of it stays in memory.
_LONG = 4096


class _Row(NamedTuple):
    """What is read of the row of an action."""

    id: str
    proposal: str
    position: int
    state: str
    route: str
    digest: str
    queued_at: str
    started_at: str
    ended_at: str
    doc: str
    ending: str


class _Said(NamedTuple):
    """The words of an action and of its end, as they read now; None where there are none."""

    command: str | None
    purpose: str | None
    verify: str | None
    output: str | None = None
    settled: str | None = None


_COLUMNS = ", ".join(f"a.{name}" for name in _Row._fields)
_ACTIONS = (
    f"SELECT {_COLUMNS} FROM json_each(?) n JOIN action a ON a.id = n.value"  # noqa: S608 - names of columns
    " JOIN proposal p ON p.id = a.proposal ORDER BY p.made_seq, a.position"
)
_ACTIONS_OF = f"SELECT {_COLUMNS} FROM action a WHERE a.proposal = ? ORDER BY a.position"  # noqa: S608 - likewise
_PARENTS = "SELECT id, doc FROM proposal WHERE id IN (SELECT value FROM json_each(?))"
#: The newest approval of each action.
_APPROVALS = (
    "SELECT a.*, e.body AS opened, e.at AS opened_at FROM json_each(?) n"
    " JOIN approval a ON a.action = n.value JOIN entry e ON e.seq = a.opened_seq"
    " WHERE a.opened_seq = (SELECT max(b.opened_seq) FROM approval b WHERE b.action = a.action)"
)
_VOTES = "SELECT v.* FROM json_each(?) n JOIN vote v ON v.approval = n.value ORDER BY v.seq"
_RUNGS = "SELECT r.* FROM json_each(?) n JOIN rung r ON r.approval = n.value ORDER BY r.at, r.rung DESC"


class ProposalReader(Reader):
    """Questions about proposals and their actions."""

    def proposal(self, proposal: ProposalId) -> ProposalView | None:
        """Return one proposal with its actions, or None."""
        try:
            head = self.head(proposal)
        except LookupError:
            return None
        return replace(head, actions=self._actions(_ACTIONS_OF, proposal))

    def head(self, proposal: ProposalId) -> ProposalView:
        """Return one proposal without its actions; raises LookupError for an unknown id."""
        row = self._row("SELECT * FROM proposal WHERE id=?", proposal)
        if row is None:
            raise LookupError(f"no proposal {proposal}")
        doc = json.loads(row["doc"])
        return ProposalView(
            id=proposal,
            correlation_id=row["correlation_id"],
            requester=PersonId(row["requester"]),
            asked_in=PlaceId(row["asked_in"]),
            shown_in=PlaceId(row["shown_in"]),
            made_at=parse_instant(row["made_at"]),
            source=doc["source"],
            purpose=self._word(doc.get("purpose")),
            replaced_by=ProposalId(row["replaced_by"]) if row["replaced_by"] else None,
            policy_revision=doc["policy_revision"],
            on_behalf=behalf_of(doc),
            unasked=bool(doc.get("unasked")),
            fanout=fanout_of(doc),
            actions=(),
        )

    def proposals(self, *, since: datetime, limit: int) -> tuple[ProposalView, ...]:
        """Return the newest proposals made since an instant, newest first.

        The looks of watches are none of them: there are hundreds a day, and what they see is told by itself.
        """
        rows = self._rows(
            "SELECT id FROM proposal WHERE made_at>=? AND json_extract(doc, '$.source')<>'watch'"
            " ORDER BY made_seq DESC LIMIT ?",
            instant(since),
            limit,
        )
        return tuple(view for row in rows if (view := self.proposal(ProposalId(row["id"]))) is not None)

    def newest_in(self, place: PlaceId) -> ProposalId | None:
        """Return the newest proposal that was asked or shown in `place`, but for looks of watches."""
        query = (
            "SELECT id FROM proposal WHERE (asked_in=? OR shown_in=?)"
            " AND json_extract(doc, '$.source')<>'watch' ORDER BY made_seq DESC LIMIT 1"
        )
        row = self._row(query, place, place)
        return None if row is None else ProposalId(row["id"])

    def action(self, action: ActionId) -> ActionView:
        """Return one action; raises LookupError for an unknown id."""
        for view in self.actions([action]):
            return view
        raise LookupError(f"no action {action}")

    def in_state(self, *states: ActionState) -> tuple[ActionView, ...]:
        """Return every action in one of `states`, oldest proposal first."""
        marks = ", ".join("?" * len(states))
        rows = self._rows(f"SELECT id FROM action WHERE state IN ({marks})", *states)  # noqa: S608 - question marks
        return self.actions([ActionId(row["id"]) for row in rows])

    def actions(self, names: Sequence[ActionId]) -> tuple[ActionView, ...]:
        """Return the actions of these ids that there are, oldest proposal first, in their order there."""
        return self._actions(_ACTIONS, json.dumps(names))

    def _actions(self, query: str, value: str) -> tuple[ActionView, ...]:
        # plain tuples, which cost half of rows with names
        rows = [_Row._make(row) for row in self._connect().execute(query, (value,))]
        whose = json.dumps(list({row.proposal for row in rows}))
        parents = {row["id"]: json.loads(row["doc"]) for row in self._rows(_PARENTS, whose)}
        references = [_references(row, parents[row.proposal]) for row in rows]
        word = self._words(one for each in references for one in each)
        said = [_Said(*[None if one is None else word(one) for one in each]) for each in references]
        newest = self._newest_approvals([row.id for row in rows])
        return tuple(_view(row, words, newest.get(row.id)) for row, words in zip(rows, said, strict=True))

    def _newest_approvals(self, names: Sequence[str]) -> dict[str, ApprovalView]:
        """Return the newest approval of each of these actions that has one."""
        rows = self._rows(_APPROVALS, json.dumps(names))
        asked = json.dumps([row["id"] for row in rows])
        votes, rungs = _by_approval(self._rows(_VOTES, asked)), _by_approval(self._rows(_RUNGS, asked))
        word = self._words(one for row in rows for one in approval_words(row, votes[row["id"]]))
        return {row["action"]: approval_of(row, votes[row["id"]], rungs[row["id"]], word) for row in rows}

    def last_run(self, digest: Digest) -> LastRun | None:
        """Return the newest ended run of exactly this action on exactly this target.

        What was started and certainly did not run, by its own end or as settled, is no run.
        """
        rows = self._rows(
            "SELECT ended_at, state, ending FROM action WHERE digest=? AND ended_at<>'' AND started_at<>''"
            " ORDER BY ended_at DESC",
            digest,
        )
        for row in rows:
            ending = json.loads(row["ending"])
            if did_run(ending):
                return LastRun(
                    ended_at=parse_instant(row["ended_at"]),
                    state=ActionState(row["state"]),
                    run_s=float(ending["run_s"]),
                )
        return None


def _by_approval(rows: Sequence[sqlite3.Row]) -> defaultdict[str, list[sqlite3.Row]]:
    found: defaultdict[str, list[sqlite3.Row]] = defaultdict(list)
    for row in rows:
        found[row["approval"]].append(row)
    return found


def _references(row: _Row, parent: Doc) -> tuple[Json, ...]:
    """Return the references of what `_Said` holds; `parent` is the body of its proposal."""
    return (
        *request_words(parent, row.position),
        *(ending_words(_ending(row.ending)) if row.ended_at else ()),
    )


def _view(row: _Row, said: _Said, approval: ApprovalView | None) -> ActionView:
    make = _built if len(said.output or "") > _LONG else _remembered
    return make(row, said, approval)


def _built(row: _Row, said: _Said, approval: ApprovalView | None) -> ActionView:
    static = _static(row.doc, said.command or "", said.purpose or "", said.verify)
    return ActionView(
        action=static.action,
        digest=Digest(row.digest),
        verdict=static.verdict,
        radius=static.radius,
        route=RouteKind(row.route),
        because=static.because,
        phrase=static.phrase,
        state=ActionState(row.state),
        approval=approval,
        queued_at=instant_or_none(row.queued_at),
        started_at=instant_or_none(row.started_at),
        ended_at=instant_or_none(row.ended_at),
        ending=_end(row, said) if row.ended_at else None,
        rule=static.rule,
    )


def _end(row: _Row, said: _Said) -> EndingView:
    return ending_of(_ending(row.ending), output=said.output or "", settled=said.settled or "")


#: By everything it is made of: what was pruned since, or moved on, is another one.
_remembered = functools.lru_cache(maxsize=2048)(_built)


@dataclass(frozen=True, slots=True)
class _Static:
    """What never changes about an action; its words are told beside it, since they may be forgotten."""

    action: Action
    verdict: Verdict
    radius: Radius
    because: str
    phrase: str | None
    rule: str


@functools.lru_cache(maxsize=2048)  # a card of hundreds is drawn again and again while they run
def _static(text: str, command: str, purpose: str, verify: str | None) -> _Static:
    doc = json.loads(text)
    return _Static(
        action=action_of(mapping(doc["slots"]), command=command, purpose=purpose, verify=verify),
        verdict=verdict_of(mapping(doc["verdict"])),
        radius=radius_of(mapping(doc["radius"])),
        because=doc["because"],
        phrase=optional(doc["phrase"]),
        rule=doc.get("rule", ""),
    )


@functools.lru_cache(maxsize=2048)  # likewise
def _ending(text: str) -> Doc:
    """Return how an action ended, its words by their references: look, and change nothing of it."""
    return mapping(json.loads(text))
