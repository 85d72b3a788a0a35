"""Forming: what makes one command on many targets a fan-out.

All of it waits for the same yes: the strictest route of any of its actions counts for each, and where one
takes a phrase, one phrase that names how many they are is taken for all. What depends on any of its targets
counts as depending on the whole (D15).
"""

from collections.abc import Sequence
from dataclasses import replace

from bot.core import Core
from bot.judging import Judged, Standing, widened
from gate import blast
from gate.domain import ProposalId, Reason, ReasonCode, Risk, Route, RouteKind, TargetKind, strictest
from gate.fanout import FROM, MOST, READS_FROM, Brake, Pace, brake_for
from gate.phrases import phrase_for_many
from ledger.views import ActionView

_HOSTS = frozenset({TargetKind.LOCAL, TargetKind.SSH})


def noun(kinds: Sequence[TargetKind]) -> str:
    """Return what several targets of these kinds are called."""
    return "hosts" if _HOSTS.issuperset(kinds) else "targets"


def brake_of(judged: Sequence[Judged], pace: Pace | None) -> Brake | None:
    """Return the brake of a fan-out over `judged`; None where they are an ordinary list.

    Args:
        pace: what was said about how it is to go; None where they are not one command on several targets.
    """
    reads = all(one.route.kind is RouteKind.AUTO and one.verdict.risk is Risk.READ_ONLY for one in judged)
    if pace is None or len(judged) < (READS_FROM if reads else FROM):
        return None
    return brake_for(pace, count=len(judged), risk=strictest(*(one.verdict.risk for one in judged)))


def too_many(judged: Sequence[Judged]) -> Reason | None:
    """Return why so many targets are refused; None where they are not."""
    if len(judged) <= MOST:
        return None
    text = f"{len(judged)} targets are more than one request may reach ({MOST}). Nothing ran. Name fewer."
    return Reason(code=ReasonCode.TOO_MANY, text=text)


def together(
    core: Core, judged: Sequence[Judged], *, proposal: ProposalId, at: Standing
) -> tuple[Judged, ...]:
    """Return `judged` with one route for all of them.

    Raises:
        ValueError: a target is among them twice, where it would run twice.
    """
    if len({one.action.target.id for one in judged}) < len(judged):
        raise ValueError(f"{proposal} names a target twice")
    radius = blast.union(one.radius for one in judged)
    found = tuple(_held(widened(core, one, radius=radius, at=at), count=len(judged)) for one in judged)
    kinds = {one.route.kind for one in found}
    if RouteKind.DENY in kinds:
        return found
    if RouteKind.PHRASE in kinds:
        strict = next(one for one in found if one.route.kind is RouteKind.PHRASE)
        way = Route(
            kind=RouteKind.PHRASE, phrase=_phrase(proposal, found, strict), because=strict.route.because
        )
    elif RouteKind.APPROVAL in kinds:
        way = next(one.route for one in found if one.route.kind is RouteKind.APPROVAL)
    else:
        return found
    return tuple(replace(one, route=way) for one in found)


def phrase_again(proposal: ProposalId, rest: Sequence[ActionView]) -> str | None:
    """Return the phrase for what is left of a fan-out; None where words are enough."""
    strict = next((one for one in rest if one.route is RouteKind.PHRASE), None)
    return None if strict is None else _phrase(proposal, rest, strict)


def _phrase(
    proposal: ProposalId, all_of: Sequence[Judged] | Sequence[ActionView], strict: Judged | ActionView
) -> str:
    """Return the phrase that runs `all_of`, of which `strict` takes one."""
    many, verdict = noun([one.action.target.kind for one in all_of]), strict.verdict
    if verdict.risk is Risk.DESTRUCTIVE or verdict.never is not None:
        return phrase_for_many(proposal, verdict.deed, count=len(all_of), noun=many)
    # Where much depends on it, that number is typed, so that it was read (C14).
    return f"change {blast.union(one.radius for one in all_of).count} on {len(all_of)} {many}"


def _held(one: Judged, *, count: int) -> Judged:
    """Let nothing but reading go to many at once by itself, unless a trust rule says so for each (D13)."""
    if one.route.kind is not RouteKind.AUTO or one.verdict.risk is Risk.READ_ONLY or one.route.rule:
        return one
    return replace(one, route=Route(kind=RouteKind.APPROVAL, because=f"{count} at once"))
