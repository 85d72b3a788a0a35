"""What there is to run, and what a runbook does, in words: for chat and for the command line.

It only tells; nothing here reads the ledger or runs anything.
"""

from collections.abc import Iterable, Iterator

from bot.planning.library import Document
from bot.runbooks.inputs import label, wants
from gate.supervise.domain import (
    NO_ROLLBACK,
    Check,
    Comparison,
    Condition,
    ExitCode,
    FileExists,
    InputSpec,
    JsonValue,
    Output,
    StepKind,
    StepRisk,
    StepSpec,
    TextTest,
)

_DIGEST_SHOWN = 12
_ALIASES_SHOWN = 5


def listed(documents: Iterable[Document]) -> list[str]:
    """Return the runbooks, a line each: its id, how to ask for it, and how much it can change."""
    found = sorted((one for one in documents if one.supervised), key=lambda one: one.id)
    return [f"  {one.id}: {spoken(one.title)}  ({risk_of(one).value})" for one in found]


def spoken(phrase: str) -> str:
    """Return a title or alias as people would say it: "provision a container with <package>"."""
    return phrase.replace("{", "<").replace("}", ">")


def risk_of(document: Document) -> StepRisk:
    """Return the strictest risk that a step declares."""
    steps = () if document.spec is None else document.spec.steps
    return max((step.risk for step in steps), key=lambda risk: risk.rank, default=StepRisk.READ_ONLY)


def row(document: Document) -> dict[str, object]:
    """Return what scripts want to know of a document."""
    return {
        "id": document.id,
        "kind": "runbook" if document.supervised else "diagnostic" if document.is_read_only else "action",
        "title": document.title,
        "aliases": list(document.aliases),
        "risk": risk_of(document).value,
        "revision": document.revision,
        "inputs": {
            name: {
                "type": item.type.value,
                "required": _is_needed(document, item),
                "default": item.default,
                "enum": list(item.enum),
                "secret": item.secret,
            }
            for name, item in document.inputs.items()
        },
        "steps": [] if document.spec is None else [step.id for step in document.spec.steps],
    }


def _is_needed(document: Document, item: InputSpec) -> bool:
    return item.required and item.default is None and item.name not in document.captured


def request(document: Document) -> str:
    """Return the literal request for a document, with what it cannot do without."""
    needed = [
        name for name, item in document.inputs.items() if _is_needed(document, item) and not item.secret
    ]
    where = " on <target>" if document.needs_target else ""
    told = f" with {', '.join(f'{name}=…' for name in needed)}" if needed else ""
    return f"run runbook {document.id}{where}{told}"


def lines(document: Document, *, brief: bool = False) -> list[str]:
    """Return what a document does, step by step; `brief` leaves out commands and where each step leads."""
    told = [f"{document.id}: {spoken(document.title)}", f"revision {document.revision[:_DIGEST_SHOWN]}"]
    if document.aliases:
        told.append(f"also: {', '.join(spoken(one) for one in document.aliases[:_ALIASES_SHOWN])}")
    asked = [name for name in document.inputs if name not in document.captured]
    if asked:
        told.append("needs:")
        told += [f"  {_input(document, name)}" for name in asked]
    if document.spec is not None:
        told.append("steps:")
        for number, step in enumerate(document.spec.steps, start=1):
            told += list(_step(number, step))[: 1 if brief else None]
    return told


def _input(document: Document, name: str) -> str:
    item = document.inputs[name]
    called = "" if label(document, name) == name else f"{label(document, name)}, "
    usual = "" if item.default is None else f", else {item.default}"
    optional = ", may be left out" if not item.required and item.default is None else ""
    secret = ", secret" if item.secret else ""
    return f"{name}: {called}{wants(item)}{usual}{optional}{secret}"


def _step(number: int, step: StepSpec) -> Iterator[str]:
    where = f" on {step.target}" if step.target else ""
    risk = "" if step.command is None else f" ({step.risk.value})"
    yield f"  {number}. {step.id}: {step.title}{where}{risk}"
    yield from (f"     {detail}" for detail in _details(step))


def _details(step: StepSpec) -> Iterator[str]:
    if step.command is not None:
        yield f"$ {step.command}"
    if step.call is not None:
        given = ", ".join(f"{name}={value}" for name, value in step.call.inputs.items())
        yield f"runs {step.call.runbook}{f' with {given}' if given else ''}"
    if step.duration_s is not None:
        yield f"waits {step.duration_s}s"
    if step.kind is StepKind.APPROVAL or step.requires_approval:
        yield "asks before it"
    yield from (f"expects {_check(check)}" for check in step.expect)
    if step.capture is not None:
        yield f"gives {step.capture.input}"
    yield from _leads(step)


def _leads(step: StepSpec) -> Iterator[str]:
    for branch in step.branches:
        yield f"{'else' if branch.when is None else f'if {_condition(branch.when)}'}: {branch.next}"
    if step.retry is not None:
        after = "after it" if step.kind is StepKind.WAIT else "when it fails"
        yield f"{after}: back to {step.retry.target}, at most {step.retry.max} times"
    if step.on_fail:
        yield f"{'else' if step.retry else 'when it fails'}: {step.on_fail}"
    if step.rollback:
        yield "cannot be undone" if step.rollback == NO_ROLLBACK else f"undone by {step.rollback}"
    if step.next:
        yield f"then {step.next}"


_WORDS = {
    TextTest.CONTAINS: "to contain",
    TextTest.EQUALS: "to be",
    TextTest.REGEX: "to match",
}
_COMPARED = {
    Comparison.EQUALS: "is",
    Comparison.NOT_EQUALS: "is not",
    Comparison.LESS: "is less than",
    Comparison.AT_MOST: "is at most",
    Comparison.AT_LEAST: "is at least",
    Comparison.MORE: "is more than",
}


def _check(check: Check) -> str:
    match check:
        case ExitCode(any_of=codes):
            return f"exit {' or '.join(map(str, codes))}"
        case Output(stream=stream, test=test, text=text):
            return f"{stream.value} {_WORDS[test]} {text!r}"
        case JsonValue(path=path, compare=compare, value=value):
            return f"{path} {_COMPARED[compare]} {value!r}"
        case FileExists(path=path):
            return f"the file {path}"


def _condition(when: Condition) -> str:
    return f"{when.input} {_COMPARED[when.compare]} {when.value}"
