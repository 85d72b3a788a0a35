"""From the fields of a document to what runs and to what is found: a `RunbookSpec` and a `Document`.

It works out what the fields leave unsaid, and refuses what they say in a form that means nothing (two tests
where one belongs, a time that no action may take). Whether the steps lead anywhere is not looked at here.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from bot.loading.model import (
    BranchModel,
    DocumentModel,
    ExpectModel,
    InputModel,
    JsonModel,
    LimitsModel,
    StepModel,
    TextModel,
    WhenModel,
)
from bot.planning.lengths import duration_s
from bot.planning.library import SLOT, Document, Example, Problem, Step
from gate.domain import Digest
from gate.supervise.binding import as_text
from gate.supervise.domain import (
    NO_ROLLBACK,
    RUNNING_KINDS,
    Branch,
    Call,
    Capture,
    Check,
    Comparison,
    Condition,
    ExitCode,
    FileExists,
    InputSpec,
    InputType,
    JsonValue,
    Limits,
    Output,
    Retry,
    RunbookId,
    RunbookSpec,
    StepId,
    StepKind,
    StepRisk,
    StepSpec,
    Stream,
    TextTest,
)

#: The fields of a step that is a plain command.
_PLAIN = frozenset({"id", "kind", "title", "risk", "command", "timeout", "rollback"})
_DAY_S = 86_400
_MAX_WAIT_S = 30 * _DAY_S
_MAX_RUN_S = 90 * _DAY_S
_T = TypeVar("_T")
_Word = TypeVar("_Word", TextTest, Comparison)


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """What a document's fields come to. The digest of the spec is not known before its calls are."""

    document: Document
    spec: RunbookSpec
    problems: tuple[Problem, ...] = ()


def make(model: DocumentModel) -> Made:
    """Return what `model` comes to, and everything that means nothing in it."""
    maker = _Maker(model)
    spec = RunbookSpec(
        id=RunbookId(model.id),
        digest=Digest(""),
        title=model.title,
        version=model.version,
        capabilities=tuple(model.capabilities),
        inputs={name: maker.input(name, item) for name, item in model.inputs.items()},
        steps=tuple(maker.step(item) for item in model.steps),
        limits=maker.limits(model.limits),
        result=model.result or "",
    )
    for phrase in (model.title, *model.aliases):
        maker.phrase(phrase)
    return Made(document=_document(model, spec), spec=spec, problems=tuple(maker.problems))


def _document(model: DocumentModel, spec: RunbookSpec) -> Document:
    supervised = not _is_plain(model, spec)
    return Document(
        id=model.id,
        title=model.title,
        aliases=tuple(model.aliases),
        inputs=spec.inputs,
        steps=() if supervised else tuple(_plain_step(step) for step in spec.steps),
        examples=tuple(
            Example(
                say=item.say,
                command=item.command or "",
                inputs={name: as_text(value) for name, value in item.inputs.items()},
            )
            for item in model.examples
        ),
        supervised=supervised,
        labels={name: item.title for name, item in model.inputs.items() if item.title},
    )


def _is_plain(model: DocumentModel, spec: RunbookSpec) -> bool:
    """Whether a document is plain commands, each an action by itself, and no procedure.

    Several are that only where none of them changes anything: whoever approves a change of several steps is
    asked step by step, after the result of the one before is there to be seen (C15).
    """
    if {"capabilities", "limits", "result"} & model.model_fields_set:
        return False
    if any(item.secret for item in model.inputs.values()):
        return False
    bare = all(
        item.model_fields_set <= _PLAIN
        and item.kind is StepKind.ACTION
        and item.command is not None
        and item.rollback in {None, NO_ROLLBACK}
        for item in model.steps
    )
    return bare and (len(spec.steps) == 1 or all(one.risk is StepRisk.READ_ONLY for one in spec.steps))


def _plain_step(step: StepSpec) -> Step:
    return Step(
        id=step.id, title=step.title, risk=step.risk, command=step.command or "", timeout_s=step.timeout_s
    )


