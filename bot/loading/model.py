"""The form of a document: every field there is, as models, and what is wrong with a document that has others.

`read` checks the fields of one document alone; whether its steps lead anywhere is judged by
`gate.supervise.document`, whether its words find it by `bot.planning.library`. The JSON Schema that ships as
`bot/library/runbook.schema.json` is made of these models, so that an editor and the loader agree.
"""

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from bot.loading.faults import Fault
from bot.loading.tree import Path, Tree
from bot.settings.errors import unknown
from gate.supervise.domain import RUN_TOOL, InputType, StepKind, StepRisk

VERSION = 1

_ID = r"^[a-z0-9][a-z0-9._-]{0,63}$"
_NAME = r"^[A-Za-z_][A-Za-z0-9_]{0,63}$"
_DURATION = r"^[0-9]{1,6}(s|m|h|d)([0-9]{1,6}(s|m|h|d)){0,3}$"

_Words = Annotated[str, Field(min_length=1, max_length=200)]
_Command = Annotated[str, Field(min_length=1, max_length=20_000)]
_Id = Annotated[str, Field(pattern=_ID)]
_Name = Annotated[str, Field(pattern=_NAME)]
_Lead = Annotated[str, Field(pattern=r"^(end:)?[a-z0-9][a-z0-9._-]{0,63}$")]
_Duration = Annotated[str, Field(pattern=_DURATION)]
_Scalar = str | int | bool


