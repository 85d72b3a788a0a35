"""The verdict on a shell line: the stricter of two readers, and of what the caller declared.

`classify` is pure and never raises, whatever the text. It runs nothing unasked that the strict reader is not
certain of. What is not known is config_mutation (N13); a declared risk only ever raises (N14).
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from gate.domain import Part, Risk, Verdict, strictest
from gate.shell import bytes as characters
from gate.shell import lenient, strict
from gate.shell.judge import Finding
from gate.shell.model import Rules
from gate.shell.parse import WORD_KINDS, parse, text_of
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
    return _declared(verdict, declared_risk)


def without_sudo(command: str, rules: Rules) -> str | None:
    """Return X when the whole line is `sudo X` or `sudo -n X`, X one plain command; else None."""
    found = _SUDO_PREFIX.match(command)
    if found is None or characters.objection(command) is not None:
        return None
    inner = command[found.end() :]
    root = parse(inner)
    reading = strict.read(root, rules=rules)
    if reading.refusal is not None or len(reading.findings) != 1 or root.child_count != 1:
        return None
    node = root.children[0]
    kinds = {child.type for child in node.children}
    if node.type != "command" or not kinds <= {"command_name", *WORD_KINDS}:
        return None
    name = decode(text_of(node.children[0])).text.rpartition("/")[2]
    return None if rules.programs.get(name) and rules.programs[name].raises_user else inner


def _judged(command: str, *, rules: Rules, as_root: bool) -> Verdict:
    if not command.strip():
        return _plain(Risk.CONFIG_MUTATION, "there is no command in it")
    if len(command) > characters.MAX_READABLE_CHARS:
        return _plain(Risk.DESTRUCTIVE, "too long to be judged at all")
    objection = characters.objection(command)
    seen = characters.without_hidden(command) if objection else command
    root = parse(seen)
    reading = strict.read(root, rules=rules) if objection is None else strict.Reading(refusal=objection)
    pieces = [lenient.Piece(text=seen, root=root, judged=reading.judged)]
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
        root = parse(line)
        reading = strict.read(root, rules=rules)
        findings += reading.findings
        if reading.refusal is not None or line.endswith("\\") or len(findings) > characters.MAX_COMMANDS:
            return None
        secret = secret or reading.secret
        pieces.append(lenient.Piece(text=line, root=root, judged=reading.judged))
    return (pieces, strict.Reading(findings=tuple(findings), secret=secret)) if findings else None


def _plain(risk: Risk, reason: str) -> Verdict:
    return Verdict(risk=risk, auto_run=False, reasons=(reason,))


def _verdict(found: Sequence[Finding], reading: strict.Reading) -> Verdict:
    everything = [*found, *reading.findings]
    floor = Risk.READ_ONLY if reading.refusal is None else Risk.CONFIG_MUTATION
    risk = strictest(floor, *(finding.risk for finding in everything))
    secret = reading.secret or any(finding.secret for finding in everything)
    asks = next(
        (finding.asks for finding in everything if finding.asks), "may show secrets" if secret else ""
    )
    deciding = next((finding for finding in found if finding.risk is risk), None)
    named = deciding or (found[0] if found else None)
    return Verdict(
        risk=risk,
        auto_run=risk is Risk.READ_ONLY and reading.refusal is None and not secret and not asks,
        never=next((finding.never for finding in found if finding.never), None),
        reasons=_reasons(found, reading, risk=risk, asks=asks),
        parts=tuple(
            Part(text=finding.text, risk=finding.risk, reason=finding.reason, depth=finding.depth)
            for finding in found
        ),
        touches=tuple(dict.fromkeys(touch for finding in found for touch in finding.touches)),
        deed=named.deed if named else None,
        reads_secrets=secret,
        undo=named.undo if named else None,
        dry_run=named.dry_run if named else None,
    )


def _reasons(found: Sequence[Finding], reading: strict.Reading, *, risk: Risk, asks: str) -> tuple[str, ...]:
    never = [finding.never for finding in found if finding.never]
    deciding = [finding.reason for finding in [*found, *reading.findings] if finding.risk is risk]
    refusal = [reading.refusal] if reading.refusal else []
    asked = [asks] if asks else []
    ordered = [*asked, *deciding] if risk is Risk.READ_ONLY else [*never, *deciding, *refusal, *asked]
    return tuple(dict.fromkeys(ordered))


def _declared(verdict: Verdict, declared_risk: str | None) -> Verdict:
    """Raise the verdict to what was declared; a word that is no class counts as config_mutation (N8)."""
    if declared_risk is None:
        return verdict
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
