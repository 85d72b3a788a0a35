"""One simple command against the rule table: its class, and everything a card wants to know about it.

Used by both readers: strict hands in words it is certain of, lenient hands in its best guess. What a rule
does not know exactly makes a read-only command a config_mutation here.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gate.domain import Deed, Risk, Touch, strictest
from gate.shell import paths, scripts, sql
from gate.shell.match import Match, match
from gate.shell.model import Clause, Known, Never, Reads, Rules, Wraps
from gate.shell.naming import NAMELESS, Given, names, touches
from gate.shell.words import UNKNOWN, Word

_FORCED = re.compile(r"-(?=\w*[rR])(?=\w*f)[a-zA-Z]{2,5}")
#: How a glob may begin for its matches never to be taken for options.
_NO_OPTION = re.compile(r"[^-*?]")


class Inner(NamedTuple):
    """Something that runs inside: words, or text for another shell."""

    words: tuple[Word, ...] = ()
    text: str = ""
    weighs_only_destruction: bool = False


class Finding(NamedTuple):
    """What one simple command does. A tuple because one is made for every command.

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
    known = rules.programs.get(name)
    text = text or " ".join(word.raw for word in words)
    if (
        not words[0].certain
        and "$" in words[0].raw
        and any(_FORCED.fullmatch(word.text) for word in words[1:])
    ):
        return _computed(words, rules, text, cwd)
    if known is None:
        return _unknown(name, words, rules, text)
    case = _Case(match(known, words[1:]), rules=rules, text=text, cwd=cwd, feed=feed)
    finding = case.finding()
    for overlay in rules.overlays.get(name, ()):
        finding = _tighten(finding, overlay, words, case)
    return finding


def _computed(words: Sequence[Word], rules: Rules, text: str, cwd: str) -> Finding:
    """Judge what is known only at run time but is called as one calls rm."""
    system = next((word for word in words[1:] if paths.is_system(word.text, rules.places, cwd=cwd)), None)
    return Finding(
        text=text,
        risk=Risk.DESTRUCTIVE,
        reason="what runs is known only at run time, and it is called as one calls rm",
        never=f"may delete a system folder or a home: {system.text}" if system else None,
    )


def _unknown(name: str, words: Sequence[Word], rules: Rules, text: str) -> Finding:
    reason = (
        f"{name} is not known here" if name and UNKNOWN not in name else "what runs is known only at run time"
    )
    risk = Risk.CONFIG_MUTATION
    if _deletes([name, *[word.text for word in words[1:6]]], rules):
        risk, reason = Risk.DESTRUCTIVE, f"{reason}, and by its words it deletes"
    secret = paths.any_holds_secret(words, rules.places)
    return Finding(text=text, risk=risk, reason=reason, secret=secret)


def _deletes(words: Sequence[str], rules: Rules) -> bool:
    destroys = rules.places.destroying_words.fullmatch
    return any(map(destroys, words))


def _tighten(finding: Finding, overlay: Known, words: Sequence[Word], case: "_Case") -> Finding:
    extra = _Case(match(overlay, words[1:]), rules=case.rules, text=case.text, cwd=case.cwd, feed=case.feed)
    clauses = [clause for clause in extra.clauses() if not clause.lower]
    risks = [risk for risk in (extra.known.risk, *(clause.risk for clause in clauses)) if risk is not None]
    asks = extra.verb.asks or next((clause.reason for clause in clauses if clause.asks), "")
    if any(risk.rank > finding.risk.rank for risk in risks):
        reasons = [clause.reason for clause in clauses if clause.risk is strictest(*risks)]
        reason = next(iter(reasons), extra.verb.reason or "the operator's rules say so")
        finding = finding._replace(risk=strictest(*risks), reason=reason)
    secret = finding.secret or any(clause.secret for clause in clauses) or extra.verb.secret
    return finding._replace(asks=finding.asks or asks, secret=secret)


