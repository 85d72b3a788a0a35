"""What a rule says once everything above it is taken into account, worked out when the rules are loaded.

A sub-verb inherits from its program and the verbs between; looking that up for every word of every command
would cost more than the judgement. It reads no document (gate.shell.rules does) and judges nothing.
"""

import re
from collections.abc import Iterable

from gate.shell.model import Known, Verb, Wraps

_OPERAND_CODE = re.compile(r"@(\d)")


def known(verb: Verb, above: tuple[Verb, ...] = ()) -> Known:
    """Work out a verb and everything below it."""
    chain = (*above, verb)
    upwards = chain[::-1]
    hidden = {id(rule) for rule in above if rule.globals_first}
    return Known(
        verb=verb,
        chain=chain,
        below=_below(verb, chain),
        options={
            name: option for rule in chain if id(rule) not in hidden for name, option in rule.options.items()
        },
        clauses=tuple((clause, id(rule) in hidden) for rule in chain for clause in rule.clauses),
        single=any(rule.single for rule in chain),
        runs_rest=verb.wraps in (Wraps.COMMAND, Wraps.SHELL),
        hands_on=verb.wraps is not Wraps.NOTHING or verb.checker == "code",
        code_options=frozenset(name for name in verb.code if not name.startswith("@")),
        code_flags=frozenset(name for name in verb.code if name.startswith("-")),
        code_operands=_positions(verb.code),
        risk=next((rule.risk for rule in upwards if rule.risk is not None), None),
        reason=next((rule.reason for rule in upwards if rule.reason), ""),
        asks=next((rule.asks for rule in upwards if rule.asks), ""),
        deed=next((rule.deed for rule in upwards if rule.deed), None),
        touches=next((rule.touches for rule in upwards if rule.touches), ()),
        undo=next((rule.undo for rule in upwards if rule.undo), ""),
        dry_run=next((rule.dry_run for rule in upwards if rule.dry_run), ""),
        named=any(rule.deed or rule.undo or rule.dry_run for rule in chain),
        secret=any(rule.secret for rule in chain),
        fetches=any(rule.fetches for rule in chain),
        sends=any(rule.sends for rule in chain),
    )


def _below(verb: Verb, chain: tuple[Verb, ...]) -> dict[str, Known]:
    """One entry for each rule, however many names it has."""
    entries = {
        id(rule): known(rule, chain) for rule in {id(item): item for item in verb.verbs.values()}.values()
    }
    return {name: entries[id(rule)] for name, rule in verb.verbs.items()}


def _positions(code: Iterable[str]) -> tuple[int, ...]:
    found = [_OPERAND_CODE.fullmatch(name) for name in sorted(code)]
    return tuple(int(item[1]) - 1 for item in found if item)
