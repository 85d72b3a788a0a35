"""One simple command against the rule table: its class, and everything a card wants to know about it.

Used by both readers: strict hands in words it is certain of, lenient hands in its best guess. What a rule
does not know exactly makes a read-only command a config_mutation here.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from gate.domain import Deed, Risk, Touch, strictest
from gate.shell import paths, scripts, sql
from gate.shell.match import Match, match
from gate.shell.model import Clause, Never, Reads, Rules, Verb, Wraps
from gate.shell.words import UNKNOWN, Word

_SLOT = re.compile(r"\{(\*|\d|--?[\w-]+)\}")
#: How a glob may begin for its matches never to be taken for options.
_NO_OPTION = re.compile(r"[^-*?]")
_OPERAND_CODE = re.compile(r"@(\d)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Inner:
    """Something that runs inside: words, or text for another shell."""

    words: tuple[Word, ...] = ()
    text: str = ""
    weighs_only_destruction: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What one simple command does.

    Attributes:
        asks: why it never runs unasked although it changes nothing; "" when nothing speaks against it.
        inner: what it runs in turn.
        shell: its commands come from text; `reads_stdin_code`: from standard input.
        fetches, sends: prints what comes from elsewhere; can carry data away.
        shows: prints what is in the files it is given. `raises_user`: runs `inner` as root (sudo).
    """

    text: str
    risk: Risk
    reason: str
    never: str | None = None
    asks: str = ""
    secret: bool = False
    deed: Deed | None = None
    touches: tuple[Touch, ...] = ()
    undo: str | None = None
    dry_run: str | None = None
    inner: tuple[Inner, ...] = ()
    shell: bool = False
    reads_stdin_code: bool = False
    fetches: bool = False
    sends: bool = False
    shows: bool = False
    raises_user: bool = False
    depth: int = 0


def judge(words: Sequence[Word], *, rules: Rules, text: str = "", cwd: str = "", feed: str = "") -> Finding:
    """Judge one command.

    Args:
        words: the program's name and its arguments, decoded; at least one.
        rules: what is known about programs.
        text: the command's source, for people.
        cwd: where relative paths lie, as far as the line itself says.
        feed: what stands on standard input, as far as known.
    """
    name = words[0].text.rpartition("/")[2]
    verb = rules.programs.get(name)
    text = text or " ".join(word.raw for word in words)
    if verb is None:
        return _unknown(name, words, rules, text)
    case = _Case(match(verb, words[1:]), rules=rules, text=text, cwd=cwd, feed=feed)
    finding = case.finding()
    for overlay in rules.overlays.get(name, ()):
        finding = _tighten(finding, overlay, words, case)
    return finding


def _unknown(name: str, words: Sequence[Word], rules: Rules, text: str) -> Finding:
    reason = (
        f"{name} is not known here" if name and UNKNOWN not in name else "what runs is known only at run time"
    )
    risk = Risk.CONFIG_MUTATION
    if any(
        rules.places.destroying_words.fullmatch(word) for word in [name, *(word.text for word in words[1:6])]
    ):
        risk, reason = Risk.DESTRUCTIVE, f"{reason}, and by its words it deletes"
    secret = any(paths.holds_secret(word, rules.places) for word in words)
    return Finding(text=text, risk=risk, reason=reason, secret=secret)


def _tighten(finding: Finding, overlay: Verb, words: Sequence[Word], case: "_Case") -> Finding:
    extra = _Case(match(overlay, words[1:]), rules=case.rules, text=case.text, cwd=case.cwd, feed=case.feed)
    risks = [rule.risk for rule in extra.found.chain if rule.risk is not None][-1:]
    clauses = [clause for clause in extra.clauses() if not clause.lower]
    risks += [clause.risk for clause in clauses if clause.risk is not None]
    asks = extra.found.verb.asks or next((clause.reason for clause in clauses if clause.asks), "")
    if any(risk.rank > finding.risk.rank for risk in risks):
        reasons = [clause.reason for clause in clauses if clause.risk is strictest(*risks)]
        reason = next(iter(reasons), extra.found.verb.reason or "the operator's rules say so")
        finding = replace(finding, risk=strictest(*risks), reason=reason)
    secret = finding.secret or any(clause.secret for clause in clauses) or extra.found.verb.secret
    return replace(finding, asks=finding.asks or asks, secret=secret)


