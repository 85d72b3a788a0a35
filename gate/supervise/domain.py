"""The words of runbooks: what a document says, as values (R14, R15, R16).

Frozen values only. A loader makes them, `document` says what is wrong with them, `envelope` derives from
them what may run. Text may hold `{{ inputs.name }}`; what that becomes is `binding`'s business. What a run
does with a step is not told here.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NewType

from gate.domain import Digest, Risk

RunbookId = NewType("RunbookId", str)
StepId = NewType("StepId", str)
RunId = NewType("RunId", str)

#: A value of an input. None is no value.
Value = str | int | bool | None
#: A value in JSON that holds no others.
Scalar = str | int | float | bool | None

#: The one tool that changes anything (N5); what a step uses unless it says otherwise.
RUN_TOOL = "run"
#: What `rollback` says where a step cannot be undone.
NO_ROLLBACK = "none"
#: Terminals are written `end:<name>`, everything else that a step leads to is a step.
END = "end:"


class StepKind(StrEnum):
    """What a step is."""

    ACTION = "action"  # one command, or a call of another runbook
    CHECK = "check"  # one command that only looks, and what is expected of it
    DECISION = "decision"  # the first branch that holds
    APPROVAL = "approval"  # a person says go on
    WAIT = "wait"  # some time
    NOTE = "note"  # words for the people who follow the run


#: Kinds that run a command, and so become an action.
RUNNING_KINDS = frozenset({StepKind.ACTION, StepKind.CHECK})


class StepRisk(StrEnum):
    """Risk words of the format, in order (R15). The gate may find more, never less, to ask for."""

    READ_ONLY = "read-only"
    REVERSIBLE = "reversible"
    MUTATING = "mutating"
    DESTRUCTIVE = "destructive"
    IRREVERSIBLE = "irreversible"

    @property
    def rank(self) -> int:
        """0 for read-only up to 4 for irreversible."""
        return _STEP_RISK_RANK[self]

    def at_least(self, other: "StepRisk") -> bool:
        """Whether this is as strict as `other` or stricter."""
        return self.rank >= other.rank


_STEP_RISK_RANK = {risk: rank for rank, risk in enumerate(StepRisk)}

#: Risk words of the format -> declared risk of an action (R15, C21).
DECLARED: Mapping[StepRisk, Risk] = {
    StepRisk.READ_ONLY: Risk.READ_ONLY,
    StepRisk.REVERSIBLE: Risk.REVERSIBLE_LOW,
    StepRisk.MUTATING: Risk.CONFIG_MUTATION,
    StepRisk.DESTRUCTIVE: Risk.DESTRUCTIVE,
    StepRisk.IRREVERSIBLE: Risk.DESTRUCTIVE,
}


class Terminal(StrEnum):
    """Where a run stops by its own document, without the `end:` it is written with."""

    SUCCESS = "success"
    FAILURE = "failure"
    ESCALATE = "escalate"
    ROLLBACK = "rollback"


class Outcome(StrEnum):
    """How a run ended (R16). `aborted` is a deliberate stop: by a person, a gate or a rollback."""

    COMPLETED = "completed"
    FAILED = "failed"
    ESCALATED = "escalated"
    ABORTED = "aborted"


#: What reaching a terminal means.
OUTCOMES: Mapping[Terminal, Outcome] = {
    Terminal.SUCCESS: Outcome.COMPLETED,
    Terminal.FAILURE: Outcome.FAILED,
    Terminal.ESCALATE: Outcome.ESCALATED,
    Terminal.ROLLBACK: Outcome.ABORTED,
}


# ---------------------------------------------------------------- what is expected


class Stream(StrEnum):
    """What a command wrote to."""

    STDOUT = "stdout"
    STDERR = "stderr"


class TextTest(StrEnum):
    """How text is compared. Blanks and line ends around the text do not count."""

    CONTAINS = "contains"
    EQUALS = "equals"
    REGEX = "regex"  # found anywhere; ^ and $ stand for the ends of a line


class Comparison(StrEnum):
    """How one value is compared with another. Less and more need numbers on both sides."""

    EQUALS = "equals"
    NOT_EQUALS = "not_equals"
    LESS = "less"
    AT_MOST = "at_most"
    AT_LEAST = "at_least"
    MORE = "more"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExitCode:
    """The command ended with one of these codes. Without one of these, 0 is expected."""

    any_of: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What the command wrote passes a test. `text` may hold placeholders."""

    stream: Stream
    test: TextTest
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonValue:
    """A value in what the command wrote to stdout, which is one JSON document.

    Attributes:
        path: names and indices: `.items[0].status`, `.a["b c"]`.
        value: what it is compared with; a string may hold placeholders.
    """

    path: str
    compare: Comparison
    value: Scalar


