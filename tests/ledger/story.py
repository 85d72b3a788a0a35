"""Entries as the core writes them, for tests of projections and queries; and a ledger to write them to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from gate.digest import action_digest, list_digest
from gate.domain import (
    AGENT,
    Action,
    Digest,
    PersonId,
    PlaceId,
    ProposalId,
    Radius,
    Risk,
    RouteKind,
    Verdict,
)
from gate.ladder import Rung
from gate.policy import Posture
from gate.supervise.domain import (
    Branch,
    Capture,
    Comparison,
    Condition,
    ExitCode,
    FileExists,
    InputSpec,
    InputType,
    JsonValue,
    Output,
    Retry,
    RunbookId,
    RunbookSpec,
    RunId,
    StepId,
    StepKind,
    StepRisk,
    StepSpec,
    Stream,
    TextTest,
)
from gate.supervise.events import Entered, Event, Started, Via
from gate.trust import Source
from ledger.beliefs import Fact, packed
from ledger.codec import Doc, action_doc, instant, radius_doc, verdict_doc
from ledger.kinds import Appended, Batch, Draft, Effect, Expectation, Json, Kind
from ledger.projections import holds, project
from ledger.queries import Queries
from ledger.run_documents import texts_of
from ledger.run_events import draft_of
from ledger.store import Ledger
from tests.gate.makers import HERE, NOW, P1, action, verdict
from tests.ledger.support import CountedBytes, HandClock

#: Shared, since a ledger that is opened anew must not see the same salts again.
SALTS = CountedBytes()
LATER = NOW + timedelta(minutes=15)


def open_real(folder: Path) -> Ledger:
    """Open a ledger with the real projections."""
    return Ledger.open(
        folder / "ledger.db", project=project, holds=holds, random_bytes=SALTS, clock=HandClock(NOW)
    )


@dataclass
class Story:
    """A ledger and the questions to it."""

    ledger: Ledger
    queries: Queries
    at: datetime = NOW

    @classmethod
    def begin(cls, folder: Path) -> "Story":
        """Open a new ledger in `folder`."""
        ledger = open_real(folder)
        return cls(ledger, Queries(ledger.reader))

    def write(
        self, *drafts: Draft, expects: tuple[Expectation, ...] = (), effects: tuple[Effect, ...] = ()
    ) -> Appended:
        """Append one batch."""
        return self.ledger.append(Batch(at=self.at, drafts=drafts, expects=expects, effects=effects))


@dataclass(frozen=True, kw_only=True)
class Planned:
    """One action of a proposal to be, with what the gate said of it."""

    action: Action
    verdict: Verdict
    route: RouteKind = RouteKind.APPROVAL
    phrase: str | None = None
    rule: str = ""


def planned(
    *,
    index: int = 1,
    proposal: ProposalId = P1,
    route: RouteKind = RouteKind.APPROVAL,
    risk: Risk = Risk.REVERSIBLE_LOW,
    command: str = "systemctl restart caddy",
) -> Planned:
    """Return an action of a proposal on web1."""
    return Planned(
        action=action(command, index=index, proposal=proposal),
        verdict=verdict(risk),
        route=route,
        phrase="destroy it" if route is RouteKind.PHRASE else None,
    )


def received(
    turn: str = "t1",
    *,
    person: str = "ana",
    consumes: bool = True,
    place: PlaceId = HERE,
    kind: Kind = Kind.TURN_RECEIVED,
    direct: bool = False,
) -> Draft:
    """A message or a click came."""
    ref: dict[str, Json] = {"platform": "console", "tenant": "", "channel": place, "thread": ""}
    body: dict[str, Json] = {
        "turn": turn,
        "place": place,
        "place_ref": ref,
        "direct": direct,
        "person": person,
        "consumes_window": consumes,
    }
    return Draft(kind=kind, body=body, words={"text": b"words"})


def answered(
    turn: str = "t1",
    *,
    shows: Sequence[str] = (),
    window: tuple[str, str] | None = None,
    place: PlaceId = HERE,
    closes_windows: bool = False,
) -> Draft:
    """The bot answered; `window` is (person, proposal)."""
    body: dict[str, Json] = {
        "turn": turn,
        "place": place,
        "shows": list(shows),
        "window": None if window is None else {"person": window[0], "proposal": window[1]},
        **({"closes_windows": True} if closes_windows else {}),
    }
    return Draft(kind=Kind.TURN_ANSWERED, body=body)


def made(
    *actions: Planned,
    replaces: str | None = None,
    purpose: bytes | None = b"as asked",
    shown_in: PlaceId = HERE,
    requester: str = "ana",
    on_behalf: str | None = None,
    source: str = "literal",
) -> Draft:
    """A proposal was made of `actions`, in order."""
    proposal = actions[0].action.id.rpartition(".")[0]
    docs: list[Json] = [_planned_doc(one) for one in actions]
    words = {f"command_{one.action.index}": one.action.command.encode() for one in actions}
    words |= {
        f"verify_{one.action.index}": one.action.verify.encode()
        for one in actions
        if one.action.verify is not None
    }
    if purpose is not None:
        words["purpose"] = purpose
    body: dict[str, Json] = {
        "proposal": proposal,
        "requester": requester,
        **({} if on_behalf is None else {"on_behalf": on_behalf}),
        "asked_in": HERE,
        "shown_in": shown_in,
        "source": source,
        "replaces": replaces,
        "policy_revision": "r1",
        "actions": docs,
    }
    return Draft(kind=Kind.PROPOSAL_MADE, correlation_id=proposal, body=body, words=words)


def _planned_doc(one: Planned) -> Doc:
    return {
        "rule": one.rule,
        "slots": action_doc(one.action),
        "verdict": verdict_doc(one.verdict),
        "radius": radius_doc(Radius(known=True, origin=("caddy",), services=("blog",))),
        "route": one.route.value,
        "because": "",
        "phrase": one.phrase,
        "digest": action_digest(one.action),
    }


def opened(
    one: Planned, *, name: str = "a", deadline_at: datetime = LATER, phrase: str | None = None
) -> Draft:
    """An approval was opened for an action."""
    body: dict[str, Json] = {
        "approval": f"{one.action.id}/{name}",
        "proposal": one.action.id.rpartition(".")[0],
        "action": one.action.id,
        "deadline_at": instant(deadline_at),
        "phrase": phrase,
        "list_digest": list_digest([action_digest(one.action)]),
    }
    return _of(one, Kind.APPROVAL_OPENED, body)


def decided(
    one: Planned,
    kind: Kind,
    *,
    name: str = "a",
    by: str = "ana",
    extra: Mapping[str, Json] | None = None,
    words: Mapping[str, bytes] | None = None,
) -> Draft:
    """An approval ended."""
    body: dict[str, Json] = {
        "approval": f"{one.action.id}/{name}",
        "proposal": one.action.id.rpartition(".")[0],
        "action": one.action.id,
        "decider": by,
        "place": HERE,
        **(extra or {}),
    }
    return _of(one, kind, body, words={"said": b"go ahead", **(words or {})})


def told(one: Planned) -> Draft:
    """The end of a proposal was told where it was asked."""
    return _of(one, Kind.PROPOSAL_TOLD, {"proposal": one.action.id.rpartition(".")[0], "place": HERE})


def climbed(one: Planned, rung: Rung, *, name: str = "a", extra: Mapping[str, Json] | None = None) -> Draft:
    """A step of the ladder was taken."""
    kind = Kind.APPROVAL_NUDGED if rung is Rung.NUDGE else Kind.APPROVAL_ESCALATED
    body: dict[str, Json] = {"approval": f"{one.action.id}/{name}", "action": one.action.id, **(extra or {})}
    return _of(one, kind, body)


def voted(one: Planned, by: str, *, name: str = "a", needed: int = 2) -> Draft:
    """One of several people who have to agree did."""
    return decided(one, Kind.APPROVAL_VOTED, name=name, by=by, extra={"needed": needed})


def queued(one: Planned, *, grant: str | None = "a") -> Draft:
    """An action may start; `grant` is the short name of its approval."""
    body: dict[str, Json] = {"action": one.action.id, "grant": _grant(one, grant), "because": ""}
    return _of(one, Kind.ACTION_QUEUED, body | ({"rule": one.rule} if one.rule else {}))


def unqueued(one: Planned, *, route: RouteKind = RouteKind.APPROVAL) -> Draft:
    """An action waits for a new yes."""
    return _of(one, Kind.ACTION_UNQUEUED, {"action": one.action.id, "route": route.value, "why": "so"})


def started(one: Planned, *, grant: str | None = "a", boot_id: str | None = None) -> Draft:
    """An action started."""
    body: dict[str, Json] = {"action": one.action.id, "grant": _grant(one, grant), "boot_id": boot_id}
    return _of(one, Kind.ACTION_STARTED, body)


def ended(
    one: Planned,
    kind: Kind = Kind.ACTION_SUCCEEDED,
    *,
    exit_code: int | None = 0,
    output: bytes | None = None,
) -> Draft:
    """An action ended."""
    body: dict[str, Json] = {
        "action": one.action.id,
        "note": "",
        "exit_code": exit_code,
        "run_s": 1.5,
        "total_bytes": 7,
        "dropped_bytes": 2,
    }
    return _of(one, kind, body, words={} if output is None else {"output": output})


def verified(one: Planned, *, exit_code: int | None = 0) -> Draft:
    """The verify command of an action ended."""
    return _of(
        one, Kind.ACTION_VERIFIED, {"action": one.action.id, "exit_code": exit_code, "ok": exit_code == 0}
    )


def settled(one: Planned, *, ran: bool) -> Draft:
    """A person found out how a lost action ended."""
    body: dict[str, Json] = {"action": one.action.id, "by": PersonId("ana"), "ran": ran}
    return _of(one, Kind.ACTION_SETTLED, body, words={"why": b"the log says so"})


def clarified(kind: Kind, *, deadline_at: datetime = LATER) -> Draft:
    """A choice was asked or ended."""
    body: dict[str, Json] = {
        "clarification": "c1",
        "place": HERE,
        "person": "ana",
        "deadline_at": instant(deadline_at),
    }
    words = {
        "said": b"restart it",
        "question": b"Which one?",
        "choices": b'[["first","run a on web1"],["second","run b on web1"]]',
    }
    return Draft(kind=kind, correlation_id="c1", body=body, words=words)


def commitment_made(decision: str, *, commitment: str = "m1", place: PlaceId = HERE) -> Draft:
    """An act was asked for and resolved."""
    words = {"slots": b'{"text": "tea"}', "said": b"remind me of tea"}
    if decision == "confirm":
        words["phrase"] = b"set it"
    body: dict[str, Json] = {
        "commitment": commitment,
        "act": "remind",
        "tool": "remind",
        "decision": decision,
        "because": "",
        "place": place,
        "person": "ana",
        "request_at": instant(NOW),
        "expires_at": instant(LATER) if decision in {"clarify", "confirm"} else "",
    }
    return Draft(kind=Kind.COMMITMENT_MADE, correlation_id=commitment, body=body, words=words)


def switched(name: str, value: Json) -> Draft:
    """A switch was changed."""
    return Draft(kind=Kind.SWITCH_CHANGED, body={"switch": name, "value": value, "by": "ana"})


def setting(key: str, value: Json, *, by: str = "ana") -> Draft:
    """A setting was set at run time."""
    return Draft(kind=Kind.SETTING_CHANGED, body={"key": key, "value": value, "by": by, "place": HERE})


def cleared(key: str) -> Draft:
    """A setting that was set at run time was unset."""
    return Draft(kind=Kind.SETTING_CLEARED, body={"key": key, "by": "ana", "place": HERE})


def loosening(kind: Kind, *, how: str = "granted") -> Draft:
    """A loosening was asked or ended."""
    body: dict[str, Json] = {
        "loosening": "l1",
        "place": HERE,
        "person": "ana",
        "phrase": "resume everything",
        "deadline_at": instant(LATER),
        "wants": {"stopped": False},
        "how": how,
    }
    return Draft(kind=kind, body=body)


def moved(old: str, new: str, *, tenant: str = "") -> Draft:
    """A place goes on as the channel `new` of `tenant`."""
    refs: dict[str, Json] = {
        "place_ref": {"platform": "console", "tenant": "", "channel": old, "thread": ""},
        "moved_to": {"platform": "console", "tenant": tenant, "channel": new, "thread": ""},
    }
    return Draft(kind=Kind.PLACE_MOVED, body={**refs, "event": "e1"})


def offered(pairing: str = "c1", *, person: str = "ana", deadline_at: datetime = LATER) -> Draft:
    """A code was shown to somebody who wants to link an account."""
    body: dict[str, Json] = {
        "pairing": pairing,
        "person": person,
        "mac": f"mac of {pairing}",
        "deadline_at": instant(deadline_at),
        "place": HERE,
    }
    return Draft(kind=Kind.PAIRING_OFFERED, body=body)


def missed() -> Draft:
    """Somebody sent a code that is none."""
    return Draft(kind=Kind.PAIRING_MISSED, body={"account": "chat::9", "place": HERE})


def pairing_ended(pairing: str = "c1") -> Draft:
    """A code is over."""
    body: dict[str, Json] = {"pairing": pairing, "person": "ana", "how": "expired", "by": "agent"}
    return Draft(kind=Kind.PAIRING_ENDED, body=body)


def paired(account: str = "chat::1", *, pairing: str = "c1", person: str = "ana") -> Draft:
    """An account was linked to a person."""
    body: dict[str, Json] = {
        "pairing": pairing,
        "account": account,
        "display": "",
        "person": person,
        "place": HERE,
    }
    return Draft(kind=Kind.ACCOUNT_PAIRED, body=body)


def unpaired(account: str = "chat::1") -> Draft:
    """An account was unlinked."""
    return Draft(kind=Kind.ACCOUNT_UNPAIRED, body={"account": account, "person": "ana", "by": "ana"})


def job_made(
    job: str = "j1", *, due: datetime = LATER, rrule: str = "", person: str = "ana", place: PlaceId = HERE
) -> Draft:
    """A reminder was made."""
    body: dict[str, Json] = {
        "job": job,
        "act": "remind",
        "place": place,
        "person": person,
        "zone": "Europe/Vienna",
        "first_at": instant(due),
        "rrule": rrule,
        "missed": "late",
        "next_at": instant(due),
        "commitment": f"cmt_{job}",
    }
    words = {"text": b"drink water", "said": b"remind me to drink water in 15 minutes"}
    return Draft(kind=Kind.JOB_MADE, correlation_id=f"cmt_{job}", body=body, words=words)


def occurred(
    job: str = "j1", *, due: datetime = LATER, then: datetime | None = None, is_missed: bool = False
) -> Draft:
    """A job was due, and it was claimed, or it was missed."""
    after = "" if then is None else instant(then)
    body: dict[str, Json] = {"job": job, "fire_at": instant(due), "late_s": 0, "next_at": after}
    if is_missed:
        times: dict[str, Json] = {"from": instant(due), "to": instant(due), "count": 1}
        body = {"job": job, **times, "policy": "skip", "next_at": after}
    return Draft(kind=Kind.OCCURRENCE_MISSED if is_missed else Kind.OCCURRENCE_CLAIMED, body=body)


def job_over(kind: Kind = Kind.JOB_ENDED, job: str = "j1") -> Draft:
    """A job is over."""
    body: dict[str, Json] = {"job": job, "how": "done", "by": "ana", "place": HERE}
    return Draft(kind=kind, body=body)


def stored(
    belief: str = "b1",
    *,
    fact: Fact | None = None,
    subject: str = "s1",
    predicate: str = "at",
    source: Source = Source.USER_EXPLICIT,
    functional: bool = True,
    supersedes: str = "",
    commitment: str = "",
) -> Draft:
    """A fact was remembered."""
    body: dict[str, Json] = {
        "belief": belief,
        "subject": subject,
        "predicate": predicate,
        "source": source.value,
        "functional": functional,
        "private": False,
        "person": "ana",
        "place": HERE,
        "supersedes": supersedes,
    }
    told = fact or Fact(about="sync", object="2026-12-01", kind="", said="sync is on 2026-12-01")
    words = {"fact": packed(told).encode()}
    return Draft(kind=Kind.BELIEF_STORED, correlation_id=commitment, body=body, words=words)


def forgotten(belief: str = "b1", *, source: Source = Source.USER_EXPLICIT) -> Draft:
    """A fact was forgotten."""
    body: dict[str, Json] = {"belief": belief, "by": "ana", "source": source.value}
    return Draft(kind=Kind.BELIEF_FORGOTTEN, body=body)


def trusted(
    rule: str = "t3r9a7", *, by: str = "ana", with_whom: str | None = "kim", expires_at: datetime = LATER
) -> Draft:
    """A rule was made that lets an exact command run unasked."""
    body: dict[str, Json] = {
        "rule": rule,
        "targets": ["web1"],
        "ceiling": "reversible_low",
        "expires_at": instant(expires_at),
        "until": "2 Mar 2026",
        "by": by,
        "with_whom": with_whom,
    }
    return Draft(kind=Kind.TRUST_RULE_MADE, body=body, words={"command": b"systemctl restart caddy"})


def untrusted(rule: str = "t3r9a7", *, by: str = "bo") -> Draft:
    """A rule was revoked."""
    return Draft(kind=Kind.TRUST_RULE_REVOKED, body={"rule": rule, "by": by})


def taught(guidance: str = "g4h7k9", *, text: bytes = b"be brief") -> Draft:
    """An instruction is held until somebody confirms it."""
    return Draft(kind=Kind.GUIDANCE_HELD, body={"guidance": guidance, "by": "ana"}, words={"text": text})


def on_guidance(kind: Kind, guidance: str = "g4h7k9", *, by: str = "kim") -> Draft:
    """An instruction was confirmed or rejected."""
    return Draft(kind=kind, body={"guidance": guidance, "by": by})


SPEC = RunbookSpec(
    id=RunbookId("restart-service"),
    title="Restart a service",
    digest=Digest("d" * 64),
    inputs={"service": InputSpec(name="service", type=InputType.SERVICE)},
    steps=(
        StepSpec(
            id=StepId("restart"),
            title="Restart it",
            risk=StepRisk.REVERSIBLE,
            command="systemctl restart {{ inputs.service }}",
            capture=Capture(input="service", type=InputType.SERVICE),
            expect=(
                ExitCode(any_of=(0, 3)),
                Output(stream=Stream.STDOUT, test=TextTest.CONTAINS, text="ok"),
                JsonValue(path=".n", compare=Comparison.MORE, value=1.5),
                FileExists(path="/run/caddy.pid"),
            ),
            retry=Retry(max=2, target=StepId("restart")),
            next="which",
        ),
        StepSpec(
            id=StepId("which"),
            kind=StepKind.DECISION,
            title="Which one",
            branches=(
                Branch(
                    when=Condition(input="service", compare=Comparison.EQUALS, value="x"), next="end:failure"
                ),
                Branch(when=None, next="end:success"),
            ),
        ),
    ),
)


def run_started(run: str = "r4m8n2", *, undoes: str | None = None, secrets: Sequence[str] = ()) -> Draft:
    """A run of a runbook began."""
    event = Started(
        run=RunId(run),
        runbook=RunbookId("restart-service"),
        digest=Digest("d" * 64),
        agent=AGENT,
        posture=Posture.APPROVE_MOST,
        inputs={"service": "caddy", "tries": 3, "force": False, "note": None},
        target="web1",
        first=StepId("restart"),
        undoes=None if undoes is None else RunId(undoes),
        at=NOW,
    )
    more: dict[str, Json] = {
        "title": "Restart a service",
        "place": HERE,
        "person": "ana",
        "secrets": bool(secrets),
    }
    words = {"said": "restart caddy on web1", **texts_of(SPEC)}
    return draft_of(event, run=RunId(run), more=more, words=words)


def run_entered(number: int = 1, *, step: str = "restart", attempt: int = 1, run: str = "r4m8n2") -> Draft:
    """A step was entered."""
    via = Via.START if number == 1 else Via.NEXT
    event = Entered(step=StepId(step), number=number, attempt=attempt, via=via, at=NOW)
    return draft_of(event, run=RunId(run))


def run_went(event: Event, run: str = "r4m8n2") -> Draft:
    """Something happened to a run."""
    return draft_of(event, run=RunId(run))


def kept(
    capability: str = "c5d8f2",
    *,
    runbook: str = "restart-caddy",
    with_whom: str | None = None,
    proposals: Sequence[str] = ("k7f3a2",),
) -> Draft:
    """A runbook was learned."""
    body: dict[str, Json] = {
        "capability": capability,
        "runbook": runbook,
        "title": "restart caddy",
        "digest": "d" * 64,
        "proposals": list(proposals),
        "by": "ana",
        "with_whom": with_whom,
        "place": HERE,
    }
    return Draft(kind=Kind.RUNBOOK_KEPT, body=body, words={"document": b"version: 1\n"})


def retired(runbook: str = "restart-caddy", *, by: str = "bo") -> Draft:
    """A runbook that was learned is gone."""
    return Draft(kind=Kind.RUNBOOK_RETIRED, body={"runbook": runbook, "by": by, "place": HERE})


def plan_asked(
    plan: str = "p1w3x2", *, person: str = "ana", place: PlaceId = HERE, said: bytes = b"is web1 well?"
) -> Draft:
    """Somebody asked for something that a model has to plan."""
    body: dict[str, Json] = {"plan": plan, "place": place, "person": person, "direct": False}
    return Draft(kind=Kind.PLAN_ASKED, correlation_id=plan, body=body, words={"said": said})


def plan_went(
    kind: Kind, plan: str = "p1w3x2", *, made: Sequence[str] = (), beliefs: Sequence[str] = ()
) -> Draft:
    """A plan went on."""
    body: dict[str, Json] = {"plan": plan, **({"made": list(made)} if made else {})}
    body |= {"beliefs": list(beliefs)} if beliefs else {}
    words = {} if kind is Kind.PLAN_CALLED else {"words": b"{}"}
    return Draft(kind=kind, correlation_id=plan, body=body, words=words)


def plan_ended(plan: str = "p1w3x2", *, how: str = "answered", text: bytes | None = b"It is well.") -> Draft:
    """A plan is over."""
    body: dict[str, Json] = {"plan": plan, "how": how}
    words = {} if text is None else {"text": text}
    return Draft(kind=Kind.PLAN_ENDED, correlation_id=plan, body=body, words=words)


def _grant(one: Planned, name: str | None) -> str | None:
    return None if name is None else f"{one.action.id}/{name}"


def _of(
    one: Planned, kind: Kind, body: Mapping[str, Json], *, words: Mapping[str, bytes] | None = None
) -> Draft:
    return Draft(kind=kind, correlation_id=one.action.id.rpartition(".")[0], body=body, words=words or {})


def called(how: str = "proposed", *, agent: str = "agent:claude", subject: str = P1) -> Draft:
    """An agent asked for something."""
    body: dict[str, Json] = {"agent": agent, "how": how, "subject": subject, "tool": "run"}
    return Draft(kind=Kind.DELEGATE_ASKED, correlation_id=subject, body=body, words={"purpose": b"to look"})