class _Case:
    """One command against one rule."""

    def __init__(self, found: Match, *, rules: Rules, text: str, cwd: str, feed: str) -> None:
        self.found = found
        self.verb = found.verb
        self.rules = rules
        self.text = text
        self.cwd = cwd
        self.feed = feed
        self.code, self.operands = self._split_code()
        self.line = ""

    # -- what the rule says

    def finding(self) -> Finding:
        risk, reason = self._base()
        clauses = self.clauses()
        risk, reason = self._lowered(clauses, risk, reason)
        raising = [clause for clause in clauses if not clause.lower]
        if risk is Risk.CONFIG_MUTATION and self._unknown_verb_deletes():
            risk, reason = Risk.DESTRUCTIVE, "by its words it deletes"
        for clause in raising:
            if clause.risk is not None and clause.risk.rank > risk.rank:
                risk, reason = clause.risk, clause.reason
        if risk is Risk.READ_ONLY:
            doubt = self._doubt()
            if doubt:
                risk, reason = Risk.CONFIG_MUTATION, doubt
        secret = self._secret(raising)
        never = self._never(raising)
        if never:
            risk, reason = Risk.DESTRUCTIVE, never
        return Finding(
            text=self.text,
            risk=risk,
            reason=reason or "only reads",
            never=never,
            asks=self._asks(raising, secret=secret),
            secret=secret,
            deed=self._deed(clauses),
            touches=self._touches() if risk is not Risk.READ_ONLY else (),
            undo=self._filled(clauses, "undo"),
            dry_run=self._filled(clauses, "dry_run"),
            inner=self._inner(),
            shell=self.verb.shell,
            reads_stdin_code=self.verb.shell and not self._script_given(),
            fetches=self._any(lambda rule: rule.fetches),
            sends=self._any(lambda rule: rule.sends),
            raises_user=self.verb.raises_user,
            shows=self.verb.reads is Reads.CONTENT,
        )

    def _any(self, test: Callable[[Verb], bool]) -> bool:
        return any(test(rule) for rule in self.found.chain)

    def _base(self) -> tuple[Risk, str]:
        if self.found.bare and self.verb.bare is not None:
            return self.verb.bare, ""
        risk = next(
            (rule.risk for rule in reversed(self.found.chain) if rule.risk is not None), Risk.CONFIG_MUTATION
        )
        reason = next((rule.reason for rule in reversed(self.found.chain) if rule.reason), "")
        if self.verb.checker == "sql" and (self.code or self.feed):
            risk, reason = sql.judge(";".join([*self.code, self.feed]))
        return risk, reason

    def clauses(self) -> list[Clause]:
        """Return the clauses that hold, in the order of the rule file."""
        return [clause for rule in self.found.chain for clause in rule.clauses if self._holds(rule, clause)]

    def _holds(self, rule: Verb, clause: Clause) -> bool:
        return self._options_hold(rule, clause) and self._operands_hold(clause)

    def _options_hold(self, rule: Verb, clause: Clause) -> bool:
        found = self.found
        loose = not clause.lower
        given = found.scope(rule)
        values = [value for name in clause.has for value in given.get(name, ())] if clause.value else []
        return (
            (not clause.has or found.has(clause.has, abbreviated=loose, given=given))
            and all(found.has(frozenset({name}), abbreviated=loose, given=given) for name in clause.all_of)
            and not found.has(clause.lacks, abbreviated=False, given=given)
            and (clause.value is None or any(clause.value.fullmatch(value) for value in values))
        )

    def _operands_hold(self, clause: Clause) -> bool:
        count = len(self.operands)
        return (
            count >= clause.min_args
            and (clause.max_args is None or count <= clause.max_args)
            and (clause.arg is None or any(clause.arg.fullmatch(word.text) for word in self.operands))
            and (clause.text is None or clause.text.search(self._line()) is not None)
        )

    def _line(self) -> str:
        if not self.line:
            found = self.found
            given = [*found.before.items(), *found.given.items()]
            options = [f"{name} {value}".strip() for name, values in given for value in values]
            words = [word.text for word in [*found.operands, *found.rest]]
            self.line = " ".join([*found.path, *words, *options, self.feed]).strip()
        return self.line

    def _lowered(self, clauses: list[Clause], risk: Risk, reason: str) -> tuple[Risk, str]:
        if self.found.unknown:
            return risk, reason
        for clause in clauses:
            if clause.lower and clause.risk is not None:
                risk, reason = clause.risk, clause.reason
        return risk, reason

    def _unknown_verb_deletes(self) -> bool:
        if not self.verb.verbs:
            return False
        words = [word.text for word in self.found.operands[:3]]
        return any(self.rules.places.destroying_words.fullmatch(word) for word in words)

    # -- doubts about something that would be read-only

    def _doubt(self) -> str | None:
        if self.found.unknown:
            return f"{self.found.unknown[0]} is not known to be harmless here"
        count = len(self.operands)
        verb = self.verb
        if count < verb.min_args or (verb.max_args is not None and count > verb.max_args):
            return "this many arguments are not known to be harmless here"
        if verb.match is not None:
            for word in self.operands:
                if not verb.match.fullmatch(word.text):
                    return f"{word.text} is not known to be harmless here"
        return self._glob_doubt() or self._code_doubt()

    def _glob_doubt(self) -> str | None:
        for word in self.operands:
            fixed = self.verb.max_args is None and _NO_OPTION.match(word.text)
            if word.glob and not (fixed or self.verb.glob):
                return f"file names that match {word.text} could be taken for options"
        if any(word.glob for word in self.found.operands if word not in self.operands):
            return "file names could become code here"
        return None

    def _code_doubt(self) -> str | None:
        for code in self.code:
            objection = scripts.objection(self.verb.checker, code)
            if objection:
                return objection
        return None

    # -- secrets

    def _secret(self, raising: list[Clause]) -> bool:
        if self._any(lambda rule: rule.secret) or any(clause.secret for clause in raising):
            return True
        places = self.rules.places
        files = self.operands if self.verb.reads is Reads.CONTENT else []
        if any(paths.holds_secret(word, places) for word in [*files, *self.found.paths, *self._values()]):
            return True
        if not self._recurses():
            return False
        if not files or any(paths.may_hold_secrets_below(word.text, places) for word in files):
            return True
        return places.secret_words.search(self._line()) is not None

    def _values(self) -> list[Word]:
        """Return what options were given: should a rule be wrong about one, its value is a file to read."""
        if self.verb.reads is not Reads.CONTENT:
            return []
        given = self.found.given.items()
        values = [value for name, values in given if name not in self.verb.code for value in values if value]
        return [Word(text=value, raw=value) for value in values]

    def _recurses(self) -> bool:
        recurse = self.verb.recurse
        return "*" in recurse or (bool(recurse) and self.found.has(recurse, abbreviated=True))

    def _asks(self, raising: list[Clause], *, secret: bool) -> str:
        if secret:
            return "may show secrets"
        said = next((clause.reason for clause in raising if clause.asks), "")
        return said or next((rule.asks for rule in reversed(self.found.chain) if rule.asks), "")

    # -- the never list

    def _never(self, raising: list[Clause]) -> str | None:
        for clause in raising:
            for word in self.operands:
                if clause.never is Never.SYSTEM_PATH and paths.is_system(
                    word.text, self.rules.places, cwd=self.cwd
                ):
                    return f"{clause.reason or 'destroys a system folder or a home'}: {word.text}"
                if clause.never is Never.SYSTEM_DISK and paths.is_system_disk(word.text, self.rules.places):
                    return f"{clause.reason or 'writes to a system disk'}: {word.text}"
        return None

    # -- code and commands inside

    def _split_code(self) -> tuple[list[str], list[Word]]:
        names = self.verb.code
        operands = list(self.found.operands)
        code = self.found.values(frozenset(name for name in names if not name.startswith("@")))
        if code or self.found.has(
            frozenset(name for name in names if name.startswith("-")), abbreviated=False
        ):
            return code, operands
        for name in names:
            position = _OPERAND_CODE.fullmatch(name)
            if position and len(operands) >= int(position[1]):
                return [operands.pop(int(position[1]) - 1).text], operands
        return code, operands

    def _script_given(self) -> bool:
        return bool(
            self.code or (self.found.operands and not self.found.has(frozenset({"-s"}), abbreviated=False))
        )

    def _inner(self) -> tuple[Inner, ...]:
        inner = [Inner(words=tuple(words)) for words in self.found.inner if words]
        match self.verb.wraps:
            case Wraps.COMMAND if self.found.rest:
                inner.append(Inner(words=tuple(self.found.rest)))
            case Wraps.SHELL if self.found.rest:
                inner.append(Inner(text=" ".join(word.text for word in self.found.rest)))
            case Wraps.SCRIPT:
                # Operands too: `sh -cx CODE` gives its code as one.
                inner += [Inner(text=code) for code in [*self.code, *(word.text for word in self.operands)]]
            case _:
                pass
        if self.verb.wraps in (Wraps.COMMAND, Wraps.SHELL):
            inner += [Inner(text=code) for code in self.code]
        if self.verb.checker == "code":
            inner += [
                Inner(text=literal, weighs_only_destruction=True)
                for code in [*self.code, self.feed]
                for literal in scripts.strings_in(code)
            ]
        return tuple(inner)

    # -- what to call it

    def _fill(self, template: str) -> str:
        operands = [word.text for word in self.operands]

        def slot(found: re.Match[str]) -> str:
            key = found[1]
            if key == "*":
                return " ".join(operands)
            if key.isdigit():
                return operands[int(key) - 1] if 0 < int(key) <= len(operands) else ""
            return " ".join(self.found.given.get(key, ()))

        return _SLOT.sub(slot, template).strip()

    def _deed(self, clauses: list[Clause]) -> Deed | None:
        said = [clause.deed for clause in clauses if clause.deed] or [
            rule.deed for rule in reversed(self.found.chain) if rule.deed
        ]
        if not said:
            return None
        verb, template = said[0]
        filled = self._fill(template)
        return Deed(verb=verb, object="" if UNKNOWN in filled else filled)

    def _touches(self) -> tuple[Touch, ...]:
        touches: list[Touch] = []
        for kind, template in next((rule.touches for rule in reversed(self.found.chain) if rule.touches), ()):
            every = [word.text for word in self.operands] if template == "{*}" else [self._fill(template)]
            touches += [Touch(kind=kind, name=name) for name in every if name and UNKNOWN not in name]
        return tuple(touches)

    def _filled(self, clauses: list[Clause], what: str) -> str | None:
        said: list[str] = [getattr(clause, what) for clause in clauses] + [
            getattr(rule, what) for rule in reversed(self.found.chain)
        ]
        return next((self._fill(template) for template in said if template), None)
