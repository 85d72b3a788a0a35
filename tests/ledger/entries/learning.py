"""Entries about what was learned: trust rules, guidance and runbooks, as the core writes them."""

from collections.abc import Sequence
from datetime import datetime

from ledger.codec import instant
from ledger.kinds import Draft, Json, Kind
from tests.gate.makers import HERE
from tests.ledger.story import LATER


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
