"""The card of a fan-out: one command on many targets, as people see it at any moment of its life.

Pure, like `bot.cards`, which draws the question under it and its buttons. The command stands whole on its own
lines. Every target is counted once; names are folded, reasons and outputs put together.
"""

from collections.abc import Sequence

from bot import card_words
from bot.card_words import Lines
from bot.fanout import asking, output_file, results
from bot.fanout.asking import by
from bot.fanout.folding import folded
from bot.fanout.look import Look
from bot.fanout.pacing import plan
from bot.fanout.tally import BAD, Fate, Tally, counted, names
from bot.phrasing import heading, shortened
from bot.text import Span, block, muted, strong
from gate.digest import short
from gate.domain import RouteKind
from gate.fanout import Brake
from gate.lifecycle import ActionState, ApprovalState
from ledger.views import ActionView, FanoutView, ProposalView

#: Names of the selector and characters of each that stand in the first line, and people's decisions told.
_SELECTORS, _SELECTOR_WIDE, _DECISIONS = 3, 40, 3


def lines(view: ProposalView, fanout: FanoutView, look: Look) -> tuple[Lines, tuple[str, bytes] | None]:
    """Return the card of `view` up to its question, and the file beside it, where it takes one."""
    tally = Tally.of(view.actions)
    rest = view.pending
    drawn: Lines = [_first(view, fanout, tally, look), *_commands(view, look)]
    drawn.append(muted(folded(names(view.actions))))
    told = _told(view, tally, look)
    drawn += [*told.lines, *_decisions(view, look)]
    if rest and view.replaced_by is None:
        if len(rest) < tally.total:
            drawn.append(f"asked now: {folded(names(rest))}")
        drawn += asking.before(rest, fanout.brake, look)
    elif not tally.is_over and not _is_trivial(fanout.brake):
        drawn.append(muted(plan(fanout.brake, names(_this_round(view)))))
    beside = output_file.file(view, look) if look.files and not told.whole else None
    return drawn, beside


def _told(view: ProposalView, tally: Tally, look: Look) -> results.Told:
    if tally.is_over:
        return results.over(view, tally, look)
    if tally.is_untouched:
        # What needs nobody's yes says in its first line that it runs.
        granted = tally.of_fate(Fate.QUEUED) and view.actions[0].approval is not None
        waits = look.behind or ("for its turn" if granted else "")
        return results.Told(lines=[f"waits {waits}"] if waits else [])
    if view.pending or not (tally.under_way or tally.of_fate(Fate.QUEUED)):
        return results.stopped(view, tally, look)
    return results.under_way(view, tally, look)


def _is_trivial(brake: Brake) -> bool:
    return not brake.canary and not brake.batch


def _this_round(view: ProposalView) -> Sequence[ActionView]:
    """Return what the newest yes was to, with what of it has run."""
    queued = [one for one in view.actions if one.state is ActionState.QUEUED] or list(view.actions)
    digest = queued[0].approval.list_digest if queued[0].approval is not None else None
    return [one for one in view.actions if one.approval is None or one.approval.list_digest == digest]


# ---------------------------------------------------------------- the head


def _first(view: ProposalView, fanout: FanoutView, tally: Tally, look: Look) -> list[Span | str]:
    """Return "◔ @web · 12 hosts · reload nginx"."""
    where = " · ".join([*_selected(view, fanout, look), counted(view.actions)])
    going_on = next((one for one in view.actions if one.ended_at is None), view.actions[0])
    whats = dict.fromkeys(_what(one, look) for one in view.actions)
    what = next(iter(whats)) if len(whats) == 1 else f"{len(whats)} commands"
    return [
        f"{_mark(view, tally)} ",
        strong(where),
        f" · {what}",
        *card_words.at_once(going_on, alone=True),
    ]


def _selected(view: ProposalView, fanout: FanoutView, look: Look) -> list[str]:
    """Return how the targets were named, where that is more than their names."""
    named = set(names(view.actions))
    if not fanout.selector or named.issuperset(fanout.selector):
        return []
    said = [look.line(one, most=_SELECTOR_WIDE) for one in fanout.selector]
    more = f", +{len(said) - _SELECTORS}" if len(said) > _SELECTORS else ""
    return [f"{', '.join(said[:_SELECTORS])}{more}"]


def _what(one: ActionView, look: Look) -> str:
    """Return "reload nginx", worked out once for the same command and deed."""
    key = (one.action.command, one.verdict.deed)
    if key not in look.headings:
        look.headings[key] = heading(one, secrets=look.secrets)
    return look.headings[key]


def _mark(view: ProposalView, tally: Tally) -> str:
    if view.pending and view.replaced_by is None:
        return "▲" if any(one.route is RouteKind.PHRASE for one in view.pending) else "◔"
    if not tally.is_over:
        return card_words.MARKS[ActionState.QUEUED if tally.is_untouched else ActionState.STARTED]
    if tally.of_fate(Fate.LOST):
        return card_words.MARKS[ActionState.LOST]
    wrong = tally.of_fate(*BAD, Fate.NOT_RUN)
    return card_words.MARKS[ActionState.FAILED if wrong else ActionState.SUCCEEDED]


def _commands(view: ProposalView, look: Look) -> Lines:
    """Return the command, whole, where the first line is not it; each with its targets if they differ."""
    found = by(view.actions, lambda one: one.action.command)
    if len(found) == 1:
        command = look.command(next(iter(found)))
        return [] if _what(view.actions[0], look) == command else [block(command)]
    lines: Lines = []
    for command, members in found.items():
        lines += [f"on {folded(names(members))}:", block(look.command(command))]
    return lines


# ---------------------------------------------------------------- who let it run


def _decisions(view: ProposalView, look: Look) -> Lines:
    """Return 'approved by ana, "go ahead", 14:02 · digest 4f0c… · #k7f3a2', one line for each decision."""
    decided = (ApprovalState.GRANTED, ApprovalState.REFUSED)
    asked = [one for one in view.actions if one.approval is not None and one.approval.state in decided]
    rounds = list(by(asked, _decision).values())
    found: Lines = []
    for members in rounds[-_DECISIONS:]:
        who = card_words.decided(members[0], zone=look.zone, now=look.now, secrets=look.secrets)
        approval = members[0].approval
        digest = f" · digest {short(approval.list_digest)}" if approval is not None else ""
        whose = (
            "" if len(rounds) == 1 and len(members) == len(view.actions) else f"{folded(names(members))}: "
        )
        found.append(muted(shortened(f"{whose}{who}{digest} · #{view.id}", most=400)))
    return found


def _decision(one: ActionView) -> tuple[object, ...]:
    approval = one.approval
    if approval is None:
        return ()
    return (approval.state, approval.list_digest, approval.decided_by, approval.decided_at, approval.said)
