"""Scope tokens: how far somebody who works for somebody else may go, and that it never grows."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.domain import PlaceId, ReasonCode, Risk, TargetId
from gate.effects import PROFILES, SemanticTier, profile_of
from gate.resolve.decision import Act
from gate.scope import NEVER_BY_DEFAULT, ScopeToken, narrow, permits, refusal

NOW = datetime(2026, 3, 2, 14, tzinfo=UTC)
HERE, THERE = PlaceId("here"), PlaceId("there")
WEB1, DB1 = TargetId("web1"), TargetId("db1")
TOKEN = ScopeToken(
    parent="c1",
    place=HERE,
    expires_at=NOW + timedelta(hours=1),
    allowed=frozenset({Act.REMIND, Act.EXEC, Act.CONFIG_CHANGE}),
    targets=frozenset({WEB1}),
)


def _why(
    tool: str,
    token: ScopeToken | None = TOKEN,
    *,
    risk: Risk | None = None,
    place: PlaceId = HERE,
    targets: frozenset[TargetId] = frozenset(),
    now: datetime = NOW,
) -> str | None:
    profile = profile_of(tool)
    reason = refusal(token, profile, risk=risk or profile.risk, place=place, targets=targets, now=now)
    assert reason is None or reason.code is ReasonCode.OUT_OF_SCOPE
    return None if reason is None else reason.text


def test_what_it_was_let_do_passes() -> None:
    assert _why("remind") is None
    assert _why("status", targets=frozenset({WEB1})) is None
    wide = replace(TOKEN, max_tier=SemanticTier.CRITICAL)
    assert _why("run", wide, risk=Risk.REVERSIBLE_LOW, targets=frozenset({WEB1})) is None


@pytest.mark.parametrize("tool", sorted(PROFILES))
def test_without_a_token_only_reading_is_left(tool: str) -> None:
    assert (_why(tool, None) is None) == PROFILES[tool].read_only


def test_unknown_tools_never_pass() -> None:
    everything = replace(
        TOKEN,
        allowed=frozenset(Act),
        denied=frozenset(),
        max_risk=Risk.DESTRUCTIVE,
        max_tier=SemanticTier.CRITICAL,
    )
    assert _why("frobnicate", everything) is not None
    assert _why("shell_exec", everything) is None


@pytest.mark.parametrize(
    ("tool", "token", "changed", "said"),
    [
        ("remind", TOKEN, {"now": TOKEN.expires_at}, "over"),
        ("status", TOKEN, {"now": TOKEN.expires_at}, "over"),
        ("remind", TOKEN, {"place": THERE}, "another place"),
        ("config_set", TOKEN, {"risk": Risk.READ_ONLY}, "config_change was ruled out"),  # although allowed
        ("schedule", TOKEN, {}, "schedule is not among"),
        ("remind", replace(TOKEN, max_risk=Risk.REVERSIBLE_LOW), {}, "config_mutation is more than"),
        ("run", TOKEN, {"risk": Risk.READ_ONLY}, "critical is more than the high"),
        ("remind", TOKEN, {"targets": frozenset({WEB1, DB1})}, "may not touch db1"),
        ("status", TOKEN, {"targets": frozenset({DB1})}, "may not touch db1"),
        ("remind", None, {}, "nobody said how far"),
    ],
)
def test_what_goes_too_far_is_denied_with_the_reason(
    tool: str, token: ScopeToken | None, changed: dict[str, object], said: str
) -> None:
    assert said in (_why(tool, token, **changed) or "")  # type: ignore[arg-type] # as the rows say


def test_a_token_that_says_nothing_lets_nothing_but_reading_pass() -> None:
    bare = ScopeToken(parent="c1", place=HERE, expires_at=TOKEN.expires_at)
    assert [tool for tool in PROFILES if _why(tool, bare) is None] == [
        tool for tool, profile in PROFILES.items() if profile.read_only
    ]


def test_what_changes_whom_sayso_obeys_is_ruled_out_unless_the_token_says_so() -> None:
    wide = replace(TOKEN, allowed=frozenset(Act), max_risk=Risk.DESTRUCTIVE, max_tier=SemanticTier.CRITICAL)
    denied = {profile.act for tool, profile in PROFILES.items() if _why(tool, wide) is not None}
    assert denied == NEVER_BY_DEFAULT


def test_narrowing_takes_the_stricter_of_everything() -> None:
    token = narrow(
        TOKEN,
        parent="c2",
        allowed={Act.REMIND, Act.SCHEDULE},
        denied={Act.EXEC},
        max_risk=Risk.DESTRUCTIVE,
        max_tier=SemanticTier.LOW,
        targets={WEB1, DB1},
        expires_at=NOW + timedelta(days=1),
    )
    assert token == replace(
        TOKEN,
        parent="c2",
        allowed=frozenset({Act.REMIND}),
        denied=TOKEN.denied | {Act.EXEC},
        max_tier=SemanticTier.LOW,
    )


def test_narrowing_by_nothing_hands_on_the_same() -> None:
    assert narrow(TOKEN) == TOKEN


_ACTS = st.frozensets(st.sampled_from(Act))
_TARGETS = st.frozensets(st.sampled_from([WEB1, DB1, TargetId("pve1")]))
_TIMES = st.integers(-3, 3).map(lambda hours: NOW + timedelta(hours=hours))
_TOKENS = st.builds(
    ScopeToken,
    parent=st.just("c1"),
    place=st.sampled_from([HERE, THERE]),
    expires_at=_TIMES,
    allowed=_ACTS,
    denied=_ACTS,
    max_risk=st.sampled_from(Risk),
    max_tier=st.sampled_from(SemanticTier),
    targets=_TARGETS,
)


@given(
    token=_TOKENS,
    changes=st.fixed_dictionaries(
        {},
        optional={
            "parent": st.text(),
            "allowed": _ACTS,
            "denied": _ACTS,
            "max_risk": st.sampled_from(Risk),
            "max_tier": st.sampled_from(SemanticTier),
            "targets": _TARGETS,
            "expires_at": _TIMES,
        },
    ),
    tool=st.sampled_from(sorted(PROFILES)),
    asked=st.fixed_dictionaries({"risk": st.sampled_from(Risk), "targets": _TARGETS, "now": _TIMES}),
)
def test_what_is_handed_on_never_goes_further(
    token: ScopeToken,
    changes: dict[str, object],
    tool: str,
    asked: dict[str, object],
) -> None:
    handed_on = narrow(token, **changes)  # type: ignore[arg-type] # as drawn
    profile = profile_of(tool)
    if permits(handed_on, profile, place=HERE, **asked):  # type: ignore[arg-type] # as drawn
        assert permits(token, profile, place=HERE, **asked)  # type: ignore[arg-type] # as drawn
