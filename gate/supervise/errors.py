"""Errors of the supervisor: a decision, or something that came of a step, that may not count.

They are raised where a decision is taken in (R9, R11), since whoever handed it over has to say so to a
person. What a step may do is never an error: that is a verdict.

    SupervisionError
    ├── SelfApprovalError     the agent, or one of its names, decided
    ├── UnknownDeciderError   nobody knows who decided
    ├── WrongRequestError     the decision was made about another request
    ├── StaleDecisionError    the decision came after its request expired
    ├── NoReasonError         a refusal without a reason
    └── StaleEvidenceError    what came of a step that the run is no longer in
"""

from gate.errors import GateError


class SupervisionError(GateError):
    """The run does not take this; nothing changed."""


class SelfApprovalError(SupervisionError):
    """Whoever proposes never decides; a person who is not the agent has to."""


class UnknownDeciderError(SupervisionError):
    """Nobody knows who decided; only people on the list of operators decide."""


class WrongRequestError(SupervisionError):
    """The decision was made about another request; answer the one that is open now."""


class StaleDecisionError(SupervisionError):
    """The request had expired, so this is a stale decision; ask again."""


class NoReasonError(SupervisionError):
    """A refusal needs a reason; give one, or say that it is owed."""


class StaleEvidenceError(SupervisionError):
    """This is about an entry into a step that the run has left; it changes nothing."""
