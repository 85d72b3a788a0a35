"""The grammar of rule files: one reader per table, all of them strict.

Turns tables of plain values into the types of gate.shell.model. The option language is explained in
docs/risk.md: `-abc` is three flags, `--long` one, `=` takes a value, `=?` an attached one, `=a|b` one of
these, `=@` a path, `-#` a number.
"""

import re
from collections.abc import Mapping, Sequence

from gate.domain import TouchKind
from gate.shell._reader import Reader, choice
from gate.shell.model import Clause, Example, Never, Option, Places, Reads, Takes, Verb, Wraps

_VERB_KEYS = (
    "name",
    "class",
    "reason",
    "flags",
    "single",
    "operand_flags",
    "dashless",
    "globals_first",
    "verb",
    "bare",
    "args",
    "match",
    "reads",
    "recurse",
    "checker",
    "code",
    "inner",
    "wraps",
    "skip",
    "assigns",
    "raises_user",
    "shell",
    "fetches",
    "sends",
    "glob",
    "secret",
    "asks",
    "when",
    "deed",
    "touches",
    "undo",
    "dry_run",
)
_CLAUSE_KEYS = (
    "has",
    "all",
    "lacks",
    "value",
    "arg",
    "text",
    "min",
    "max",
    "lower",
    "class",
    "reason",
    "never",
    "secret",
    "asks",
    "deed",
    "undo",
    "dry_run",
)
_PLACE_KEYS = (
    "secret_paths",
    "secret_names",
    "secret_trees",
    "secret_words",
    "secret_samples",
    "open_trees",
    "system",
    "disks",
    "devices",
    "destroying_words",
)
_OPTION = re.compile(r"(?P<name>-[^=\s]+|\+[^=\s]+)(?:=(?P<value>.*))?")
CHECKERS = frozenset({"sed", "awk", "jq", "sql", "code"})
_TOUCH_KINDS = frozenset(kind.value for kind in TouchKind)
_PAIR = 2


def read_program(reader: Reader, *, neutral: bool) -> Verb:
    """Read a [[program]]; `neutral` lets the class be absent."""
    verb = read_verb(reader)
    if verb.risk is None and not neutral:
        raise reader.fail("class", "is missing")
    return verb


def read_verb(reader: Reader, *, single: bool = False) -> Verb:
    """Read a [[program]] or [[program.verb]] with everything below it."""
    reader.only(*_VERB_KEYS)
    names = reader.words("name")
    if not names:
        raise reader.fail("name", "is missing")
    single = reader.flag("single") or single
    low, high = _span(reader)
    options, number_flag = _options(reader, single=single)
    return Verb(
        names=names,
        risk=reader.risk("class"),
        reason=reader.text("reason"),
        options=options,
        number_flag=number_flag,
        single=single,
        operand_flags=reader.flag("operand_flags"),
        dashless=reader.flag("dashless"),
        globals_first=reader.flag("globals_first"),
        verbs=_verbs(reader, single=single),
        bare=reader.risk("bare"),
        min_args=low,
        max_args=high,
        match=reader.pattern("match"),
        reads=choice(reader, "reads", Reads, Reads.CONTENT),
        recurse=frozenset(reader.words("recurse")),
        checker=_checker(reader),
        code=frozenset(reader.words("code")),
        inner=frozenset(reader.words("inner")),
        wraps=choice(reader, "wraps", Wraps, Wraps.NOTHING),
        skip=reader.number("skip") or 0,
        assigns=reader.flag("assigns"),
        raises_user=reader.flag("raises_user"),
        shell=reader.flag("shell"),
        fetches=reader.flag("fetches"),
        sends=reader.flag("sends"),
        glob=reader.flag("glob"),
        secret=reader.flag("secret"),
        asks=reader.text("asks"),
        clauses=tuple(_clause(item) for item in reader.tables("when")),
        deed=_deed(reader),
        touches=_touches(reader),
        undo=reader.text("undo"),
        dry_run=reader.text("dry_run"),
    )


def _verbs(reader: Reader, *, single: bool) -> Mapping[str, Verb]:
    verbs: dict[str, Verb] = {}
    for item in reader.tables("verb"):
        verb = read_verb(item, single=single)
        for name in verb.names:
            if name in verbs:
                raise item.fail("name", f"{name} is there twice")
            verbs[name] = verb
    return verbs


def _span(reader: Reader) -> tuple[int, int | None]:
    """Read `args`: "2" exactly two, "0-1" up to one, "1+" one and more; absent means any number."""
    value = reader.text("args")
    found = re.fullmatch(r"(\d+)(?:(\+)|-(\d+))?", value or "0+")
    if found is None:
        raise reader.fail("args", 'must look like "2", "0-1" or "1+"')
    low = int(found[1])
    if found[2]:
        return low, None
    return low, int(found[3]) if found[3] else low


def _checker(reader: Reader) -> str:
    name = reader.text("checker")
    if name and name not in CHECKERS:
        raise reader.fail("checker", f"no such checker: {name}")
    return name


