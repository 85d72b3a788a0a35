"""A delegate: one agent, whom it works for, and how far it may go.

A value. Its ceiling is a scope token of the gate, made for each request, since a place may go on under
other ids meanwhile (D3).
"""

from dataclasses import dataclass
from datetime import UTC, datetime

from bot.origin import AGENT_PREFIX
from bot.ports import PlaceRef
from gate.domain import PersonId, PlaceId, Risk, TargetId
from gate.effects import SemanticTier
from gate.resolve.decision import Act
from gate.scope import NEVER_BY_DEFAULT, ScopeToken

#: When the permission of an agent ends that has no end of its own.
_NEVER = datetime.max.replace(tzinfo=UTC)
#: What any agent can do at all; everything else that changes something is for people.
_ACTS = frozenset({Act.EXEC})


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """How much an agent may ask for.

    Attributes:
        per_hour: calls that ask for something, in any 60 minutes; those that are denied count too.
        pending: proposals of its own that wait for a yes at a time.
    """

    per_hour: int = 60
    pending: int = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Delegate:
    """One agent.

    Attributes:
        name: as in `[agents.NAME]`.
        on_behalf: the operator it works for, whose request counts as theirs (C4); None for nobody.
        place: where its cards stand, unless a route says otherwise.
        max_risk, targets, denied, expires_at: its ceiling; no target is none.
        quiet: what it reads at once shows no card.
    """

    name: str
    place: PlaceRef
    on_behalf: PersonId | None = None
    max_risk: Risk = Risk.CONFIG_MUTATION
    targets: frozenset[TargetId] = frozenset()
    denied: frozenset[Act] = frozenset()
    expires_at: datetime | None = None
    quota: Quota = Quota()
    quiet: bool = False

    @property
    def id(self) -> PersonId:
        """Its name in the record, which can be no operator's."""
        return PersonId(f"{AGENT_PREFIX}{self.name}")

    def token(self, place: PlaceId) -> ScopeToken:
        """Return its ceiling for a request in `place`, which is where its own place leads to now."""
        return ScopeToken(
            parent=self.id,
            place=place,
            expires_at=self.expires_at or _NEVER,
            allowed=_ACTS,
            denied=NEVER_BY_DEFAULT | self.denied,
            max_risk=self.max_risk,
            max_tier=SemanticTier.CRITICAL,
            targets=self.targets,
        )
