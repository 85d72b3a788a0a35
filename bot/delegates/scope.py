"""Scope: every request of an agent is put to the gate's one question first, with its token (K2, K54).

The rules it owns: an agent that the config does not name any more may do nothing, and what an agent may do is
asked again whenever something of its own is proposed or about to start.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bot.origin import AGENT_PREFIX, name_of
from gate.autonomy import Level, at_least
from gate.domain import Action, PersonId, Reason, ReasonCode, Risk, Verdict, strictest
from gate.resolve import engine
from gate.resolve import exec as commands
from gate.resolve.decision import Act, Allow, Decision, Deny

if TYPE_CHECKING:  # the core holds delegates
    from bot.core import Core
    from bot.delegates.delegate import Delegate

#: The setting that says how far what an agent asks for goes by itself.
DIAL = "delegates.autonomy"
#: The one registered tool that mutates (N5).
TOOL = "run"


def ask(core: "Core", delegate: "Delegate", found: Sequence[tuple[Action, Verdict]]) -> engine.Authorized:
    """Return whether an agent may have these actions proposed; that is no consent to any of them."""
    place = core.place_of(delegate.place)
    request = engine.Request(
        tool=TOOL,
        act=Act.EXEC,
        args={
            "command": "\n".join(action.command for action, _ in found),
            "target": ", ".join(str(action.target.id) for action, _ in found),
        },
        source=engine.Source.CALL,
        place=place,
        now=core.now(),
        delegated=True,
        token=delegate.token(place),
        targets=frozenset(action.target.id for action, _ in found if action.act == Act.EXEC),
        risk=strictest(*(verdict.risk for _, verdict in found)) if found else Risk.READ_ONLY,
    )
    return engine.authorize(request, resolve=lambda asked: _resolved(core, asked, found))


def _resolved(core: "Core", asked: engine.Request, found: Sequence[tuple[Action, Verdict]]) -> Decision:
    """Let the gate resolve each command; the first that it denies, or would ask about, decides."""
    slots = {name: str(value) for name, value in asked.args.items()}
    for action, _ in found:
        if action.act != Act.EXEC:
            continue  # that somebody agrees runs nothing
        decision = commands.resolve(
            {"command": action.command},
            rules=core.rules,
            roots=(),
            catastrophic=core.policy.catastrophic,
            as_root="root" in (action.target.user, action.target.become),
        )
        if not isinstance(decision, Allow):
            return decision
    return Allow(slots=slots)


def objection(core: "Core", requester: PersonId, found: Sequence[tuple[Action, Verdict]]) -> Reason | None:
    """Return why `requester` may not have these actions done, where it is an agent; else None."""
    if not requester.startswith(AGENT_PREFIX):
        return None
    delegate = core.delegates.get(requester)
    if delegate is None:
        text = f"agent {name_of(requester)} is not in the config any more, so nothing of its own runs"
        return Reason(code=ReasonCode.OUT_OF_SCOPE, text=text)
    decision = ask(core, delegate, found).decision
    return decision.reason if isinstance(decision, Deny) else None


def waits(core: "Core", requester: PersonId) -> str:
    """Return the setting because of which all that an agent asks for waits for a yes; "" for none."""
    if not requester.startswith(AGENT_PREFIX):
        return ""
    dial = core.settings.value(DIAL)
    return "" if at_least(dial.level, Level.RUN) else dial.lowered or f"{DIAL} {dial.level}"


def behalf(core: "Core", requester: PersonId) -> PersonId | None:
    """Return whom an agent works for; None where it works for nobody, and for everybody else."""
    delegate = core.delegates.get(requester)
    return None if delegate is None else delegate.on_behalf
