"""Values into text: how a value becomes part of a command without ever becoming syntax.

A value is checked against its type (`domain`), then quoted for the shell; a template may hold a placeholder
only where a plain argument may stand, or inside quotes. Inside quotes, among what `eval` or `ssh` puts
together and reads again, and in a script of `sed` or `awk`, a value has to be one plain word, since whatever
reads it would take it apart.
Together they are the rule this module owns: no value that a person, an alert or a program wrote adds an
option, a command, a pipe or a substitution. What a program makes of one plain word is its own business.

What is shown and what runs are made by different functions: `render_*` masks, `bind_*` does not (R7, R8).
"""

import hashlib
import json
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gate.domain import Digest
from gate.errors import GateError
from gate.redact import MASK
from gate.supervise.domain import InputSpec, Value

PLACEHOLDER = re.compile(r"\{\{\s*inputs\.([A-Za-z_][A-Za-z0-9_]*)\s*\}\}")
_BRACES = re.compile(r"\{\{\s*inputs\b")
_WORD_CHARS = re.compile(r"[A-Za-z0-9_@%+=:,./-]*", re.ASCII)
#: What may stand inside quotes, or be read again: one word, and nothing that starts a comment in SQL.
_ONE_WORD = re.compile(r"(?!.*--)[A-Za-z0-9_@%+=:,./-]+", re.ASCII)

#: Where the next word is a command, or a word of the shell's own grammar, past assignments and redirections.
_AT_COMMAND = re.compile(
    r"(?:\A|[;&|(){}!\n]|(?:\A|[\s;&|])(?:if|then|elif|else|while|until|do|time|coproc)(?=\s))\s*"
    r"""(?:(?:[A-Za-z_]\w*=|\d*[<>]+&?\s*)(?:'[^']*'|"[^"]*"|[^\s;&|<>'"])*\s+)*\Z"""
)
_ASSIGNS = re.compile(r"[A-Za-z_]\w*=")
#: What ends a word outside of quotes.
_BETWEEN = frozenset(" \t\n;&|()<>")
#: What ends a command there.
_COMMANDS_END = frozenset("\n;&|()")
#: Programs that read an argument as commands again.
_READS_AGAIN = re.compile(
    r"(?:\A|[\s;&|/])(?:eval|ssh|su|runuser|flock|script|watch|(?:r?ba|da|z|mk|k|a|c|tc|fi)?sh)(?=\s)"
)
#: And those that read all of their arguments so, put together.
_READS_ALL = re.compile(r"(?:\A|[\s;&|/])(?:eval|ssh|watch)(?=\s)")
#: Programs whose arguments are, or may be, a script of their own that can start commands.
_SCRIPTED = re.compile(r"(?:\A|[\s(/])(?:g?sed|[gmn]?awk)(?=\s)")
#: And those that take a script as the word after an option: `perl -pe x`, `python3 -c x`.
_BEFORE_PROGRAM = re.compile(
    r"(?:\A|[\s(/])(?:perl|python|ruby|node|php|lua)[\d.]*\s(?:.*\s)?-[A-Za-z]*[cer]\s+\Z"
)
#: The words before a script: `eval x`, `bash -lc x`, `bash -cx -- x`.
_BEFORE_SCRIPT = re.compile(r"(?:\b(?:eval|watch)|\s-[A-Za-z]*c[A-Za-z]*(?:\s+-\S*)*)\s+\Z")


class BindingError(GateError):
    """A template or value cannot be bound; mend the document that the message names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """Text with every value in it; what runs."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unbound:
    """Nothing can run: inputs that are undeclared or have no value, and those whose value does not fit."""

    missing: tuple[str, ...] = ()
    unfit: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a placeholder stands: between `start` and `end`, in single or double quotes or in none.

    `bare`: what precedes it, each placeholder there a plain word.
    """

    name: str
    start: int
    end: int
    quote: str
    bare: str

    @property
    def is_read_again(self) -> bool:
        """Whether the value is quoted for one reader and may be read by another."""
        return bool(self.quote) or _READS_ALL.search(self.bare) is not None or _is_in_script(self.bare)


# ---------------------------------------------------------------- values


def as_text(value: Value) -> str:
    """Return a value as it stands in a command; "" for none. 0 and false are values (R8)."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case _:
            return str(value)


