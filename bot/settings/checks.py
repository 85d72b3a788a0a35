"""What a config may get wrong although every value is well formed: names that clash or lead nowhere.

Reads nothing; bot.settings.config calls it. The rules it owns: an account belongs to one person, the agent is
never an operator (C4), and whoever or whatever is named exists. What can be meant is a warning, no problem.
"""

from collections.abc import Iterable, Mapping
from zoneinfo import available_timezones

from bot.inventory.config import TargetConfig
from bot.settings.addresses import loopback
from bot.settings.document import ESCALATION, OperatorConfig
from bot.settings.errors import Problem, unknown
from bot.settings.layers import Resolved
from bot.settings.tables import numbers
from gate import authority
from gate.domain import AGENT, PersonId, Risk, Target, TargetState
from gate.policy import Policy
from gate.quorum import required

_NOT_PEOPLE = frozenset({str(AGENT), "agent", "bot"})


def people_problems(people: Mapping[str, OperatorConfig], where: str, *, login: str) -> Iterable[Problem]:
    """Find operators that cannot be: the agent, an unknown time zone, an account of two people."""
    if not people and login in _NOT_PEOPLE:
        what = f"the user {login} has the name of the agent, which never decides. Add [operators.NAME]."
        yield Problem(where=where or "default", key="operators", what=what)
    owners: dict[str, str] = {}
    for name, person in people.items():
        key = f"operators.{name}"
        if name in _NOT_PEOPLE:
            yield Problem(
                where=where, key=key, what="this name means the agent, which never decides. Choose another."
            )
        if person.timezone and person.timezone not in available_timezones():
            yield Problem(
                where=where,
                key=f"{key}.timezone",
                what=unknown("time zone", person.timezone, available_timezones()),
            )
        for account in person.accounts:
            if account in owners:
                yield Problem(
                    where=where,
                    key=f"{key}.accounts",
                    what=f"{account} already belongs to {owners[account]}.",
                )
            owners[account] = name


def zone_problems(values: Mapping[str, Resolved]) -> Iterable[Problem]:
    """Find out whether the zone that times are shown in exists."""
    zone = values["bot.timezone"]
    if zone.value and str(zone.value) not in available_timezones():
        what = unknown("time zone", str(zone.value), available_timezones())
        yield Problem(where=zone.why, key="bot.timezone", what=what)


def metrics_problems(values: Mapping[str, Resolved]) -> Iterable[Problem]:
    """Find out whether metrics can be read where they are to be, and by this machine alone."""
    listen = values["metrics.listen"]
    try:
        if listen.value:
            loopback(str(listen.value))
    except ValueError as error:
        yield Problem(where=listen.why, key="metrics.listen", what=str(error))


def name_problems(
    targets: Mapping[str, TargetConfig],
    people: Mapping[str, OperatorConfig],
    values: Mapping[str, Resolved],
    where: str,
) -> Iterable[Problem]:
    """Find names of targets that do not exist: a mistyped one would protect or permit nothing."""
    tags = {f"@{tag}" for target in targets.values() for tag in target.tags}
    for name, person in people.items():
        for spoken in (spoken for line in person.may for spoken in line.targets):
            if spoken != "*" and spoken not in targets and spoken not in tags:
                what = f'"{spoken}": ' + unknown("target or tag", spoken, [*targets, *tags])
                yield Problem(where=where, key=f"operators.{name}.may", what=what)
    quorum = values["policy.quorum"]
    risks = [risk.value for risk in Risk]
    for spoken in numbers(quorum.value) if isinstance(quorum.value, tuple) else ():
        if spoken not in targets and spoken not in tags and spoken not in risks:
            what = f'"{spoken}": ' + unknown("risk, target or tag", spoken, [*risks, *targets, *tags])
            yield Problem(where=quorum.why, key="policy.quorum", what=what)
    never = values["policy.never_auto_act"]
    for spoken in never.value if isinstance(never.value, tuple) else ():
        if spoken not in targets:
            what = f'"{spoken}": ' + unknown("target", spoken, targets)
            yield Problem(where=never.why, key="policy.never_auto_act", what=what)


def routing_problems(
    routing: Iterable[str], targets: Mapping[str, TargetConfig], where: str
) -> Iterable[Problem]:
    """Find routes of names that do not exist: what they were meant for would be shown where it was asked."""
    known = [*(risk.value for risk in Risk), ESCALATION]
    known += [*targets, *dict.fromkeys(f"@{tag}" for target in targets.values() for tag in target.tags)]
    for spoken in routing:
        if spoken not in known:
            what = f'"{spoken}": ' + unknown("risk, target or tag", spoken, known)
            yield Problem(where=where, key=f"routing.{spoken}", what=what)


def place_problems(
    places: Mapping[str, str], platforms: Iterable[str], values: Mapping[str, Resolved], where: str
) -> Iterable[Problem]:
    """Find names of places that lead nowhere, that mean the same place, or that nobody gave."""
    known = ["console", *platforms]
    names: dict[str, str] = {}
    for name, place in places.items():
        platform = place.partition(":")[0]
        if platform not in known:
            what = f"{platform} is not switched on, so nothing gets there. Add [adapters.{platform}]."
            yield Problem(where=where, key=f"places.{name}", what=what)
        if place in names:
            what = f"{place} is {names[place]} already. A place has one name."
            yield Problem(where=where, key=f"places.{name}", what=what)
        names[place] = name
    allowed = values["outbound.allowed"]
    for spoken in allowed.value if isinstance(allowed.value, tuple) else ():
        if spoken not in places:
            what = f'"{spoken}": ' + unknown("place", spoken, places)
            yield Problem(where=allowed.why, key="outbound.allowed", what=what)


def lone_deciders(policy: Policy, targets: Iterable[Target]) -> Iterable[str]:
    """Warn of destructive work that needs a second person where only one person may approve it (C4)."""
    if not authority.needs_second_person(policy, risk=Risk.DESTRUCTIVE):
        return
    alone: dict[PersonId, list[str]] = {}
    for target in targets:
        people = authority.who_may(policy.operators, target=target, risk=Risk.DESTRUCTIVE)
        if len(people) == 1 and target.state is TargetState.ACTIVE:
            alone.setdefault(people[0], []).append(str(target.id))
    for person, names in alone.items():
        yield (
            f"only {person} may approve destructive work on {', '.join(names)}. What {person} asks for there "
            "needs a second person, so it never runs. Let another operator approve it (may), or set "
            'policy.separate_requester = "never".'
        )


def small_quorums(policy: Policy, targets: Iterable[Target]) -> Iterable[str]:
    """Find work that can never be approved, because fewer people may say yes than have to."""
    found: dict[str, list[str]] = {}
    for target in targets:
        for risk in Risk:
            if why := _too_few(policy, target, risk):
                found.setdefault(why, []).append(f"{risk.value} on {target.id}")
    for why, where in found.items():
        yield f"policy.quorum: {', '.join(where)} {why}."


def _too_few(policy: Policy, target: Target, risk: Risk) -> str:
    needed = required(policy, target=target, risk=risk)
    able = authority.who_may(policy.operators, target=target, risk=risk)
    if needed == 1:
        return ""
    if len(able) < needed:
        return f"takes {needed} people, and {', '.join(able) or 'nobody'} may approve it"
    others = authority.deciders(policy, target=target, risk=risk, requester=able[0])
    if len(others) < needed:
        return f"takes {needed} people beside who asked, so none of {', '.join(able)} can ask for it"
    return ""