class _Case:
    """One command against one rule."""

    __slots__ = ("code", "cwd", "feed", "found", "known", "line", "operands", "rules", "text", "verb")

    def __init__(self, found: Match, *, rules: Rules, text: str, cwd: str, feed: str) -> None:
        self.found = found
        self.known = found.known
        self.verb = found.known.verb
        self.rules = rules
        self.text = text
        self.cwd = cwd
        self.feed = feed
        self.operands: Sequence[Word] = found.operands
        self.code: Sequence[str] = self._take_code() if self.verb.code else ()
        self.line: str | None = None

    # -- what the rule says

    def finding(self) -> Finding:
        known, verb = self.known, self.verb
        clauses = self.clauses() if known.clauses else []
        risk, reason = self._base()
        raising = clauses
        if clauses:
            risk, reason = self._lowered(clauses, risk, reason)
            raising = [clause for clause in clauses if not clause.lower]
        if risk is Risk.CONFIG_MUTATION and known.below and self._unknown_verb_deletes():
            risk, reason = Risk.DESTRUCTIVE, "by its words it deletes"
        for clause in raising:
            if clause.risk is not None and clause.risk.rank > risk.rank:
                risk, reason = clause.risk, clause.reason
        if risk is Risk.READ_ONLY:
            doubt = self._doubt()
            if doubt:
                risk, reason = Risk.CONFIG_MUTATION, doubt
        elif risk is Risk.REVERSIBLE_LOW and (strange := self._strange(raising)):
            risk = Risk.CONFIG_MUTATION
            reason = f"{reason}, and {strange} is not known to be harmless here"
        never = self._never(raising) if raising else None
        if never:
            risk, reason = Risk.DESTRUCTIVE, never
        secret = self._secret(raising)
        given = Given(self.operands, self.found.given, self.found.before, self.found.path)
        named = names(known, clauses, given) if clauses or known.named else NAMELESS
        return Finding(
            text=self.text,
            risk=risk,
            reason=reason or "only reads",
            never=never,
            asks="may show secrets" if secret else self._asks(raising),
            secret=secret,
            deed=named.deed,
            touches=touches(known, given) if known.touches and risk is not Risk.READ_ONLY else (),
            undo=named.undo,
            dry_run=named.dry_run,
            inner=self._inner() if known.hands_on or self.found.inner else (),
            shell=verb.shell,
            reads_stdin_code=verb.shell and not self._script_given(),
            fetches=known.fetches,
            sends=known.sends,
            raises_user=verb.raises_user,
            shows=verb.reads is Reads.CONTENT,
        )

    def _base(self) -> tuple[Risk, str]:
        if self.found.bare and self.verb.bare is not None:
            return self.verb.bare, ""
        if self.verb.checker == "sql" and (self.code or self.feed):
            return sql.judge(";".join([*self.code, self.feed]))
        return self.known.risk or Risk.CONFIG_MUTATION, self.known.reason

    def clauses(self) -> list[Clause]:
        """Return the clauses that hold, in the order of the rule file."""
        found = self.found
        holding: list[Clause] = []
        for clause, before in self.known.clauses:
            given = found.before if before else found.given
            # Most clauses wait for an option that is not there.
            if clause.has and clause.has.isdisjoint(given) and not self._abbreviated(clause, given):
                continue
            if self._holds(clause, given):
                holding.append(clause)
        return holding

    def _abbreviated(self, clause: Clause, given: Mapping[str, list[str]]) -> bool:
        return bool(self.found.unknown) and self.found.has(
            clause.has, abbreviated=not clause.lower, given=given
        )

    def _holds(self, clause: Clause, given: Mapping[str, list[str]]) -> bool:
        if clause.lacks and not clause.lacks.isdisjoint(given):
            return False
        return self._operands_hold(clause) and self._options_hold(clause, given)

    def _options_hold(self, clause: Clause, given: Mapping[str, list[str]]) -> bool:
        if clause.value is not None:
            values = [value for name in clause.has for value in given.get(name, ())]
            # The last one given may win, so a milder class needs all of them to be what it is for.
            matches = all if clause.lower and values else any
            if not matches(clause.value.fullmatch(value) for value in values):
                return False
        loose = not clause.lower
        return all(
            self.found.has(frozenset({name}), abbreviated=loose, given=given) for name in clause.all_of
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
        if self.line is None:
            found = self.found
            given = [*found.before.items(), *found.given.items()]
            options = [f"{name} {value}".strip() for name, values in given for value in values]
            words = [word.text for word in [*found.operands, *found.rest]]
            self.line = " ".join([*found.path, *words, *options, self.feed]).strip()
        return self.line

    def _lowered(self, clauses: Sequence[Clause], risk: Risk, reason: str) -> tuple[Risk, str]:
        if self.found.unknown:
            return risk, reason
        for clause in clauses:
            if clause.lower and clause.risk is not None:
                risk, reason = clause.risk, clause.reason
        return risk, reason

    def _unknown_verb_deletes(self) -> bool:
        return _deletes([word.text for word in self.found.operands[:3]], self.rules)

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
        return self._glob_doubt() or (self._code_doubt() if self.code else None)

    def _strange(self, raising: list[Clause]) -> str | None:
        """Return a word that neither the rule nor a clause that holds knows."""
        named = frozenset[str]().union(*(clause.has | clause.all_of for clause in raising))
        return next((word for word in self.found.unknown if word not in named), None)

    def _glob_doubt(self) -> str | None:
        verb = self.verb
        for word in self.operands:
            if word.glob and not verb.glob and not (verb.max_args is None and _NO_OPTION.match(word.text)):
                return f"file names that match {word.text} could be taken for options"
        if len(self.operands) < len(self.found.operands) and any(
            word.glob for word in self.found.operands if word not in self.operands
        ):
            return "file names could become code here"
        return None

    def _code_doubt(self) -> str | None:
        for code in self.code:
            objection = scripts.objection(self.verb.checker, code)
            if objection:
                return objection
        return None

    # -- secrets

    def _secret(self, raising: Sequence[Clause]) -> bool:
        if self.known.secret or (raising and any(clause.secret for clause in raising)):
            return True
        places = self.rules.places
        shows = self.verb.reads is Reads.CONTENT
        files = self.operands if shows else ()
        if paths.any_holds_secret(files, places) or paths.any_holds_secret(self.found.paths, places):
            return True
        if shows and self.found.given and self._value_is_secret():
            return True
        if not self.verb.recurse or not self._recurses():
            return False
        if not files or any(paths.may_hold_secrets_below(word.text, places) for word in files):
            return True
        return places.secret_words.search(self._line()) is not None

    def _value_is_secret(self) -> bool:
        """Whether what an option was given is: should a rule be wrong about it, it is a file to read."""
        return any(
            paths.is_secret(value, self.rules.places)
            for name, values in self.found.given.items()
            if name not in self.verb.code
            for value in values
            if value
        )

    def _recurses(self) -> bool:
        recurse = self.verb.recurse
        return "*" in recurse or self.found.has(recurse, abbreviated=True, given=self.found.given)

    def _asks(self, raising: Sequence[Clause]) -> str:
        for clause in raising:
            if clause.asks:
                return clause.reason
        return self.known.asks

    # -- the never list

    def _never(self, raising: Sequence[Clause]) -> str | None:
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

    def _take_code(self) -> list[str]:
        """Return what is code among the arguments; an operand that is leaves the operands."""
        given = self.found.given
        code = [
            value for name, values in given.items() if name in self.known.code_options for value in values
        ]
        if code or not self.known.code_flags.isdisjoint(given):
            return code
        for position in self.known.code_operands:
            if position < len(self.operands):
                self.operands = [*self.operands[:position], *self.operands[position + 1 :]]
                return [self.found.operands[position].text]
        return []

    def _script_given(self) -> bool:
        return bool(self.code or (self.found.operands and "-s" not in self.found.given))

    def _inner(self) -> tuple[Inner, ...]:
        found, wraps = self.found, self.verb.wraps
        inner = [Inner(words=tuple(words)) for words in found.inner if words]
        if wraps is Wraps.COMMAND and found.rest:
            inner.append(Inner(words=tuple(found.rest)))
        elif wraps is Wraps.SHELL and found.rest:
            inner.append(Inner(text=" ".join(word.text for word in found.rest)))
        elif wraps is Wraps.SCRIPT:
            # Operands too: `sh -cx CODE` gives its code as one.
            inner += [Inner(text=code) for code in [*self.code, *(word.text for word in self.operands)]]
        if self.known.runs_rest:
            inner += [Inner(text=code) for code in self.code]
        if self.verb.checker == "code":
            inner += [
                Inner(text=literal, weighs_only_destruction=True)
                for code in [*self.code, self.feed]
                for literal in scripts.strings_in(code)
            ]
        return tuple(inner)