@dataclass(frozen=True, slots=True, kw_only=True)
class FileExists:
    """A file is there on the step's target, as looked at after the command. `path` may hold placeholders."""

    path: str


Check = ExitCode | Output | JsonValue | FileExists


# ---------------------------------------------------------------- inputs


class InputType(StrEnum):
    """What an input of a document holds."""

    STRING = "string"  # words without shell or control characters, never starting with a dash
    INTEGER = "integer"  # 0 to 999999, or within the input's own bounds
    BOOLEAN = "boolean"  # true or false
    SERVICE = "service"  # a unit name
    NAME = "name"  # a container, package, process or user
    PATH = "path"  # absolute
    HOST = "host"  # a DNS name or an IP address
    URL = "url"  # http or https, without a password
    DURATION = "duration"  # 30s, 5m, 2h, 1d
    TEXT = "text"  # any words, lines too, without control characters, never starting with a dash

    def fits(self, value: str) -> bool:
        """Whether `value` is of this type. Only text admits what a shell acts on, and stands quoted alone."""
        if self is InputType.TEXT:
            return _is_text(value)
        return _PATTERNS[self].fullmatch(value) is not None


_PATTERNS: Mapping[InputType, re.Pattern[str]] = {
    InputType.STRING: re.compile(r"[A-Za-z0-9][A-Za-z0-9 _.,:@/+=-]{0,199}", re.ASCII),
    InputType.INTEGER: re.compile(r"0|[1-9][0-9]{0,5}", re.ASCII),
    InputType.BOOLEAN: re.compile(r"true|false"),
    InputType.SERVICE: re.compile(r"[A-Za-z0-9][A-Za-z0-9:_.@-]{0,127}", re.ASCII),
    InputType.NAME: re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]{0,127}", re.ASCII),
    InputType.PATH: re.compile(r"/[A-Za-z0-9_@%+=:,./-]{0,1023}", re.ASCII),
    InputType.HOST: re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.:-]{0,251}[A-Za-z0-9])?", re.ASCII),
    InputType.URL: re.compile(
        r"https?://[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?(?::[0-9]{1,5})?"
        r"(?:/[A-Za-z0-9_@%+=:,./?&~-]{0,1023})?",
        re.ASCII,
    ),
    InputType.DURATION: re.compile(r"[1-9][0-9]{0,5}[smhd]", re.ASCII),
}
_BOUNDED = re.compile(r"0|[1-9][0-9]{0,14}", re.ASCII)
_MAX_INTEGER = 999_999
_MAX_TEXT = 2000


def _is_text(value: str) -> bool:
    plain = value.replace("\n", " ").replace("\t", " ")
    return 0 < len(value) <= _MAX_TEXT and plain.isprintable() and not plain.lstrip().startswith("-")


