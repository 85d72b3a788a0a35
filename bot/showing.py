"""Answers that change nothing: help, targets, what waits, history, the digest, details and dependants."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, tzinfo

from bot import commands, history, past
from bot.answering import Speaker
from bot.cards import Cards, summary
from bot.controls import unknown_id
from bot.core import Core
from bot.digest import digest
from bot.fanout.folding import folded
from bot.fanout.naming import several
from bot.fanout.tally import counted
from bot.origin import asker, name_of, origin_of
from bot.outcome import Outcome
from bot.phrasing import clock_time, listed, named, plural, title
from bot.runbooks import showing as run_showing
from bot.settings import explain
from bot.settings.errors import unknown
from bot.text import Text, block, muted
from gate import blast
from gate.domain import ProposalId, TargetId, Touch, TouchKind
from gate.fanout import FROM
from gate.lifecycle import ActionState, ApprovalState
from ledger.views import ActionView, ProposalView

HELP = (
    "Ask in plain words, or type the command.",
    "  disk space on web1?",
    "  run systemctl restart caddy on web1",
    "  on @web: uptime",
    "Reading runs at once. What changes something waits: say go ahead, or no. What destroys wants a phrase.",
    "  on @web: reboot, canary first, 5 at a time, stop after 2 failures",
    "  approve <id> · deny <id> why · details [id] · preview <id> · again <id> · cancel <id>",
    "  only web1 · all but web3 · retry the failed ones  where it is for many",
    "  edit <id> run …  asks for something else instead",
    "  pending · history · who restarted caddy last week? · what did you do? · targets",
    "  stop · resume · auto off · auto on · posture approve_all · never auto web1 · allow auto web1",
    "  runbooks · runbook <id> · run runbook <id> on web1 with name=value · plan <id> on web1",
    "  runs · run <id> · stop the run · rollback <id> · report <id>",
    "  save that as a runbook called deploy blog · retire runbook <id> · what have you learned?",
    "  settle <id> ran, because …  for an unknown end",
    "  remind me tomorrow at 9 to … · every weekday at 9: run … · reminders · schedules · cancel reminder",
    "  tell me when /var on web1 passes 90 % · watch failed units on @web · watches · stop watching <id>",
    "  signals · maintenance web1 for 2h · end maintenance web1  for alerts",
    '  send "deploy starts at 10" to #ops · send this to #ops · post the digest to #ops',
    "  trust <command> on <target> for 30 days · trust rules · revoke trust <id>",
    "  from now on … · guidance · guidance confirm <id> · guidance reject <id> why",
    "  remember that the sync is on Friday · what do you know about the sync? · forget the sync",
    "  accounts · pair · unpair <account>",
    "  settings · set repair.autonomy to propose · unset repair.autonomy",
)

#: What queued proposals wait behind, in words.
Behind = Mapping[ProposalId, str]

#: How far back "what did you do?" looks by itself.
TASK = timedelta(hours=12)


def show(
    core: Core,
    cards: Cards,
    outcome: Outcome,
    speaker: Speaker,
    command: commands.Command,
    *,
    behind: Behind,
) -> None:
    """Answer a control word that only shows something."""
    match command:
        case commands.Help():
            outcome.say(Text.of(*HELP, *_library(core), *_model(core)))
        case commands.ShowSettings(key=key):
            outcome.say(Text.of(*_settings(core, key)))
        case commands.ShowTargets():
            outcome.say(_targets(core))
        case commands.ShowPending():
            _pending(core, outcome, speaker, behind)
        case commands.ShowHistory(text=text):
            _history(core, outcome, speaker, text)
        case commands.ShowDigest(period=period):
            outcome.say(digest_of(core, period, zone=speaker.zone, now=outcome.at))
        case commands.DependsOn():
            _depends(core, outcome, speaker, command)
        case commands.Details(ref=None):
            _details_here(core, cards, outcome, speaker, behind=behind)
        case commands.Details(ref=commands.Ref() as ref) | commands.Why(ref=ref):
            _details(core, cards, outcome, speaker, ref, behind=behind)
        case _:
            raise TypeError(f"nothing shows {command!r}")


def _library(core: Core) -> list[str]:
    titles = [document.title for document in core.library.documents.values()]
    return [f"Knows by name: {listed(titles, most=12)}."] if titles else []


def _model(core: Core) -> list[str]:
    if core.thinker is None:
        return []
    return [
        f"What none of it reads is planned by {core.thinker.name}, which only proposes. cancel drops a plan."
    ]


def _settings(core: Core, key: str) -> list[str]:
    values = core.settings.all()
    if not key:
        return explain.listed(values)
    if key in values:
        return explain.explained(values[key])
    return [f"{key}: {unknown('setting', key, values)} settings lists what can be changed here."]


def _targets(core: Core) -> Text:
    frozen = core.queries.frozen()
    lines = []
    for one in core.inventory.targets.values():
        notes = [one.kind.value, one.address, *(f"@{tag}" for tag in one.tags)]
        notes += ["destroyed"] if one.state.value == "destroyed" else []
        notes += ["frozen: an earlier change has an unknown end"] if one.id in frozen else []
        lines.append(f"{one.id}  {' · '.join(note for note in notes if note)}")
    return Text.of(*lines)


def _pending(core: Core, outcome: Outcome, speaker: Speaker, behind: Behind) -> None:
    lines = open_lines(core, zone=speaker.zone, now=outcome.at, behind=behind)
    outcome.say(Text.of(*lines) if lines else Text.of("Nothing waits and nothing runs."))
    outcome.shows.extend(dict.fromkeys(one.proposal for one in core.queries.pending()))
    if len(outcome.shows) == 1:
        outcome.window = (speaker.operator.id, outcome.shows[0])


def open_lines(core: Core, *, zone: tzinfo, now: datetime, behind: Behind) -> list[str]:
    """Return what waits, runs or has an unknown end, a line each; [] when nothing does."""
    views = [view for one in core.queries.unfinished() if (view := core.queries.proposal(one)) is not None]
    lines = [_pending_line(core, view, now, zone, behind.get(view.id, "")) for view in views]
    lines += _lost_lines(core)
    lines += run_showing.open_lines(core, zone=zone, now=now)
    if firing := core.queries.count_open_groups():
        lines.append(f"{plural(firing, 'card')} of alerts that fire: signals lists them.")
    if frozen := core.queries.frozen():
        lines.append(f"Frozen until settled: {folded(map(str, frozen))}.")
    return lines


def _lost_lines(core: Core) -> list[str]:
    """Return a line for each unknown end that a person has to look after, one for all of a fan-out."""
    by_proposal: dict[str, list[ActionView]] = {}
    for one in core.queries.in_state(ActionState.LOST):
        if not one.freezes:
            continue  # it only read: there is nothing to look after
        by_proposal.setdefault(one.action.id.rpartition(".")[0], []).append(one)
    lines: list[str] = []
    for proposal, members in by_proposal.items():
        if len(members) < FROM:
            lines += [
                f"? #{one.action.id} {named(one, secrets=core.secrets)}: unknown end, settle it"
                for one in members
            ]
        else:
            lines.append(f"? #{proposal} {several(members, secrets=core.secrets)}: unknown ends, settle them")
    return lines


def _pending_line(core: Core, view: ProposalView, now: datetime, zone: tzinfo, behind: str) -> str:
    pending = view.pending
    if not pending:
        running = next((one for one in view.actions if one.state is ActionState.STARTED), None)
        waits = f" · waits {behind}" if behind and running is None else ""
        return f"{'●' if running else '◔'} {first_line(core, view)}{waits}"
    asked = f"asked by {asker(view.requester, view.on_behalf)} · until {_until(view, zone, now)}"
    return f"◔ {summary(view, secrets=core.secrets)} · {asked}"


def _until(view: ProposalView, zone: tzinfo, now: datetime) -> str:
    """Return when the first approval that waits ends by itself."""
    until = min(one.approval.deadline_at for one in view.pending if one.approval is not None)
    return clock_time(until, zone=zone, now=now)


def first_line(core: Core, view: ProposalView) -> str:
    """Return "#k7f3a2 restart caddy on web1 and 2 more" for a list of proposals."""
    first = view.actions[0]
    if view.fanout is not None:
        return f"#{view.id} {title(first, secrets=core.secrets)} on {counted(view.actions)}"
    more = f" and {len(view.actions) - 1} more" if len(view.actions) > 1 else ""
    return f"#{view.id} {named(first, secrets=core.secrets)}{more}"


def _depends(core: Core, outcome: Outcome, speaker: Speaker, asked: commands.DependsOn) -> None:
    if asked.ref is not None:
        view = core.queries.proposal(asked.ref.proposal)
        if view is None:
            unknown_id(core, outcome, speaker, asked.ref.proposal)
            return
        outcome.say(Text.of(*(_dependants(core, one) for one in view.actions)))
        return
    if asked.name is None:
        outcome.say(Text.of("Of what? Say  what depends on <service or target>."))
        return
    outcome.say(Text.of(_named_dependants(core, asked.name, asked.target)))


def _named_dependants(core: Core, name: str, target: str | None) -> str:
    """Return "caddy → blog, wiki"; of a service without a target, over all targets that it is on."""
    places: tuple[TargetId, ...] = (TargetId(target or ""),)
    kind = TouchKind.SERVICE
    if TargetId(name) in core.inventory.targets:
        kind, places = TouchKind.HOST, (TargetId(name),)
    elif not target:
        service = core.inventory.services.get(name.removesuffix(".service"))
        places = service.on if service is not None and service.on else places
    touches = [Touch(kind=kind, name=name)]
    found = [blast.radius(touches, place, core.inventory.graph()) for place in places]
    names = dict.fromkeys(one for radius in found for one in (*radius.services, *map(str, radius.targets)))
    return f"{name} → {', '.join(names)}" if names else f"{name}: {blast.words(found[0])}"


def _dependants(core: Core, one: ActionView) -> str:
    names = [*one.radius.services, *map(str, one.radius.targets)]
    tail = f"→ {', '.join(names)}" if names else blast.words(one.radius)
    return f"{named(one, secrets=core.secrets)}: {tail}"


def _details(
    core: Core, cards: Cards, outcome: Outcome, speaker: Speaker, ref: commands.Ref, *, behind: Behind
) -> None:
    view = core.queries.proposal(ref.proposal)
    if view is None:
        if core.queries.run(ref.proposal) is None:
            unknown_id(core, outcome, speaker, ref.proposal)
        else:
            run_showing.show(core, outcome, speaker, ref.proposal)
        return
    whole = _whole(cards, view, outcome.at, speaker, index=ref.index)
    waits = behind.get(view.id, "")
    if view.pending and outcome.place == view.shown_in:
        # It shows all of what waits and nothing else, so the next words may answer it (D2).
        phrases = [one.approval.phrase for one in view.pending if one.approval is not None]
        what = f"to be typed:  {phrases[0]}  " if phrases[0] and all(phrases) else "for a yes "
        waits = f"{what}until {_until(view, speaker.zone, outcome.at)}"
        outcome.shows.append(view.id)
        outcome.window = (speaker.operator.id, view.id)
    outcome.say(whole + Text.of(f"waits {waits}") if waits else whole)


def _details_here(core: Core, cards: Cards, outcome: Outcome, speaker: Speaker, *, behind: Behind) -> None:
    """`details` without an id: what waits here, else the newest card of the place."""
    place = outcome.place
    names = [one.proposal for one in core.queries.pending() if place in (one.asked_in, one.shown_in)]
    waiting = list(dict.fromkeys(names))
    newest = waiting[0] if len(waiting) == 1 else core.queries.newest_in(place)
    if newest is None:
        outcome.say(Text.of("Nothing was asked here yet. pending lists what waits elsewhere."))
    elif len(waiting) > 1:
        views = [view for one in waiting if (view := core.queries.proposal(one)) is not None]
        outcome.say(which(core, "details", views))
    else:
        _details(core, cards, outcome, speaker, commands.Ref(proposal=newest), behind=behind)


def which(core: Core, verb: str, views: Sequence[ProposalView]) -> Text:
    """Ask which of several proposals `verb` means."""
    return Text.of("Which one?", *(f"  {verb} {view.id}   {first_line(core, view)}" for view in views))


def _whole(cards: Cards, view: ProposalView, now: datetime, speaker: Speaker, *, index: int | None) -> Text:
    text = cards.details(view, now=now, zone=speaker.zone, index=index)
    if view.fanout is not None and all(one.action.index != index for one in view.actions):
        return text  # it holds what many printed already, the same once
    for one in view.actions:
        if one.ending is not None and one.ending.output and index in (None, one.action.index):
            # The returns of a progress bar begin lines, as they do on the card.
            output = "\n".join(one.ending.output.splitlines())
            text += Text.of(muted(f"output of {one.action.index}"), block(output))
    return text


# ---------------------------------------------------------------- the past


def _history(core: Core, outcome: Outcome, speaker: Speaker, text: str) -> None:
    query = history.parse(
        text,
        now=outcome.at,
        zone=speaker.zone,
        targets=tuple(str(name) for name in core.inventory.targets),
        people=(
            *(str(one.id) for one in core.policy.operators),
            *(one.name for one in core.delegates.values()),
        ),
        speaker=str(speaker.operator.id),
    )
    if query is None:
        outcome.say(Text.of("That is no question about the past. Try  history web1 last week."))
        return
    found = [
        group
        for view in core.queries.proposals(since=query.since or _BEGINNING, limit=_SEARCHED)
        for group in past.alike(view, [one for one in view.actions if matches(core, query, view, one)])
    ]
    if not found:
        outcome.say(Text.of("Nothing like that is recorded."))
        return
    lines = [
        past.line(core, view, group, now=outcome.at, zone=speaker.zone)
        for view, group in found[: query.limit]
    ]
    if len(found) > query.limit:
        lines.append(_left_out(query.limit, len(found)))
    outcome.say(Text.of(*lines))


def _left_out(shown: int, found: int) -> str:
    """Return how many were not shown, and what to type for more of them."""
    more = min(shown * 3, history.MAX_LIMIT)
    hint = f"  history last {more}  shows more" if more > shown else "narrow it by target, person or period"
    return f"{shown} of {found} shown, newest first; {hint}"


_BEGINNING = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
_SEARCHED = 2000

_DECIDING = {"approve": ApprovalState.GRANTED, "deny": ApprovalState.REFUSED}


def matches(core: Core, query: history.HistoryQuery, view: ProposalView, one: ActionView) -> bool:
    """Whether one action answers `query`."""
    if query.until is not None and view.made_at >= query.until:
        return False
    if query.target is not None and not _is_on(core, query.target, one):
        return False
    if query.risk is not None and one.verdict.risk is not query.risk:
        return False
    if query.origin is not None and origin_of(view.requester, view.source) is not query.origin:
        return False
    return (
        _matches_person(query, view, one)
        and _matches_outcome(query, one)
        and _matches_words(core, query, one)
    )


def _is_on(core: Core, wanted: str, one: ActionView) -> bool:
    found = core.inventory.select(wanted)
    names = {str(target.id) for target in found} if isinstance(found, tuple) else {wanted.casefold()}
    return str(one.action.target.id) in names


def _matches_person(query: history.HistoryQuery, view: ProposalView, one: ActionView) -> bool:
    decided = _DECIDING.get(query.verb)
    if decided is not None:
        approval = one.approval
        if approval is None or approval.state is not decided:
            return False
        return query.person is None or _is_named(query.person, str(approval.decided_by))
    return query.person is None or _is_named(query.person, name_of(view.requester))


def _is_named(wanted: str, name: str) -> bool:
    return wanted.casefold() == name.casefold()


def _matches_outcome(query: history.HistoryQuery, one: ActionView) -> bool:
    wanted = query.outcome
    if wanted is None:
        return True
    approval = None if one.approval is None else one.approval.state.value
    words = {one.state.value, approval, "running" if one.state is ActionState.STARTED else None}
    if one.state in (ActionState.PROPOSED, ActionState.QUEUED):
        words.add("waiting")
    return wanted in words


def _matches_words(core: Core, query: history.HistoryQuery, one: ActionView) -> bool:
    text = f"{one.action.command} {one.action.purpose} {title(one, secrets=core.secrets)}".casefold()
    wanted = list(query.words)
    if query.verb and query.verb not in (*_DECIDING, "ask", "cancel", "settle"):
        wanted.append(query.verb)
    return all(word.casefold() in text for word in wanted)


def digest_of(core: Core, period: str, *, zone: tzinfo, now: datetime) -> Text:
    """Return the digest of a period in words ("yesterday"); of the present task for ""."""
    since, until = now - TASK, now
    if period:
        query = history.parse(f"history {period}", now=now, zone=zone)
        if query is not None:
            since, until = query.since or since, query.until or until
    views = [one for one in core.queries.proposals(since=since, limit=_SEARCHED) if one.made_at <= until]
    told = digest(core, views, since=since, until=until, zone=zone, now=now)
    return told + Text.of(*run_showing.digest_lines(core, since=since, until=until))
