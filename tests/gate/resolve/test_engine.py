"""Whether a tool may be used as asked: unknown, out of scope, unresolved and unasked are all no."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from gate.domain import PlaceId, Reason, ReasonCode, Risk, TargetId
from gate.effects import PROFILES, Effect, Hints, SecurityTier, SemanticTier
from gate.resolve.decision import Act, Allow, Clarify, Confirm, Decision, Deny, Option
from gate.resolve.engine import Audit, Authorized, Request, Source, authorize, digest_of
from gate.scope import ScopeToken

NOW = datetime(2026, 3, 2, 14, tzinfo=UTC)
HERE = PlaceId("here")
BOUND = {"text": "tea", "fire_at": "2026-03-02T15:00:00+00:00"}
ALLOW = Allow(slots=BOUND, because="anchor request_at")
CLARIFY = Clarify(
    question="Which meeting?", slots={"text": "tea"}, options=(Option(id="a", label="A", patch={}),)
)
CONFIRM = Confirm(slots=BOUND, question="Really?", phrase="tea at three")
DENY = Deny(reason=Reason(code=ReasonCode.EXPIRED, text="That has passed."), because="past")


def _request(tool: str = "remind", **changes: object) -> Request:
    values: dict[str, object] = {
        "tool": tool,
        "args": {"text": "tea"},
        "source": Source.CHAT,
        "place": HERE,
        "now": NOW,
    } | changes
    return Request(**values)  # type: ignore[arg-type] # as given


def _always(decision: Decision) -> Callable[[Request], Decision]:
    return lambda _: decision


def _never(_: Request) -> Decision:
    raise AssertionError("nothing was to be resolved")


def _code(found: Authorized) -> ReasonCode | None:
    return found.decision.reason.code if isinstance(found.decision, Deny) else None


@pytest.mark.parametrize("decision", [ALLOW, CLARIFY, CONFIRM, DENY])
def test_in_a_chat_what_the_resolver_says_stands(decision: Decision) -> None:
    asked: list[Request] = []

    def resolve(request: Request) -> Decision:
        asked.append(request)
        return decision

    request = _request()
    found = authorize(request, resolve=resolve)
    assert found.decision is decision
    assert asked == [request]
    assert found.profile is PROFILES["remind"]


def test_what_is_recorded() -> None:
    found = authorize(_request(args={"b": 1, "a": "\u00e9"}), resolve=_always(DENY))
    assert found.audit == Audit(
        tool="remind",
        effect=Effect.SCHEDULE,
        security_tier=SecurityTier.DANGER,
        semantic_tier=SemanticTier.HIGH,
        act=Act.REMIND,
        registered=True,
        read_only=False,
        source=Source.CHAT,
        place=HERE,
        args_digest=digest_of({"a": "\u00e9", "b": 1}),
    )
    assert found.audit.body() == {
        "tool": "remind",
        "effect": "schedule",
        "security_tier": "danger",
        "semantic_tier": "high",
        "act": "remind",
        "registered": True,
        "read_only": False,
        "source": "chat",
        "place": "here",
        "args_digest": found.audit.args_digest,
    }


def test_an_unknown_tool_is_recorded_as_it_was_named() -> None:
    body = authorize(_request("frobnicate", args={}), resolve=None).audit.body()
    assert (body["tool"], body["act"], body["registered"], body["args_digest"]) == (
        "frobnicate",
        None,
        False,
        "",
    )


def test_the_digest_of_arguments() -> None:
    # printf '{"a":1,"b":"x"}' | sha256sum
    assert digest_of({"b": "x", "a": 1}) == "ecf9e98ec064"
    assert digest_of({}) == ""
    assert digest_of({"a": "\udcff"}) != digest_of({"a": "\udcfe"})
    with pytest.raises(TypeError):
        digest_of({"a": object()})


@pytest.mark.parametrize("source", Source)
@pytest.mark.parametrize(
    "tool", ["frobnicate", "erase_it_all", "mcp__hub__get_issue", "mcp__hub__delete", ""]
)
def test_a_tool_that_nobody_knows_is_denied_everywhere(tool: str, source: Source) -> None:
    found = authorize(_request(tool, source=source), resolve=_never)
    assert _code(found) is ReasonCode.UNKNOWN_TOOL
    assert found.decision.slots == {"text": "tea"}


@pytest.mark.parametrize("source", Source)
@pytest.mark.parametrize(
    ("tool", "hints"),
    [("status", None), ("get_gadget", None), ("mcp__hub__get_issue", Hints(read_only=True))],
)
def test_a_read_is_allowed_as_it_is(tool: str, hints: Hints | None, source: Source) -> None:
    found = authorize(_request(tool, hints=hints, source=source, args={"n": 3}), resolve=_never)
    assert found.decision == Allow(slots={"n": "3"}, because="nothing to resolve")


@pytest.mark.parametrize("tool", sorted(name for name, profile in PROFILES.items() if not profile.read_only))
def test_where_the_resolver_is_missing_nothing_that_changes_anything_is_allowed_unasked(tool: str) -> None:
    found = authorize(_request(tool, source=Source.CALL), resolve=None)
    assert _code(found) in {ReasonCode.UNHEALTHY, ReasonCode.ASK_IN_CHAT}


def test_where_the_resolver_is_missing_a_chat_is_told() -> None:
    assert _code(authorize(_request(), resolve=None)) is ReasonCode.UNHEALTHY


def test_what_the_resolver_raises_is_for_the_caller() -> None:
    with pytest.raises(AssertionError, match="nothing was to be resolved"):
        authorize(_request(), resolve=_never)


def test_what_only_is_recorded_passes_in_a_chat_and_is_denied_where_nobody_can_be_asked() -> None:
    for tool in ("file_write", "file_delete", "spawn_agent"):
        assert isinstance(authorize(_request(tool), resolve=_never).decision, Allow)
        for source in (Source.CALL, Source.MEMORY):
            assert _code(authorize(_request(tool, source=source), resolve=_never)) is ReasonCode.ASK_IN_CHAT


def test_an_act_that_the_tool_is_not_for_is_denied() -> None:
    assert authorize(_request(act=Act.REMIND), resolve=_always(ALLOW)).decision is ALLOW
    for tool in ("remind", "status"):
        assert _code(authorize(_request(tool, act=Act.EXEC), resolve=_never)) is ReasonCode.UNKNOWN_TOOL


@pytest.mark.parametrize("source", [Source.CALL, Source.MEMORY])
@pytest.mark.parametrize("decision", [CLARIFY, CONFIRM])
def test_where_nobody_can_be_asked_a_question_is_a_no(decision: Clarify | Confirm, source: Source) -> None:
    found = authorize(_request(source=source), resolve=_always(decision)).decision
    assert isinstance(found, Deny)
    assert found.reason.code is ReasonCode.ASK_IN_CHAT
    assert "ask for this in the chat" in found.reason.text
    assert decision.question in found.reason.text
    assert found.slots == decision.slots


@pytest.mark.parametrize("decision", [ALLOW, DENY])
def test_where_nobody_can_be_asked_yes_and_no_stand(decision: Decision) -> None:
    assert authorize(_request(source=Source.CALL), resolve=_always(decision)).decision is decision


@pytest.mark.parametrize("slots", [{"text": "tea"}, {"text": "tea", "fire_at": " "}])
def test_a_slot_that_was_left_open_is_asked_for(slots: dict[str, str]) -> None:
    for half in (Allow(slots=slots), Confirm(slots=slots, question="?", phrase="x")):
        found = authorize(_request(), resolve=_always(half)).decision
        assert found == Clarify(
            question="One thing is missing: fire at. What is it?",
            slots=slots,
            free="fire_at",
            because="lacks fire_at",
        )
        assert _code(authorize(_request(source=Source.CALL), resolve=_always(half))) is ReasonCode.ASK_IN_CHAT


def test_either_of_two_slots_will_do() -> None:
    slots = {"event_at": "x", "prompt": "y"}
    found = authorize(_request("schedule_task"), resolve=_always(Allow(slots=slots))).decision
    assert isinstance(found, Clarify)
    assert (found.question, found.free) == ("One thing is missing: fire at or lead. What is it?", "fire_at")
    whole = Allow(slots={**slots, "lead": "P2D"})
    assert authorize(_request("schedule_task"), resolve=_always(whole)).decision is whole


# ---------------------------------------------------------------- delegated callers

TOKEN = ScopeToken(
    parent="c1",
    place=HERE,
    expires_at=NOW + timedelta(hours=1),
    allowed=frozenset({Act.REMIND, Act.EXEC}),
    max_risk=Risk.REVERSIBLE_LOW,
    max_tier=SemanticTier.CRITICAL,
    targets=frozenset({TargetId("web1")}),
)
RUN = Allow(slots={"command": "ls"})


def _delegated(tool: str, token: ScopeToken | None, **changes: object) -> Authorized:
    resolve = _always(RUN if tool == "run" else ALLOW)
    return authorize(
        _request(tool, delegated=True, token=token, source=Source.CALL, **changes), resolve=resolve
    )


def test_a_delegated_caller_without_a_token_reads_and_no_more() -> None:
    assert _code(_delegated("remind", None)) is ReasonCode.OUT_OF_SCOPE
    assert _code(_delegated("status", None)) is None


def test_a_token_of_a_caller_who_is_not_delegated_is_not_asked_for() -> None:
    assert authorize(_request(token=None), resolve=_always(ALLOW)).decision is ALLOW


def test_a_token_is_held_to_what_would_be_done() -> None:
    on_web1 = frozenset({TargetId("web1")})
    assert _code(_delegated("run", TOKEN, risk=Risk.REVERSIBLE_LOW, targets=on_web1)) is None
    for changes in (
        {"risk": Risk.DESTRUCTIVE, "targets": on_web1},
        {"targets": on_web1},  # not judged: as risky as commands can be
        {"risk": Risk.READ_ONLY, "targets": frozenset({TargetId("db1")})},
        {"risk": Risk.READ_ONLY, "now": TOKEN.expires_at},
        {"risk": Risk.READ_ONLY, "place": PlaceId("there")},
    ):
        found = _delegated("run", TOKEN, **changes)
        assert _code(found) is ReasonCode.OUT_OF_SCOPE, changes
        assert found.decision.because == "scope"


def test_only_a_command_is_judged_better_than_by_its_tool() -> None:
    assert _code(_delegated("remind", TOKEN, risk=Risk.READ_ONLY)) is ReasonCode.OUT_OF_SCOPE
