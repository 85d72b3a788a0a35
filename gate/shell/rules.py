"""From plain documents (parsed TOML) to a rule table; strict, so that a typing error cannot loosen anything.

Reads no file: bot.loading.rules does. Every unknown key, wrong type and bad pattern raises RuleError with the
file and the key. Rule for operators' files: they may add programs and tighten built-in ones; only a file that
says `override = true` replaces a built-in program.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence

from gate.errors import RuleError
from gate.shell._reader import Reader
from gate.shell._schema import read_examples, read_places, read_program
from gate.shell.model import Known, Rules, Verb
from gate.shell.table import known

__all__ = ["Document", "Rules", "parse"]

_KEYS = ("program", "places", "examples", "override")
Document = Mapping[str, object]


def parse(documents: Mapping[str, Document], *, extra: Mapping[str, Document] | None = None) -> Rules:
    """Build the rule table.

    Args:
        documents: the built-in rule files by name, as parsed TOML.
        extra: the operator's files by name. Tightening always wins over the built-in rules.

    Raises:
        RuleError: naming the file and the key that are wrong.
    """
    extra = extra or {}
    programs: dict[str, Verb] = {}
    overlays: dict[str, tuple[Verb, ...]] = {}
    for source, document in documents.items():
        _add_programs(programs, source, document)
    for source, document in extra.items():
        _add_extra(programs, overlays, source, document)
    every = [(source, document) for group in (documents, extra) for source, document in group.items()]
    return Rules(
        programs=_worked_out(programs),
        overlays={name: tuple(known(verb) for verb in verbs) for name, verbs in overlays.items()},
        places=read_places([Reader(source, document, "").table("places") for source, document in every]),
        examples=tuple(example for source, document in every for example in read_examples(source, document)),
        revision=_revision(documents, extra),
    )


def _worked_out(programs: Mapping[str, Verb]) -> dict[str, Known]:
    """One entry for each rule, however many names it has."""
    entries = {id(verb): known(verb) for verb in {id(item): item for item in programs.values()}.values()}
    return {name: entries[id(verb)] for name, verb in programs.items()}


def _programs(source: str, document: Document, *, neutral: bool) -> list[Verb]:
    reader = Reader(source, document, "")
    reader.only(*_KEYS)
    return [read_program(item, neutral=neutral) for item in reader.tables("program")]


def _add_programs(programs: dict[str, Verb], source: str, document: Document) -> None:
    if "override" in document:
        raise RuleError(f"{source}: override: only an operator's own rule file may say override")
    for verb in _programs(source, document, neutral=False):
        for name in verb.names:
            if name in programs:
                raise RuleError(f"{source}: program {name}: already ruled on in another place")
            programs[name] = verb


def _add_extra(
    programs: dict[str, Verb], overlays: dict[str, tuple[Verb, ...]], source: str, document: Document
) -> None:
    override = Reader(source, document, "").flag("override")
    for verb in _programs(source, document, neutral=not override):
        for name in verb.names:
            if override or name not in programs:
                if verb.risk is None:
                    raise RuleError(f"{source}: program {name}: class is missing")
                programs[name] = verb
            else:
                overlays[name] = (*overlays.get(name, ()), verb)


def _revision(*groups: Mapping[str, Document]) -> str:
    content: Sequence[object] = [sorted(group.items()) for group in groups]
    return hashlib.sha256(
        json.dumps(content, sort_keys=True, ensure_ascii=True, default=str).encode()
    ).hexdigest()
