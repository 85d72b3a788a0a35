"""What a model can look up: targets, runbooks, history and facts, answered from what sayso knows.

Reads only, and nothing that the operator whose request it is could not be shown in that place. Approvals,
who decided in which words, phrases, settings and the policy are not among it.
"""

from datetime import timedelta

from bot import memory
from bot.core import Core
from bot.phrasing import ago, named
from bot.planning.model import context
from bot.planning.model.masking import quoted
from bot.recalling import told_in_words
from gate.domain import PersonId
from ledger.plans import PlanView
from ledger.views import ProposalView

_BACK = timedelta(days=7)
_MOST = 15
_SEARCHED = 100


def look(core: Core, plan: PlanView, tool: str, args: dict[str, str]) -> tuple[str, tuple[str, ...]]:
    """Return what a look of `plan` shows, and the ids of the facts in it.

    Raises:
        KeyError: `tool` looks at nothing that is known here.
    """
    if tool == "recall":
        return _recall(core, plan, args["about"])
    if tool == "targets":
        lines = context.targets(core, args.get("words", ""))
        return quoted(core, "targets", "\n".join(lines)), ()
    if tool == "runbooks":
        found = context.runbooks(core, args["words"], most=_MOST)
        lines = [context.document_line(one) for one in found]
        return quoted(core, "runbooks and diagnostics", "\n".join(lines)), ()
    if tool == "history":
        return quoted(core, "history, newest first", "\n".join(_history(core, args.get("target", "")))), ()
    raise KeyError(tool)


def _recall(core: Core, plan: PlanView, about: str) -> tuple[str, tuple[str, ...]]:
    person: PersonId = plan.person
    found = memory.about(core, person, about, alone=plan.direct)[-_MOST:]
    zone = core.zone_for(person)
    lines = [told_in_words(core, one, now=core.now(), zone=zone) for one in found]
    return quoted(core, "facts that people told sayso", "\n".join(lines)), tuple(one.id for one in found)


def _history(core: Core, target: str) -> list[str]:
    found = core.queries.proposals(since=core.now() - _BACK, limit=_SEARCHED)
    mine = [one for one in found if not target or any(target == act.action.target.id for act in one.actions)]
    return [_line(core, one) for one in mine[:_MOST]]


def _line(core: Core, view: ProposalView) -> str:
    what = ", ".join(f"{named(one, secrets=core.secrets)}: {one.state.value}" for one in view.actions[:5])
    return f"#{view.id} {ago(view.made_at, core.now())}, asked by {view.requester}: {what}"
