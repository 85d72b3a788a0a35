"""The lenient reader: looks for destruction inside anything, and never says that something is harmless.

It walks every node of the tree, errors included, guesses variables, follows wrappers, substitutions, texts
handed to other shells and what is piped into them. Its findings can only make a verdict stricter, so a wrong
guess costs a question, not a machine.
"""

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import NamedTuple

from gate.domain import Risk
from gate.shell import paths
from gate.shell.feeds import NOTHING, PRINTERS, TIMED, Feed, document, jobs, printed
from gate.shell.judge import Finding, Inner, judge
from gate.shell.model import Rules
from gate.shell.parse import MAX_CHARS, commands_below, parse, redirect_of, spans_lines
from gate.shell.tree import EXPANSION_KINDS, REDIRECT_KINDS, WORD_KINDS, Node, Tree
from gate.shell.words import UNKNOWN, Word, decode, expand_braces

_MAX_DEPTH = 40
_MAX_NESTING = 12
_MAX_SHELLS = 8
#: More commands, or more texts that may hold some, than this are not looked at one by one.
_MAX_COMMANDS = 300
_ENOUGH = _MAX_COMMANDS * 1_000
_SPLIT = re.compile(r"[;&|\n(){}`]|\$\(")
_FORK_BOMB = re.compile(r"([\w:.]{1,40})\s*\(\)\s*\{[^}|]{0,80}\1\s*\|\s*\1[^}]{0,80}&")
_ENDLESS = re.compile(
    r"while\s+(?:true|:|\[{1,2} 1 \]{1,2}|\(\(\s*1\s*\)\))\s*;|until\s+(?:\S*/)?false\s*;"
    r"|for\s*\(\([^;]*;\s*;"
)
_EMPTIED = re.compile(r"/var/log/.*|/var/lib/.*|/home/.*|/srv/.*|~/.*")
#: Redirected to a file, these empty it.
_PRINTS_NOTHING = frozenset(
    {":", "true", "cat /dev/null", "echo -n", "echo -n ''", 'echo -n ""', "printf ''", 'printf ""'}
)
_SYSRQ = "/proc/sysrq-trigger"


Judged = Mapping[int, tuple[Sequence[Word], Finding]]


class Piece(NamedTuple):
    """A line or a whole text, its tree, and what the strict reader asked the rules about it."""

    text: str
    tree: Tree
    judged: Judged


def read(pieces: Iterable[Piece], *, rules: Rules, as_root: bool) -> tuple[Finding, ...]:
    """Return a finding for everything that runs or is written to, in the order of the text."""
    reader = _Lenient(rules, as_root=as_root)
    for piece in pieces:
        reader.judged = piece.judged
        reader.tree(piece.tree, piece.text, 0)
    return tuple(reader.findings)


