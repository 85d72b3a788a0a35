"""Domain values to JSON and back, for entry bodies and projections.

Strict both ways: a missing key raises, an unknown enum value raises. Commands and other exact words are not
here; they are payloads, joined again by `ledger.queries`.
"""

from collections.abc import Mapping
from datetime import datetime

from gate.domain import (
    Action,
    ActionId,
    Deed,
    Radius,
    Risk,
    Target,
    TargetId,
    TargetKind,
    TargetState,
    Touch,
    TouchKind,
    Verdict,
)
from ledger.chain import instant
from ledger.kinds import Json

Doc = dict[str, Json]

__all__ = [
    "Doc",
    "action_doc",
    "action_of",
    "instant",
    "items",
    "mapping",
    "optional",
    "parse_instant",
    "radius_doc",
    "radius_of",
    "target_doc",
    "target_of",
    "texts",
    "verdict_doc",
    "verdict_of",
]


def parse_instant(text: str) -> datetime:
    """Return the instant that `instant` wrote."""
    return datetime.fromisoformat(text)


def target_doc(target: Target) -> Doc:
    """Return `target` as JSON values."""
    return {
        "id": target.id,
        "kind": target.kind.value,
        "address": target.address,
        "port": target.port,
        "user": target.user,
        "via": target.via,
        "become": target.become,
        "shell": target.shell,
        "host_keys": list(target.host_keys),
        "wrapper": list(target.wrapper),
        "tags": list(target.tags),
        "depends_on": list(target.depends_on),
        "state": target.state.value,
        "never_auto_act": target.never_auto_act,
    }


def target_of(doc: Mapping[str, Json]) -> Target:
    """Return the target that `target_doc` wrote."""
    via = doc["via"]
    return Target(
        id=TargetId(_text(doc["id"])),
        kind=TargetKind(_text(doc["kind"])),
        address=_text(doc["address"]),
        port=_whole(doc["port"]),
        user=_text(doc["user"]),
        via=None if via is None else TargetId(_text(via)),
        become=_text(doc["become"]),
        shell=_text(doc["shell"]),
        host_keys=texts(doc["host_keys"]),
        wrapper=texts(doc["wrapper"]),
        tags=texts(doc["tags"]),
        depends_on=texts(doc["depends_on"]),
        state=TargetState(_text(doc["state"])),
        never_auto_act=bool(doc["never_auto_act"]),
    )


def action_doc(action: Action) -> Doc:
    """Return `action` as JSON values, without its command, purpose and verify command (payloads)."""
    return {
        "id": action.id,
        "index": action.index,
        "act": action.act,
        "target": target_doc(action.target),
        "workdir": action.workdir,
        "env": [list(pair) for pair in action.env],
        "timeout_s": action.timeout_s,
        "runbook": action.runbook,
        "declared_risk": action.declared_risk,
    }


def action_of(doc: Mapping[str, Json], *, command: str, purpose: str, verify: str | None) -> Action:
    """Return the action that `action_doc` wrote, joined with its words."""
    runbook, declared = doc["runbook"], doc["declared_risk"]
    return Action(
        id=ActionId(_text(doc["id"])),
        index=_whole(doc["index"]),
        act=_text(doc["act"]),
        target=target_of(mapping(doc["target"])),
        command=command,
        purpose=purpose,
        workdir=_text(doc["workdir"]),
        env=tuple((name, value) for name, value in map(texts, items(doc["env"]))),
        timeout_s=_whole(doc["timeout_s"]),
        verify=verify,
        runbook=None if runbook is None else _text(runbook),
        declared_risk=None if declared is None else _text(declared),
    )


def verdict_doc(verdict: Verdict) -> Doc:
    """Return `verdict` as JSON values, without its parts."""
    return {
        "risk": verdict.risk.value,
        "auto_run": verdict.auto_run,
        "never": verdict.never,
        "reasons": list(verdict.reasons),
        "touches": [[touch.kind.value, touch.name] for touch in verdict.touches],
        "deed": None if verdict.deed is None else [verdict.deed.verb, verdict.deed.object],
        "reads_secrets": verdict.reads_secrets,
        "undo": verdict.undo,
        "dry_run": verdict.dry_run,
    }


def verdict_of(doc: Mapping[str, Json]) -> Verdict:
    """Return the verdict that `verdict_doc` wrote."""
    deed = None if doc["deed"] is None else texts(doc["deed"])
    return Verdict(
        risk=Risk(_text(doc["risk"])),
        auto_run=bool(doc["auto_run"]),
        never=optional(doc["never"]),
        reasons=texts(doc["reasons"]),
        touches=tuple(
            Touch(kind=TouchKind(kind), name=name) for kind, name in map(texts, items(doc["touches"]))
        ),
        deed=None if deed is None else Deed(verb=deed[0], object=deed[1]),
        reads_secrets=bool(doc["reads_secrets"]),
        undo=optional(doc["undo"]),
        dry_run=optional(doc["dry_run"]),
    )


def radius_doc(radius: Radius) -> Doc:
    """Return `radius` as JSON values."""
    return {
        "known": radius.known,
        "origin": list(radius.origin),
        "services": list(radius.services),
        "targets": list(radius.targets),
    }


def radius_of(doc: Mapping[str, Json]) -> Radius:
    """Return the radius that `radius_doc` wrote."""
    return Radius(
        known=bool(doc["known"]),
        origin=texts(doc["origin"]),
        services=texts(doc["services"]),
        targets=tuple(TargetId(name) for name in texts(doc["targets"])),
    )


def mapping(value: Json) -> Doc:
    """Return `value`, which must be an object."""
    if not isinstance(value, dict):
        raise TypeError(f"expected an object, got {value!r}")
    return value


def items(value: Json) -> list[Json]:
    """Return `value`, which must be an array."""
    if not isinstance(value, list):
        raise TypeError(f"expected an array, got {value!r}")
    return value


def texts(value: Json) -> tuple[str, ...]:
    """Return `value`, which must be an array of strings."""
    return tuple(map(_text, items(value)))


def optional(value: Json) -> str | None:
    """Return `value`, which must be a string or null."""
    return None if value is None else _text(value)


def _text(value: Json) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected a string, got {value!r}")
    return value


def _whole(value: Json) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"expected a whole number, got {value!r}")
    return value