@dataclass(frozen=True, slots=True, kw_only=True)
class InputSpec:
    """One declared input.

    Attributes:
        default, enum: already strings; None is no default.
        minimum, maximum: bounds of an integer, both included; None for those of the type.
        secret: masked wherever people look, and allowed in commands only.
        internal: belongs to a runbook that this one calls; nobody is asked for it, and nobody gives it.
    """

    name: str
    type: InputType = InputType.STRING
    required: bool = True
    default: str | None = None
    enum: tuple[str, ...] = ()
    minimum: int | None = None
    maximum: int | None = None
    secret: bool = False
    internal: bool = False

    def accepts(self, value: str) -> bool:
        """Whether `value` may fill this input."""
        if self.enum and value not in self.enum:
            return False
        if self.type is not InputType.INTEGER or (self.minimum is None and self.maximum is None):
            return self.type.fits(value)
        least, most = self.bounds
        return _BOUNDED.fullmatch(value) is not None and least <= int(value) <= most

    @property
    def bounds(self) -> tuple[int, int]:
        """The least and the most that an integer may be here."""
        least = 0 if self.minimum is None else self.minimum
        return least, _MAX_INTEGER if self.maximum is None else self.maximum


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture:
    """A step's trimmed stdout becomes the value of a declared input, if it is of this type.

    For a call, it is the called runbook's result that does.
    """

    input: str
    type: InputType


# ---------------------------------------------------------------- steps


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """When the step fails, or a wait is over: go to `target` again, at most `max` times a run."""

    max: int
    target: StepId


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """An input compared with a value; both as numbers where both are."""

    input: str
    compare: Comparison
    value: str | int


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """One way out of a decision; `when` is None for the last one, which is taken when no other holds."""

    when: Condition | None
    next: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """Another runbook as a sub-step.

    Attributes:
        inputs: its inputs by name, each a value or exactly one placeholder of the caller.
    """

    runbook: RunbookId
    inputs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepSpec:
    """One step, as written. A field that its kind has no use for holds its default.

    Attributes:
        target: a target's name, or text with placeholders; "" for the one the run was asked for.
        command: bash with placeholders; None for kinds that run nothing, and for a call.
        preview: a command that shows what `command` would do; None where there is none.
        requires_approval: None where it is not said; False never loosens anything (R4).
        next, on_fail: a step or `end:<name>`; "" for the step that follows (or `end:success`), and for
            `end:failure`.
        rollback: the step that undoes this one, "none" where nothing can, "" where it is not said.
        timeout_s: seconds, 1 to 86 400; None for the default of an action.
        duration_s: how long a wait lasts, in seconds.
    """

    id: StepId
    kind: StepKind = StepKind.ACTION
    title: str
    risk: StepRisk = StepRisk.READ_ONLY
    target: str = ""
    tool: str = RUN_TOOL
    command: str | None = None
    call: Call | None = None
    capture: Capture | None = None
    preview: str | None = None
    requires_approval: bool | None = None
    expect: tuple[Check, ...] = ()
    on_fail: str = ""
    retry: Retry | None = None
    rollback: str = ""
    timeout_s: int | None = None
    duration_s: int | None = None
    next: str = ""
    branches: tuple[Branch, ...] = ()


# ---------------------------------------------------------------- runbooks


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Budgets of a run (R20), each checked before an attempt.

    Attributes:
        entries: how often one step may be entered.
        steps: how many steps may be entered in all; None for ten times the steps of the runbook.
        asks: how often one entry may ask people, since a grant may lapse unused.
        deviations: the so-manieth ends the run (R19).
        wall_clock_s: seconds from the start of the run to the last step it may enter.
        approval_s: seconds a question stays open, at most 3600 (R6).
    """

    entries: int = 100
    steps: int | None = None
    asks: int = 5
    deviations: int = 3
    wall_clock_s: int = 86_400
    approval_s: int = 900


@dataclass(frozen=True, slots=True, kw_only=True)
class RunbookSpec:
    """A procedure as data.

    Attributes:
        version: of the format.
        digest: SHA-256 of the document in canonical JSON, 64 hex digits; a call's is part of its caller's.
        capabilities: the tools that its steps may use, all of them together (R3).
        result: the input whose captured value a caller gets; "" for a runbook that gives none.
    """

    id: RunbookId
    title: str
    version: int = 1
    digest: Digest
    capabilities: tuple[str, ...] = (RUN_TOOL,)
    inputs: Mapping[str, InputSpec] = field(default_factory=dict)
    steps: tuple[StepSpec, ...]
    limits: Limits = field(default_factory=Limits)
    result: str = ""

    def step(self, step: str) -> StepSpec | None:
        """Return the step of this id, None where there is none."""
        return next((one for one in self.steps if one.id == step), None)
