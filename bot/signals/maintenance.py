"""Maintenance: while somebody works on a target, what fires about it is recorded, not shown or acted on.

One word of any operator begins it, and it ends by itself; ending it sooner lets things happen again, so that
takes the phrase of whatever loosens (D19). What still fires when it is over is handled then.
"""

from datetime import datetime, timedelta

from bot.answering import Speaker
from bot.controls import deny, set_switch
from bot.core import Core
from bot.outcome import Outcome
from bot.phrasing import clock_time, listed
from bot.text import Text
from ledger.codec import instant, mapping, parse_instant
from ledger.kinds import Json

#: The name of the switch in the ledger.
SWITCH = "maintenance"
LONGEST = timedelta(days=7)


def windows(core: Core, now: datetime) -> dict[str, datetime]:
    """Return until when which targets are worked on; none whose time is over."""
    value = core.queries.switch_values().get(SWITCH)
    found = {} if value is None else {name: parse_instant(str(at)) for name, at in mapping(value).items()}
    return {name: at for name, at in found.items() if at > now}


def until(core: Core, target: str, now: datetime) -> datetime | None:
    """Return until when `target` is worked on; None where it is not."""
    return windows(core, now).get(target)


def begin(core: Core, outcome: Outcome, speaker: Speaker, words: str, seconds: int) -> None:
    """Hold signals about the targets that `words` name for so long; a longer time that was said stays."""
    found = core.inventory.select(words)
    if not isinstance(found, tuple):
        deny(outcome, speaker, found.reason)
        return
    end = outcome.at + min(timedelta(seconds=seconds), LONGEST)
    held = windows(core, outcome.at)
    names = [str(one.id) for one in found]
    held |= {name: max(end, held.get(name, end)) for name in names}
    set_switch(core, outcome, speaker, SWITCH, value=_value(held))
    last = clock_time(max(held[name] for name in names), zone=speaker.zone, now=outcome.at)
    outcome.say(
        Text.of(
            f"Maintenance of {listed(names)} until {last}: alerts about it are recorded, nothing is shown "
            f"or done about them. To end it sooner, say  end maintenance {words}"
        )
    )


def without(core: Core, names: set[str], now: datetime) -> dict[str, Json] | None:
    """Return the switch as it is without `names`; None where none of them is worked on."""
    held = windows(core, now)
    if not names & set(held):
        return None
    return _value({name: at for name, at in held.items() if name not in names})


def _value(held: dict[str, datetime]) -> dict[str, Json]:
    return {name: instant(at) for name, at in sorted(held.items())}
