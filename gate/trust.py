"""Whose word outweighs whose about a remembered fact (K28, D22).

A fact is displaced only by a source that is trusted as much or more. There is no switch for it. The ledger
holds every write to this rule by itself, whatever the act's resolver decided before.
"""

from collections.abc import Mapping
from enum import StrEnum


class Source(StrEnum):
    """Where a fact comes from. Stored, so a value never changes meaning."""

    USER_EXPLICIT = "user_explicit"  # a person said it, and that it is to be remembered
    SYSTEM_TOOL = "system_tool"  # a tool of sayso read it
    LLM_INFERRED = "llm_inferred"  # a model made it out of something


#: How much each is trusted, between 0 and 1.
TRUST: Mapping[Source, float] = {
    Source.USER_EXPLICIT: 1.0,
    Source.SYSTEM_TOOL: 0.85,
    Source.LLM_INFERRED: 0.60,
}

#: Why a fact was not displaced, and the audit's word for it.
LOWER_TRUST = "lower_trust_source"
BLOCKED = "blocked_supersede"


def may_supersede(old: Source, new: Source) -> bool:
    """Whether what `new` says may take the place of, or remove, what `old` said."""
    return TRUST[new] >= TRUST[old]
