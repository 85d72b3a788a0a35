"""What resolving an act can end in, as values.

Slots are text in, text out: what a card shows and a digest covers. A clarification's option is a patch of
slots and never consent (C11); the answer is merged and resolved again, as of the request's own time (K25).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from gate.domain import Reason

#: Name to value; instants as ISO 8601 with their offset, lists joined by a newline.
Slots = Mapping[str, str]


class Act(StrEnum):
    """A kind of effect. Stored, so a value never changes meaning."""

    EXEC = "exec"
    REMIND = "remind"
    SCHEDULE = "schedule"
    WATCH = "watch"
    CANCEL_JOB = "cancel_job"
    SEND_OUTBOUND = "send_outbound"
    POST_ARTIFACT = "post_artifact"
    CONFIG_CHANGE = "config_change"
    STORE_FACT = "store_fact"
    REVISE_FACT = "revise_fact"
    FORGET_FACT = "forget_fact"
    SET_GUIDANCE = "set_guidance"
    SET_TRUST = "set_trust"
    PROMOTE_RUNBOOK = "promote_runbook"
    MUTATE_FS = "mutate_fs"  # by a tool of others; this and the next are recorded, and not resolved (K17)
    DELEGATE = "delegate"


#: The id of the option that every clarification ends with; its patch is None.
CANCEL = "cancel"


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One answer to a question.

    Attributes:
        id: names it in the record, as `memory_anchor`.
        label: what its button says.
        patch: the slots that it fills; None cancels.
    """

    id: str
    label: str
    patch: Slots | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Allow:
    """Resolved: `slots` are what will be done, rewritten and bound.

    Attributes:
        because: why, for the record, as `anchor copilot_next_reset`.
    """

    slots: Slots
    because: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clarify:
    """A person has to say which.

    Attributes:
        question: one line, without the options.
        options: without the cancel that the card adds; empty where only words can answer.
        free: the slot that an answer in words fills; "" where only an option answers.
        slots: what is bound so far.
    """

    question: str
    slots: Slots
    options: tuple[Option, ...] = ()
    free: str = ""
    because: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirm:
    """Resolved, and a typed phrase is wanted first, from a second person where there is one (D19)."""

    slots: Slots
    question: str
    phrase: str
    because: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deny:
    """It is not done. `reason` says why and what can be done instead; `slots` are what was asked for."""

    reason: Reason
    slots: Slots = field(default_factory=dict)
    because: str = ""


Decision = Allow | Clarify | Confirm | Deny
