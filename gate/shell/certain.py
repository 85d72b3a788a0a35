"""Certainty about what changes something: whether the rules know a line to its last word.

For read-only lines the strict reader says so; this is the same question for the others, asked only where
somebody wants a line to run unasked by name (gate.trust_rules). Whatever is not known exactly is a doubt. It
judges no risk.
"""

from gate.shell.judge import judge
from gate.shell.match import Match, match
from gate.shell.model import Known, Rules
from gate.shell.plain import plain_words


def argv_of(command: str) -> tuple[str, ...]:
    """Return the words of a line that is one plain command, as the program gets them; () for any other."""
    return tuple(word.text for word in plain_words(command) or ())


def doubt(command: str, *, rules: Rules) -> str | None:
    """Return why it is not certain what `command` does, in words; None where the rules know all of it."""
    words = plain_words(command)
    if words is None:
        return "it is more than one plain command"
    name = words[0].text
    known = rules.programs.get(name)
    if known is None:
        return f"{name} is not known here"
    found = match(known, words[1:])
    strange = _strange(found)
    if strange is not None:
        return f"{strange} is not known here"
    finding = judge(words, rules=rules, text=command)
    if _hands_on(found.known) or finding.inner or finding.shell:
        return "it runs what stands in its arguments"
    return "it can carry data away" if finding.sends else finding.asks or None


def _strange(found: Match) -> str | None:
    """Return the first word that the rule of the program does not know."""
    if found.unknown:
        return found.unknown[0]
    if found.known.below and found.operands:
        return found.operands[0].text  # no sub-verb that is known
    verb = found.known.verb
    if verb.max_args is not None and len(found.operands) > verb.max_args:
        return found.operands[verb.max_args].text
    if verb.match is None:
        return None
    return next((word.text for word in found.operands if not verb.match.fullmatch(word.text)), None)


def _hands_on(known: Known) -> bool:
    return known.hands_on or bool(known.verb.code) or bool(known.verb.checker)
