"""Drafts a runbook from what somebody just did, step by step (N32, X8).

Takes the newest sequence of commands that all went well, of one person in one place; finds what varies in it
(`parameters`), says the risk that the gate finds, and expects of each step what it did: to end with 0. It
keeps nothing: a draft is shown, and `bot.acts.keeping` keeps it once its phrase was typed.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

import yaml

from bot.core import Core
from bot.judging import rejudge
from bot.phrasing import title
from bot.planning.drafts import PlanSource
from bot.runbooks.parameters import Parametrised, SecretStaysError, parametrise
from gate.domain import PersonId, PlaceId, ProposalId, Risk
from gate.lifecycle import ActionState
from gate.redact import redact
from gate.supervise.domain import NO_ROLLBACK, InputSpec, InputType, StepRisk
from ledger.views import PRUNED, ActionView, ProposalView

#: Longer apart than this, what somebody did is not one thing.
GAP = timedelta(minutes=30)
MAX_STEPS = 40
_SEARCHED = 200
_RECENT = timedelta(days=1)
_SOURCES = (PlanSource.LITERAL, PlanSource.DIAGNOSTIC)
_RISKS = {
    Risk.READ_ONLY: StepRisk.READ_ONLY,
    Risk.REVERSIBLE_LOW: StepRisk.REVERSIBLE,
    Risk.CONFIG_MUTATION: StepRisk.MUTATING,
    Risk.DESTRUCTIVE: StepRisk.DESTRUCTIVE,
}
_ID_CHARS = 40


class NothingToKeepError(Exception):
    """What was done cannot become a runbook; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A runbook to be.

    Attributes:
        text: the document, as it would be written.
        steps, inputs: what it does and asks for, a line each, for people.
    """

    text: str
    steps: tuple[str, ...]
    inputs: tuple[str, ...]


def newest(core: Core, *, place: PlaceId, person: PersonId) -> tuple[ProposalId, ...]:
    """Return what `person` asked for here in one go, and that went well, the oldest first.

    What failed or was refused on the way is left out, and so is what a schedule or a run asked for.
    """
    now = core.now()
    found: list[ProposalView] = []
    for view in core.queries.proposals(since=now - _RECENT, limit=_SEARCHED):
        mine = view.requester == person and view.asked_in == place and view.source in _SOURCES
        if not mine or not _went_well(view):
            continue
        if found and found[-1].made_at - view.made_at > GAP:
            break
        found.append(view)
    return tuple(view.id for view in reversed(found))


def _went_well(view: ProposalView) -> bool:
    return all(one.state is ActionState.SUCCEEDED for one in view.actions)


def draft(core: Core, proposals: Sequence[ProposalId], *, name: str, words: str) -> Draft:
    """Return the runbook `name` that does what these proposals did.

    Args:
        words: its title.

    Raises:
        NothingToKeepError: it cannot be one.
    """
    views = [view for one in proposals if (view := core.queries.proposal(one)) is not None]
    actions = _once([one for view in views for one in view.actions])
    if not actions:
        raise NothingToKeepError(
            "Nothing that you asked for here went well lately, so there is nothing to save."
        )
    if redact(words, extra=core.secrets).count:
        raise NothingToKeepError("Its name holds a secret, and nothing was kept. Choose another name.")
    for one in actions:
        _check(one)
    commands = [command for one in actions for command in _commands(one)]
    try:
        made = parametrise(commands, secrets=core.secrets)
    except SecretStaysError as error:
        raise NothingToKeepError(f"{error} Ask for it anew with the secret in one plain word.") from error
    steps = _steps(core, actions, made)
    document = {
        "version": 1,
        "id": name,
        "title": words,
        **({"inputs": {one.name: _input(one) for one in made.inputs}} if made.inputs else {}),
        "steps": steps,
    }
    return Draft(
        text=yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=4096),
        steps=tuple(map(_step_line, steps)),
        inputs=tuple(map(_input_line, made.inputs)),
    )


def _once(actions: Sequence[ActionView]) -> list[ActionView]:
    """Leave out what was done twice in a row."""
    kept: list[ActionView] = []
    for one in actions:
        if not kept or kept[-1].digest != one.digest:
            kept.append(one)
    if len(kept) > MAX_STEPS:
        raise NothingToKeepError(
            f"That is {len(kept)} commands, and a runbook is made of {MAX_STEPS} at most."
        )
    return kept


def _check(one: ActionView) -> None:
    action = one.action
    if PRUNED in (action.command, action.verify):
        raise NothingToKeepError("The words of what ran are gone, so it cannot be saved.")
    if action.workdir or action.env:
        raise NothingToKeepError(
            "A step of a runbook has no folder and no variables of its own. Say cd in it."
        )


def _commands(one: ActionView) -> list[str]:
    return [one.action.command, *([] if one.action.verify is None else [one.action.verify])]


# ---------------------------------------------------------------- the document


def _steps(core: Core, actions: Sequence[ActionView], made: Parametrised) -> list[dict[str, object]]:
    templates = iter(made.commands)
    one_target = len({one.action.target.id for one in actions}) == 1
    steps: list[dict[str, object]] = []
    for one in actions:
        words = _title(core, one, made)
        target = {} if one_target else {"target": str(one.action.target.id)}
        risk = _risk(core, one)
        steps.append(
            {
                "id": _step_id(words, steps),
                "kind": "check" if risk is StepRisk.READ_ONLY else "action",
                "title": words,
                "risk": risk.value,
                **target,
                "command": next(templates),
                "expect": {"exit_code": 0},
                **({"rollback": NO_ROLLBACK} if risk.at_least(StepRisk.DESTRUCTIVE) else {}),
                "timeout": f"{one.action.timeout_s}s",
            }
        )
        if one.action.verify is not None:
            steps.append(
                {
                    "id": _step_id(f"check {words}", steps),
                    "kind": "check",
                    "title": f"Look whether that worked: {words}",
                    "risk": StepRisk.READ_ONLY.value,
                    **target,
                    "command": next(templates),
                    "expect": {"exit_code": 0},
                    "timeout": f"{one.action.timeout_s}s",
                }
            )
    return steps


def _risk(core: Core, one: ActionView) -> StepRisk:
    """Return the worse of what the gate found then and finds now."""
    now = rejudge(core, one).verdict.risk
    return _RISKS[max(one.verdict.risk, now, key=lambda risk: risk.rank)]


def _title(core: Core, one: ActionView, made: Parametrised) -> str:
    """Return what a step is called: as its card was, with inputs in place of their values and no secret."""
    masked = redact(
        one.action.command, extra=core.secrets
    ).text  # by the broad rules, as its inputs were found
    named = replace(one, action=replace(one.action, command=masked))
    words = " ".join(title(named, secrets=core.secrets).split())
    for spec in made.inputs:
        if spec.default is not None:
            words = re.sub(rf"(?<!\S){re.escape(spec.default)}(?!\S)", f"{{{{ inputs.{spec.name} }}}}", words)
    return words


def _step_id(words: str, steps: Sequence[dict[str, object]]) -> str:
    taken = {step["id"] for step in steps}
    plain = slug(re.sub(r"\{\{ inputs\.(\w+) \}\}", r"\1", words)) or "step"
    number = 1
    while (name := plain if number == 1 else f"{plain}-{number}") in taken:
        number += 1
    return name


def slug(words: str) -> str:
    """Return words as an id: "Deploy the blog!" is "deploy-the-blog"; "" where nothing of them fits."""
    return re.sub(r"[^a-z0-9]+", "-", words.casefold())[:_ID_CHARS].strip("-")


def _input(one: InputSpec) -> dict[str, object]:
    if one.secret:
        return {"type": one.type.value, "secret": True}
    default = int(str(one.default)) if one.type is InputType.INTEGER else one.default
    return {"type": one.type.value, "required": False, "default": default}


# ---------------------------------------------------------------- for people


def _step_line(step: dict[str, object]) -> str:
    where = f" on {step['target']}" if "target" in step else ""
    return f"{step['risk']}{where}: {' '.join(str(step['command']).split())}"


def _input_line(one: InputSpec) -> str:
    return (
        f"{one.name}: a secret, asked for each time"
        if one.secret
        else f"{one.name}: {one.default} unless said"
    )
