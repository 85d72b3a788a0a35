"""Digests: what was shown is what runs (X1, D5).

Owns the bytes that a digest covers. The executor recomputes `action_digest` from what it is about to run and
compares; `list_digest` pins the ordered list that a card showed. Neither covers the policy, which is judged
again at start instead.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict

from gate.domain import Action, Digest, Target
from gate.fanout import Brake

#: Bumped whenever the covered fields or their form change, so that an old digest never matches a new one.
FORMAT = "sayso-action/1"


def identity(target: Target) -> dict[str, object]:
    """Return what makes `target` the same target: how it is reached and as whom, as JSON values."""
    return {
        "id": target.id,
        "kind": target.kind.value,
        "address": target.address,
        "port": target.port,
        "user": target.user,
        "via": target.via or "",
        "become": target.become,
        "host_keys": list(target.host_keys),
        "wrapper": list(target.wrapper),
    }


def action_digest(action: Action) -> Digest:
    """Return the SHA-256 over everything that decides what `action` does, in canonical JSON."""
    covered = {
        "format": FORMAT,
        "act": action.act,
        "targets": [identity(action.target)],
        "command": action.command,
        "shell": action.target.shell,
        "workdir": action.workdir,
        "env": [list(pair) for pair in action.env],
        "timeout_s": action.timeout_s,
        "verify": action.verify,
        "runbook": action.runbook,
    }
    return _sha256(covered)


def list_digest(digests: Sequence[Digest], brake: Brake | None = None) -> Digest:
    """Return the digest of an ordered list of actions, by their digests; of a fan-out with its brake."""
    paced = {} if brake is None else {"brake": asdict(brake)}
    return _sha256({"format": FORMAT, "list": list(digests), **paced})


def short(digest: str) -> str:
    """Return the 12 hex digits that people see."""
    return digest[:12]


_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode


def _sha256(value: object) -> Digest:
    # surrogatepass: a command may hold bytes that were no UTF-8 when they arrived; they must still count.
    return Digest(hashlib.sha256(_canonical(value).encode("utf-8", "surrogatepass")).hexdigest())
