"""What the report of an attestation claims, held against the ledger entries that lie beside it (R23).

Whoever holds an unsigned file can make its hashes anew; what the report says has to agree with its entries
all the same. Only what an entry says in the open is compared: the words behind hashes are not in the file.
Neither the hashes nor the signature are looked at here.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ledger.kinds import Entry

_OF_START = ("run", "runbook", "digest", "agent", "target", "undoes")


@dataclass(slots=True)
class _Facts:
    """What the entries say, by the number of each entry into a step."""

    steps: dict[int, str] = field(default_factory=dict)
    deciders: dict[int, str | None] = field(default_factory=dict)
    judged: dict[int, tuple[int, Mapping[str, Any]]] = field(default_factory=dict)
    deviations: int = 0
    ended: tuple[int, Mapping[str, Any]] | None = None

    def add(self, entry: Entry, body: Mapping[str, Any]) -> None:
        """Take in one entry of the run."""
        number = body.get("number")
        match entry.kind:
            case "run:entered" if isinstance(number, int):
                self.steps[number] = str(body.get("step"))
            case "run:granted":
                grant = _object(body.get("grant"))
                self._decide(grant.get("number"), grant.get("decided_by"))
            case "run:taken_back":
                self._decide(number, None)
            case "run:judged" if isinstance(number, int):
                self.judged[number] = (entry.seq, body)
            case "run:waited" if isinstance(number, int):
                self.judged[number] = (entry.seq, {"passed": True, "exit_code": None})
            case "run:deviated":
                self.deviations += 1
            case "run:ended":
                self.ended = (entry.seq, body)
                refusal = body.get("refusal")
                if refusal is not None and self.steps:
                    self._decide(max(self.steps), _object(refusal).get("decided_by"))

    def _decide(self, number: object, by: object) -> None:
        if isinstance(number, int):
            self.deciders[number] = None if by is None else str(by)


def problems(shown: Mapping[str, Any], entries: Sequence[Entry]) -> Iterator[str]:
    """Yield where the report says something else than the entries that it comes from."""
    facts = _Facts()
    for entry in entries:
        if not entry.kind.startswith("run:"):
            continue
        body = _read(entry.body)
        if body is None:
            yield f"Entry {entry.seq} ({entry.kind}) holds no facts."
            continue
        if entry.kind == "run:started":
            yield from _of_start(shown, entry, body)
        facts.add(entry, body)
    yield from _of_end(shown, facts)
    yield from _of_steps(shown, facts)


def _read(text: str) -> Mapping[str, Any] | None:
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return body if isinstance(body, dict) else None


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _of_start(shown: Mapping[str, Any], entry: Entry, body: Mapping[str, Any]) -> Iterator[str]:
    for key in _OF_START:
        if shown.get(key) != body.get(key):
            yield f"The report says {key} {shown.get(key)}, and entry {entry.seq} says {body.get(key)}."


def _of_end(shown: Mapping[str, Any], facts: _Facts) -> Iterator[str]:
    outcome = shown.get("outcome")
    if facts.ended is None:
        if outcome is not None:
            yield f"The report says {outcome}, and no entry that the run ended."
        return
    seq, body = facts.ended
    if body.get("outcome") != outcome:
        yield f"The report says {outcome}, and entry {seq} {body.get('outcome')}."


def _of_steps(shown: Mapping[str, Any], facts: _Facts) -> Iterator[str]:
    deviations = shown.get("deviations")
    count = len(deviations) if isinstance(deviations, list) else 0
    if count != facts.deviations:
        yield f"The report tells {count} deviations, and the entries {facts.deviations}."
    listed = shown.get("entries")
    rows = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    told = {one["number"]: one for one in rows if type(one.get("number")) is int}
    if len(told) != (len(listed) if isinstance(listed, list) else -1):
        yield "The report tells something that is no step, or one step twice."
    for number in sorted({*told, *facts.steps}):
        step, named = told.get(number, {}), facts.steps.get(number, "nothing")
        if step.get("step") != named:
            yield f"The report says that step {number} is {step.get('step')}, and the entries {named}."
            continue
        by, decided = facts.deciders.get(number), step.get("decided_by")
        if decided != by:
            yield (
                f"The report says that {decided or 'nobody'} decided step {number},"
                f" and the entries {by or 'nobody'}."
            )
        yield from _of_result(step, number, facts.judged.get(number))


def _of_result(
    step: Mapping[str, Any], number: int, judged: tuple[int, Mapping[str, Any]] | None
) -> Iterator[str]:
    if judged is None:
        if step.get("passed") is not None or step.get("exit_code") is not None:
            came = "passed" if step.get("passed") else "failed"
            yield f"The report says that step {number} {came}, and no entry what came of it."
        return
    seq, body = judged
    for key in ("passed", "exit_code"):
        if step.get(key) != body.get(key):
            yield (
                f"The report says {key} {step.get(key)} of step {number},"
                f" and entry {seq} says {body.get(key)}."
            )