def _options(reader: Reader, *, single: bool) -> tuple[dict[str, Option], bool]:
    options: dict[str, Option] = {}
    number_flag = False
    for token in reader.words("flags"):
        if token == "-#":  # noqa: S105 - an option, no password
            number_flag = True
            continue
        found = _OPTION.fullmatch(token)
        if found is None:
            raise reader.fail("flags", f"not an option: {token}")
        if found["value"] is not None and not single and re.fullmatch(r"-[^-].+", found["name"]):
            raise reader.fail("flags", f"only one letter can take a value: {token}")
        for name in _names(found["name"], single=single or found["value"] is not None):
            if name in options:
                raise reader.fail("flags", f"{name} is there twice")
            options[name] = _option(reader, name, found["value"])
    return options, number_flag


def _names(name: str, *, single: bool) -> list[str]:
    """`-abc` is three flags, unless options are whole words after one dash."""
    if single or name.startswith(("--", "+")):
        return [name]
    return [f"-{char}" for char in name[1:]]


def _option(reader: Reader, name: str, value: str | None) -> Option:
    match value:
        case None:
            return Option(name=name)
        case "":
            return Option(name=name, takes=Takes.VALUE)
        case "@":
            return Option(name=name, takes=Takes.VALUE, path=True)
        case _ if value.startswith("?"):
            allowed = reader.compile("flags", value[1:]) if value[1:] else None
            return Option(name=name, takes=Takes.MAYBE, allowed=allowed)
        case _:
            return Option(name=name, takes=Takes.VALUE, allowed=reader.compile("flags", value))


def _clause(reader: Reader) -> Clause:
    reader.only(*_CLAUSE_KEYS)
    clause = Clause(
        has=frozenset(reader.words("has")),
        all_of=frozenset(reader.words("all")),
        lacks=frozenset(reader.words("lacks")),
        value=reader.pattern("value"),
        arg=reader.pattern("arg"),
        text=reader.pattern("text"),
        min_args=reader.number("min") or 0,
        max_args=reader.number("max"),
        lower=reader.flag("lower"),
        risk=reader.risk("class"),
        reason=reader.text("reason"),
        never=choice(reader, "never", Never, Never.NO),
        secret=reader.flag("secret"),
        asks=reader.flag("asks"),
        deed=_deed(reader),
        undo=reader.text("undo"),
        dry_run=reader.text("dry_run"),
    )
    if clause.lower and clause.risk is None:
        raise reader.fail("lower", "needs a class")
    if (
        (clause.risk or clause.never or clause.secret or clause.asks)
        and not clause.reason
        and not clause.never
    ):
        raise reader.fail("reason", "is missing")
    return clause


def _deed(reader: Reader) -> tuple[str, str] | None:
    words = reader.text("deed").split(" ", 1)
    if not words[0]:
        return None
    return words[0], words[1] if len(words) == _PAIR else ""


def _touches(reader: Reader) -> tuple[tuple[TouchKind, str], ...]:
    touches = []
    for item in reader.words("touches"):
        kind, colon, template = item.partition(":")
        if kind not in _TOUCH_KINDS or not colon:
            raise reader.fail("touches", f"must look like service:{{*}}, not {item}")
        touches.append((TouchKind(kind), template))
    return tuple(touches)


def read_places(tables: Sequence[Reader]) -> Places:
    """Join the [places] of all files; each adds to the lists of the others."""
    lists: dict[str, list[str]] = {key: [] for key in _PLACE_KEYS}
    for reader in tables:
        reader.only(*_PLACE_KEYS)
        for key, patterns in lists.items():
            for value in reader.words(key):
                reader.compile(key, value)
                patterns.append(value)

    def joined(key: str) -> re.Pattern[str]:
        return re.compile("|".join(f"(?:{item})" for item in lists[key]) or r"(?!)", re.DOTALL)

    return Places(
        secret_paths=joined("secret_paths"),
        secret_names=joined("secret_names"),
        secret_trees=joined("secret_trees"),
        secret_words=re.compile(joined("secret_words").pattern, re.DOTALL | re.IGNORECASE),
        secret_samples=_by_folder(lists["secret_samples"]),
        open_trees=joined("open_trees"),
        system=joined("system"),
        disks=joined("disks"),
        devices=joined("devices"),
        destroying_words=re.compile(joined("destroying_words").pattern, re.DOTALL | re.IGNORECASE),
    )


def _by_folder(paths: Sequence[str]) -> dict[str, tuple[str, ...]]:
    names: dict[str, tuple[str, ...]] = {}
    for path in paths:
        folder, _, name = path.rpartition("/")
        names[folder] = (*names.get(folder, ()), name)
    return names


def read_examples(source: str, document: Mapping[str, object]) -> list[Example]:
    """Read the [[examples]] of a file."""
    return [_example(source, item) for item in Reader(source, document, "").tables("examples")]


def _example(source: str, reader: Reader) -> Example:
    reader.only("command", "risk", "auto", "never", "secret", "deed")
    if not reader.text("command"):
        raise reader.fail("command", "is missing")
    return Example(
        source=source,
        command=reader.text("command"),
        risk=reader.risk("risk"),
        auto=reader.maybe("auto"),
        never=reader.maybe("never"),
        secret=reader.maybe("secret"),
        deed=reader.text("deed") if "deed" in reader.data else None,
    )