# ---------------------------------------------------------------- templates


def names(text: str) -> tuple[str, ...]:
    """Return the inputs that any text uses, in order, with repetitions.

    Raises:
        BindingError: a placeholder is misspelt.
    """
    found = tuple(match[1] for match in PLACEHOLDER.finditer(text))
    if len(_BRACES.findall(text)) != len(found):
        raise BindingError(f"misspelt placeholder in: {text}")
    return found


def placeholders(template: str) -> tuple[str, ...]:
    """Return the inputs that a command template uses, in order.

    Raises:
        BindingError: a placeholder is misspelt, or stands where quoting its value would not hold: in a
            substitution or another expansion, next to an operator, or where a command is named.
    """
    return tuple(place.name for place in _places(template))


def _places(template: str) -> tuple[_Place, ...]:
    names(template)
    quote, at, unsure = "", 0, False
    places = []
    for match in PLACEHOLDER.finditer(template):
        quote, doubt = _scan(template, at, match.start(), quote=quote)
        unsure = unsure or doubt
        at = match.end()
        bare = PLACEHOLDER.sub("x", template[: match.start()])
        place = _Place(match[1], match.start(), match.end(), quote, bare)
        if unsure or not (_stands_in_quotes(place) if quote else _stands_alone(template, place)):
            raise BindingError(
                f"{match[0]} must be part of an argument, outside substitutions and expansions: {template}"
            )
        places.append(place)
    return tuple(places)


def _scan(text: str, start: int, end: int, *, quote: str) -> tuple[str, bool]:
    """Return the quote that is open at `end`, and whether that is in doubt."""
    for at in range(start, end):
        char = text[at]
        if quote == "'":
            quote = "" if char == "'" else quote
        elif char in "$`\\" or (not quote and _opens(text, at)):
            return quote, True
        elif quote:
            quote = "" if char == '"' else quote
        elif char in "'\"":
            quote = char
    return quote, False


def _opens(text: str, at: int) -> bool:
    """Whether something other than a quote begins here: a group, a here-document, a comment."""
    return (
        text[at] in "({" or text.startswith("<<", at) or (text[at] == "#" and text[at - 1 : at] in {"", " "})
    )


def _stands_alone(template: str, place: _Place) -> bool:
    """Whether an unquoted placeholder is part of a plain word that is an argument."""
    before, after = template[: place.start], template[place.end :]
    if not (_is_word_edge(before[::-1]) and _is_word_edge(after)) or _names_command(place.bare):
        return False
    leading = place.bare[: _word_begins(place.bare)]
    return _READS_AGAIN.search(leading) is None or _BEFORE_SCRIPT.search(leading) is None


def _stands_in_quotes(place: _Place) -> bool:
    """Whether a quoted placeholder is an argument, and is one still if a shell reads the quoted text."""
    if _names_command(place.bare):
        return False
    inner = place.bare[place.bare.rindex(place.quote) + 1 :]
    return _READS_AGAIN.search(place.bare) is None or not _names_command(inner)


def _names_command(before: str) -> bool:
    """Whether the word that `before` ends in names a command; one that assigns a value names none."""
    begins = _word_begins(before)
    return _ASSIGNS.match(before, begins) is None and _AT_COMMAND.search(before[:begins]) is not None


def _is_in_script(before: str) -> bool:
    """Whether the word that `before` ends in may be a script, which its program takes apart."""
    begins = _word_begins(before)
    leading = before[_begins(before, after=_COMMANDS_END) : begins]
    if (program := _SCRIPTED.search(leading)) is not None:
        # `awk -v name=x` sets a variable; `sed s=a=x=` is a script.
        return not (program[0].endswith("awk") and _ASSIGNS.match(before, begins))
    return _BEFORE_PROGRAM.search(leading) is not None


