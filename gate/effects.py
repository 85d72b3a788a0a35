"""Effect profiles: what a tool does, by its name, before what it was asked to do is resolved (K6 to K10).

Every tool of ours and every name that others commonly give such tools is listed; the list is fixed here and
nothing that is configured can drop from it or weaken it (K9). A name that is not listed is read by its whole
words and at best reads: what changes things and is not listed is denied by `gate.resolve.engine`. This module
judges names only, never arguments.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from gate.domain import Risk, strictest
from gate.resolve.decision import Act


class Effect(StrEnum):
    """What kind of thing a tool changes."""

    NONE = "none"
    READ = "read"
    WRITE_MEMORY = "write_memory"
    WRITE_FS = "write_fs"
    EXEC = "exec"
    SCHEDULE = "schedule"
    OUTBOUND = "outbound"
    CONFIG = "config"
    DELEGATE = "delegate"
    IDENTITY = "identity"


class SecurityTier(StrEnum):
    """How much harm the tool could do, whatever it was asked for."""

    SAFE = "safe"
    WRITE = "write"
    DANGER = "danger"
    UNSAFE = "unsafe"  # nobody here knows it


class SemanticTier(StrEnum):
    """How much depends on doing what was meant: from nothing to what cannot be put right."""

    NONE = "none"
    LOW = "low"
    HIGH = "high"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        """0 for none up to 3 for critical."""
        return _TIER_RANK[self]


_TIER_RANK = {tier: rank for rank, tier in enumerate(SemanticTier)}

#: The tiers in the words of the gate; the strictest of both counts (C21).
SECURITY_RISK: Mapping[SecurityTier, Risk] = MappingProxyType(
    {
        SecurityTier.SAFE: Risk.READ_ONLY,
        SecurityTier.WRITE: Risk.REVERSIBLE_LOW,
        SecurityTier.DANGER: Risk.CONFIG_MUTATION,
        SecurityTier.UNSAFE: Risk.DESTRUCTIVE,
    }
)
SEMANTIC_RISK: Mapping[SemanticTier, Risk] = MappingProxyType(
    {
        SemanticTier.NONE: Risk.READ_ONLY,
        SemanticTier.LOW: Risk.REVERSIBLE_LOW,
        SemanticTier.HIGH: Risk.CONFIG_MUTATION,
        SemanticTier.CRITICAL: Risk.DESTRUCTIVE,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolEffectProfile:
    """What is known of a tool.

    Attributes:
        act: what it does in the gate's words; None where nothing is resolved for it.
        required_slots: what has to be bound before it is done; "event_at|lead" is one of the two.
        registered: listed in PROFILES; False where its name was all there was to go by.
    """

    name: str
    effect: Effect
    security_tier: SecurityTier
    semantic_tier: SemanticTier
    act: Act | None = None
    required_slots: tuple[str, ...] = ()
    registered: bool = True

    @property
    def read_only(self) -> bool:
        """Whether it changes nothing."""
        return self.effect is Effect.READ

    @property
    def risk(self) -> Risk:
        """The strictest of its tiers."""
        return strictest(SECURITY_RISK[self.security_tier], SEMANTIC_RISK[self.semantic_tier])


@dataclass(frozen=True, slots=True, kw_only=True)
class Hints:
    """What the maker of an external tool says about it; None where it says nothing."""

    read_only: bool | None = None
    destructive: bool | None = None


def risk_of_hints(hints: Hints | None) -> Risk:
    """Return what `hints` amount to; what is not said counts as destructive (M20, C21)."""
    if hints is None or hints.destructive:
        return Risk.DESTRUCTIVE
    if hints.read_only:
        return Risk.READ_ONLY
    return Risk.DESTRUCTIVE if hints.destructive is None else Risk.CONFIG_MUTATION


def _profiles(
    names: str,
    effect: Effect,
    semantic: SemanticTier,
    act: Act | None,
    *slots: str,
    security: SecurityTier = SecurityTier.DANGER,
) -> dict[str, ToolEffectProfile]:
    return {
        name: ToolEffectProfile(
            name=name,
            effect=effect,
            security_tier=security,
            semantic_tier=semantic,
            act=act,
            required_slots=slots,
        )
        for name in names.split()
    }


_HIGH, _CRITICAL, _WRITE = SemanticTier.HIGH, SemanticTier.CRITICAL, SecurityTier.WRITE
_READS = (
    "status history show jobs recall settings guidance_list trust_list targets runbooks memory_search "
    "file_read"
)

#: Every tool that is known, by name. Ours come first in each line, then what others call the same thing (K7).
PROFILES: Mapping[str, ToolEffectProfile] = MappingProxyType(
    _profiles(_READS, Effect.READ, SemanticTier.NONE, None, security=SecurityTier.SAFE)
    | _profiles("run", Effect.EXEC, _CRITICAL, Act.EXEC, "command")
    | _profiles("start_runbook", Effect.EXEC, _CRITICAL, Act.EXEC, "runbook")
    | _profiles("shell_exec code_exec python_exec", Effect.EXEC, _CRITICAL, Act.EXEC, "command")
    | _profiles("run_tests", Effect.EXEC, _HIGH, Act.EXEC)
    | _profiles("remind", Effect.SCHEDULE, _HIGH, Act.REMIND, "text", "fire_at")
    | _profiles(
        "schedule_task", Effect.SCHEDULE, _HIGH, Act.REMIND, "event_ref|event_at", "fire_at|lead", "prompt"
    )
    | _profiles("schedule", Effect.SCHEDULE, _HIGH, Act.SCHEDULE, "text", "fire_at|rrule")
    | _profiles("watch", Effect.SCHEDULE, _HIGH, Act.WATCH, "watched", "target", "rrule")
    | _profiles("cancel_job", Effect.SCHEDULE, _HIGH, Act.CANCEL_JOB, "job")
    | _profiles("cancel_scheduled", Effect.SCHEDULE, _HIGH, Act.CANCEL_JOB, "job_id")
    | _profiles("send", Effect.OUTBOUND, _CRITICAL, Act.SEND_OUTBOUND, "to", "text")
    | _profiles(
        "email_send email_delete send_file github_merge_pr", Effect.OUTBOUND, _CRITICAL, Act.SEND_OUTBOUND
    )
    | _profiles("post", Effect.OUTBOUND, _CRITICAL, Act.POST_ARTIFACT, "artifact", "text")
    | _profiles(
        "x_post x_schedule_post book_x_post", Effect.OUTBOUND, _CRITICAL, Act.POST_ARTIFACT, "proposal_id"
    )
    | _profiles(
        "remember memory_store",
        Effect.WRITE_MEMORY,
        _HIGH,
        Act.STORE_FACT,
        "subject",
        "predicate",
        "object",
        security=_WRITE,
    )
    | _profiles(
        "revise",
        Effect.WRITE_MEMORY,
        _HIGH,
        Act.REVISE_FACT,
        "subject",
        "predicate",
        "object",
        security=_WRITE,
    )
    | _profiles("forget memory_delete", Effect.WRITE_MEMORY, _HIGH, Act.FORGET_FACT, security=_WRITE)
    | _profiles("config_set", Effect.CONFIG, _CRITICAL, Act.CONFIG_CHANGE, "key")
    | _profiles(
        "config_save vault_delete request_path_access", Effect.CONFIG, _CRITICAL, Act.CONFIG_CHANGE, "key"
    )
    | _profiles("guidance", Effect.IDENTITY, _CRITICAL, Act.SET_GUIDANCE)
    | _profiles("trust", Effect.CONFIG, _CRITICAL, Act.SET_TRUST)
    | _profiles("promote_runbook", Effect.CONFIG, _CRITICAL, Act.PROMOTE_RUNBOOK, "id", "title", "steps")
    | _profiles("file_write", Effect.WRITE_FS, _HIGH, Act.MUTATE_FS)
    | _profiles("file_delete", Effect.WRITE_FS, _CRITICAL, Act.MUTATE_FS)
    | _profiles("spawn_agent dispatch_swarm install_agent_skill", Effect.DELEGATE, _HIGH, Act.DELEGATE)
)


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


#: Words of a name that say it changes something: first those of K8, then more of what operators do.
MUTATORS = _listed(
    "write save delete remove drop exec run spawn send schedule cancel config install deploy update create "
    "merge push pull commit set put post apply grant revoke reset clear wipe override "
    "add append approve assign attach change close copy detach disable edit enable erase execute forget "
    "insert invoke kill launch modify mount move overwrite patch pay promote provision publish purge reboot "
    "rebuild register rename replace restart restore resume revert rollback rotate scale shutdown start stop "
    "store submit suspend switch sync terminate toggle transfer trigger truncate undo uninstall unmount "
    "unregister upgrade upload"
)
#: Words of a name that say it only reads (K8).
READERS = _listed(
    "read list get search recall fetch view show query status info check has is count describe inspect "
    "exists find lookup"
)

_EXTERNAL = "mcp__"
#: Where one word ends and the next begins in deleteAll, HTTPGet.
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def profile_of(name: str, *, hints: Hints | None = None) -> ToolEffectProfile:
    """Return what is known of the tool `name`, or what its name amounts to.

    Args:
        name: as registered ("remind"), or as an external server offers it ("mcp__github__get_issue").
        hints: what an external server says of it. They only ever raise what the name says, and without them
            an external tool counts as destructive whatever its name.
    """
    found = PROFILES.get(name)
    if found is not None:
        return found
    if not name.casefold().startswith(_EXTERNAL):
        return _named(name, SecurityTier.SAFE if _reads(_words(name)) else SecurityTier.UNSAFE)
    # Only what comes behind the server counts: a server called "get" says nothing of its tools.
    words = _words(name[len(_EXTERNAL) :].partition("__")[2])
    if _reads(words):
        sure = risk_of_hints(hints) is Risk.READ_ONLY
        return _named(name, SecurityTier.SAFE if sure else SecurityTier.DANGER)
    return _named(name, SecurityTier.DANGER if words & MUTATORS else SecurityTier.UNSAFE)


def _named(name: str, tier: SecurityTier) -> ToolEffectProfile:
    safe = tier is SecurityTier.SAFE
    return ToolEffectProfile(
        name=name,
        effect=Effect.READ if safe else Effect.NONE,
        security_tier=tier,
        semantic_tier=SemanticTier.NONE if safe else SemanticTier.CRITICAL,
        registered=False,
    )


def _words(name: str) -> frozenset[str]:
    """Return the whole words of `name`; none where it holds letters that only look like ours."""
    if not name.isascii():
        return frozenset()
    whole = re.split(r"[^A-Za-z0-9]+", name)
    humps = [part for one in whole for part in _HUMP.split(one)]
    return frozenset(word.lower() for word in (*whole, *humps) if word)


def _reads(words: frozenset[str]) -> bool:
    return bool(words & READERS) and not words & MUTATORS


def missing(required: Iterable[str], given: Mapping[str, object]) -> str | None:
    """Return the first of `required` that `given` does not bind, None where all are; "a|b" is one of both."""
    for one in required:
        if not any(str(given.get(name) or "").strip() for name in one.split("|")):
            return one
    return None
