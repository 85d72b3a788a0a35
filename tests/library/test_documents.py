"""What holds for each runbook of containers and of services with state: its words, classes and ways back."""

import re
from typing import Any

import pytest

from bot.loading.library import put_together, read_built_in
from gate.domain import Risk
from gate.supervise.binding import Bound, bind_command
from gate.supervise.domain import (
    DECLARED,
    RUNNING_KINDS,
    InputSpec,
    InputType,
    RunbookSpec,
    StepKind,
    StepRisk,
    StepSpec,
    Value,
)
from tests.library.drive import judged, laid_open

LIBRARY = put_together(read_built_in())[0]
RUNBOOKS = (
    "backup-folder",
    "destroy-lxc",
    "docker-compose-deploy",
    "free-vmid",
    "nginx-config-change",
    "postgres-backup-check",
    "postgres-lag",
    "postgres-locks",
    "provision-lxc",
    "restore-test",
)
PLAIN_ALIAS = re.compile(r"[a-z0-9{}_ '.-]+")

#: Something that a person would give, by type.
SAMPLES: dict[InputType, Value] = {
    InputType.STRING: "one",
    InputType.INTEGER: 112,
    InputType.BOOLEAN: True,
    InputType.SERVICE: "caddy",
    InputType.NAME: "web7",
    InputType.PATH: "/srv/data",
    InputType.HOST: "10.1.2.3",
    InputType.URL: "http://127.0.0.1:8080/",
    InputType.DURATION: "5m",
    InputType.TEXT: "before the upgrade",
}


def sample(item: InputSpec) -> Value:
    return item.default or (item.enum[0] if item.enum else SAMPLES[item.type])


def commands(spec: RunbookSpec) -> "list[tuple[StepSpec, str]]":
    """Return the commands of a runbook as they would run with samples for values."""
    values = {name: sample(item) for name, item in spec.inputs.items()}
    found = []
    for step in spec.steps:
        for template in (step.command, step.preview):
            if template is not None:
                bound = bind_command(template, values, inputs=spec.inputs)
                assert isinstance(bound, Bound), (step.id, bound)
                found.append((step, bound.text))
    return found


@pytest.mark.parametrize("name", RUNBOOKS)
def test_the_gate_finds_what_the_document_says_or_more(name: str) -> None:
    for step, command in commands(laid_open(name)):
        verdict = judged(command, step)
        assert verdict.never is None, command
        assert verdict.risk.at_least(DECLARED[step.risk]), command
        if step.risk is not StepRisk.READ_ONLY:
            assert verdict.risk is DECLARED[step.risk], f"{step.id} says too little: {command}"
        elif not step.requires_approval:
            assert verdict.auto_run, f"{step.id} asks and does not say so: {verdict.reasons} {command}"


@pytest.mark.parametrize("name", RUNBOOKS)
def test_what_destroys_says_how_it_is_undone_and_its_phrase_names_what(name: str) -> None:
    for step, command in commands(laid_open(name)):
        verdict = judged(command, step)
        if verdict.risk is Risk.DESTRUCTIVE:
            assert step.risk.at_least(StepRisk.DESTRUCTIVE), command
            assert step.rollback, command
            assert verdict.deed, command


@pytest.mark.parametrize("name", RUNBOOKS)
def test_every_step_is_told_and_every_command_has_an_end(name: str) -> None:
    spec = laid_open(name)
    for step in spec.steps:
        assert step.title[0].isupper()
        assert not step.title.endswith((".", "!")), step.title
        if step.kind in RUNNING_KINDS:
            assert step.timeout_s is not None, step.id
            assert step.command is not None
            assert "\n" not in step.command.strip(), f"{step.id} is more than one line"
        if step.kind is StepKind.ACTION and step.risk is not StepRisk.READ_ONLY:
            assert step.rollback, f"{step.id} changes something and does not say how that is undone"


@pytest.mark.parametrize("name", RUNBOOKS)
def test_people_can_ask_for_it_in_several_ways(name: str) -> None:
    document: Any = LIBRARY.documents[name]
    assert len(document.aliases) >= 4
    assert document.examples
    for phrase in (document.title, *document.aliases):
        assert PLAIN_ALIAS.fullmatch(phrase), phrase


@pytest.mark.parametrize("name", RUNBOOKS)
def test_who_is_asked_for_a_value_is_told_what_it_is(name: str) -> None:
    document: Any = LIBRARY.documents[name]
    captured = {step.capture.input for step in laid_open(name).steps if step.capture is not None}
    for item in document.inputs.values():
        if item.name not in captured and item.required:
            assert item.name in document.labels, item.name
