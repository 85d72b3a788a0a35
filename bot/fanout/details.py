"""Details of a fan-out: everything that was judged and that came of it, the same of many targets said once.

Names and failures are all here; what one target printed stands whole in the details of that one.
"""

from bot.card_words import Lines
from bot.fanout import results
from bot.fanout.asking import by, some
from bot.fanout.folding import folded
from bot.fanout.look import Look
from bot.fanout.outputs import IN_DETAILS, printed
from bot.fanout.pacing import plan
from bot.fanout.tally import Tally, counted, names
from bot.phrasing import duration, shortened
from bot.text import block, muted
from gate import blast
from gate.digest import list_digest, short
from gate.domain import RouteKind
from ledger.views import ActionView, FanoutView, ProposalView

#: So many targets have a line each with where they are and their own digest.
_EACH = 8
#: Reasons of failures told, each with all of its targets.
_REASONS = 60


def lines(view: ProposalView, fanout: FanoutView, look: Look) -> Lines:
    """Return the details of `view`, without who asked and when."""
    actions = view.actions
    selector = (
        f" · named as {', '.join(look.line(one) for one in fanout.selector)}" if fanout.selector else ""
    )
    said: Lines = [f"{counted(actions)}{selector}", block(folded(names(actions), most=0))]
    for command, members in by(actions, lambda one: one.action.command).items():
        said += [block(look.command(command)), *_where(members, view)]
    said += _judged(view, look)
    said += [f"goes: {plan(fanout.brake, names(actions))}"]
    said += [f"then checks each: {look.command(one)}" for one in _verifies(view)]
    for facts, members in by(actions, _surroundings).items():
        said.append(f"{facts}{some(members, actions)}")
    digest = list_digest([one.digest for one in actions], fanout.brake)
    said.append(muted(f"digest of all {short(digest)}"))
    if len(actions) <= _EACH:
        said += [_each(one) for one in actions]
    return [*said, *_came(view, look)]


def _where(members: list[ActionView], view: ProposalView) -> Lines:
    return [] if len(members) == len(view.actions) else [f"on {folded(names(members), most=0)}"]


def _verifies(view: ProposalView) -> list[str]:
    return list(dict.fromkeys(one.action.verify for one in view.actions if one.action.verify is not None))


def _judged(view: ProposalView, look: Look) -> Lines:
    said: Lines = []
    for (risk, route, because), members in by(view.actions, _route).items():
        why = f" · {look.shown(because)}" if because else ""
        said.append(f"class {risk} · {route.value}{why}{some(members, view.actions)}")
    reasons: dict[str, list[ActionView]] = {}
    for one in view.actions:
        for reason in dict.fromkeys(one.verdict.reasons):
            reasons.setdefault(reason, []).append(one)
    said += [
        f"- {look.shown(shortened(reason))}{some(members, view.actions)}"
        for reason, members in reasons.items()
    ]
    radius = blast.union(one.radius for one in view.actions)
    depend = [*radius.services, *map(str, radius.targets)]
    if depend:
        more = "" if radius.known else ", maybe more"
        said.append(f"depend on them: {', '.join(depend)}{more}")
    elif any(one.verdict.touches for one in view.actions):
        said.append("nothing known depends on them" if radius.known else "unknown what depends on them")
    return said


def _route(one: ActionView) -> tuple[str, RouteKind, str]:
    return one.verdict.risk.value, one.route, one.because


def _surroundings(one: ActionView) -> str:
    target = one.action.target
    facts = [f"timeout {duration(one.action.timeout_s)}", f"shell {target.shell}"]
    if target.become:
        facts.append(f"as {target.become} through sudo")
    if one.action.workdir:
        facts.append(f"in {one.action.workdir}")
    return " · ".join(facts)


def _each(one: ActionView) -> str:
    target = one.action.target
    where = f"{target.user}@{target.address}:{target.port}" if target.address else "this machine"
    return f"{one.action.index} {target.id} ({where}) · {one.state.value} · digest {short(one.digest)}"


def _came(view: ProposalView, look: Look) -> Lines:
    """Return what came of it; nothing while nothing has started."""
    tally = Tally.of(view.actions)
    ran = [one for one in view.actions if one.started_at is not None]
    if not ran and not tally.is_over:
        return []
    said: Lines = [" · ".join(tally.counts(ok_of_all=True))]
    said += results.reasons(tally, look, most=_REASONS, unrun=True, names_most=0)
    said += filter(None, [results.exit_codes(view.actions), results.not_kept(ran)])
    ended = [one for one in ran if one.ended_at is not None and not results.is_quoted(one)]
    where = f"details {view.id}.{ran[0].action.index} and so on" if ran else ""
    said += printed(ended, look, where=where, bounds=IN_DETAILS).lines
    if ran:
        said.append(muted(f"details {ran[0].action.id} tells all of {ran[0].action.target.id}"))
    return said
