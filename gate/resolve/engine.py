"""Whether a tool may be used as asked: the one question of the commitment layer (K1 to K3, K5, C9, C21).

Picks by the tool's profile, keeps what is unknown or out of scope away from the resolvers, and holds them to
what they bind. An allowance says that it is clear what would be done, and nothing about consent: posture,
phrase and approval are asked for elsewhere. An exception passes through; its caller turns it into a denial.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from gate.domain import PlaceId, Reason, ReasonCode, Risk, TargetId
from gate.effects import (
    Effect,
    Hints,
    SecurityTier,
    SemanticTier,
    ToolEffectProfile,
    missing,
    profile_of,
)
from gate.resolve.decision import Act, Allow, Clarify, Decision, Deny, Slots
from gate.scope import ScopeToken, refusal


class Source(StrEnum):
    """Where a request comes in (K2)."""

    CHAT = "chat"  # a person who can be asked
    CALL = "call"  # an agent or a schedule, where nobody waits for a question
    MEMORY = "memory"  # something that wants to be remembered, likewise


#: Acts that nothing is resolved for: they are recorded, and consent is somebody else's question (K17).
RECORDED_ONLY = frozenset({Act.MUTATE_FS, Act.DELEGATE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A tool that somebody wants used.

    Attributes:
        act: what the caller takes it for; None to go by the tool alone. The two have to agree.
        args: JSON values by name.
        now: aware UTC, for the token.
        hints: what an external server says of the tool.
        delegated: the caller works for somebody else, so that `token` is its ceiling.
        targets: every target that it would touch.
        risk: what it would do, where that is known better than by the tool's name; only commands are.
    """

    tool: str
    args: Mapping[str, object]
    source: Source
    place: PlaceId
    now: datetime
    act: Act | None = None
    hints: Hints | None = None
    delegated: bool = False
    token: ScopeToken | None = None
    targets: frozenset[TargetId] = frozenset()
    risk: Risk | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """What is recorded of every request, the ones allowed without a word too (K3, K35).

    Attributes:
        args_digest: the first 12 hex digits of SHA-256 over the arguments as sorted JSON, "" without any.
    """

    tool: str
    effect: Effect
    security_tier: SecurityTier
    semantic_tier: SemanticTier
    act: Act | None
    registered: bool
    read_only: bool
    source: Source
    place: PlaceId
    args_digest: str

    def body(self) -> dict[str, str | bool | None]:
        """Return it as JSON values."""
        return {
            "tool": self.tool,
            "effect": self.effect.value,
            "security_tier": self.security_tier.value,
            "semantic_tier": self.semantic_tier.value,
            "act": None if self.act is None else self.act.value,
            "registered": self.registered,
            "read_only": self.read_only,
            "source": self.source.value,
            "place": self.place,
            "args_digest": self.args_digest,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Authorized:
    """The answer, which may well be no, with what is recorded of it."""

    decision: Decision
    audit: Audit
    profile: ToolEffectProfile


Resolver = Callable[[Request], Decision]


def authorize(request: Request, *, resolve: Resolver | None) -> Authorized:
    """Return what becomes of `request`.

    Args:
        resolve: resolves the act of the tool. None denies whatever has to be resolved: a part of sayso that
            is missing allows nothing (C9).
    """
    profile = profile_of(request.tool, hints=request.hints)
    decision = _denied(request, profile) or _resolved(request, profile, resolve)
    if request.source is not Source.CHAT:
        decision = _unasked(decision, profile)
    return Authorized(decision=decision, audit=_audit(request, profile), profile=profile)


def digest_of(args: Mapping[str, object]) -> str:
    """Return what stands for `args` in the record: 12 hex digits, "" for none.

    Raises:
        TypeError: an argument is no JSON value.
    """
    if not args:
        return ""
    text = json.dumps(args, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _audit(request: Request, profile: ToolEffectProfile) -> Audit:
    return Audit(
        tool=request.tool,
        effect=profile.effect,
        security_tier=profile.security_tier,
        semantic_tier=profile.semantic_tier,
        act=profile.act,
        registered=profile.registered,
        read_only=profile.read_only,
        source=request.source,
        place=request.place,
        args_digest=digest_of(request.args),
    )


def _denied(request: Request, profile: ToolEffectProfile) -> Deny | None:
    if not profile.registered and not profile.read_only:
        return _deny(
            request,
            ReasonCode.UNKNOWN_TOOL,
            f"sayso does not know the tool {request.tool}, and its name does not say that it only reads. "
            "Nothing was done. Ask for what you want in other words.",
        )
    if request.act is not None and request.act is not profile.act:
        return _deny(
            request,
            ReasonCode.UNKNOWN_TOOL,
            f"The tool {request.tool} is not there for that ({request.act}). Nothing was done.",
        )
    if not request.delegated:
        return None
    reason = refusal(
        request.token,
        profile,
        risk=_risk(request, profile),
        place=request.place,
        targets=request.targets,
        now=request.now,
    )
    return None if reason is None else Deny(reason=reason, slots=_slots(request), because="scope")


def _risk(request: Request, profile: ToolEffectProfile) -> Risk:
    if profile.act is Act.EXEC and request.risk is not None:
        return request.risk  # the command was judged, and its tool is as risky as the worst there is
    return profile.risk


def _resolved(request: Request, profile: ToolEffectProfile, resolve: Resolver | None) -> Decision:
    if profile.act is None or profile.act in RECORDED_ONLY:
        return _bound(profile, Allow(slots=_slots(request), because="nothing to resolve"), request)
    if resolve is None:
        return _deny(
            request,
            ReasonCode.UNHEALTHY,
            f"Blocked: the part of sayso that decides about {profile.name} is missing. Nothing was done.",
        )
    return _bound(profile, resolve(request), request)


def _bound(profile: ToolEffectProfile, decision: Decision, request: Request) -> Decision:
    """Ask for a slot that was left open: what is not bound is not done."""
    if isinstance(decision, Clarify | Deny):
        return decision
    given = request.args if profile.act is None or profile.act in RECORDED_ONLY else decision.slots
    lacking = missing(profile.required_slots, given)
    if lacking is None:
        return decision
    names = lacking.replace("_", " ").split("|")
    return Clarify(
        question=f"One thing is missing: {' or '.join(names)}. What is it?",
        slots=decision.slots,
        free=lacking.partition("|")[0],
        because=f"lacks {lacking}",
    )


def _unasked(decision: Decision, profile: ToolEffectProfile) -> Decision:
    """Deny what would have to be asked, where nobody waits for a question (K2)."""
    match decision:
        case Deny():
            return decision
        case Allow() if profile.act not in RECORDED_ONLY:
            return decision
        case Allow():
            why = f"{profile.name} changes things without anybody having been asked."
        case _:
            why = f"it takes an answer from a person: {decision.question}"
    text = f"Nothing was done, {why} Please ask for this in the chat."
    return Deny(
        reason=Reason(code=ReasonCode.ASK_IN_CHAT, text=text),
        slots=decision.slots,
        because=decision.because,
    )


def _deny(request: Request, code: ReasonCode, text: str) -> Deny:
    return Deny(reason=Reason(code=code, text=text), slots=_slots(request), because=code.value)


def _slots(request: Request) -> Slots:
    return {name: str(value) for name, value in request.args.items()}