class _Lenient:
    """State of one walk: variables and folder as far as the line says."""

    def __init__(self, rules: Rules, *, as_root: bool) -> None:
        self.rules = rules
        self.judged: Judged = {}
        self.as_root = as_root
        self.findings: list[Finding] = []
        self.variables: dict[str, str] = {}
        self.cwd = ""
        self.shells = 0
        self.nesting = 0
        self.looked = 0
        self.behind: dict[int, list[Node]] = {}
        self.feed: Feed | None = None

    # -- the walk

    def tree(self, tree: Tree, text: str, depth: int, *, crude: bool = True) -> None:
        if tree.too_deep:
            self.add(text[:80], Risk.DESTRUCTIVE, "nested too deeply to be judged")
        self.walk(tree.root, depth)
        if tree.has_error and crude:
            self.crude(text)

    def walk(self, node: Node, depth: int) -> None:
        if self.too_deep(node, depth) or self.weary():
            return
        match node.kind:
            case "command":
                self.command(node, depth)
            case "pipeline":
                self.pipeline(node, depth)
            case "redirected_statement":
                self.redirected(node, depth)
            case "variable_assignment":
                self.assignment(node, depth)
            case "function_definition":
                self.function(node, depth)
            case "while_statement" | "c_style_for_statement":
                self.loop(node, depth)
            case kind if kind in REDIRECT_KINDS:
                self.redirect(node, depth, empties=False)
            case "command_substitution" | "process_substitution":
                self.nesting += 1
                self.below(node.children, depth)
                self.nesting -= 1
            case _:
                self.below(node.children, depth)

    def too_deep(self, node: Node, depth: int) -> bool:
        if depth > _MAX_DEPTH:
            self.add(node.text[:80], Risk.DESTRUCTIVE, "nested too deeply to be judged")
        return depth > _MAX_DEPTH

    def weary(self) -> bool:
        """Whether there is too much to look at; the line then counts as destructive."""
        if self.looked <= _MAX_COMMANDS:
            return False
        if self.looked < _ENOUGH:
            self.looked = _ENOUGH
            self.add("…", Risk.DESTRUCTIVE, f"more than {_MAX_COMMANDS} commands, too many to be judged")
        return True

    def below(self, nodes: Iterable[Node], depth: int) -> None:
        for node in nodes:
            if node.word is None and (node.children or node.kind in REDIRECT_KINDS):
                self.walk(node, depth + 1)

    def add(self, text: str, risk: Risk, reason: str, *, never: bool = False) -> None:
        self.findings.append(Finding(text=text, risk=risk, reason=reason, never=reason if never else None))

    # -- assignments, functions, loops

    def assignment(self, node: Node, depth: int) -> None:
        name, _, value = node.text.partition("=")
        self.variables[name.rstrip("+")] = decode(value, variables=self.variables).text
        self.below(node.children, depth)

    def function(self, node: Node, depth: int) -> None:
        name = next((child.text for child in node.children if child.kind == "word"), "")
        calls = [item.text for item in commands_below(node) if item.children]
        source = node.text
        again = [call for call in calls if call.split()[:1] == [name]]
        if name and again and ("&" in source.replace("&&", "") or len(again) > 1):
            self.add(
                source,
                Risk.DESTRUCTIVE,
                "a fork bomb: it starts itself again and again",
                never=True,
            )
            return
        self.below(node.children, depth)

    def loop(self, node: Node, depth: int) -> None:
        source = node.text
        if _ENDLESS.match(source) and any(
            child.kind == "&" for group in node.children for child in group.children
        ):
            self.add(source, Risk.DESTRUCTIVE, "starts processes without end")
        self.below(node.children, depth)

    # -- redirections

    def redirected(self, node: Node, depth: int) -> None:
        body = [child for child in node.children if child.kind not in REDIRECT_KINDS]
        redirects = [child for child in node.children if child.kind in REDIRECT_KINDS]
        fed = self.feed
        last = [command for child in body[-1:] for command in commands_below(child)][-1:]
        for child in redirects:
            text = document(child)
            if text is not None:
                self.feed = Feed(text=text)
            source = redirect_of(child)
            for command in last:
                self.behind.setdefault(id(command), []).extend(source.behind)
            if source.operator == "<":
                word = decode(source.target, variables=self.variables)
                self.feed = Feed(secret=paths.holds_secret(word, self.rules.places))
        for child in body:
            self.walk(child, depth)
        self.feed = fed
        nothing = not body or body[0].text.strip() in _PRINTS_NOTHING
        commands = [child for child in body if child.kind == "command"]
        inputs = {paths.normalise(word.text) for child in commands for word in self.words(child)}
        for child in redirects:
            self.redirect(child, depth, empties=nothing, inputs=inputs)

    def redirect(
        self, node: Node, depth: int, *, empties: bool, inputs: Container[str] = frozenset()
    ) -> None:
        self.below((child for child in node.children if child.kind != "heredoc_start"), depth)
        if node.kind != "file_redirect":
            return
        redirect = redirect_of(node)
        if ">" not in redirect.operator or not redirect.target or redirect.target.isdigit():
            return
        target = paths.normalise(decode(redirect.target, variables=self.variables).text, cwd=self.cwd)
        text = node.text
        truncates = redirect.operator in (">", ">|")
        if truncates and target in inputs and target.startswith("/") and target != "/dev/null":
            self.add(text, Risk.DESTRUCTIVE, f"empties {target} before it is read")
        self.written(target, text, empties=empties and truncates)

    def written(self, target: str, text: str, *, empties: bool) -> None:
        places = self.rules.places
        if target == "/dev/null":
            return
        if paths.is_system_disk(target, places):
            self.add(text, Risk.DESTRUCTIVE, f"writes to a system disk: {target}", never=True)
        elif paths.is_device(target, places) or target == _SYSRQ:
            self.add(text, Risk.DESTRUCTIVE, f"writes raw to a device: {target}")
        elif empties and _EMPTIED.fullmatch(target):
            self.add(text, Risk.DESTRUCTIVE, f"empties {target}")
        else:
            self.add(text, Risk.CONFIG_MUTATION, f"writes to {target}")

    # -- pipes

    def pipeline(self, node: Node, depth: int) -> None:
        feed = self.feed or NOTHING
        outside = self.feed
        for child in node.children:
            if not child.named:
                continue
            before = len(self.findings)
            self.walk(child, depth)
            stage = self.findings[before:]
            feed = Feed(
                text=self.literal(child),
                heard=self.heard(child),
                remote=feed.remote or any(finding.fetches for finding in stage),
                secret=feed.secret or any(finding.secret for finding in stage),
            )
            self.feed = feed
        self.feed = outside

    def literal(self, node: Node) -> str | None:
        """Return what an echo or printf prints; None for anything else."""
        known = self.judged.get(node.start) if self.shells == 0 else None
        if node.kind != "command" or (known and known[0][0].text not in PRINTERS):
            return None
        return printed(self.words(node))

    def heard(self, node: Node) -> str:
        """Return what echo and printf print in a group of commands."""
        if node.kind not in ("subshell", "compound_statement"):
            return ""
        texts = (printed(self.words(command)) for command in commands_below(node))
        return "\n".join(text for text in texts if text)

    # -- commands

    def words(self, node: Node) -> list[Word]:
        words: list[Word] = []
        for child in [*node.children, *self.behind.get(id(node), ())]:
            source = child.children[0] if child.kind == "command_name" and child.children else child
            if source.word is not None:
                words.append(source.word)
            elif source.kind in WORD_KINDS or source.kind in EXPANSION_KINDS:
                words += self.guess(source.text)
        return words

    def guess(self, raw: str) -> list[Word]:
        """Decode a word, with braces expanded and an unquoted variable split as bash splits it."""
        parts = expand_braces(raw) if "{" in raw else (raw,)
        words = [decode(part, variables=self.variables) for part in parts]
        if raw.startswith("$") and len(words) == 1 and " " in words[0].text:
            return [words[0]._replace(text=part) for part in words[0].text.split()]
        return words

    def command(self, node: Node, depth: int) -> None:
        known = self.judged.get(node.start) if self.shells == 0 and not self.cwd else None
        if known is None or self.behind.get(id(node)):
            self.unread(node, depth)
        else:
            words, finding = known
            asked = finding if self.feed is None or self.feed.text is None else None
            self.simple(words, node.text, depth, computed=node, asked=asked)
        self.below(node.children, depth)

    def unread(self, node: Node, depth: int) -> None:
        """Look at a command that the strict reader has not judged."""
        if spans_lines(node):
            self.crude(node.text)
        fed = self.feed
        for child in node.children:
            if child.kind == "variable_assignment":
                self.assignment(child, depth)
            elif child.kind in REDIRECT_KINDS:
                text = document(child)
                if text is not None and self.feed is fed:
                    self.feed = Feed(text=text)
        words = self.words(node)
        if words:  # pragma: no branch - the grammar names every command; a change of it must not crash us
            self.simple(words, node.text, depth, computed=node)
        self.feed = fed

    def simple(
        self,
        words: Sequence[Word],
        text: str,
        depth: int,
        *,
        computed: Node | None = None,
        asked: Finding | None = None,
    ) -> None:
        self.looked += 1
        feed = self.feed or NOTHING
        finding = asked or judge(words, rules=self.rules, text=text, cwd=self.cwd, feed=feed.text or "")
        if finding.sends and (feed.secret or finding.secret):
            finding = finding._replace(risk=Risk.DESTRUCTIVE, reason="carries secrets away")
        self.findings.append(finding._replace(depth=self.nesting) if self.nesting else finding)
        self.follow_cd(words)
        if finding.shell:
            self.shell(finding, feed, depth, computed)
        for inner in finding.inner:
            self.inside(inner, finding, depth)
        if words[0].text in TIMED and (later := jobs(feed)):
            self.text(later, depth, only_destruction=True)

    def follow_cd(self, words: Sequence[Word]) -> None:
        if words[0].text in ("cd", "pushd"):
            target = words[-1].text if len(words) > 1 else "~"
            self.cwd = "" if UNKNOWN in target else paths.normalise(target, cwd=self.cwd)

    def shell(self, finding: Finding, feed: Feed, depth: int, computed: Node | None) -> None:
        """Judge what a shell would read: from a pipe, a document, or a substitution in its arguments."""
        if computed is not None and self.fetched(computed):
            self.remote(finding)
        elif finding.reads_stdin_code and self.feed is not None:
            if feed.remote:
                self.remote(finding)
            elif feed.text is not None:
                self.text(feed.text, depth)
            else:
                self.add(finding.text, Risk.DESTRUCTIVE, "a shell runs whatever arrives there")

    def remote(self, finding: Finding) -> None:
        reason = "runs a script from elsewhere"
        if self.as_root:
            self.add(finding.text, Risk.DESTRUCTIVE, f"{reason} in a root shell", never=True)
        else:
            self.add(finding.text, Risk.DESTRUCTIVE, f"{reason}, unseen")

    def fetched(self, node: Node) -> bool:
        for command in commands_below(node):
            if command is node:
                continue
            words = self.words(command)
            if words and judge(words, rules=self.rules).fetches:
                return True
        return False

    def inside(self, inner: Inner, outer: Finding, depth: int) -> None:
        before = self.as_root
        self.as_root = before or outer.raises_user
        if not inner.words:
            self.text(inner.text, depth, feed=self.feed, only_destruction=inner.weighs_only_destruction)
        elif depth > _MAX_DEPTH or self.nesting > _MAX_NESTING:
            self.add(outer.text, Risk.DESTRUCTIVE, "nested too deeply to be judged")
        else:
            self.nesting += 1
            self.simple(inner.words, " ".join(word.raw for word in inner.words), depth + 1)
            self.nesting -= 1
        self.as_root = before

    def text(
        self, text: str, depth: int, *, feed: Feed | None = None, only_destruction: bool = False
    ) -> None:
        """Judge a text as a shell line of its own; `feed` is what its standard input holds."""
        if self.shells >= _MAX_SHELLS or (self.shells and len(text) > MAX_CHARS):
            self.add(text[:80], Risk.DESTRUCTIVE, "nested too deeply to be judged")
            return
        if self.weary():
            return
        self.looked += 1
        self.shells += 1
        self.nesting += 1
        outside, self.feed = self.feed, feed
        known = len(self.findings)
        self.tree(parse(text), text, depth + 1, crude=not only_destruction)
        if only_destruction:
            self.findings[known:] = [item for item in self.findings[known:] if item.risk is Risk.DESTRUCTIVE]
        self.feed = outside
        self.nesting -= 1
        self.shells -= 1

    def crude(self, text: str) -> None:
        """Look at a text that does not parse, piece by piece."""
        if _FORK_BOMB.search(text):
            self.add(text, Risk.DESTRUCTIVE, "a fork bomb: it starts itself again and again", never=True)
        for piece in _SPLIT.split(text):
            raws = piece.split()
            if raws and not self.weary():
                self.simple([decode(raw, variables=self.variables) for raw in raws], piece.strip(), 0)
