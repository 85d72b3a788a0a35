"""Resolving the promotion of a runbook: it is whole, and takes a typed phrase (X8).

Learning proposes and never grants, so that nothing is ever allowed here without a phrase. Whether the steps
make sense is for whoever reads them; whether each may run is asked again whenever it does.
"""

import re
from collections.abc import Collection

from gate.domain import Reason, ReasonCode
from gate.phrases import MAX_CHARS
from gate.resolve.decision import Clarify, Confirm, Decision, Deny, Slots

_VERB = "promote"
#: A phone writes its id without help, and it stays typable behind the verb.
_ID = re.compile(r"[a-z0-9]+(?:[-_.][a-z0-9]+)*")
_MAX_ID_CHARS = MAX_CHARS - len(_VERB) - 1
_QUESTIONS = {
    "id": "Which id shall the runbook have? Small letters, digits and dashes, as restart-caddy.",
    "title": "What is the runbook called, in one line?",
    "steps": "Which steps does the runbook have? One a line.",
}


def resolve(slots: Slots, *, known: Collection[str] = ()) -> Decision:
    """Return what becomes of a promotion.

    Args:
        slots: "id", "title" and "steps", one step a line; others are kept.
        known: ids of the runbooks there are; promoting one of them replaces it, which is said.
    """
    bound = {**slots, **{name: _clean(slots.get(name, "")) for name in _QUESTIONS}}
    for name, question in _QUESTIONS.items():
        if not bound[name]:
            return Clarify(question=question, slots=bound, free=name, because=f"lacks {name}")
    name = bound["id"]
    if len(name) > _MAX_ID_CHARS or not _ID.fullmatch(name):
        return _unfit(
            bound, f"{name!r} cannot be the id of a runbook. Small letters, digits and dashes only."
        )
    if "\n" in bound["title"]:
        return _unfit(bound, "The title of a runbook is one line.")
    steps = bound["steps"].split("\n")
    count = len(steps)
    replaces = " It replaces the one of that id." if name in known else ""
    return Confirm(
        slots=bound,
        question="\n".join(
            [
                f"This makes {name} a runbook: {bound['title']}, {count} step{'s' * (count > 1)}.{replaces}",
                *(f"  {number}. {step}" for number, step in enumerate(steps, start=1)),
            ]
        ),
        phrase=f"{_VERB} {name}",
        because="learning proposes, a person promotes",
    )


def _clean(text: str) -> str:
    return "\n".join(line.strip() for line in text.splitlines() if line.strip())


def _unfit(slots: Slots, why: str) -> Deny:
    return Deny(reason=Reason(code=ReasonCode.UNFIT, text=f"{why} Nothing was promoted."), slots=slots)
