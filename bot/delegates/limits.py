"""Limits: how much an agent may ask for at this moment, counted from the ledger before each call.

It writes nothing. A limit says when, or after what, the next request counts again.
"""

from datetime import timedelta

from bot.core import Core
from bot.delegates import scope
from bot.delegates.delegate import Delegate
from bot.outcome import Outcome
from bot.phrasing import clock_time
from gate.autonomy import Level, at_least
from gate.domain import Reason, ReasonCode

#: The time that `per_hour` is counted over.
HOUR = timedelta(hours=1)
#: Proposals of one agent of which something may run at a time, what it reads included.
MOST_RUNNING = 5


def over(core: Core, delegate: Delegate, outcome: Outcome) -> Reason | None:
    """Return why `delegate` may ask for nothing at this moment, whatever it is."""
    queries, quota, since = core.queries, delegate.quota, outcome.at - HOUR
    if queries.calls(delegate.id, since=since) >= quota.per_hour:
        first = queries.first_call(delegate.id, since=since) or outcome.at
        when = clock_time(first + HOUR, zone=core.zone, now=outcome.at)
        text = f"Not asked for: {quota.per_hour} requests an hour are what you have. Ask again at {when}."
        return Reason(code=ReasonCode.OVER_QUOTA, text=text)
    return None


def crowded(core: Core, delegate: Delegate, *, asks: bool) -> Reason | None:
    """Return why `delegate` may have nothing more under way; `asks`: it would wait for a yes."""
    running = core.queries.running_of(delegate.id)
    if len(running) >= MOST_RUNNING:
        names, why = running, "run or are about to"
    else:
        names, why = core.queries.waiting_of(delegate.id), "wait for a yes already"
        if not asks or len(names) < delegate.quota.pending:
            return None
    listed = ", ".join(f"#{one}" for one in names)
    text = f"Not asked for: {listed} {why}. Wait for them, or cancel one."
    return Reason(code=ReasonCode.OVER_QUOTA, text=text)


def too_low(core: Core) -> Reason | None:
    """Return why nothing that an agent asks for is even proposed."""
    dial = core.settings.value(scope.DIAL)
    if at_least(dial.level, Level.PROPOSE):
        return None
    because = dial.lowered or f"{scope.DIAL} {dial.level}"
    text = f"Not asked for, because of {because}. A person can run it in the chat."
    return Reason(code=ReasonCode.ASK_IN_CHAT, text=text)
