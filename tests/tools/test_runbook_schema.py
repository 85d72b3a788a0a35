"""The schema that ships says what the loader takes."""

import json
from importlib import resources
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from bot.cli.runbook_new import skeleton
from bot.loading import model
from bot.loading.tree import grow
from tests.runbooks import DISK, FIND, PROVISION, ROTATE
from tools.runbook_schema import SCHEMA, text

FOLDER = resources.files("bot") / "library"
DOCUMENTS = {
    one.name: one.read_text(encoding="utf-8") for one in FOLDER.iterdir() if one.name.endswith(".yaml")
} | {"new": skeleton("new"), "disk": DISK, "find": FIND, "provision": PROVISION, "rotate": ROTATE}
#: Changes of ROTATE that are of another form.
WRONG = (
    ("version: 1", "version: 2"),
    ("version: 1", "version: '1'"),
    ("id: rotate", "id: Rotate it"),
    ("title: rotate", "titel: rotate"),
    ("title: rotate the database password", "title: ''"),
    ("type: name", "type: nme"),
    ("secret: true", "secret: 'yes'"),
    ("secret: true", "hidden: true"),
    ("risk: mutating", "risk: mild"),
    ("risk: mutating", "risk: mutating\n    kind: magic"),
    ("risk: mutating", "risk: mutating\n    timeout: soon"),
    ("risk: mutating", "risk: mutating\n    retry: 3"),
    ("risk: mutating", "risk: mutating\n    retry: {max: 0}"),
    ("risk: mutating", "risk: mutating\n    next: End:Success"),
    ("risk: mutating", "risk: mutating\n    expect: {exit: 0}"),
    ("risk: mutating", "risk: mutating\n    expect: [{json: {equals: 1}}]"),
    ("risk: mutating", "risk: mutating\n    branches: [{when: {input: user}}]"),
    ("risk: mutating", "risk: mutating\n    requires_approval: maybe"),
    ("risk: mutating", "risk: mutating\n    with: [a]"),
    ("    command:", "    command: ''\n    preview:"),
    ("steps:", "steps: []\nlimits:"),
    ("steps:", "limits: {wall_clock: 5}\nsteps:"),
    ("steps:", "limits: {entries: 0}\nsteps:"),
    ("steps:", "examples: [hello]\nsteps:"),
    ("inputs:", "inputs:\n  2x: {type: name}"),
)


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    schema: dict[str, Any] = json.loads(SCHEMA.read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def test_it_is_that_of_the_models() -> None:
    assert SCHEMA.read_text(encoding="utf-8") == text(), "run .venv/bin/python tools/runbook_schema.py"


@pytest.mark.parametrize("name", sorted(DOCUMENTS))
def test_it_takes_every_document(name: str, validator: Draft202012Validator) -> None:
    tree, _ = grow(DOCUMENTS[name].encode())
    assert [error.message for error in validator.iter_errors(tree.data)] == []
    assert model.read(tree)[1] == []


@pytest.mark.parametrize(("old", "new"), WRONG)
def test_it_refuses_what_the_loader_refuses(old: str, new: str, validator: Draft202012Validator) -> None:
    assert old in ROTATE
    tree, faults = grow(ROTATE.replace(old, new, 1).encode())
    assert faults == []
    assert model.read(tree)[0] is None
    assert not validator.is_valid(tree.data)
