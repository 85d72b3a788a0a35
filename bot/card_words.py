"""Words on cards about one action: who let it run, how it ended, what to look at when nobody knows.

Pure text, no layout: `bot.cards` decides what stands where.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime, tzinfo

from bot.origin import asker, is_machine
from bot.phrasing import RISK_WORDS, action_ref, clock_time, duration, shortened
from bot.planning.drafts import PlanSource
from bot.text import Span, muted
from gate import blast
from gate.digest import short
from gate.domain import RouteKind, TouchKind
from gate.ladder import Rung
from gate.lifecycle import ActionState, ApprovalState
from gate.redact import redact, redact_command
from ledger.views import ActionView, ApprovalView, EndingView, ProposalView, RungView

Lines = list[Span | list[Span | str] | str]

MARKS = {
    ActionState.PROPOSED: "◔",
    ActionState.WAITING: "◔",
    ActionState.QUEUED: "◔",
    ActionState.STARTED: "●",
    ActionState.SUCCEEDED: "✓",
    ActionState.FAILED: "✗",
    ActionState.CANCELLED: "✗",
    ActionState.LOST: "?",
}
#: What a rule says of work that needs no undoing; its risk is in the words for that already.
NO_UNDO = "none needed"
#: Things whose dependants are worth a word even where the graph knows none; of a file nobody expects any.
DEPENDED_ON = frozenset({TouchKind.SERVICE, TouchKind.HOST, TouchKind.CONTAINER})

_UNKNOWN = "unknown whether it finished"
#: What the gate says of a command that holds what a reader cannot see.
_UNSEEN = "invisible or control character"
#: How a pressed button is recorded; who pressed it says enough.
_PRESSED = re.compile(r"\[[^\[\]]*\]")
_PLAIN_NAME = re.compile(r"[\w@.-]+")


def at_once(one: ActionView, *, alone: bool) -> list[Span]:
    """Say of what needs nobody's yes that it runs, or ran, by itself, and by which rule."""
    if one.route is not RouteKind.AUTO or one.approval is not None:
        return []
    if one.rule:
        verb = "ran" if one.ended_at is not None else "runs"
        return [muted(f"   {RISK_WORDS[one.verdict.risk]}, {verb} by {one.because}")]
    if one.started_at is not None:
        when = "ran at once" if one.state is not ActionState.STARTED else "runs at once"
    else:
        when = "runs at once" if alone else "runs when its turn comes"
    because = f" ({one.because})" if one.because else ""
    return [muted(f"   {RISK_WORDS[one.verdict.risk]}, {when}{because}")]


def by(approval: ApprovalView | None) -> str:
    """Return " by ana"."""
    return f" by {approval.decided_by}" if approval is not None and approval.decided_by else ""


def how(one: ActionView, *, zone: tzinfo, now: datetime, secrets: Sequence[str], leave_out: str = "") -> str:
    """Return who let it run and how, for a started or ended action; the past stays on the card.

    `leave_out` is what the whole card says once (see `shared_how`).
    """
    approval = one.approval
    if approval is None:
        return ""
    proposal = one.action.id.rpartition(".")[0]
    digest = f" · digest {short(one.digest)}" if approval.state is ApprovalState.GRANTED else ""
    who = decided(one, zone=zone, now=now, secrets=secrets)
    if who and who == leave_out.removesuffix(f" · #{proposal}"):
        return digest
    return f"{f' · {who}' if who else ''}{digest} · #{proposal}"


def shared_how(view: ProposalView, *, zone: tzinfo, now: datetime, secrets: Sequence[str]) -> str:
    """Return who let all of a list run and how, where that is one answer to all of it; "" elsewhere."""
    if len(view.actions) == 1 or view.pending:
        return ""
    said = {decided(one, zone=zone, now=now, secrets=secrets) for one in view.actions}
    who = said.pop()
    return f"{who} · #{view.id}" if who and not said else ""


def decided(one: ActionView, *, zone: tzinfo, now: datetime, secrets: Sequence[str]) -> str:
    """Return 'approved by ana and bo, "go ahead", 14:51'; "" for what nobody decided."""
    approval = one.approval
    verbs = {ApprovalState.GRANTED: "approved", ApprovalState.REFUSED: "refused"}
    if approval is None or approval.decided_at is None or approval.state not in verbs:
        return ""
    said = inline(approval.said, secrets=secrets)
    words = f', "{said}"' if said and _PRESSED.fullmatch(said) is None else ""
    voters = [str(vote.person) for vote in approval.votes] if approval.state is ApprovalState.GRANTED else []
    who = " and ".join([*voters, str(approval.decided_by)])
    second = " · no second person" if approval.alone and one.route is RouteKind.PHRASE else ""
    when = clock_time(approval.decided_at, zone=zone, now=now)
    return f"{verbs[approval.state]} by {who}{words}, {when}{second}"


def votes(view: ProposalView) -> str:
    """Return "1 of 2: ana" for a list that takes several people, and whether there are so many."""
    asked = [one.approval for one in view.pending if one.approval is not None]
    needed = max((one.quorum for one in asked), default=1)
    if needed == 1:
        return ""
    strictest = next(one for one in asked if one.quorum == needed)
    names = [str(vote.person) for vote in strictest.votes]
    so_far = f"{len(names)} of {needed}: {', '.join(names)}" if names else f"takes {needed} people"
    able = [str(name) for name in strictest.deciders]
    if len(able) >= needed:
        return so_far
    return f"{so_far} · too few may say yes ({', '.join(able) or 'nobody'}), so it can only expire"


