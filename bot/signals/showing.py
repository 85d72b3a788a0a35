"""`signals`, `watches` and maintenance: what fires, what is held, what is watched."""

from datetime import datetime

from bot.answering import Speaker
from bot.commands import Maintain, MaintainNoMore, OfSignals, ShowSignals, ShowWatches, StopWatching
from bot.core import Core
from bot.loosening import end_maintenance
from bot.outcome import Outcome
from bot.phrasing import clock_time
from bot.signals import cards, maintenance, watches
from bot.signals.dial import DIAL
from bot.text import Text, muted
from gate.domain import ProposalId
from ledger.signal_views import GroupView

LISTED = 15


def steer(core: Core, outcome: Outcome, speaker: Speaker, command: OfSignals) -> None:
    """Carry out a control word about signals."""
    match command:
        case ShowSignals():
            outcome.say(_signals(core, outcome, speaker))
        case ShowWatches():
            outcome.say(watches.listed(core, outcome, speaker))
        case StopWatching(job=job):
            watches.stop(core, outcome, speaker, job)
        case Maintain(target=target, seconds=seconds):
            maintenance.begin(core, outcome, speaker, target, seconds)
        case MaintainNoMore(target=target):
            end_maintenance(core, outcome, speaker, target)


def group_of(core: Core, proposal: ProposalId) -> str | None:
    """Return the group of signals because of which `proposal`, or the run that it is a step of, was made."""
    own = core.queries.group_of_ref(proposal)
    if own is not None:
        return own
    run = core.queries.run_of(proposal)
    return None if run is None else core.queries.group_of_ref(run.id)


def _signals(core: Core, outcome: Outcome, speaker: Speaker) -> Text:
    count = core.queries.count_open_groups()
    found = core.queries.open_groups(limit=LISTED)
    lines = [_line(core, outcome, speaker, view) for view in found] or ["No alert fires."]
    if count > len(found):
        lines.append(f"and {count - len(found)} older ones")
    storm = core.queries.storm()
    if storm is not None:
        lines.append(
            f"A storm since {_at(outcome, speaker, storm.began_at)}: nothing is done about any of them."
        )
    lines += [
        f"Maintenance of {name} until {_at(outcome, speaker, at)}"
        for name, at in maintenance.windows(core, outcome.at).items()
    ]
    dial = core.settings.value(DIAL)
    return Text.of(*lines, muted(f"{DIAL} {dial.level}{f' ({dial.lowered})' if dial.lowered else ''}"))


def _line(core: Core, outcome: Outcome, speaker: Speaker, view: GroupView) -> str:
    held = f" · held: {view.held}" if view.held else ""
    done = next((f" · {one.how.value} #{one.ref}" for one in reversed(view.acts) if one.ref), "")
    at = _at(outcome, speaker, view.opened_at)
    return f"{cards.FIRING} #{view.id}  {view.source}: {cards.heading(core, view)}, since {at}{held}{done}"


def _at(outcome: Outcome, speaker: Speaker, at: datetime) -> str:
    return clock_time(at, zone=speaker.zone, now=outcome.at)
