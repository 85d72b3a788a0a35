"""What `[[signals.match]]` may hold, and what is wrong with it, without reading any other file."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from bot.settings.errors import Problem, unknown
from bot.signals.rules import SignalRule


class SignalRuleConfig(BaseModel):
    """One rule: which labels mean which target, and what is done about them.

    Attributes:
        labels: all of these; "*" in a value stands for anything.
        target: a name of [targets]; "" for the one that the labels name.
        runbook: id of a runbook or diagnostic, with `inputs`; or `command`, with `verify`.
    """

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)
    labels: Annotated[dict[str, str], Field(min_length=1)]
    target: str = ""
    runbook: str = ""
    inputs: dict[str, str] = {}
    command: str = ""
    verify: str = ""

    def rule(self) -> SignalRule:
        """Return it as the core takes it."""
        return SignalRule(
            labels=self.labels,
            target=self.target,
            runbook=self.runbook,
            inputs=self.inputs,
            command=self.command,
            verify=self.verify,
        )


def problems(
    rules: Sequence[SignalRuleConfig],
    *,
    place: str,
    targets: Iterable[str],
    places: Mapping[str, str],
    adapters: Iterable[str],
    where: str,
) -> Iterable[Problem]:
    """Find rules that could never do what they say, and alerts that nobody would read.

    Args:
        place: what signals.place says.
    """
    known = list(targets)
    for number, rule in enumerate(rules, start=1):
        key = f"signals.match[{number}]"
        if rule.target and rule.target not in known:
            yield Problem(
                where=where, key=key, what=f'"{rule.target}": {unknown("target", rule.target, known)}'
            )
        if rule.runbook and rule.command:
            yield Problem(where=where, key=key, what="it names a runbook and a command. Keep one of them.")
        if not (rule.target or rule.runbook or rule.command):
            yield Problem(
                where=where, key=key, what="it names neither a target, nor a runbook, nor a command."
            )
        if rule.inputs and not rule.runbook:
            yield Problem(where=where, key=key, what="inputs belong to a runbook, and it names none.")
        if rule.verify and not rule.command:
            yield Problem(where=where, key=key, what="verify belongs to a command, and it names none.")
    if place and place not in places:
        yield Problem(where=where, key="signals.place", what=f'"{place}": {unknown("place", place, places)}')
    if not place and "webhook" in adapters:
        what = "Alerts need a place where they are shown. Name one of [places]."
        yield Problem(where=where, key="signals.place", what=what)
