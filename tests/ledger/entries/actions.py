"""Entries about actions: from the queue to their end, as the core writes them."""

from gate.domain import PersonId, RouteKind
from ledger.kinds import Draft, Json, Kind
from tests.ledger.entries.proposals import Planned, about


def queued(one: Planned, *, grant: str | None = "a") -> Draft:
    """An action may start; `grant` is the short name of its approval."""
    body: dict[str, Json] = {"action": one.action.id, "grant": _grant(one, grant), "because": ""}
    return about(one, Kind.ACTION_QUEUED, body | ({"rule": one.rule} if one.rule else {}))


def unqueued(one: Planned, *, route: RouteKind = RouteKind.APPROVAL) -> Draft:
    """An action waits for a new yes."""
    return about(one, Kind.ACTION_UNQUEUED, {"action": one.action.id, "route": route.value, "why": "so"})


def started(one: Planned, *, grant: str | None = "a", boot_id: str | None = None) -> Draft:
    """An action started."""
    body: dict[str, Json] = {"action": one.action.id, "grant": _grant(one, grant), "boot_id": boot_id}
    return about(one, Kind.ACTION_STARTED, body)


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
    return about(one, kind, body, words={} if output is None else {"output": output})


def verified(one: Planned, *, exit_code: int | None = 0) -> Draft:
    """The verify command of an action ended."""
    return about(
        one, Kind.ACTION_VERIFIED, {"action": one.action.id, "exit_code": exit_code, "ok": exit_code == 0}
    )


def settled(one: Planned, *, ran: bool) -> Draft:
    """A person found out how a lost action ended."""
    body: dict[str, Json] = {"action": one.action.id, "by": PersonId("ana"), "ran": ran}
    return about(one, Kind.ACTION_SETTLED, body, words={"why": b"the log says so"})


def _grant(one: Planned, name: str | None) -> str | None:
    return None if name is None else f"{one.action.id}/{name}"
