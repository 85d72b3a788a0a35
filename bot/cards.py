"""Cards: a proposal as people see it, at any moment of its life.

A card is a function of the proposal's view and the time; it is drawn anew at every change of state and keeps
its past. The command stands whole on its own lines, whatever its length (P4); secrets are masked and marked,
in the card only. Buttons carry tokens bound to the digest of the list shown.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, tzinfo

from bot import card_output, card_question, card_words, tokens
from bot.card_words import MARKS
from bot.fanout import cards as fanout_cards
from bot.fanout import details as fanout_details
from bot.fanout.look import Look
from bot.fanout.tally import counted
from bot.origin import asker
from bot.phrasing import (
    RISK_WORDS,
    ago,
    clock_time,
    duration,
    heading,
    named,
    plural,
    shortened,
    size,
    title,
)
from bot.planning.drafts import PlanSource
from bot.ports import Message
from bot.text import Span, Text, block, muted, strong
from gate import blast
from gate.digest import short
from gate.domain import Digest, Risk, RouteKind
from gate.lifecycle import NOT_STARTED, ActionState, ApprovalState
from gate.redact import redact, redact_command
from ledger.views import ActionView, LastRun, ProposalView


class Cards:
    """Draws cards.

    Args:
        token_key: see bot.tokens.
        secrets: literal values never shown.
        last_run: looks up the newest earlier run of the same action.
        caution: says what to know before the same action is tried again; "" where it went well.
        seconds: names who has to decide instead of the requester; () where the requester may.
    """

    def __init__(
        self,
        *,
        token_key: bytes,
        secrets: Sequence[str],
        last_run: Callable[[Digest], LastRun | None],
        caution: Callable[[Digest], str] = lambda _digest: "",
        seconds: card_question.Seconds = lambda _action, _requester: (),
    ) -> None:
        self._key = token_key
        self._seconds = seconds
        self._secrets = secrets
        self._last_run = last_run
        self._caution = caution

    def draw(
        self,
        view: ProposalView,
        *,
        now: datetime,
        zone: tzinfo,
        behind: str = "",
        live: str = "",
        types: bool = False,
        files: bool = False,
    ) -> Message:
        """Return the card of `view`.

        Args:
            behind: what a queued action waits behind, in words.
            live: the newest output of the running action.
            types: the place has a field to type into that a button can open.
            files: the place shows a file beside a message.
        """
        lines: card_words.Lines = []
        attachment = None
        if view.fanout is not None:
            look = Look(now=now, zone=zone, secrets=self._secrets, behind=behind, files=files)
            lines, attachment = fanout_cards.lines(view, view.fanout, look)
        else:
            for one in view.actions:
                lines += self._action(view, one, now=now, zone=zone, behind=behind, live=live, files=files)
            attachment = card_output.file(view, secrets=self._secrets) if files else None
        lines.extend(self._footer(view, now=now, zone=zone, types=types))
        return Message(
            body=Text.of(*lines),
            buttons=card_question.buttons(view, key=self._key, types=types),
            attachment=attachment,
        )

    def shown(self, text: str) -> str:
        """Return words or output as people may see them: secrets masked."""
        return redact(text, extra=self._secrets).text

    def command(self, text: str) -> str:
        """Return a command as people may see it: secrets masked, and nothing hidden that is executed."""
        return redact_command(text, extra=self._secrets).text

    # ------------------------------------------------------------ one action

    def _action(
        self,
        view: ProposalView,
        one: ActionView,
        *,
        now: datetime,
        zone: tzinfo,
        behind: str,
        live: str,
        files: bool,
    ) -> card_words.Lines:
        alone = len(view.actions) == 1
        mark = "▲" if one.route is RouteKind.PHRASE and one.state in NOT_STARTED else MARKS[one.state]
        number = "" if alone else f"{one.action.index} "
        command = self.command(one.action.command)
        name = heading(one, secrets=self._secrets)
        lines: card_words.Lines = [
            [
                f"{mark} {number}",
                strong(str(one.action.target.id)),
                f" · {name}",
                *card_words.at_once(one, alone=alone),
            ]
        ]
        if name != command:
            lines.append(block(command))
        if one.state in NOT_STARTED:
            lines.extend(self._before(one, now=now, behind=behind))
        else:
            lines.extend(self._after(view, one, now=now, zone=zone, live=live, files=files))
        return lines

    def _before(self, one: ActionView, *, now: datetime, behind: str) -> card_words.Lines:
        if one.route is RouteKind.AUTO and one.approval is None:
            return []
        in_full = one.route is RouteKind.PHRASE and one.verdict.risk is not Risk.DESTRUCTIVE
        facts = self._facts(one, with_radius=not in_full)
        unseen, history = card_words.unseen(one.verdict.reasons[1:]), self._history(one, now)
        lines: card_words.Lines = [" · ".join(facts), *filter(None, [unseen])]
        if history:
            lines.append(muted(history))
        if one.verdict.reads_secrets:
            lines.append("shows secrets; what is recognised is masked here and in the record")
        if one.because and one.route is not RouteKind.AUTO:
            lines.append(muted(f"waits because of: {one.because}"))
        if in_full:
            lines.append(card_words.dependants(one))
        if one.action.verify is not None:
            lines.append(["then checks: ", Span(self.command(one.action.verify))])
        if one.state is ActionState.QUEUED:
            lines.append(f"approved{card_words.by(one.approval)} · waits {behind or 'for its turn'}")
        elif one.route is RouteKind.PHRASE and one.approval is None:
            lines.append(f"asks for its phrase when its turn comes: {one.phrase}")
        return lines

    def _facts(self, one: ActionView, *, with_radius: bool) -> list[str]:
        """Return what a person weighs: how bad it is and why, what depends on it, how to undo it."""
        facts = [f"{RISK_WORDS[one.verdict.risk]}: {self.shown(shortened(one.verdict.reasons[0]))}"]
        touched = any(touch.kind in card_words.DEPENDED_ON for touch in one.verdict.touches)
        if with_radius and (one.radius.known or touched):
            facts.append(blast.words(one.radius))
        if one.verdict.undo is not None and one.verdict.undo != card_words.NO_UNDO:
            facts.append(card_words.undo_words(one.verdict.undo))
        return facts

    def _history(self, one: ActionView, now: datetime) -> str:
        last = self._last_run(one.digest)
        if last is None:
            return ""
        how = "ok" if last.state is ActionState.SUCCEEDED else last.state.value
        # Of what was settled nobody knows how long it took.
        took = f" in {duration(last.run_s)}" if last.run_s else ""
        warned = self._caution(one.digest)
        return f"last run {ago(last.ended_at, now)}, {how}{took}{f' · {warned}' if warned else ''}"

    def _after(
        self, view: ProposalView, one: ActionView, *, now: datetime, zone: tzinfo, live: str, files: bool
    ) -> card_words.Lines:
        lines: card_words.Lines = []
        shared = card_words.shared_how(view, zone=zone, now=now, secrets=self._secrets)
        how = card_words.how(one, zone=zone, now=now, secrets=self._secrets, leave_out=shared)
        if one.state is ActionState.STARTED:
            ran_s = (now - (one.started_at or now)).total_seconds()
            lines.append(f"running {duration(max(ran_s, 1))}{how}")
            if live:
                lines.append(block(self.shown(live)))
            return lines
        output = card_output.inline(one, beside_file=files)
        if output:
            lines.append(block(output))
        if view.replaced_by is None or one.started_at is not None:  # else the last line says it
            lines.append(f"{self._end(one)}{how}")
        if one.state is ActionState.LOST:
            awaited = view.source == PlanSource.RUNBOOK  # whoever began the run
            alone = len(view.actions) == 1
            lines.extend(card_words.lost(one, alone=alone, awaited=awaited, secrets=self._secrets))
        return lines

    def _end(self, one: ActionView) -> str:
        ending = one.ending
        if ending is None:
            return f"{MARKS[one.state]} {one.state.value}"
        took = f" in {duration(ending.run_s)}"
        settled = card_words.inline(ending.settled, secrets=self._secrets)
        match one.state:
            case ActionState.SUCCEEDED:
                words = f"✓ ok{took}" if not ending.settled else f"✓ it ran, says who looked: {settled}"
            case ActionState.FAILED if ending.settled:
                words = f"✗ it did not run, says who looked: {settled}"
            case ActionState.FAILED if ending.exit_code is None:
                words = f"✗ {self.shown(ending.note)}"
            case ActionState.FAILED:
                note = f": {self.shown(ending.note)}" if ending.note else ""
                words = f"✗ exit {ending.exit_code}{took}{note}"
            case ActionState.CANCELLED:
                words = (
                    f"✗ {ending.note.rstrip('.')}"
                    if ending.note
                    else f"✗ cancelled after {duration(ending.run_s)}"
                )
            case _:
                words = f"? {self.shown(card_words.unknown_end(ending))}"
        if count := card_output.long(one):
            words += f" · {plural(count, 'line')}"
        if ending.dropped_bytes:
            words += f" · {size(ending.dropped_bytes)} of {size(ending.total_bytes)} not kept"
        if one.action.verify is not None and one.state is ActionState.SUCCEEDED:
            checked = "check not run" if ending.verify_exit is None else f"check exit {ending.verify_exit}"
            words += f" · {'check ok' if ending.verify_exit == 0 else checked}"
        return words

    # ------------------------------------------------------------ the whole

    def _footer(self, view: ProposalView, *, now: datetime, zone: tzinfo, types: bool) -> card_words.Lines:
        # The card of a fan-out has told who let it run, and why the rest of it waits.
        many = view.fanout is not None
        shared = "" if many else card_words.shared_how(view, zone=zone, now=now, secrets=self._secrets)
        lines: card_words.Lines = [shared] if shared else []
        if view.replaced_by is not None:
            ran = "Nothing more runs" if any(one.started_at for one in view.actions) else "Nothing ran"
            return [*lines, f"This card was replaced by #{view.replaced_by}. {ran} from it."]
        pending = view.pending
        if not pending:
            by = muted(card_words.asked(view, secrets=self._secrets))
            return [*lines, by] if card_words.is_unasked(view) else lines
        if not many and (again := card_words.why_again(view)):
            lines.append(again)
        question = card_question.lines(
            view, now=now, zone=zone, types=types, secrets=self._secrets, seconds=self._seconds
        )
        return [*lines, *question]

    def is_live(self, token: str, view: ProposalView) -> bool:
        """Whether `token` was drawn on the card as it stands now."""
        pending = view.pending
        return bool(pending) and tokens.is_valid(self._key, token, shown=card_question.shown_key(pending))

    # ------------------------------------------------------------ details

    def details(self, view: ProposalView, *, now: datetime, zone: tzinfo, index: int | None = None) -> Text:
        """Return everything that was judged, for the Details button.

        Args:
            index: of a fan-out, tell of this action alone; None for all of them together.
        """
        when = clock_time(view.made_at, zone=zone, now=now)
        lines: card_words.Lines = [f"#{view.id} · asked by {asker(view.requester, view.on_behalf)}, {when}"]
        alone = index is not None and any(one.action.index == index for one in view.actions)
        if view.fanout is not None and not alone:
            lines += fanout_details.lines(view, view.fanout, Look(now=now, zone=zone, secrets=self._secrets))
        for one in view.actions:
            if view.fanout is None or one.action.index == index:
                lines.extend(self._details_of(one))
        lines.append(muted(f"policy {short(view.policy_revision)} · source {view.source}"))
        return Text.of(*lines)

    def _details_of(self, one: ActionView) -> card_words.Lines:
        target = one.action.target
        where = f"{target.user}@{target.address}:{target.port}" if target.address else "this machine"
        lines: card_words.Lines = [
            f"{one.action.index} on {target.id} ({where}) · {one.state.value}",
            block(self.command(one.action.command)),
            f"class {one.verdict.risk.value} · {one.route.value}{f' · {one.because}' if one.because else ''}",
        ]
        lines += [f"- {self.shown(shortened(reason))}" for reason in one.verdict.reasons]
        if one.verdict.touches:
            lines.append(card_words.dependants(one))
        purpose = card_words.inline(one.action.purpose, secrets=self._secrets)
        if purpose and one.action.command not in one.action.purpose:
            lines.append(f"purpose: {purpose}")
        extras = [f"timeout {duration(one.action.timeout_s)}", f"shell {target.shell}"]
        if target.become:
            extras.append(f"as {target.become} through sudo")
        if one.action.workdir:
            extras.append(f"in {one.action.workdir}")
        lines += [" · ".join(extras), muted(f"digest {short(one.digest)}")]
        return lines


def summary(view: ProposalView, *, secrets: Sequence[str]) -> str:
    """Return "#k7f3a2, restart caddy on web1" for answers that name a proposal."""
    pending = view.pending or view.actions
    what = named(pending[0], secrets=secrets)
    if view.fanout is not None:
        return (
            f"#{view.id}, {title(pending[0], secrets=secrets)} on {counted(view.actions, count=len(pending))}"
        )
    more = f" and {len(pending) - 1} more" if len(pending) > 1 else ""
    return f"#{view.id}, {what}{more}"


def how_ended(view: ProposalView, *, zone: tzinfo, now: datetime) -> str:
    """Return how a proposal that waits no more ended, for somebody who answers it late."""
    if view.replaced_by is not None:
        return f"#{view.id} was replaced by #{view.replaced_by}. Nothing ran from it."
    last = next((one.approval for one in reversed(view.actions) if one.approval is not None), None)
    if last is None or last.decided_at is None:
        return f"#{view.id} asks for nothing."
    when = clock_time(last.decided_at, zone=zone, now=now)
    match last.state:
        case ApprovalState.GRANTED:
            return f"#{view.id} was already approved by {last.decided_by} at {when}."
        case ApprovalState.REFUSED:
            return f"#{view.id} was already refused by {last.decided_by} at {when}. Nothing ran."
        case ApprovalState.EXPIRED:
            deadline = clock_time(last.deadline_at, zone=zone, now=now)
            return (
                f"#{view.id} expired at {deadline}, nothing ran. Ask again to get a new one: again {view.id}"
            )
        case _:
            return f"#{view.id} was withdrawn at {when}. Nothing ran."
