"""`watches` and `stop watching`: what is watched, what was seen of it last, and how one ends."""

from bot.acts import cancelling
from bot.answering import Speaker
from bot.choices import masked
from bot.controls import deny
from bot.core import Core
from bot.outcome import Outcome
from bot.phrasing import clock_time
from bot.places import place_name
from bot.text import Text, muted
from gate.domain import Reason, ReasonCode
from gate.resolve.decision import Act
from ledger.jobs import JobView
from ledger.signal_views import WatchState, WatchView

_MARKS = {WatchState.CLEAR: "✓", WatchState.RAISED: "▲", WatchState.BLIND: "?"}


def listed(core: Core, outcome: Outcome, speaker: Speaker) -> Text:
    """Return what is watched here, and the speaker's own elsewhere to somebody alone with sayso."""
    found = [one for one in core.queries.jobs() if one.act is Act.WATCH]
    here = [one for one in found if one.place == outcome.place]
    other = [one for one in found if one.place != outcome.place and one.person == speaker.operator.id]
    lines = [line for one in here for line in _lines(core, outcome, speaker, one)]
    if speaker.alone:
        lines += [f"{one.id}  {masked(core, one.text)}, in {place_name(core, one.place)}" for one in other]
    if not lines:
        return Text.of('Nothing is watched here. Say "tell me when /var on web1 passes 90 %".')
    return Text.of(*lines, muted("stop watching <id> ends one."))


def _lines(core: Core, outcome: Outcome, speaker: Speaker, job: JobView) -> list[str]:
    seen = core.queries.watched(job.id)
    told = [f"   {_told(core, outcome, speaker, one)}" for one in seen] or ["   not looked at yet"]
    return [f"{job.id}  {masked(core, job.text)}, by {job.person}", *told]


def _told(core: Core, outcome: Outcome, speaker: Speaker, one: WatchView) -> str:
    at = clock_time(one.at, zone=speaker.zone, now=outcome.at)
    return f"{_MARKS[one.state]} {one.target}: {masked(core, one.value)}, since {at}"


def stop(core: Core, outcome: Outcome, speaker: Speaker, job: str) -> None:
    """End a watch; what it told of is over with it."""
    view = core.queries.job(job)
    if view is None or view.act is not Act.WATCH:
        text = f"No watch {job} here. watches lists them."
        deny(outcome, speaker, Reason(code=ReasonCode.UNKNOWN_ID, text=text))
        return
    cancelling.by_id(core, outcome, speaker, job)