def _word_begins(before: str) -> int:
    """Return where the word begins that `before` ends in, quotes and all."""
    return _begins(before, after=_BETWEEN)


def _begins(before: str, *, after: frozenset[str]) -> int:
    """Return where that begins which `before` ends in: behind the last of `after` outside of quotes."""
    quote, begins = "", 0
    for at, char in enumerate(before):
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char in after:
            begins = at + 1
    return begins


def _is_word_edge(text: str) -> bool:
    """Whether the word characters next to a placeholder end at a blank, another placeholder or the end."""
    rest = text[_WORD_CHARS.match(text).end() :]  # type: ignore[union-attr] # the pattern matches ""
    return not rest or rest[0] in " \t" or rest.startswith(("{{", "}}"))


# ---------------------------------------------------------------- what runs


def bind_command(
    template: str, values: Mapping[str, Value], *, inputs: Mapping[str, InputSpec]
) -> Bound | Unbound:
    """Return the command that runs, with every value quoted for the shell (R8).

    Raises:
        BindingError: the template itself is malformed; see `placeholders`.
    """
    again = iter([place.is_read_again for place in _places(template)])

    def write(value: str) -> str | None:
        if not next(again):
            return shlex.quote(value)
        return value if _ONE_WORD.fullmatch(value) else None

    return _bind(template, values, inputs=inputs, write=write)


def bind_text(
    template: str,
    values: Mapping[str, Value],
    *,
    inputs: Mapping[str, InputSpec],
    write: Callable[[str], str | None] = str,
) -> Bound | Unbound:
    """Return text that is no command, such as the name of a target, with every value as it is.

    Args:
        write: how a value stands in the text; None where it cannot.

    Raises:
        BindingError: a placeholder is misspelt.
    """
    names(template)
    return _bind(template, values, inputs=inputs, write=write)


def _bind(
    template: str,
    values: Mapping[str, Value],
    *,
    inputs: Mapping[str, InputSpec],
    write: Callable[[str], str | None],
) -> Bound | Unbound:
    missing: dict[str, None] = {}
    unfit: dict[str, None] = {}

    def fill(match: re.Match[str]) -> str:
        name, value = match[1], as_text(values.get(match[1]))
        written = write(value)
        if name not in inputs or not value:
            missing[name] = None
        elif written is None or not inputs[name].accepts(value):
            unfit[name] = None
        return written or ""

    text = PLACEHOLDER.sub(fill, template)
    if missing or unfit:
        return Unbound(missing=tuple(missing), unfit=tuple(unfit))
    return Bound(text=text)


def command_digest(*, tool: str, target: str, command: str | None) -> Digest:
    """Return the SHA-256 of what one invocation is: which tool, on which target, which command."""
    covered = {"tool": tool, "target": target, "command": command}
    text = json.dumps(covered, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return Digest(hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest())


# ---------------------------------------------------------------- what is shown


def render_command(template: str, values: Mapping[str, Value], *, inputs: Mapping[str, InputSpec]) -> str:
    """Return the command as people see it: secrets, unknown names and missing values are masked (R7).

    Never execute it.
    """
    return _render(template, values, inputs=inputs, write=shlex.quote, unknown=MASK)


def render_text(template: str, values: Mapping[str, Value], *, inputs: Mapping[str, InputSpec]) -> str:
    """Return a title as people see it, masked likewise; what has no value yet is told as `<vmid>`."""
    return _render(template, values, inputs=inputs, write=str, unknown="<{}>")


def _render(
    template: str,
    values: Mapping[str, Value],
    *,
    inputs: Mapping[str, InputSpec],
    write: Callable[[str], str],
    unknown: str,
) -> str:
    def fill(match: re.Match[str]) -> str:
        spec, value = inputs.get(match[1]), as_text(values.get(match[1]))
        if spec is None or spec.secret:
            return MASK
        return write(value) if value else unknown.format(match[1])

    return PLACEHOLDER.sub(fill, template)