def ladder(view: ProposalView, *, zone: tzinfo, now: datetime) -> str:
    """Return "nudged 14:55 · also shown to kim 15:00" of what waits; "" where no step was taken."""
    taken = dict.fromkeys(
        (one.at, _rung_words(one), one.rung)
        for action in view.pending
        if action.approval is not None
        for one in action.approval.rungs
    )
    return " · ".join(f"{words} {clock_time(at, zone=zone, now=now)}" for at, words, _ in taken)


def _rung_words(one: RungView) -> str:
    if one.rung is Rung.NUDGE:
        return "nudged"
    if one.where:
        return f"also shown in {one.where}"
    return f"also shown to {', '.join(one.to)}" if one.to else "nobody else to show it to"


def undo_words(undo: str) -> str:
    """Return "undo: …", or "cannot be undone"."""
    return undo if undo.startswith("cannot") else f"undo: {undo}"


#: Of reading whose end is unknown.
UNCHANGED = "It only reads: nothing can have changed."


def lost(one: ActionView, *, alone: bool, awaited: bool, secrets: Sequence[str]) -> Lines:
    """Say what an unknown end means and what to type; reading is settled only if a run waits (`awaited`)."""
    ref = action_ref(one.action.id, alone=alone)
    target = one.action.target.id
    if not (one.freezes or awaited):
        return [f"{UNCHANGED} Say  again {ref}  to run it once more."]
    lines: Lines = []
    if one.freezes:
        lines.append(f"Changes on {target} are frozen until someone looks.")
    look = where_to_look(one, secrets)
    if look:
        lines.append(f"Check: run {look} on {target}")
    lines += ["Then one of:", f"  settle {ref} ran, because …", f"  settle {ref} did-not-run, because …"]
    return lines


def where_to_look(one: ActionView, secrets: Sequence[str]) -> str:
    """Return a command that only reads and tells how far it came, where one is known."""
    if one.action.verify is not None:
        return redact_command(one.action.verify, extra=secrets).text
    for touch in one.verdict.touches:
        if touch.kind is TouchKind.SERVICE and _PLAIN_NAME.fullmatch(touch.name):
            return f"systemctl status {touch.name}"
    if re.match(r"(?:sudo\s+)?apt(?:-get)?\s", one.action.command):
        return "tail -20 /var/log/apt/history.log"
    return ""


def unknown_end(ending: EndingView) -> str:
    """Return "connection lost after 41 s: unknown whether it finished", whatever the note says already."""
    why = ending.note.removesuffix(_UNKNOWN).rstrip(" :")
    took = f" after {duration(ending.run_s)}" if ending.run_s else ""
    return f"{why}{took}: {_UNKNOWN}" if why else f"{_UNKNOWN}{took}"


def unseen(reasons: Iterable[str]) -> str:
    """Return the reason that speaks of what a reader cannot see; "" where none does."""
    return next((reason for reason in reasons if _UNSEEN in reason), "")


def inline(text: str, *, secrets: Sequence[str]) -> str:
    """Return somebody's words as one line of at most 200 characters, secrets masked."""
    return shortened(" ".join(redact(text, extra=secrets).text.split()))


def why_again(view: ProposalView) -> str:
    """Say why the rest of a list waits once more; "" where it does not."""
    first = min((one.action.index for one in view.pending), default=0)
    stopped = [one.action.index for one in view.actions if one.action.index < first and _went_wrong(one)]
    return f"{stopped[-1]} did not succeed; the rest waits for a new yes" if stopped else ""


def _went_wrong(one: ActionView) -> bool:
    if one.state in (ActionState.FAILED, ActionState.CANCELLED, ActionState.LOST):
        return True
    if one.state is not ActionState.SUCCEEDED or one.action.verify is None or one.ending is None:
        return False
    return one.ending.verify_exit != 0


def asked(view: ProposalView, *, secrets: Sequence[str]) -> str:
    """Return who asked, and in which words where these are not simply the commands shown."""
    words = inline(view.purpose, secrets=secrets)
    if view.source == PlanSource.SCHEDULE:
        return f'scheduled by {view.requester}: "{words}"'
    if is_machine(view.requester):
        # Its words are nobody's here: they stay between their quotes, whatever they hold.
        return f'asked by {asker(view.requester, view.on_behalf)}: "{words.replace(chr(34), chr(39))}"'
    if view.source == PlanSource.MODEL:
        return f'asked by {view.requester}, planned by a model: "{words.replace(chr(34), chr(39))}"'
    if not words or all(one.action.command in view.purpose for one in view.actions):
        return f"asked by {view.requester}"
    return f'asked by {view.requester}: "{words}"'


def is_unasked(view: ProposalView) -> bool:
    """Whether nobody had just asked for it where its card stands, so that no bare word counts there (D2)."""
    return view.source == PlanSource.SCHEDULE or is_machine(view.requester)


def how_to_agree(view: ProposalView, *, types: bool) -> str:
    """Return what to say or press. Without `types`, a place has nothing to reply with but words and an id."""
    # Words without a reference count only where it was asked, by somebody who had just asked (D2).
    if view.asked_in == view.shown_in and not (view.unasked or is_unasked(view)):
        return 'Say "go ahead" or press a button.'
    words = 'Reply "go ahead"' if types else f'Say "approve {view.id}"'
    return f"{words} or press a button."


def dependants(one: ActionView) -> str:
    """Return "2 services depend on it: blog, wiki", with every name."""
    names = [*one.radius.services, *map(str, one.radius.targets)]
    said = blast.words(one.radius)
    if not names:
        return said
    more = "" if one.radius.known else ", maybe more"
    return f"{said.partition(' (')[0]}: {', '.join(names)}{more}"