class _Model(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class InputModel(_Model):
    """A value that the steps need."""

    type: Annotated[InputType, Field(strict=False)] = InputType.STRING
    title: Annotated[str, Field(max_length=80, description="what to call it when a person is asked")] = ""
    required: bool = True
    default: Annotated[_Scalar | None, Field(description="used when it is not said")] = None
    enum: Annotated[list[str | int], Field(max_length=100, description="the only values allowed")] = []
    min: Annotated[int | None, Field(description="of an integer", ge=0)] = None
    max: Annotated[int | None, Field(description="of an integer", ge=0)] = None
    secret: Annotated[bool, Field(description="masked wherever people look")] = False


class TextModel(_Model):
    """A test of what a command wrote: one of the three."""

    contains: Annotated[str, Field(min_length=1)] | None = None
    equals: str | None = None
    regex: Annotated[str, Field(min_length=1, max_length=1000)] | None = None


class JsonModel(_Model):
    """A value in the JSON that a command wrote, and what it is compared with: one comparison."""

    path: Annotated[str, Field(min_length=1, max_length=500, description=".items[0].status")]
    equals: str | int | float | bool | None = None
    not_equals: str | int | float | bool | None = None
    less: int | float | None = None
    at_most: int | float | None = None
    at_least: int | float | None = None
    more: int | float | None = None


class ExpectModel(_Model):
    """What has to be true after a command; all of it."""

    exit_code: Annotated[int | list[int] | None, Field(description="one, or any of a list; else 0")] = None
    stdout: TextModel | None = None
    stderr: TextModel | None = None
    json_value: Annotated[JsonModel | None, Field(alias="json")] = None
    file_exists: Annotated[str, Field(min_length=1)] | None = None


class RetryModel(_Model):
    """Going back when a step failed."""

    max: Annotated[int, Field(ge=1, le=100, description="how often in one run")]
    target: Annotated[_Id | None, Field(description="where to go on; else this step again")] = None


class CaptureModel(_Model):
    """What a command wrote becomes the value of an input."""

    input: _Name
    type: Annotated[InputType | None, Field(strict=False, description="else that of the input")] = None


class WhenModel(_Model):
    """An input compared with a value: one comparison."""

    input: _Name
    equals: str | int | None = None
    not_equals: str | int | None = None
    less: int | None = None
    at_most: int | None = None
    at_least: int | None = None
    more: int | None = None


class BranchModel(_Model):
    """One way out of a decision; the last one has no `when`."""

    when: WhenModel | None = None
    next: _Lead


def _listed(value: object) -> object:
    return value if isinstance(value, list) else [value]


class StepModel(_Model):
    """One step."""

    id: _Id
    kind: Annotated[StepKind, Field(strict=False)] = StepKind.ACTION
    title: _Words
    risk: Annotated[StepRisk | None, Field(strict=False, description="needed where a command runs")] = None
    target: Annotated[str, Field(max_length=200, description="else the target of the run")] = ""
    tool: str = RUN_TOOL
    command: _Command | None = None
    call: Annotated[_Id | None, Field(description="another runbook, instead of a command")] = None
    inputs: Annotated[dict[_Name, _Scalar], Field(alias="with", description="inputs of the called one")] = {}
    capture: CaptureModel | None = None
    preview: Annotated[_Command | None, Field(description="a command that shows what it would do")] = None
    requires_approval: bool | None = None
    expect: Annotated[list[ExpectModel], BeforeValidator(_listed)] = []
    on_fail: _Lead | None = None
    retry: RetryModel | None = None
    rollback: Annotated[_Id | None, Field(description='the step that undoes this one, or "none"')] = None
    timeout: _Duration | None = None
    duration: Annotated[_Duration | None, Field(description="of a wait")] = None
    next: _Lead | None = None
    branches: Annotated[list[BranchModel], Field(max_length=50)] = []


class LimitsModel(_Model):
    """What a run may use up."""

    entries: Annotated[int, Field(ge=1, le=10_000)] = 100
    steps: Annotated[int | None, Field(ge=1, le=100_000)] = None
    asks: Annotated[int, Field(ge=1, le=100)] = 5
    deviations: Annotated[int, Field(ge=1, le=100)] = 3
    wall_clock: _Duration = "24h"
    approval: _Duration = "15m"


class ExampleModel(_Model):
    """Something a person may say, and what it gives: data for tests."""

    say: _Words
    command: _Command | None = None
    inputs: dict[_Name, _Scalar] = {}


class DocumentModel(_Model):
    """A diagnostic or a runbook: a procedure as data."""

    version: Annotated[int, Field(ge=VERSION, le=VERSION)]
    id: _Id
    title: _Words
    aliases: Annotated[list[_Words], Field(max_length=100)] = []
    capabilities: Annotated[list[_Id], Field(max_length=20)] = [RUN_TOOL]
    inputs: Annotated[dict[_Name, InputModel], Field(max_length=50)] = {}
    steps: Annotated[list[StepModel], Field(min_length=1, max_length=1000)]
    limits: LimitsModel = LimitsModel()
    result: Annotated[_Name | None, Field(description="the input that a caller gets")] = None
    examples: Annotated[list[ExampleModel], Field(max_length=50)] = []


def read(tree: Tree) -> tuple[DocumentModel | None, list[Fault]]:
    """Return the document in `tree`; else None, and everything that is wrong with its fields."""
    try:
        return DocumentModel.model_validate(tree.data), []
    except ValidationError as error:
        found = [_fault(detail, tree) for detail in error.errors(include_url=False)]
        # Where one of several types fits, each says that it does not; the first of them will do.
        return None, list({(fault.line, fault.field): fault for fault in reversed(found)}.values())[::-1]


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a document."""
    made = DocumentModel.model_json_schema(by_alias=True)
    one = {"$ref": "#/$defs/ExpectModel"}
    made["$defs"]["StepModel"]["properties"]["expect"] = {"anyOf": [one, {"type": "array", "items": one}]}
    for part in (made, *made["$defs"].values()):
        for one in part.get("properties", {}).values():
            if "patternProperties" in one:
                one["additionalProperties"] = False
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made}


# ---------------------------------------------------------------- faults


def field_name(path: Path, data: object) -> str:
    """Return a path as people know it, a step by its id: "steps.restart.risk"."""
    match path, data:
        case ("steps", int(number), *_), {"steps": [*steps]} if number < len(steps):
            step = steps[number]
            name = step.get("id") if isinstance(step, dict) else None
            path = (path[0], str(name) if isinstance(name, str) and name else number + 1, *path[2:])
        case _:
            pass
    return ".".join(str(part) for part in path)


def path_of(name: str, data: object) -> Path:
    """Return the path that `field_name` shows as `name`, as far as it stands in the document."""
    path: Path = ()
    here = data
    for part in name.split("."):
        match here:
            case dict() if part in here:
                path, here = (*path, part), here[part]
            case list():
                at = _position(part, here)
                if at is None:
                    return path
                path, here = (*path, at), here[at]
            case _:
                return path
    return path


def _position(part: str, items: list[object]) -> int | None:
    ids = [item.get("id") if isinstance(item, dict) else None for item in items]
    if part in ids:
        return ids.index(part)
    return int(part) if part.isascii() and part.isdigit() and int(part) < len(items) else None


def _fault(detail: ErrorDetails, tree: Tree) -> Fault:
    path = _real(detail["loc"], tree)
    kind = detail["type"]
    if kind == "missing":
        here = (*path, str(detail["loc"][-1]))
        what, mend = "is missing.", f"Add  {here[-1]}: …"
        return Fault(line=tree.line(path), field=field_name(here, tree.data), what=what, mend=mend)
    if kind == "extra_forbidden":
        what, mend = unknown("field", str(path[-1]), _known(path)), "Remove it, or spell it so."
    else:
        said = {name: str(value) for name, value in detail.get("ctx", {}).items()}
        said["expected"] = said.get("expected", "").replace("'", "").replace(" or ", ", ")
        what, mend = (part.format_map(said) for part in _WORDS.get(kind, (_escaped(detail["msg"]), _LOOK)))
        mend = _MENDS.get(str(path[-1]) if path else "", mend) if kind == "string_pattern_mismatch" else mend
    return Fault(line=tree.line(path), field=field_name(path, tree.data), what=what, mend=mend)


_LOOK = "docs/runbook-format.md says what goes there."
_WORDS = {
    "string_type": ("must be text.", "Put it in quotes."),
    "int_type": ("must be a whole number.", "Write it without quotes."),
    "int_from_float": ("must be a whole number.", "Leave out the fraction."),
    "bool_type": ("must be true or false.", "Write it without quotes."),
    "enum": ("is no word that is known here.", "Use one of: {expected}."),
    "greater_than_equal": ("is less than {ge}.", "Give {ge} or more."),
    "less_than_equal": ("is more than {le}.", "Give {le} or less."),
    "too_long": ("holds more than {max_length}.", "Take some out."),
    "too_short": ("is empty.", "Add one."),
    "string_too_long": ("is longer than {max_length} characters.", "Make it shorter."),
    "list_type": ("must be a list.", "Begin each line of it with a dash."),
    "dict_type": ("must hold fields.", "Write  name: value  lines below it."),
    "model_type": ("must hold fields.", "Write  name: value  lines below it."),
    "string_too_short": ("is empty.", "Write something, or leave the field out."),
    "string_pattern_mismatch": ("is not written as it has to be.", _LOOK),
}
_HOW_LONG = "Write a number and s, m, h or d: 30s, 5m, 2h."
_AN_ID = "Use lower-case letters, digits, dots, dashes and underscores, at most 64."
_MENDS = {
    "timeout": _HOW_LONG,
    "duration": _HOW_LONG,
    "wall_clock": _HOW_LONG,
    "approval": _HOW_LONG,
    "id": _AN_ID,
    "call": _AN_ID,
    "next": "Name a step, or an end such as end:success.",
    "on_fail": "Name a step, or an end such as end:failure.",
}


def _escaped(message: str) -> str:
    return f"{message}.".replace("{", "{{").replace("}", "}}")


def _real(loc: Sequence[str | int], tree: Tree) -> Path:
    """Return the part of an error's place that stands in the document; types add words of their own."""
    path: Path = ()
    for part in loc:
        if (*path, part) in tree.lines:
            path = (*path, part)
    return path


_MODELS: dict[str, type[BaseModel]] = {
    "expect": ExpectModel,
    "stdout": TextModel,
    "stderr": TextModel,
    "json": JsonModel,
    "retry": RetryModel,
    "capture": CaptureModel,
    "when": WhenModel,
    "branches": BranchModel,
    "limits": LimitsModel,
    "examples": ExampleModel,
    "steps": StepModel,
    "inputs": InputModel,
}


def _known(path: Path) -> list[str]:
    """Return the fields that may stand beside the last part of `path`."""
    around = [part for part in path[:-1] if isinstance(part, str) and part in _MODELS]
    model = _MODELS[around[-1]] if around else DocumentModel
    return [field.alias or name for name, field in model.model_fields.items()]
