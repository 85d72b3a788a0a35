"""The card of a group of signals, and that of a storm: drawn anew whenever something about it changes.

It has no buttons: what may be answered stands in a question or a proposal of its own. A line about what was
done is read from the record of what was done, so that nothing reads as done that was not (N40).
"""

from datetime import datetime, tzinfo

from bot import routing
from bot.card_words import undo_words
from bot.core import Core
from bot.phrasing import clock_time, plural
from bot.ports import Message
from bot.runbooks.cards import standing
from bot.runbooks.restoring import restore
from bot.signals import wording
from bot.text import Span, Text, muted, strong
from gate.domain import ProposalId, Risk
from gate.lifecycle import ACTION_ENDED, ActionState
from gate.redact import redact
from gate.signals import WATCH
from gate.supervise.domain import RunId
from ledger.signal_views import GroupView, How, SignalActView, StormView
from ledger.signals import NAMED
from ledger.views import ActionView

_Line = str | Span | list[Span | str]
#: What a card of signals begins with, which no card of a proposal does.
FIRING, OVER = "⚑", "⚐"
#: Texts, acts and names that a card has room for.
TEXTS, ACTS, NAMES = 3, 6, 8


def draw(core: Core, name: str, *, now: datetime) -> Message | None:
    """Return the card of a group or a storm; None where `name` is neither."""
    group = core.queries.group(name)
    if group is not None:
        return Message(body=_group(core, group, now=now))
    storm = core.queries.storm(name)
    return None if storm is None else Message(body=_storm(core, storm, now=now))


def heading(core: Core, view: GroupView) -> str:
    """Return "DiskFull x3 · web1, web2" of a group."""
    signals = [one.signal for one in view.signals]
    if not signals:
        return view.source
    names = dict.fromkeys(wording.title(core, one) for one in signals)
    first = next(iter(names))
    more = f" x{len(signals)}" if len(signals) > 1 else ""
    others = f" and {plural(len(names) - 1, 'other name')}" if len(names) > 1 else ""
    where = wording.where(core, signals)
    return f"{first}{others}{more}{f' · {where}' if where else ''}"


def _group(core: Core, view: GroupView, *, now: datetime) -> Text:
    zone = core.zone
    mark, kind = (
        FIRING if view.is_open else OVER,
        "watch" if view.source == WATCH else f"alert of {view.source}",
    )
    lines: list[_Line] = [[f"{mark} {kind}: ", strong(heading(core, view)), muted(_severities(view))]]
    lines += _said(core, view)
    for act in view.acts[:ACTS]:
        lines += _act(core, act, zone=zone, now=now)
    lines.append(muted(_since(view, zone=zone, now=now)))
    return Text.of(*lines)


def _severities(view: GroupView) -> str:
    named = list(filter(None, dict.fromkeys(wording.severity(one.signal) for one in view.signals)))
    return f"   {', '.join(named[:2])}" if named else ""


def _said(core: Core, view: GroupView) -> list[_Line]:
    texts = list(dict.fromkeys(filter(None, (wording.says(core, one.signal) for one in view.signals))))
    more = [muted(f"and {len(texts) - TEXTS} more texts")] if len(texts) > TEXTS else []
    return [*texts[:TEXTS], *more]


def _since(view: GroupView, *, zone: tzinfo, now: datetime) -> str:
    began = clock_time(view.opened_at, zone=zone, now=now)
    if view.closed_at is not None:
        return f"over since {clock_time(view.closed_at, zone=zone, now=now)}, began {began} · #{view.id}"
    firing = len(view.firing)
    count = f"{firing} of {len(view.signals)} firing" if len(view.signals) > 1 else "firing"
    return f"{count} since {began} · #{view.id}"


# ---------------------------------------------------------------- what was done


def _act(core: Core, act: SignalActView, *, zone: tzinfo, now: datetime) -> list[_Line]:
    lines: list[_Line] = [muted(f"matched: {_shown(core, act.matched)}")] if act.matched else []
    match act.how:
        case How.NOTED | How.DENIED:
            lines += [_shown(core, line) for line in act.note.splitlines()]
        case How.ASKED:
            lines.append(_asked(core, act.ref))
        case How.PROPOSED:
            lines += _proposed(core, ProposalId(act.ref))
        case How.RUN:
            lines.append(_run(core, RunId(act.ref), zone=zone, now=now))
    return lines


def _asked(core: Core, choice: str) -> str:
    waits = core.queries.clarification(choice) is not None
    return "Asked what to do, see the question." if waits else "Asked what to do; that question is over."


def _proposed(core: Core, proposal: ProposalId) -> list[_Line]:
    view = core.queries.proposal(proposal)
    if view is None:
        return []
    if all(one.state in ACTION_ENDED for one in view.actions):
        checks = [text for one in view.actions if (text := _checked(one))]
        undo = [undo_words(one.verdict.undo or "") for one in view.actions if _can_undo(one)]
        return [
            _shown(core, ", ".join([routing.result(core, view), *checks])),
            *(_shown(core, one) for one in undo),
        ]
    if view.pending:
        return [f"Proposed, and waits for a yes: #{proposal}"]
    return [f"Runs now by itself: #{proposal}"]


def _checked(one: ActionView) -> str:
    """Return what the check after a command said; "" where there was none to run."""
    if one.action.verify is None or one.state is not ActionState.SUCCEEDED or one.ending is None:
        return ""
    if one.ending.verify_exit is None:
        return "check not run"
    return "check ok" if one.ending.verify_exit == 0 else f"check failed, exit {one.ending.verify_exit}"


def _can_undo(one: ActionView) -> bool:
    return (
        one.state is ActionState.SUCCEEDED
        and one.verdict.risk is not Risk.READ_ONLY
        and bool(one.verdict.undo)
    )


def _run(core: Core, run: RunId, *, zone: tzinfo, now: datetime) -> str:
    view = core.queries.run(run)
    if view is None:
        return f"runbook run #{run}"
    if view.outcome is not None:
        return _shown(core, f"runbook {view.title}: {view.outcome.value} · #{run}")
    stands = standing(core, view, restore(core, run), zone=zone, now=now) or f"in step {view.step}"
    return _shown(core, f"runbook {view.title}: {stands} · #{run}")


def _shown(core: Core, text: str) -> str:
    return redact(text, extra=core.secrets).text


# ---------------------------------------------------------------- storms


def _storm(core: Core, view: StormView, *, now: datetime) -> Text:
    zone = core.zone
    began = clock_time(view.began_at, zone=zone, now=now)
    mark = OVER if view.is_over else FIRING
    signals, groups = plural(view.signals, "alert"), plural(view.groups, "group")
    head = f"storm: {signals} in {groups}, from {', '.join(view.sources) or 'nobody'}"
    names = [f"{wording.quoted(core, name)} {count}" for name, count in view.names.items()]
    listed = ", ".join(names[:NAMES])
    more = f" and {len(names) - NAMES} more names" if len(names) > NAMES else ""
    if view.signals > NAMED:
        more += f", of the newest {NAMED}"
    state = (
        f"over since {clock_time(view.ended_at, zone=zone, now=now)}, began {began}"
        if view.ended_at is not None
        else f"since {began}"
    )
    lines: list[_Line] = [[f"{mark} ", strong(head)], f"{listed}{more}" if listed else "nothing named"]
    if not view.is_over:
        lines.append("Nothing is done about them by itself, and none of them has a card.")
    lines.append(f"{view.firing} of {view.signals} firing still. signals lists them.")
    lines.append(muted(f"storm {state} · #{view.id}"))
    return Text.of(*lines)
