"""The strict reader: the only one that may say a line is read-only.

It accepts plain commands joined by `|`, `&&`, `||`, `;` and newlines, with every word known to the last
character and every redirection to /dev/null, between descriptors or from a plain file; also `[ -f FILE ]`,
and a loop over plain words, read once for each. It refuses everything else, each time with a reason; what it
refuses is not read-only. It trusts a syntax tree only where nothing but blanks lies between the nodes.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import dropwhile, takewhile

from tree_sitter import Node

from gate.domain import Risk
from gate.shell import paths
from gate.shell.bytes import MAX_COMMANDS
from gate.shell.judge import Finding, judge
from gate.shell.model import Rules, Wraps
from gate.shell.parse import EXPANSION_KINDS, REDIRECT_KINDS, WORD_KINDS, redirect_of, text_of
from gate.shell.words import Word, decode

_LISTS = frozenset(
    {"program", "list", "pipeline", "redirected_statement", "negated_command", "compound_statement"}
)
_JOINTS = frozenset({"&&", "||", "|", ";", "\n", "!", "{", "}"})
_WORD_GAP = re.compile(rb"(?:[ \t]+(?:\\\n[ \t]*)*)?")
_LIST_GAP = re.compile(rb"(?:[ \t\n]|(?<=[ \t\n])\\\n)*")
_HARMLESS_VARIABLES = re.compile(
    r"(?:LANG|LC_[A-Z]+|NO_COLOR|COLUMNS|LINES)=[A-Za-z0-9_.@-]*|TZ=[A-Za-z0-9_+-]+(?:/[A-Za-z0-9_+-]+)*"
)
_DESCRIPTOR = re.compile(r"[0-9]")
_DUPLICATES = frozenset({">&", "<&"})
_CLOSES = frozenset({">&-", "<&-"})
_WRITES_NOWHERE = frozenset({">", ">>", "&>", "&>>", ">&"})
#: Folders whose programs are those that a bare name would start under the path the verdict assumes.
_TRUSTED_PROGRAM = re.compile(r"/(?:usr/)?s?bin/([\w.+-]+)")
_FILE_TEST = re.compile(r"\[[ \t]+(?:![ \t]+)?(-[a-zA-Z])[ \t]+([^\s\]]+)[ \t]+\]")
#: No variable that means something to the shell or to a program is called so.
_LOOP_VARIABLE = re.compile(r"[a-z][a-z0-9]{0,11}")
_LOOP_VALUE = re.compile(r"[A-Za-z0-9_./:@%+=,-]+")
#: Variables that hold no secret; they may stand where a program's every operand is harmless.
_FIXED = {
    "HOME": "~",
    "PWD": ".",
    **dict.fromkeys(("USER", "LOGNAME", "SHELL", "PATH", "HOSTNAME", "UID", "EUID", "?"), "x"),
}
_OUTPUT_SINK = "/dev/null"
_INNER_FILE = "{}"
_VARIABLES = frozenset({"simple_expansion", "expansion"})
_FIND_LINKS = frozenset({"-P", "-L", "-H"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What the strict reader made of a line; `refusal` says why it is not certain, None when it is.

    `secret`: a file with secrets is fed into it. `judged`: by the byte where a command starts, its words and
    what the rules say of it, so that the lenient reader need not ask again.
    """

    findings: tuple[Finding, ...] = ()
    refusal: str | None = None
    secret: bool = False
    judged: Mapping[int, tuple[Sequence[Word], Finding]] = field(default_factory=dict)


class _Refused(Exception):  # noqa: N818 - control flow inside this module, never seen outside
    """The line holds something that is not certain."""


def read(root: Node, *, rules: Rules) -> Reading:
    """Read a whole line."""
    if root.has_error:
        return Reading(refusal="the line does not parse as shell")
    reader = _Strict(rules)
    try:
        reader.statement(root)
    except _Refused as refused:
        return Reading(refusal=str(refused), judged=reader.judged)
    if not reader.findings:
        return Reading(refusal="there is no command in it")
    return Reading(findings=tuple(reader.findings), secret=reader.secret_input, judged=reader.judged)


