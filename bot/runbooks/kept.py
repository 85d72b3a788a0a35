"""What is kept in memory of runs that go on: where each one stands, and why one stands still.

Everything here can be read from the ledger again; a new process begins with nothing of it.
"""

from dataclasses import dataclass, field

from gate.supervise.domain import RunbookSpec, RunId
from gate.supervise.state import RunState


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A run as its entries up to `seq` tell it. `spec` is its runbook as it was when the run began."""

    seq: int
    spec: RunbookSpec
    state: RunState


@dataclass(slots=True)
class Kept:
    """What is known of open runs.

    Attributes:
        known: where those stand that were read before.
        held: why a run that could go on does not, in words.
    """

    known: dict[RunId, Known] = field(default_factory=dict)
    held: dict[RunId, str] = field(default_factory=dict)

    def forget(self, run: RunId) -> None:
        """Drop what is known of a run that is over."""
        self.known.pop(run, None)
        self.held.pop(run, None)
