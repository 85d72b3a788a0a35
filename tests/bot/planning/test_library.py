"""The built-in library against the real classifier: what it calls a diagnostic runs at once."""

import pytest

from bot.loading.library import load_library
from bot.loading.rules import load_rules
from bot.planning.binding import bind
from bot.planning.drafts import Plan
from bot.planning.library import Document, Library, LibraryError, Step
from bot.planning.plan import plan
from gate.domain import Risk
from gate.shell.classify import classify
from gate.supervise.domain import DECLARED, InputType, StepRisk

LIBRARY = load_library()
RULES = load_rules()
PLAIN = [doc for doc in LIBRARY.documents.values() if not doc.supervised]
EXAMPLES = [(doc.id, example.say) for doc in PLAIN for example in doc.examples]
#: They change nothing, but talk to another host, so they may wait for a yes.
MAY_WAIT = {"certificate", "lookup", "reachable"}


def commands(say: str) -> list[str]:
    outcome = plan(
        say, targets=("local", "web1", "pve1"), tags=(), services={"caddy": ("web1",)}, library=LIBRARY
    )
    assert isinstance(outcome, Plan), outcome
    return [draft.command for draft in outcome.drafts]


@pytest.mark.parametrize(("document", "say"), EXAMPLES)
def test_diagnostic_runs_at_once_and_change_waits(document: str, say: str) -> None:
    found = LIBRARY.documents[document]
    for command, step in zip(commands(say), found.steps, strict=True):
        verdict = classify(command, rules=RULES)
        assert verdict.never is None
        if document not in MAY_WAIT:
            assert verdict.auto_run == found.is_read_only, (command, verdict.reasons)
        if not found.is_read_only:
            assert verdict.risk is Risk(DECLARED[step.risk]), (command, verdict.reasons)


def test_hostile_slot_value_never_reaches_a_command() -> None:
    hostile = (
        "x;reboot",
        "$(reboot)",
        "`reboot`",
        "-x",
        "x|sh",
        "x>y",
        "x&",
        "'x",
        '"x',
        "\\x",
        "{a,b}",
        "*",
    )
    for document in LIBRARY.documents.values():
        for name, declared in document.inputs.items():
            if declared.type is InputType.TEXT:
                continue  # it is one quoted word whatever it holds: tests/bot/runbooks/test_injection.py
            assert not any(declared.accepts(value) for value in hostile), (document.id, name)


def test_every_step_binds_with_its_defaults_and_plain_values() -> None:
    plain = {
        "string": "x",
        "integer": "5",
        "service": "caddy",
        "name": "x",
        "path": "/x",
        "host": "example.org",
    }
    for document in PLAIN:
        values = {name: item.default or plain[item.type] for name, item in document.inputs.items()}
        for step in document.steps:
            assert "{{ inputs" not in bind(step.command, values, inputs=document.inputs)


def test_every_input_of_a_plain_document_without_a_default_is_spoken_in_the_title() -> None:
    for document in PLAIN:
        needed = [name for name, item in document.inputs.items() if item.default is None]
        assert all(f"{{{name}}}" in document.title for name in needed), document.id


def test_risk_words_are_ordered_onto_declared_risks() -> None:
    ranks = [Risk(DECLARED[word]).rank for word in StepRisk]
    assert ranks == sorted(ranks)


def document(name: str, title: str) -> Document:
    return Document(
        id=name, title=title, steps=(Step(id="a", title="t", risk=StepRisk.READ_ONLY, command="true"),)
    )


def test_two_documents_may_not_claim_the_same_words() -> None:
    with pytest.raises(LibraryError, match="both claim"):
        Library.of([document("a", "disk space"), document("b", "the disk space")])


def test_two_documents_may_not_share_an_id() -> None:
    with pytest.raises(LibraryError, match="two documents"):
        Library.of([document("a", "disk space"), document("a", "memory")])


def test_empty_library_places_nothing() -> None:
    outcome = plan("disk space", targets=("local",), tags=(), services={}, library=Library())
    assert outcome is not None
    assert not isinstance(outcome, Plan)
