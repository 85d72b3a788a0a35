"""What planning hands back: drafts of actions, a runbook, a question, or the nearest things it can do.

Values only. A draft is what a person asked for, not yet an action: its targets are words, unresolved, and
nothing here says whether it may run. A question is never consent: each option is the full text of a request
that is handled as if it had been typed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from bot.planning.library import Document
from gate.fanout import Pace


class PlanSource(StrEnum):
    """Where the drafts come from."""

    LITERAL = "literal"  # the person typed the command
    DIAGNOSTIC = "diagnostic"  # a document of the library, found by its title or alias
    RUNBOOK = "runbook"  # a step of a run
    SCHEDULE = "schedule"  # a job whose time had come
    AGENT = "agent"  # a delegate asked from outside
    MODEL = "model"  # the planner that a language model drives, for the person who spoke
    ALERT = "alert"  # a signal of a machine


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionDraft:
    """One command for one or more targets, as asked for.

    Attributes:
        target_words: slugs and @tags as typed, in order, never empty; the inventory resolves or refuses them.
        command: exactly the bytes that were typed, or a library command with its slots quoted.
        purpose: the requester's own words, the whole message unless a purpose was given.
        timeout_s: None where the request says nothing.
        declared_risk: risk word of the library document (R15); "" for literal commands.
        runbook: "<revision>#<step>" for a library command, else None.
        pace: what was said about how it is to go on many targets; on few of them nothing follows from it.
    """

    target_words: tuple[str, ...]
    command: str
    purpose: str
    timeout_s: int | None = None
    verify: str | None = None
    workdir: str = ""
    declared_risk: str = ""
    runbook: str | None = None
    pace: Pace = field(default_factory=Pace)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Ordered drafts of one proposal. `confidence` is 0 to 1; only what was read without doubt is 1 (D14)."""

    drafts: tuple[ActionDraft, ...]
    source: PlanSource
    confidence: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunbookPlan:
    """A runbook to be run, as asked for. Nothing of it is bound, and nothing asked, before it is complete.

    Attributes:
        inputs: the values that were said, of declared inputs only; defaults are not among them.
        missing: required inputs without a value and without a default, in the document's order.
        wrong: inputs that were said with a value that does not fit, which is left out of `inputs`.
        target_words: as in a draft, () where none was named; the run is on one target.
    """

    document: Document
    inputs: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    target_words: tuple[str, ...] = ()
    confidence: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One choice of a question; `request` is a full request text, handled as if typed."""

    label: str
    request: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is unclear, and the readings to choose from (possibly none, when only rewording helps).

    `partly`: only parts of the request are read, so that whoever judges may read all of it.
    """

    text: str
    options: tuple[Option, ...] = ()
    partly: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Unplaced:
    """A request that nothing here does; `nearest` are up to three requests that would work, as typed."""

    nearest: tuple[str, ...] = ()


Outcome = Plan | RunbookPlan | Question | Unplaced | None
