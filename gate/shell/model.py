"""What a rule table is made of: frozen values, read from documents by gate.shell.rules.

A program is a Verb; its sub-verbs are Verbs below it. Clauses raise (or, for dry runs, lower) the class when
flags, operands or texts say so. docs/risk.md shows the same thing as TOML for people who extend it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from gate.domain import Risk, TouchKind


class Takes(StrEnum):
    """Whether an option takes a value."""

    NOTHING = "nothing"
    VALUE = "value"  # attached or the next word
    MAYBE = "maybe"  # attached only


class Reads(StrEnum):
    """What a program does with the files it is given."""

    CONTENT = "content"  # shows what is in them
    NAMES = "names"  # names, sizes and dates only
    NOTHING = "nothing"  # its operands are no files


class Wraps(StrEnum):
    """Whether a program runs another command that stands in its arguments."""

    NOTHING = "nothing"
    COMMAND = "command"  # what is left after `skip` operands is a command
    SHELL = "shell"  # what is left is joined and read by a shell
    SCRIPT = "script"  # the value of a `code` option is read by a shell


class Never(StrEnum):
    """Which part of the never list a clause may hit (D15)."""

    NO = ""
    SYSTEM_PATH = "system_path"
    SYSTEM_DISK = "system_disk"


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One option that is known to be harmless, and what its value may be."""

    name: str
    takes: Takes = Takes.NOTHING
    allowed: re.Pattern[str] | None = None
    path: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """A condition on the arguments and what follows from it; every part given must hold.

    Attributes:
        has: one of these options is given; for raising, unambiguous abbreviations count.
        all_of: every one of these options is given.
        lacks: none of these options is given.
        value: an option of `has` has a value that matches whole.
        arg: one operand matches whole.
        text: the arguments, joined by blanks, and what is fed to standard input contain it.
        lower: the class replaces the verb's own, which it may undercut. Only for exact, known options.
    """

    has: frozenset[str] = frozenset()
    all_of: frozenset[str] = frozenset()
    lacks: frozenset[str] = frozenset()
    value: re.Pattern[str] | None = None
    arg: re.Pattern[str] | None = None
    text: re.Pattern[str] | None = None
    min_args: int = 0
    max_args: int | None = None
    lower: bool = False
    risk: Risk | None = None
    reason: str = ""
    never: Never = Never.NO
    secret: bool = False
    asks: bool = False
    deed: tuple[str, str] | None = None
    undo: str = ""
    dry_run: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb:
    """What one program or one of its sub-verbs does.

    Attributes:
        risk: its class when no clause says otherwise; None in an operator's extra file: no opinion.
        single: options have one dash and a whole word (find, openssl), and never bundle.
        operand_flags: options are not told from operands (dd, ps): every word is an operand.
        number_flag: `-5` is an option. `dashless`: the first word holds option letters (tar).
        globals_first: its own options stand before the sub-verb and mean something else after it (git).
        bare: the class when a program with sub-verbs is given none.
        max_args: operands beyond it are not known to be harmless; None is any number.
        match: every operand must match whole to count as known.
        recurse: options that make it descend into folders; "*" means it always does.
        checker: name of the little-language check for the first operand or the `code` options.
        code: options whose value is code: shell text (Wraps.SCRIPT) or the little language of `checker`.
        inner: options after which a command stands, up to ";" or "+" (find).
        assigns: a wrapper that takes X=1 before its command. `raises_user`: one that runs it as root.
        shell: takes commands from standard input when it is given none.
        fetches: prints what comes from elsewhere. `sends`: can carry data away.
        asks: never runs unasked although it changes nothing, for this reason in words.
    """

    names: tuple[str, ...]
    risk: Risk | None
    reason: str = ""
    options: Mapping[str, Option] = field(default_factory=dict)
    single: bool = False
    operand_flags: bool = False
    number_flag: bool = False
    dashless: bool = False
    globals_first: bool = False
    verbs: Mapping[str, "Verb"] = field(default_factory=dict)
    bare: Risk | None = None
    min_args: int = 0
    max_args: int | None = None
    match: re.Pattern[str] | None = None
    reads: Reads = Reads.CONTENT
    recurse: frozenset[str] = frozenset()
    checker: str = ""
    code: frozenset[str] = frozenset()
    inner: frozenset[str] = frozenset()
    wraps: Wraps = Wraps.NOTHING
    skip: int = 0
    assigns: bool = False
    raises_user: bool = False
    shell: bool = False
    fetches: bool = False
    sends: bool = False
    glob: bool = False
    secret: bool = False
    asks: str = ""
    clauses: tuple[Clause, ...] = ()
    deed: tuple[str, str] | None = None
    touches: tuple[tuple[TouchKind, str], ...] = ()
    undo: str = ""
    dry_run: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A verb with what it inherits; the nearest rule that says something wins.

    Attributes:
        chain: all rules from the program down to `verb`.
        options: those that count at this verb; `single`: one of the rules has whole words after one dash.
        clauses: those of all rules, each with whether it looks at the options before the sub-verb.
        runs_rest: what is left after `skip` operands is a command, as words or as text.
        hands_on: it runs something that stands in its arguments.
        named: it has a deed, an undo hint or a dry run.
        code_options, code_flags, code_operands: the `code` of the verb by kind; operands from 0.
    """

    verb: Verb
    chain: tuple[Verb, ...]
    below: Mapping[str, "Known"]
    options: Mapping[str, Option]
    clauses: tuple[tuple[Clause, bool], ...]
    single: bool
    runs_rest: bool
    hands_on: bool
    code_options: frozenset[str]
    code_flags: frozenset[str]
    code_operands: tuple[int, ...]
    risk: Risk | None
    reason: str
    asks: str
    deed: tuple[str, str] | None
    touches: tuple[tuple[TouchKind, str], ...]
    undo: str
    dry_run: str
    named: bool
    secret: bool
    fetches: bool
    sends: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Paths and words that matter. Patterns are matched whole against normalised paths.

    Attributes:
        secret_paths, secret_names: whole paths, and last parts of a path, that hold secrets.
        secret_trees: folders that hold secrets somewhere below, so descending into them is no plain reading.
        secret_words: a search for these is a search for secrets.
        secret_samples: by folder ("" is any), names of such files; a glob may match one.
        open_trees: folders that hold none, whatever the files in them are called.
        system: folders whose recursive loss ends a system or a home.
        disks, devices: system disks, and block devices in general.
        destroying_words: sub-verbs that delete, whatever the program.
    """

    secret_paths: re.Pattern[str]
    secret_names: re.Pattern[str]
    secret_trees: re.Pattern[str]
    secret_words: re.Pattern[str]
    secret_samples: Mapping[str, tuple[str, ...]]
    open_trees: re.Pattern[str]
    system: re.Pattern[str]
    disks: re.Pattern[str]
    devices: re.Pattern[str]
    destroying_words: re.Pattern[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A line and the verdict its rule file promises. None claims nothing."""

    source: str
    command: str
    risk: Risk | None = None
    auto: bool | None = None
    never: bool | None = None
    secret: bool | None = None
    deed: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Everything the classifier knows, with a digest of its content. Overlays only tighten."""

    programs: Mapping[str, Known]
    overlays: Mapping[str, tuple[Known, ...]]
    places: Places
    examples: tuple[Example, ...]
    revision: str
