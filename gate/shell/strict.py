"""The strict reader: the only one that may say a line is read-only.

It accepts plain commands joined by `|`, `&&`, `||`, `;` and newlines, with every word known to the last
character and every redirection to /dev/null, between descriptors or from a plain file; also `[ -f FILE ]`,
and a loop over plain words, read once for each. It refuses everything else, each time with a reason; what it
refuses is not read-only. It trusts a syntax tree only where nothing but blanks lies between the nodes.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import dropwhile, takewhile
from types import MappingProxyType
from typing import NamedTuple

from gate.domain import Risk
from gate.shell import paths
from gate.shell.bytes import MAX_COMMANDS
from gate.shell.judge import Finding, judge
from gate.shell.model import Rules, Wraps
from gate.shell.parse import MAX_CHARS, redirect_of
from gate.shell.tree import EXPANSION_KINDS, REDIRECT_KINDS, WORD_KINDS, Node, Tree
from gate.shell.words import Word, decode

_LISTS = frozenset(
    {"program", "list", "pipeline", "redirected_statement", "negated_command", "compound_statement"}
)
_JOINTS = frozenset({"&&", "||", "|", "|&", ";", "\n", "!", "{", "}"})
#: What is itself only with a blank behind it.
_RESERVED = frozenset({"{", "!"})
_WORD_GAP = re.compile(r"(?:[ \t]+(?:\\\n[ \t]*)*)?")
_LIST_GAP = re.compile(r"(?:[ \t\n]|(?<=[ \t\n])\\\n)*")
#: What most gaps are: both patterns match them.
_USUAL_GAPS = frozenset({"", " "})
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
_MAX_WRAPPERS = 5
#: Loops in loops, also around nothing, end here.
MAX_TURNS = MAX_COMMANDS * 4
_OUTPUT_SINK = "/dev/null"
_INNER_FILE = "{}"
#: The one substitution whose words are certain in kind: it prints container ids and nothing else.
_PRINTS_IDS = re.compile(
    r"\$\((?:docker|podman) ps(?=[^)]* (?:-[aln]*q|--quiet))"
    r"(?: -[aln]*q[aln]*| -a| --quiet| --all| (?:-f|--filter) [\w.=-]+)+\)"
)
_VARIABLES = frozenset({"simple_expansion", "expansion"})
_FIND_LINKS = frozenset({"-P", "-L", "-H"})
_NOTHING: Mapping[int, tuple[Sequence[Word], Finding]] = MappingProxyType({})


class Reading(NamedTuple):
    """What the strict reader made of a line; `refusal` says why it is not certain, None when it is.

    `secret`: a file with secrets is fed into it. `judged`: by where a command starts, its words and
    what the rules say of it, so that the lenient reader need not ask again.
    """

    findings: tuple[Finding, ...] = ()
    refusal: str | None = None
    secret: bool = False
    judged: Mapping[int, tuple[Sequence[Word], Finding]] = _NOTHING


class _Refused(Exception):  # noqa: N818 - control flow inside this module, never seen outside
    """The line holds something that is not certain."""


def read(tree: Tree, *, rules: Rules) -> Reading:
    """Read a whole line."""
    if tree.too_long:
        return Reading(refusal=f"longer than {MAX_CHARS} characters and not plain")
    if tree.has_error:
        return Reading(refusal="the line does not parse as shell")
    reader = _Strict(rules, checks=not tree.plain)
    try:
        reader.statement(tree.root)
    except _Refused as refused:
        return Reading(refusal=str(refused), judged=reader.judged)
    if not reader.findings:
        return Reading(refusal="there is no command in it")
    return Reading(findings=tuple(reader.findings), secret=reader.secret_input, judged=reader.judged)


def read_one(words: Sequence[Word], *, rules: Rules, text: str) -> Finding | None:
    """Judge a line that is one plain command; None where it has to be read as a whole.

    Most lines are such. Neither reader could find more in them: nothing runs inside, nothing is fed.
    """
    if "/" in words[0].text:
        return None
    finding = judge(words, rules=rules, text=text)
    return None if finding.inner or finding.shell or finding.sends else finding


class _Strict:
    """Walks allow-listed nodes and judges each simple command."""

    def __init__(self, rules: Rules, *, checks: bool) -> None:
        self.rules = rules
        self.checks = checks
        self.findings: list[Finding] = []
        self.secret_input = False
        self.judged: dict[int, tuple[Sequence[Word], Finding]] = {}
        self.known: dict[str, str] = {}
        self.turns = 0
        self.wrappers = 0

    def statement(self, node: Node, depth: int = 0) -> None:
        kind = node.kind
        if kind == "command":
            self.command(node)
        elif kind in REDIRECT_KINDS:
            self.redirect(node)
        elif kind in _LISTS and depth <= MAX_COMMANDS * 2:
            self.check_gaps(node, _LIST_GAP)
            for child in node.children:
                if child.named:
                    self.statement(child, depth + 1)
                elif child.kind not in _JOINTS:
                    raise _Refused(_why_not(child))
        elif kind == "test_command":
            self.file_test(node)
        elif kind == "for_statement":
            self.loop(node, depth)
        elif kind != "comment" or node.text.endswith("\\"):  # readers differ on where that one ends
            raise _Refused(_why_not(node))

    def check_gaps(self, node: Node, allowed: re.Pattern[str]) -> None:
        if self.checks:
            _check_gaps(node, allowed)

    def file_test(self, node: Node) -> None:
        """Read `[ -f FILE ]`; every other test may compute something."""
        found = _FILE_TEST.fullmatch(node.text)
        word = decode(found[2], known=self.known) if found else None
        if found is None or word is None or not word.certain or word.glob:
            raise _Refused(_why_not(node))
        self.count()
        words = [Word(text="test", raw="["), Word(text=found[1], raw=found[1]), word]
        self.findings.append(self.plain(words, node.text))

    def loop(self, node: Node, depth: int) -> None:
        """Read the body once for each of the plain words that a loop goes through."""
        _check_gaps(node, _LIST_GAP)
        kinds = [child.kind for child in node.children]
        values = [child for child in node.children[3:-1] if child.named]
        head = node.source[node.start : values[-1].end] if values else "\n"
        if kinds[:3] != ["for", "variable_name", "in"] or kinds[-1] != "do_group" or "\n" in head:
            raise _Refused(_why_not(node))
        name = node.children[1].text
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
        self.turns += 1
        if self.turns > MAX_TURNS:
            raise _Refused("loops more often than a person reads")
        _check_gaps(node, _LIST_GAP)
        if node.children[0].kind != "do" or node.children[-1].kind != "done" or depth > MAX_COMMANDS:
            raise _Refused(_why_not(node))
        for child in node.children[1:-1]:
            if child.named:
                self.statement(child, depth + 1)
            elif child.kind not in (";", "\n"):
                raise _Refused(_why_not(child))

    def redirect(self, node: Node) -> None:
        if node.kind != "file_redirect":
            raise _Refused("a here-document or here-string is fed into it")
        _check_gaps(node, _WORD_GAP)
        redirect = redirect_of(node)
        if redirect.behind:
            raise _Refused("words of the command stand behind a redirection")
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
        self.count()
        self.check_gaps(node, _WORD_GAP)
        words: list[Word] = []
        for child in node.children:
            kind = child.kind
            if kind in WORD_KINDS and words:
                words.append(child.word or self.argument(child, words[0].text))
            elif kind == "command_name" and len(child.children) == 1 and not words:
                words.append(_program(_word(child.children[0])))
            else:
                words += self.besides(child, words)
        finding = self.plain(words, node.text)
        self.judged[node.start] = (words, finding)
        self.findings.append(self.unwrapped(finding, words))

    def count(self) -> None:
        if len(self.findings) >= MAX_COMMANDS:
            raise _Refused(f"more than {MAX_COMMANDS} commands, more than a person reads")

    def besides(self, node: Node, words: list[Word]) -> list[Word]:
        """Read what stands among the words of a command; it may stand for a word itself."""
        kind = node.kind
        if kind in REDIRECT_KINDS:
            self.redirect(node)
            return []
        if kind == "variable_assignment" and not words and _HARMLESS_VARIABLES.fullmatch(node.text):
            return []
        if kind == "process_substitution" and words and node.children[0].kind == "<(":
            return [self.substituted(node)]
        if kind in _VARIABLES and words:
            return [self.argument(node, words[0].text)]
        if _takes_ids(words) and _PRINTS_IDS.fullmatch(node.text):
            return [Word(text="0", raw=node.text)]
        raise _Refused(_why_not(node))

    def argument(self, node: Node, program: str) -> Word:
        """Read one argument; it may hold variables that are known, or do not matter to the program."""
        if "$" not in node.text:
            return _word(node)
        rule = self.rules.programs.get(program)
        free = rule is not None and rule.verb.glob
        return _word(node, {**_FIXED, **self.known} if free else self.known)

    def substituted(self, node: Node) -> Word:
        """Read `<(command)`: the program gets a file that holds what the command prints."""
        _check_gaps(node, _LIST_GAP)
        for child in node.children[1:-1]:
            if not child.named:
                raise _Refused(_why_not(child))
            self.statement(child, 1)
        return Word(text="./output", raw=node.text)

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
            if self.wrappers >= _MAX_WRAPPERS:
                raise _Refused("commands run one another through too many others")
            self.wrappers += 1
            inside = self.inside(finding, list(inner.words), words)
            self.wrappers -= 1
            if inside.risk is not Risk.READ_ONLY:
                return inside
            finding = finding._replace(
                secret=finding.secret or inside.secret, asks=finding.asks or inside.asks
            )
        return finding

    def inside(self, outer: Finding, inner: list[Word], words: list[Word]) -> Finding:
        if not inner:
            raise _Refused(f"{words[0].text} hands text to another shell")
        if self.rules.programs[words[0].text].verb.wraps is Wraps.COMMAND:
            finding = self.certain(inner, outer.text)
            return finding._replace(asks=finding.asks or f"runs through {words[0].text}")
        # find -exec: the files it hands over lie below its starting points, and so are never options.
        starts = _starts(words)
        finding = self.certain([_below(word, starts) for word in inner], outer.text)
        places = self.rules.places
        if finding.shows and any(paths.may_hold_secrets_below(start, places) for start in starts):
            finding = finding._replace(secret=True, asks="may show secrets")
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


def _takes_ids(words: Sequence[Word]) -> bool:
    """Whether any number of container ids, which are never options, may stand here."""
    texts = [word.text for word in words]
    return (
        texts[:1] in (["docker"], ["podman"])
        and texts[1:2] in (["inspect"], ["logs"], ["stats"], ["diff"])
        and not re.fullmatch(r"-[^=]*", texts[-1])
    )


def _program(word: Word) -> Word:
    """Return a program that is named by its path in a trusted folder as its bare name."""
    found = _TRUSTED_PROGRAM.fullmatch(word.text) if word.text[:1] == "/" else None
    return Word(text=found[1], raw=word.raw) if found else word


def _word(node: Node, known: Mapping[str, str] | None = None) -> Word:
    if node.word is not None:
        return node.word
    if node.kind not in WORD_KINDS and not (known and node.kind in _VARIABLES):
        raise _Refused(_why_not(node))
    word = decode(node.text, known=known)
    if not word.certain:
        raise _Refused(f"the shell would compute {word.raw}")
    return word


def _check_gaps(node: Node, allowed: re.Pattern[str]) -> None:
    """Refuse a node when anything but blanks stands between its children, or nothing between two words."""
    if not _sound_gaps(node, allowed):
        raise _Refused("the line does not parse as shell")


def _sound_gaps(node: Node, allowed: re.Pattern[str]) -> bool:
    source, at, after_word, after_reserved = node.source, node.start, False, False
    for child in node.children:
        start = child.start
        is_word = child.kind in WORD_KINDS or child.kind == "command_name"
        glued = start == at and (after_reserved or (is_word and after_word))
        if glued or not _is_gap(source[at:start], allowed):
            return False
        at, after_word, after_reserved = child.end, is_word, child.kind in _RESERVED
    return _is_gap(source[at : node.end], allowed)


def _is_gap(text: str, allowed: re.Pattern[str]) -> bool:
    return text in _USUAL_GAPS or allowed.fullmatch(text) is not None


_WHY_NOT = {
    "&": "runs something in the background",
    "variable_assignment": "sets a variable for what it runs",
    "variable_assignments": "sets a variable for what it runs",
    "declaration_command": "sets a variable for what it runs",
    "function_definition": "defines a function",
    "subshell": "runs a subshell",
}


def _why_not(node: Node) -> str:
    if node.kind in EXPANSION_KINDS:
        return f"the shell would compute {node.text}"
    return _WHY_NOT.get(node.kind, "holds shell syntax that is not read as certain")
