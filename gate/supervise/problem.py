"""One thing that is wrong with a runbook, as a value."""

from dataclasses import dataclass

from gate.supervise.domain import StepId


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What is wrong, and how to mend it. A problem has no line: the loader adds that.

    Attributes:
        step: the step that it is in; "" where it is about the runbook.
        field: dotted, within the step or the runbook: "retry.max", "inputs.vmid.default", "branches.0.when".
        what: goes after the name of the field: "is missing."
        mend: what to do, a sentence.
    """

    step: StepId = StepId("")  # noqa: RUF009 - a NewType makes nothing
    field: str
    what: str
    mend: str