@dataclass(slots=True)
class _Maker:
    """Builds the parts of one document and notes what means nothing."""

    model: DocumentModel
    problems: list[Problem] = field(default_factory=list)

    def refuse(self, place: str, what: str, mend: str = "") -> None:
        """Note what is wrong at `place`."""
        self.problems.append(Problem(document=self.model.id, field=place, what=what, mend=mend))

    # ------------------------------------------------------------ words and inputs

    def phrase(self, phrase: str) -> None:
        """Refuse a secret that would be spoken in a title or alias (R17)."""
        for name in SLOT.findall(phrase):
            if name in self.model.inputs and self.model.inputs[name].secret:
                place = (
                    "title" if phrase == self.model.title else f"aliases.{self.model.aliases.index(phrase)}"
                )
                what = f"the secret {name} would be said aloud in {phrase!r}."
                self.refuse(place, what, "Leave it out; it is asked for.")

    def input(self, name: str, item: InputModel) -> InputSpec:
        """Return one declared input."""
        place = f"inputs.{name}"
        if item.type is not InputType.INTEGER and (item.min is not None or item.max is not None):
            self.refuse(place, "min and max are for integers.", "Remove them.")
        return InputSpec(
            name=name,
            type=item.type,
            required=item.required,
            default=None if item.default is None else as_text(item.default),
            enum=tuple(as_text(value) for value in item.enum),
            minimum=item.min,
            maximum=item.max,
            secret=item.secret,
        )

    # ------------------------------------------------------------ steps

    def step(self, item: StepModel) -> StepSpec:
        """Return one step."""
        place = f"steps.{item.id}"
        if item.risk is None and item.kind in RUNNING_KINDS and item.call is None:
            words = ", ".join(StepRisk)
            self.refuse(f"{place}.risk", "is missing.", f"Say how much the command can change: {words}.")
        if item.inputs and item.call is None:
            self.refuse(f"{place}.with", "hands inputs to nothing.", "Name a runbook in call, or remove it.")
        return StepSpec(
            id=StepId(item.id),
            kind=item.kind,
            title=item.title,
            risk=item.risk or StepRisk.READ_ONLY,
            target=item.target,
            tool=item.tool,
            command=item.command,
            call=self._call(item),
            capture=self._capture(item),
            preview=item.preview,
            requires_approval=item.requires_approval,
            expect=tuple(self._expect(item, place)),
            on_fail=item.on_fail or "",
            retry=self._retry(item),
            rollback=item.rollback or "",
            timeout_s=None if item.timeout is None else duration_s(item.timeout),
            duration_s=self._within(f"{place}.duration", item.duration, most=_MAX_WAIT_S),
            next=item.next or "",
            branches=tuple(
                self._branch(one, f"{place}.branches.{at}") for at, one in enumerate(item.branches)
            ),
        )

    def _call(self, item: StepModel) -> Call | None:
        if item.call is None:
            return None
        given = {name: as_text(value) for name, value in item.inputs.items()}
        return Call(runbook=RunbookId(item.call), inputs=given)

    def _capture(self, item: StepModel) -> Capture | None:
        if item.capture is None:
            return None
        declared = self.model.inputs.get(item.capture.input)
        kind = item.capture.type or (InputType.STRING if declared is None else declared.type)
        return Capture(input=item.capture.input, type=kind)

    def _retry(self, item: StepModel) -> Retry | None:
        if item.retry is None:
            return None
        return Retry(max=item.retry.max, target=StepId(item.retry.target or item.id))

    def _within(self, place: str, text: str | None, *, most: int) -> int | None:
        seconds = None if text is None else duration_s(text)
        if seconds is not None and seconds > most:
            self.refuse(place, f"is longer than {most // _DAY_S} days.", "Make it shorter.")
        return seconds

    def limits(self, item: LimitsModel) -> Limits:
        """Return the budgets of a run."""
        return Limits(
            entries=item.entries,
            steps=item.steps,
            asks=item.asks,
            deviations=item.deviations,
            wall_clock_s=self._within("limits.wall_clock", item.wall_clock, most=_MAX_RUN_S) or 0,
            approval_s=duration_s(item.approval) or 0,
        )

    # ------------------------------------------------------------ tests

    def _expect(self, item: StepModel, place: str) -> Iterator[Check]:
        for at, one in enumerate(item.expect):
            here = f"{place}.expect.{at}" if len(item.expect) > 1 else f"{place}.expect"
            if not one.model_fields_set:
                self.refuse(
                    here, "expects nothing.", "Name an exit_code, stdout, stderr, json or file_exists."
                )
            yield from self._checks(one, here)

    def _checks(self, item: ExpectModel, place: str) -> Iterator[Check]:
        if item.exit_code is not None:
            codes = (item.exit_code,) if isinstance(item.exit_code, int) else tuple(item.exit_code)
            if not codes or not all(0 <= code <= 255 for code in codes):  # noqa: PLR2004  # what a byte holds
                self.refuse(
                    f"{place}.exit_code", "lies outside 0 to 255.", "Write 0, or a list such as [0, 1]."
                )
            yield ExitCode(any_of=codes)
        for stream, text in ((Stream.STDOUT, item.stdout), (Stream.STDERR, item.stderr)):
            if text is not None:
                yield from self._output(stream, text, f"{place}.{stream.value}")
        if item.json_value is not None:
            yield from self._json(item.json_value, f"{place}.json")
        if item.file_exists is not None:
            yield FileExists(path=item.file_exists)

    def _output(self, stream: Stream, item: TextModel, place: str) -> Iterator[Check]:
        found = {test: text for test in TextTest if (text := getattr(item, test.value)) is not None}
        if self._is_one(found, place, TextTest):
            ((test, text),) = found.items()
            yield Output(stream=stream, test=test, text=text)

    def _json(self, item: JsonModel, place: str) -> Iterator[Check]:
        said = _comparisons(item.model_fields_set, lambda name: getattr(item, name))
        if self._is_one(said, place, Comparison):
            ((compare, value),) = said.items()
            yield JsonValue(path=item.path, compare=compare, value=value)

    def _branch(self, item: BranchModel, place: str) -> Branch:
        when = None if item.when is None else self._condition(item.when, f"{place}.when")
        return Branch(when=when, next=item.next)

    def _condition(self, item: WhenModel, place: str) -> Condition:
        said = _comparisons(item.model_fields_set, lambda name: getattr(item, name))
        self._is_one(said, place, Comparison)
        compare, value = next(iter(said.items()), (Comparison.EQUALS, ""))
        return Condition(input=item.input, compare=compare, value="" if value is None else value)

    def _is_one(self, said: Mapping[_Word, object], place: str, words: type[_Word]) -> bool:
        if len(said) == 1:
            return True
        what = "says nothing to compare with." if not said else f"compares in {len(said)} ways."
        self.refuse(place, what, f"Give exactly one of: {', '.join(words)}.")
        return False


def _comparisons(said: set[str], value: Callable[[str], _T]) -> dict[Comparison, _T]:
    return {one: value(one.value) for one in Comparison if one.value in said}
