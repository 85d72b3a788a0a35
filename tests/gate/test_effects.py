"""What a tool does by its name: the list, the words of a name, and what strangers say of themselves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.acts.registry import HANDLERS
from gate.domain import Risk
from gate.effects import (
    MUTATORS,
    PROFILES,
    READERS,
    SECURITY_RISK,
    SEMANTIC_RISK,
    Effect,
    Hints,
    SecurityTier,
    SemanticTier,
    missing,
    profile_of,
    risk_of_hints,
)
from gate.resolve.decision import Act

READS = Hints(read_only=True, destructive=False)


def test_every_act_has_a_tool_that_is_listed() -> None:
    assert {profile.act for profile in PROFILES.values()} - {None} == set(Act)


def test_every_act_that_is_handled_has_a_tool_that_is_listed() -> None:
    listed = {profile.act for profile in PROFILES.values()}
    assert {act for handler in HANDLERS for act in handler.acts} <= listed


def test_the_list_can_not_be_written_to() -> None:
    with pytest.raises(TypeError):
        PROFILES["run"] = PROFILES["status"]  # type: ignore[index] # that is the point


def test_what_is_listed_is_either_a_read_or_dangerous_or_memory() -> None:
    for name, profile in PROFILES.items():
        assert profile.name == name
        assert profile.registered
        tier = {Effect.READ: SecurityTier.SAFE, Effect.WRITE_MEMORY: SecurityTier.WRITE}
        assert profile.security_tier is tier.get(profile.effect, SecurityTier.DANGER), name
        assert profile.read_only == (profile.act is None), name
        assert (profile.semantic_tier is SemanticTier.NONE) == profile.read_only, name


@pytest.mark.parametrize(
    ("name", "effect", "tier", "act"),
    [
        ("run", Effect.EXEC, SemanticTier.CRITICAL, Act.EXEC),
        ("python_exec", Effect.EXEC, SemanticTier.CRITICAL, Act.EXEC),
        ("run_tests", Effect.EXEC, SemanticTier.HIGH, Act.EXEC),
        ("remind", Effect.SCHEDULE, SemanticTier.HIGH, Act.REMIND),
        ("cancel_scheduled", Effect.SCHEDULE, SemanticTier.HIGH, Act.CANCEL_JOB),
        ("github_merge_pr", Effect.OUTBOUND, SemanticTier.CRITICAL, Act.SEND_OUTBOUND),
        ("x_post", Effect.OUTBOUND, SemanticTier.CRITICAL, Act.POST_ARTIFACT),
        ("vault_delete", Effect.CONFIG, SemanticTier.CRITICAL, Act.CONFIG_CHANGE),
        ("guidance", Effect.IDENTITY, SemanticTier.CRITICAL, Act.SET_GUIDANCE),
        ("spawn_agent", Effect.DELEGATE, SemanticTier.HIGH, Act.DELEGATE),
        ("memory_search", Effect.READ, SemanticTier.NONE, None),
    ],
)
def test_listed_tools(name: str, effect: Effect, tier: SemanticTier, act: Act | None) -> None:
    profile = profile_of(name)
    assert (profile.effect, profile.semantic_tier, profile.act) == (effect, tier, act)


@pytest.mark.parametrize(
    "name",
    [
        "get_gadget",
        "list-hosts",
        "is_up",
        "lookup.user",
        "getGadget",
        "HTTPStatus",
        "show",
        "GET_HOSTS",
        "find it 2",
    ],
)
def test_a_name_that_reads_is_safe(name: str) -> None:
    profile = profile_of(name)
    assert (profile.effect, profile.security_tier) == (Effect.READ, SecurityTier.SAFE)
    assert profile.risk is Risk.READ_ONLY
    assert profile.registered == (name in PROFILES)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "gadget",  # holds "get", as no word of its own
        "widget_maker",
        "forgetful",
        "get2",
        "erase_it_all",
        "get_or_create",
        "getOrCreate",
        "list_and_Delete",
        "checkHTTPDeploy",
        "deLete_list",
        "get_config",
        "get_\uff44elete",  # a letter that only looks like d
        "g\u00e9t_list",
        "Shell_Exec",
        "RUN",
        "mcp_",
    ],
)
def test_any_other_name_is_nobody_knows_what(name: str) -> None:
    profile = profile_of(name)
    assert not profile.registered
    assert not profile.read_only
    assert (profile.effect, profile.act) == (Effect.NONE, None)
    assert (profile.security_tier, profile.semantic_tier) == (SecurityTier.UNSAFE, SemanticTier.CRITICAL)
    assert profile.risk is Risk.DESTRUCTIVE


@pytest.mark.parametrize(
    ("name", "hints", "tier"),
    [
        ("mcp__hub__get_issue", READS, SecurityTier.SAFE),
        ("mcp__hub__get_issue", None, SecurityTier.DANGER),
        ("mcp__hub__get_issue", Hints(), SecurityTier.DANGER),
        ("mcp__hub__get_issue", Hints(read_only=True, destructive=True), SecurityTier.DANGER),
        ("mcp__hub__get_issue", Hints(destructive=False), SecurityTier.DANGER),
        ("mcp__hub__merge_pull", READS, SecurityTier.DANGER),
        ("mcp__hub__get_and_delete", READS, SecurityTier.DANGER),
        ("mcp__hub__frobnicate", READS, SecurityTier.UNSAFE),
        ("mcp__get__frobnicate", READS, SecurityTier.UNSAFE),  # the server's name says nothing
        ("mcp__get", READS, SecurityTier.UNSAFE),
        ("mcp__hub__", READS, SecurityTier.UNSAFE),
        ("MCP__hub__get_issue", None, SecurityTier.DANGER),
        ("mcp__hub__remember", READS, SecurityTier.UNSAFE),  # ours of that name is another tool
        ("mcp__hub__sub__get_it", READS, SecurityTier.SAFE),
    ],
)
def test_external_tools(name: str, hints: Hints | None, tier: SecurityTier) -> None:
    profile = profile_of(name, hints=hints)
    assert profile.security_tier is tier
    assert not profile.registered
    assert profile.read_only == (tier is SecurityTier.SAFE)
    assert profile.risk is (Risk.READ_ONLY if profile.read_only else Risk.DESTRUCTIVE)


def test_what_a_tool_says_of_itself_never_lowers_what_is_listed() -> None:
    assert profile_of("shell_exec", hints=READS) == profile_of("shell_exec")
    assert profile_of("frobnicate", hints=READS) == profile_of("frobnicate")


@pytest.mark.parametrize(
    ("hints", "risk"),
    [
        (None, Risk.DESTRUCTIVE),
        (Hints(), Risk.DESTRUCTIVE),
        (Hints(destructive=True), Risk.DESTRUCTIVE),
        (Hints(read_only=True, destructive=True), Risk.DESTRUCTIVE),
        (Hints(read_only=True), Risk.READ_ONLY),
        (Hints(read_only=False), Risk.DESTRUCTIVE),
        (Hints(read_only=False, destructive=False), Risk.CONFIG_MUTATION),
        (Hints(destructive=False), Risk.CONFIG_MUTATION),
    ],
)
def test_what_hints_amount_to(hints: Hints | None, risk: Risk) -> None:
    assert risk_of_hints(hints) is risk


def test_the_tiers_in_the_words_of_the_gate() -> None:
    assert [SECURITY_RISK[tier] for tier in SecurityTier] == list(Risk)
    assert [SEMANTIC_RISK[tier] for tier in SemanticTier] == list(Risk)
    assert [tier.rank for tier in SemanticTier] == [0, 1, 2, 3]
    # the strictest of the two counts
    assert profile_of("run_tests").risk is Risk.CONFIG_MUTATION
    assert profile_of("remember").risk is Risk.CONFIG_MUTATION
    assert profile_of("send").risk is Risk.DESTRUCTIVE


def test_no_word_both_reads_and_changes() -> None:
    assert not MUTATORS & READERS


_WORDS = st.lists(st.sampled_from(sorted(MUTATORS | READERS | {"x", "all", "2"})), min_size=1, max_size=4)


@given(words=_WORDS, glue=st.sampled_from(["_", "-", ".", " ", "__", ":", "/"]), external=st.booleans())
def test_a_name_with_a_word_that_changes_things_is_never_a_read(
    words: list[str], glue: str, *, external: bool
) -> None:
    name = ("mcp__hub__" if external else "z_") + glue.join(words)
    profile = profile_of(name, hints=READS)
    assert profile.read_only == (bool(READERS & set(words)) and not MUTATORS & set(words))
    humped = "z" + "".join(word.capitalize() for word in words)
    assert profile_of(humped).read_only <= profile.read_only


_SAID = st.none() | st.booleans()


@given(name=st.text(), hints=st.none() | st.builds(Hints, read_only=_SAID, destructive=_SAID))
def test_no_hint_lowers_what_a_name_says(name: str, hints: Hints | None) -> None:
    assert profile_of(name, hints=hints).risk.at_least(profile_of(name, hints=READS).risk)


@pytest.mark.parametrize(
    ("given_slots", "lacking"),
    [
        ({}, "a|b"),
        ({"a": " "}, "a|b"),
        ({"a": None, "b": ""}, "a|b"),
        ({"b": "1"}, "c"),
        ({"a": "1", "c": 0}, "c"),
        ({"a": "1", "c": "2"}, None),
        ({"a": "1", "b": "1", "c": ["x"]}, None),
    ],
)
def test_the_first_slot_that_is_not_bound(given_slots: dict[str, object], lacking: str | None) -> None:
    assert missing(("a|b", "c"), given_slots) == lacking
