"""The verdict on a shell line: the stricter of two readers, and of what the caller declared.

`classify` is pure and never raises, whatever the text. It runs nothing unasked that the strict reader is not
certain of. What is not known is config_mutation (N13); a declared risk only ever raises (N14).
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from gate.domain import Part, Risk, Touch, Verdict
from gate.shell import bytes as characters
from gate.shell import lenient, strict
from gate.shell.judge import Finding
from gate.shell.model import Rules
from gate.shell.parse import parse
from gate.shell.plain import plain_words
from gate.shell.tree import WORD_KINDS
from gate.shell.words import decode

_SUDO_PREFIX = re.compile(r"sudo[ \t]+(?:-n[ \t]+)?(?=[^-\s])")


def classify(
    command: str,
    *,
    rules: Rules,
    declared_risk: str | None = None,
    become: bool = False,
    as_root: bool = False,
) -> Verdict:
    """Judge one command.

    Args:
        command: the line exactly as it would be handed to bash.
        rules: what is known about programs.
        declared_risk: what the proposer says about it; it can only raise, and an unknown word escalates.
        become: the target lets sayso become root, so that a line which is `sudo X` and nothing else may run
            unasked when X may (D16).
        as_root: the command runs as root already, which puts a piped remote script on the never list.
    """
    verdict = _judged(command, rules=rules, as_root=as_root)
    if become and verdict.risk is Risk.READ_ONLY and not verdict.auto_run:
        inner = without_sudo(command, rules)
        if inner is not None:
            verdict = _judged(inner, rules=rules, as_root=True)
    return verdict if declared_risk is None else _declared(verdict, declared_risk)


def without_sudo(command: str, rules: Rules) -> str | None:
    """Return X when the whole line is `sudo X` or `sudo -n X`, X one plain command; else None."""
    found = _SUDO_PREFIX.match(command)
    if found is None or characters.objection(command) is not None:
        return None
    inner = command[found.end() :]
    tree = parse(inner)
    reading = strict.read(tree, rules=rules)
    if reading.refusal is not None or len(reading.findings) != 1 or len(tree.root.children) != 1:
        return None
    node = tree.root.children[0]
    kinds = {child.kind for child in node.children}
    if node.kind != "command" or not kinds <= {"command_name", *WORD_KINDS}:
        return None
    name = decode(node.children[0].text).text.rpartition("/")[2]
    known = rules.programs.get(name)
    return None if known and known.verb.raises_user else inner


def _judged(command: str, *, rules: Rules, as_root: bool) -> Verdict:
    if not command.strip():
        return _plain(Risk.CONFIG_MUTATION, "there is no command in it")
    if len(command) > characters.MAX_READABLE_CHARS:
        return _plain(Risk.DESTRUCTIVE, "too long to be judged at all")
    objection = characters.objection(command)
    if objection is None:
        words = plain_words(command)
        one = strict.read_one(words, rules=rules, text=command) if words else None
        if one is not None:
            return _verdict((one,), strict.Reading(findings=(one,)))
    seen = characters.without_hidden(command) if objection else command
    tree = parse(seen)
    reading = strict.read(tree, rules=rules) if objection is None else strict.Reading(refusal=objection)
    pieces = [lenient.Piece(text=seen, tree=tree, judged=reading.judged)]
    if objection is None and reading.refusal is not None and "\n" in command:
        by_line = _by_line(command, rules)
        if by_line is not None:
            pieces, reading = by_line
    return _verdict(lenient.read(pieces, rules=rules, as_root=as_root), reading)


def _by_line(command: str, rules: Rules) -> tuple[list[lenient.Piece], strict.Reading] | None:
    """Read line by line where every line is certain by itself; None where one is not.

    The grammar now and then joins two lines into one command. A line that the strict reader accepts is
    complete, so that reading them one after the other is what bash does.
    """
    pieces: list[lenient.Piece] = []
    findings: list[Finding] = []
    secret = False
    for line in command.split("\n"):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        tree = parse(line)
        reading = strict.read(tree, rules=rules)
        findings += reading.findings
        if reading.refusal is not None or line.endswith("\\") or len(findings) > characters.MAX_COMMANDS:
            return None
        secret = secret or reading.secret
        pieces.append(lenient.Piece(text=line, tree=tree, judged=reading.judged))
    return (pieces, strict.Reading(findings=tuple(findings), secret=secret)) if findings else None


def _plain(risk: Risk, reason: str) -> Verdict:
    return Verdict(risk=risk, auto_run=False, reasons=(reason,))


def _verdict(found: Sequence[Finding], reading: strict.Reading) -> Verdict:
    sure = reading.refusal is None
    everything = (*found, *reading.findings)
    risk = Risk.READ_ONLY if sure else Risk.CONFIG_MUTATION
    secret, asks = reading.secret, ""
    for finding in everything:
        if finding.risk is not risk and finding.risk.at_least(risk):
            risk = finding.risk
        secret = secret or finding.secret
        asks = asks or finding.asks
    if secret and not asks:
        asks = "may show secrets"
    parts: list[Part] = []
    touches: list[Touch] = []
    never: list[str] = []
    named: Finding | None = None
    for finding in found:
        parts.append(Part(text=finding.text, risk=finding.risk, reason=finding.reason, depth=finding.depth))
        touches += finding.touches
        if finding.never:
            never.append(finding.never)
        if named is None and finding.risk is risk:
            named = finding
    named = named or (found[0] if found else None)
    deciding = [finding.reason for finding in everything if finding.risk is risk]
    reasons = [asks, *deciding] if risk is Risk.READ_ONLY else [*never, *deciding, reading.refusal, asks]
    return Verdict(
        risk=risk,
        auto_run=sure and risk is Risk.READ_ONLY and not asks,
        never=never[0] if never else None,
        reasons=tuple(dict.fromkeys([reason for reason in reasons if reason])),
        parts=tuple(parts),
        touches=tuple(dict.fromkeys(touches)),
        deed=named.deed if named else None,
        reads_secrets=secret,
        undo=named.undo if named else None,
        dry_run=named.dry_run if named else None,
    )


def _declared(verdict: Verdict, declared_risk: str) -> Verdict:
    """Raise the verdict to what was declared; a word that is no class counts as config_mutation (N8)."""
    known = {risk.value: risk for risk in Risk}
    declared = known.get(declared_risk, Risk.CONFIG_MUTATION)
    if declared_risk in known and verdict.risk.at_least(declared):
        return verdict
    reason = (
        f"declared as {declared}"
        if declared_risk in known
        else f"declared as {declared_risk!r}, no known class"
    )
    if verdict.risk.at_least(declared):
        return replace(verdict, auto_run=False, reasons=(*verdict.reasons, reason))
    return replace(verdict, risk=declared, auto_run=False, reasons=(reason, *verdict.reasons))
