"""The digest of a document, which covers those of all that it calls: a change of either is a change of both.

What is wrong with a call is `gate.supervise.calls`' business.
"""

import hashlib
from collections.abc import Mapping

from gate.supervise.domain import RunbookSpec

Specs = Mapping[str, RunbookSpec]


def digests(specs: Specs, canonical: Mapping[str, str]) -> dict[str, str]:
    """Return the SHA-256 of each document and everything that it calls, at any depth, 64 hex digits."""
    own = {name: _sha256(text) for name, text in canonical.items()}
    found = {}
    for name, spec in specs.items():
        below = sorted(_reached(spec, specs) - {name})
        found[name] = _sha256("\n".join([own[name], *(own[one] for one in below)])) if below else own[name]
    return found


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _reached(spec: RunbookSpec, specs: Specs) -> set[str]:
    """Return the ids of everything that `spec` calls, at any depth; its own where it calls itself."""
    found: set[str] = set()
    todo = [spec]
    while todo:
        for name in _called(todo.pop()):
            if name not in found and name in specs:
                found.add(name)
                todo.append(specs[name])
    return found


def _called(spec: RunbookSpec) -> list[str]:
    return [step.call.runbook for step in spec.steps if step.call is not None]