class _Strict:
    """Walks allow-listed nodes and judges each simple command."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.findings: list[Finding] = []
        self.secret_input = False
        self.judged: dict[int, tuple[Sequence[Word], Finding]] = {}
        self.known: dict[str, str] = {}

    def statement(self, node: Node, depth: int = 0) -> None:
        if node.type == "command":
            self.command(node)
            return
        if node.type == "comment":
            return
        if node.type in REDIRECT_KINDS:
            self.redirect(node)
            return
        if node.type == "test_command":
            self.file_test(node)
            return
        if node.type == "for_statement":
            self.loop(node, depth)
            return
        if node.type not in _LISTS or depth > MAX_COMMANDS * 2:
            raise _Refused(_why_not(node))
        _check_gaps(node, _LIST_GAP)
        for child in node.children:
            if child.is_named:
                self.statement(child, depth + 1)
            elif child.type not in _JOINTS:
                raise _Refused(_why_not(child))

    def file_test(self, node: Node) -> None:
        """Read `[ -f FILE ]`; every other test may compute something."""
        found = _FILE_TEST.fullmatch(text_of(node))
        word = decode(found[2], known=self.known) if found else None
        if found is None or word is None or not word.certain or word.glob:
            raise _Refused(_why_not(node))
        words = [Word(text="test", raw="["), Word(text=found[1], raw=found[1]), word]
        self.findings.append(self.plain(words, text_of(node)))

    def loop(self, node: Node, depth: int) -> None:
        """Read the body once for each of the plain words that a loop goes through."""
        _check_gaps(node, _LIST_GAP)
        kinds = [child.type for child in node.children]
        values = [child for child in node.children[3:-1] if child.is_named]
        head = (node.text or b"")[: values[-1].end_byte - node.start_byte] if values else b"\n"
        if kinds[:3] != ["for", "variable_name", "in"] or kinds[-1] != "do_group" or b"\n" in head:
            raise _Refused(_why_not(node))
        name = text_of(node.children[1])
        texts = [_word(child).text for child in values]
        if name in self.known or not _LOOP_VARIABLE.fullmatch(name) or len(texts) > MAX_COMMANDS:
            raise _Refused(_why_not(node))
        if not all(_LOOP_VALUE.fullmatch(text) for text in texts):
            raise _Refused("goes through names that are not certain")
        for text in texts:
            self.known[name] = text
            self.body(node.children[-1], depth)
        del self.known[name]

    def body(self, node: Node, depth: int) -> None:
        _check_gaps(node, _LIST_GAP)
        if node.children[0].type != "do" or node.children[-1].type != "done" or depth > MAX_COMMANDS:
            raise _Refused(_why_not(node))
        for child in node.children[1:-1]:
            if child.is_named:
                self.statement(child, depth + 1)
            elif child.type not in (";", "\n"):
                raise _Refused(_why_not(child))

    def redirect(self, node: Node) -> None:
        if node.type != "file_redirect":
            raise _Refused("a here-document or here-string is fed into it")
        _check_gaps(node, _WORD_GAP)
        redirect = redirect_of(node)
        if redirect.operator in _CLOSES and not redirect.target:
            return
        if redirect.operator in _DUPLICATES and _DESCRIPTOR.fullmatch(redirect.target):
            return
        target = decode(redirect.target)
        if target.certain and not target.glob:
            if redirect.operator in _WRITES_NOWHERE and target.text == _OUTPUT_SINK:
                return
            if redirect.operator == "<" and target.text and not _is_network(target.text):
                self.secret_input = self.secret_input or paths.holds_secret(target, self.rules.places)
                return
        raise _Refused(
            f"writes to {target.text}" if ">" in redirect.operator else "reads from somewhere not certain"
        )

    def command(self, node: Node) -> None:
        if len(self.findings) >= MAX_COMMANDS:
            raise _Refused(f"more than {MAX_COMMANDS} commands, more than a person reads")
        _check_gaps(node, _WORD_GAP)
        words: list[Word] = []
        for child in node.children:
            match child.type:
                case "command_name" if len(child.children) == 1 and not words:
                    words.append(_program(_word(child.children[0])))
                case "variable_assignment" if not words and _HARMLESS_VARIABLES.fullmatch(text_of(child)):
                    pass
                case kind if (kind in WORD_KINDS or kind in _VARIABLES) and words:
                    words.append(_word(child, self.known_to(words[0].text)))
                case kind if kind in REDIRECT_KINDS:
                    self.redirect(child)
                case "process_substitution" if words and child.children[0].type == "<(":
                    words.append(self.substituted(child))
                case _:
                    raise _Refused(_why_not(child))
        finding = self.plain(words, text_of(node))
        self.judged[node.start_byte] = (words, finding)
        self.findings.append(self.unwrapped(finding, words))

    def known_to(self, program: str) -> Mapping[str, str]:
        """Return the variables whose value is known, or does not matter, in the arguments of a program."""
        verb = self.rules.programs.get(program)
        return {**_FIXED, **self.known} if verb is not None and verb.glob else self.known

    def substituted(self, node: Node) -> Word:
        """Read `<(command)`: the program gets a file that holds what the command prints."""
        _check_gaps(node, _LIST_GAP)
        for child in node.children[1:-1]:
            if not child.is_named:
                raise _Refused(_why_not(child))
            self.statement(child, 1)
        return Word(text="./output", raw=text_of(node))

    def certain(self, words: list[Word], text: str) -> Finding:
        """Judge words that are known, and the command a transparent wrapper holds."""
        return self.unwrapped(self.plain(words, text), words)

    def plain(self, words: list[Word], text: str) -> Finding:
        if not words or words[0].glob or words[0].home or "/" in words[0].text:
            raise _Refused("it is not started by a plain program name")
        return judge(words, rules=self.rules, text=text)

    def unwrapped(self, finding: Finding, words: list[Word]) -> Finding:
        """Judge what a harmless command runs in turn; the strictest of it all is what counts."""
        if finding.risk is not Risk.READ_ONLY:
            return finding
        for inner in finding.inner:
            inside = self.inside(finding, list(inner.words), words)
            if inside.risk is not Risk.READ_ONLY:
                return inside
            finding = replace(
                finding, secret=finding.secret or inside.secret, asks=finding.asks or inside.asks
            )
        return finding

    def inside(self, outer: Finding, inner: list[Word], words: list[Word]) -> Finding:
        if not inner:
            raise _Refused(f"{words[0].text} hands text to another shell")
        if self.rules.programs[words[0].text].wraps is Wraps.COMMAND:
            finding = self.certain(inner, outer.text)
            return replace(finding, asks=finding.asks or f"runs through {words[0].text}")
        # find -exec: the files it hands over lie below its starting points, and so are never options.
        starts = _starts(words)
        finding = self.certain([_below(word, starts) for word in inner], outer.text)
        places = self.rules.places
        if finding.shows and any(paths.may_hold_secrets_below(start, places) for start in starts):
            finding = replace(finding, secret=True, asks="may show secrets")
        return finding


def _starts(words: list[Word]) -> list[str]:
    """Return the starting points of a find."""
    after_links = dropwhile(lambda word: word.text in _FIND_LINKS, words[1:])
    starts = [
        word.text for word in takewhile(lambda word: not word.text.startswith(("-", "(", "!")), after_links)
    ]
    if not starts or not all(start.startswith(("/", ".")) for start in starts):
        raise _Refused("file names could be taken for options")
    return starts


def _below(word: Word, starts: list[str]) -> Word:
    if word.text == _INNER_FILE:
        return Word(text=starts[0], raw=word.raw)
    if _INNER_FILE in word.text:
        raise _Refused("file names become part of a command")
    return word


def _is_network(path: str) -> bool:
    return paths.normalise(path).startswith(("/dev/tcp", "/dev/udp"))


def _program(word: Word) -> Word:
    """Return a program that is named by its path in a trusted folder as its bare name."""
    found = _TRUSTED_PROGRAM.fullmatch(word.text)
    return Word(text=found[1], raw=word.raw) if found else word


def _word(node: Node, known: Mapping[str, str] | None = None) -> Word:
    if node.type not in WORD_KINDS and not (known and node.type in _VARIABLES):
        raise _Refused(_why_not(node))
    word = decode(text_of(node), known=known)
    if not word.certain:
        raise _Refused(f"the shell would compute {word.raw}")
    return word


def _check_gaps(node: Node, allowed: re.Pattern[bytes]) -> None:
    """Refuse a node when anything but blanks stands between its children, or nothing between two words."""
    source = node.text or b""
    ends = [node.start_byte, *(child.end_byte for child in node.children)]
    starts = [*(child.start_byte for child in node.children), node.end_byte]
    gaps = [
        source[end - node.start_byte : start - node.start_byte]
        for end, start in zip(ends, starts, strict=True)
    ]
    kinds = ["word" if child.type == "command_name" else child.type for child in node.children]
    glued = any(
        not gap and one in WORD_KINDS and other in WORD_KINDS
        for gap, one, other in zip(gaps[1:], kinds, kinds[1:], strict=False)
    )
    if glued or not all(allowed.fullmatch(gap) for gap in gaps):
        raise _Refused("the line does not parse as shell")


_WHY_NOT = {
    "&": "runs something in the background",
    "variable_assignment": "sets a variable for what it runs",
    "variable_assignments": "sets a variable for what it runs",
    "declaration_command": "sets a variable for what it runs",
    "function_definition": "defines a function",
    "subshell": "runs a subshell",
}


def _why_not(node: Node) -> str:
    if node.type in EXPANSION_KINDS:
        return f"the shell would compute {text_of(node)}"
    return _WHY_NOT.get(node.type, "holds shell syntax that is not read as certain")
