"""Origin: who or what is behind a proposal, said once for cards, digest, history and metrics (D20).

Reads what the record says of a proposal and decides nothing. The rule it owns: what a machine asked for never
reads as if a person had, and nobody's name can be mistaken for an operator's: those hold no ":".
"""

from enum import StrEnum

from gate.domain import PersonId

#: What stands before the name of a requester that is no person.
AGENT_PREFIX, ALERT_PREFIX = "agent:", "alert:"
_MACHINES = (AGENT_PREFIX, ALERT_PREFIX)


class Origin(StrEnum):
    """Where a proposal comes from. Told as a label, so a value never changes meaning."""

    PERSON = "person"
    AGENT = "agent"
    MODEL = "model"
    ALERT = "alert"
    SCHEDULE = "schedule"
    RUNBOOK = "runbook"


#: By the source that is recorded; whatever else stands there was asked for by whoever is the requester.
_OF_SOURCE = {one.value: one for one in Origin} | {"watch": Origin.SCHEDULE}  # a look when its time came


def origin_of(requester: str, source: str) -> Origin:
    """Return the origin of a proposal, by what its entry says."""
    if requester.startswith(AGENT_PREFIX):
        return Origin.AGENT
    if requester.startswith(ALERT_PREFIX):
        return Origin.ALERT
    return _OF_SOURCE.get(source, Origin.PERSON)


def is_machine(requester: str) -> bool:
    """Whether the requester is no person, so that nobody's next words are its own (D2)."""
    return requester.startswith(_MACHINES)


def name_of(requester: str) -> str:
    """Return the bare name of a requester: "claude" of "agent:claude"."""
    return requester.partition(":")[2] if is_machine(requester) else requester


def asker(requester: str, on_behalf: PersonId | None = None) -> str:
    """Return who asked, in words: "ana", "agent claude (for ana)", "alert disk"."""
    if not is_machine(requester):
        return requester
    kind, _, name = requester.partition(":")
    return f"{kind} {name}{f' (for {on_behalf})' if on_behalf else ''}"
