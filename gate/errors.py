"""Errors of the gate: our own mistakes, never a decision.

A refusal is a value with a reason (`gate.domain.Reason`); what stands here is raised only when the gate is
handed something that its callers must not hand it.

    GateError
    ├── RuleError        a rule table or lexicon is malformed
    └── TransitionError  an event was applied to a state that does not take it
"""


class GateError(Exception):
    """The gate was handed something it cannot judge; report this as a bug."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or (self.__doc__ or "").splitlines()[0])


class RuleError(GateError):
    """A rule file is malformed; mend the file and line that the message names."""


class TransitionError(GateError):
    """A state was asked to take an event it has no transition for; report this as a bug."""
