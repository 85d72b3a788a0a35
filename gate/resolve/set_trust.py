"""set_trust: letting one exact command run unasked for a while (X15, X12, D19).

It always ends in a typed phrase, a question or a refusal; nothing allows it at once. What a rule can cover
says gate.trust_rules; here the targets, the time and the risk are bound, so that the phrase names all that is
trusted. It makes no rule.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo

from gate.domain import Action, Reason, ReasonCode, Risk, Verdict, strictest
from gate.phrases import is_typable
from gate.redact import redact_command
from gate.resolve.decision import Clarify, Confirm, Decision, Deny, Option, Slots
from gate.shell.model import Rules
from gate.trust_rules import MAX_DAYS, objection

#: What is offered where nobody said how long.
_OFFERED = ("1 day", "7 days", "30 days")
_LENGTH = re.compile(r"(\d{1,4}) ?(h|hours?|d|days?|w|weeks?|months?)", re.IGNORECASE)
_HOURS = {"h": 1, "d": 24, "w": 7 * 24, "m": 30 * 24}
_DAY = re.compile(r"(?:until )?(?:(\d{1,2}) ([a-z]{3,9})\.?,? (\d{4})|(\d{4})-(\d\d)-(\d\d))", re.IGNORECASE)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MOST = f"A rule lasts {MAX_DAYS} days at most."
_RISKS = {Risk.REVERSIBLE_LOW: "reversible", Risk.CONFIG_MUTATION: "changes configuration"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustFacts:
    """What the act reads.

    Attributes:
        actions: the command on each of its targets, with its verdict of now; one at least.
        known: what is known about programs.
        request_at: the message's own time, from which the length counts (K25).
        zone: the zone in which the last day is named.
        secrets: literal values that must never be stored in plain sight.
    """

    actions: Sequence[tuple[Action, Verdict]]
    known: Rules
    request_at: datetime
    zone: tzinfo
    secrets: tuple[str, ...] = ()


def resolve(slots: Slots, facts: TrustFacts) -> Decision:
    """Return the phrase that makes the rule, a question about how long, or why there is none.

    Args:
        slots: `command`; `targets`, a name a line; `lasts` as said ("30 days", "until 30 Dec 2026"), "" where
            nobody said.
    """
    refused = _refusal(slots["command"], facts)
    if refused is not None:
        return _deny(slots, refused)
    lasts = " ".join(slots.get("lasts", "").split())
    ends_at = _ends_at(lasts, facts) if lasts else None
    if ends_at is None:
        return _how_long(slots, asked=lasts)
    if ends_at <= facts.request_at:
        return _deny(slots, "That time is over already.")
    if ends_at > facts.request_at + timedelta(days=MAX_DAYS):
        return _deny(slots, f"{_MOST} Say it again with  for {MAX_DAYS} days  or less.")
    return _confirm(slots, facts, ends_at)


def _refusal(command: str, facts: TrustFacts) -> str | None:
    for action, verdict in facts.actions:
        why = objection(action, verdict, known=facts.known)
        if why is not None:
            return f"No rule can let that run on {action.target.id}: {why}. It waits for a yes as before."
        if action.target.shell != "bash":
            return f"On {action.target.id} nothing runs unasked: its shell is {action.target.shell}."
    if redact_command(command, extra=facts.secrets).count:
        return "No rule can let that run: it holds what looks like a secret."
    return None


def _deny(slots: Slots, text: str) -> Deny:
    return Deny(reason=Reason(code=ReasonCode.UNFIT, text=text), slots=slots)


def _how_long(slots: Slots, *, asked: str) -> Clarify:
    unread = f'"{asked}" is no length of time that is read here. ' if asked else ""
    return Clarify(
        question=f"{unread}For how long? {MAX_DAYS} days at most.",
        slots=slots,
        options=tuple(Option(id=one.replace(" ", "_"), label=one, patch={"lasts": one}) for one in _OFFERED),
        free="lasts",
    )


def _ends_at(lasts: str, facts: TrustFacts) -> datetime | None:
    """Return the instant that `lasts` ends at; None where it is no length and no day."""
    if found := _LENGTH.fullmatch(lasts.removeprefix("for ")):
        return facts.request_at + timedelta(hours=int(found[1]) * _HOURS[found[2][0].lower()])
    found = _DAY.fullmatch(lasts)
    if found is None:
        return None
    year, day = found[3] or found[4], found[1] or found[6]
    month = int(found[5]) if found[5] else _month(found[2])
    try:
        last = datetime(int(year), month, int(day), tzinfo=facts.zone)
    except ValueError:
        return None
    return (last + timedelta(days=1)).astimezone(facts.request_at.tzinfo)


def _month(name: str) -> int:
    """Return the number of a month; 0, which is none, for another word."""
    short = name[:3].lower()
    return _MONTHS.index(short) + 1 if short in _MONTHS else 0


def _confirm(slots: Slots, facts: TrustFacts, ends_at: datetime) -> Confirm:
    names = [str(action.target.id) for action, _ in facts.actions]
    ceiling = strictest(*(verdict.risk for _, verdict in facts.actions))
    # A day that ends at midnight is the day before.
    last = (ends_at - timedelta(microseconds=1)).astimezone(facts.zone)
    until = f"{last.day} {last:%b %Y}"
    where, command = ", ".join(names), slots["command"]
    said = [
        f"trust {command} on {where} until {until}",
        f"trust this command on {where} until {until}",
        f"trust this command on {len(names)} targets until {until}",
    ]
    reason = facts.actions[0][1].reasons[0]
    return Confirm(
        slots={
            **slots,
            "targets": "\n".join(names),
            "ceiling": ceiling.value,
            "expires_at": ends_at.isoformat(),
            "until": until,
        },
        question=f"Until {until}  {command}  runs unasked on {where}, whoever asks for it. "
        f"It {reason} ({_RISKS[ceiling]}). Stop, auto off and never auto win over it.",
        phrase=next((one for one in said if is_typable(one)), said[-1]),
        because=f"trusts {ceiling.value}",
    )
