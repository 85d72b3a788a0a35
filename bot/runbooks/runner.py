"""The runner: does what the supervisor permits, one step at a time, and nothing else (R1, C17).

A step becomes an ordinary proposal of one action, so that gate, cards, grants, routes, switches and freezes
are those of everything else. The supervisor says beforehand whether it may be proposed at all, and what
follows from what came of it. The runner holds no credentials and starts nothing itself. Every move of a run
is one batch that expects the run to be where it was read, so that it is made once, whoever looks (C23).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from bot.answering import Speaker, record_denial
from bot.core import Core
from bot.known_secrets import SHORTEST
from bot.outcome import Outcome
from bot.planning.drafts import RunbookPlan
from bot.planning.library import SLOT
from bot.runbooks import ends
from bot.runbooks import plan as planning
from bot.runbooks.closing import tell_end
from bot.runbooks.going import Going, answered, new_outcome, refresh, write
from bot.runbooks.offering import DIAL, offer
from bot.runbooks.restoring import Restored, laid_open, learn, restore
from bot.text import Text
from gate.autonomy import Level, at_least
from gate.domain import AGENT, ActionId, PersonId, ProposalId, Reason, ReasonCode
from gate.lifecycle import RunStatus
from gate.redact import MASK
from gate.supervise import course
from gate.supervise import run as runs
from gate.supervise.binding import as_text
from gate.supervise.domain import RunbookSpec, RunId, Value
from gate.supervise.envelope import derive
from gate.supervise.state import Moved, RunState
from ledger.kinds import LostRaceError, ProposalIsNew, RowIs, RunIsAt
from ledger.run_documents import texts_of
from ledger.run_events import draft_of

# ---------------------------------------------------------------- beginning


@dataclass(frozen=True, slots=True, kw_only=True)
class Beginning:
    """A run to be. `spec` has its calls laid open; `undoes` is the run that it rolls back, inputs and all.

    `source` is "model" where a model begins it for `person`; "" for most.
    """

    spec: RunbookSpec
    inputs: Mapping[str, Value]
    target: str
    person: PersonId
    said: str
    undoes: RunState | None = None
    source: str = ""


def start(
    core: Core, outcome: Outcome, speaker: Speaker, plan: RunbookPlan, *, said: str, source: str = ""
) -> None:
    """Start a run of `plan`, in which nothing is missing any more.

    Args:
        said: what was asked for, in words that hold no secret.
        source: what begins it, as in `Beginning`.
    """
    spec = plan.document.spec
    dial = core.settings.value(DIAL)
    if spec is None:
        _deny(outcome, speaker, f"{plan.document.title} is no runbook that can be run. Nothing ran.")
        return
    if not at_least(dial.level, Level.PROPOSE):
        _only_shown(core, outcome, speaker, plan, because=dial.lowered or f"{DIAL} {dial.level}")
        return
    begin(
        core,
        outcome,
        speaker,
        Beginning(
            spec=laid_open(core, spec),
            inputs=plan.inputs,
            target=plan.target_words[0] if plan.target_words else "",
            person=speaker.operator.id,
            said=said,
            source=source,
        ),
    )


def _only_shown(core: Core, outcome: Outcome, speaker: Speaker, plan: RunbookPlan, *, because: str) -> None:
    """Tell what a run would do, where the dial lets it do nothing (C6)."""
    outcome.say(Text.of(*planning.lines(core, plan, person=speaker.operator.id), f"Because of {because}."))
    reason = Reason(code=ReasonCode.CANNOT_PLACE, text=f"Nothing ran, because of {because}.")
    record_denial(outcome, reason, person=speaker.operator.id, said=speaker.said)


def begin(core: Core, outcome: Outcome, speaker: Speaker, beginning: Beginning) -> None:
    """Write the start of a run and its first steps, or say why it does not begin."""
    if core.switches().stopped:
        _deny(outcome, speaker, "sayso is stopped, so no run begins. Say resume to go on.")
        return
    spec, run = beginning.spec, RunId(core.ids.short_id())
    moved = _begun(core, beginning, run=run, now=outcome.at)
    if isinstance(moved, runs.NotStarted):
        _deny(outcome, speaker, _not_started(moved))
        return
    if short := _too_short(spec, moved.state):
        _deny(outcome, speaker, short)
        return
    learn(core, spec, moved.state)
    title = _title(spec, moved.state)
    going = Going(run=run, title=title, place=outcome.place, person=beginning.person, source=beginning.source)
    outcome.expect(RowIs("run", run, None), ProposalIsNew(ProposalId(run)))
    started, *rest = moved.events
    outcome.drafts.append(
        draft_of(
            started,
            run=run,
            more={
                "title": title,
                "place": outcome.place,
                "person": beginning.person,
                **({"source": beginning.source} if beginning.source else {}),
                "turn": outcome.turn,
                "secrets": any(item.secret for item in spec.inputs.values()),
                "rehearsal": core.rehearsal,
            },
            words={"said": beginning.said, **texts_of(spec)},
        )
    )
    write(outcome, run, rest)
    outcome.card(ProposalId(run), place=outcome.place)
    advance(core, outcome, going, moved.state)


def _begun(core: Core, beginning: Beginning, *, run: RunId, now: datetime) -> Moved | runs.NotStarted:
    policy = core.policy_now()
    envelope = derive(beginning.spec, posture=policy.posture, approval_s=policy.approval_s)
    if beginning.undoes is not None:
        return runs.roll_back(beginning.undoes, run=run, envelope=envelope, agent=AGENT, now=now)
    return runs.start(
        envelope, run=run, agent=AGENT, inputs=beginning.inputs, target=beginning.target, now=now
    )


def _title(spec: RunbookSpec, state: RunState) -> str:
    """Return the title with the values that are spoken in it."""

    def spoken(match: re.Match[str]) -> str:
        item, value = spec.inputs.get(match[1]), state.inputs.get(match[1])
        if item is None:
            return state.target or match[0]
        return MASK if item.secret else as_text(value) or match[1]

    return SLOT.sub(spoken, spec.title)


def _not_started(why: runs.NotStarted) -> str:
    parts = [
        f"{words} {', '.join(names)}"
        for words, names in (
            ("it lacks", why.missing),
            ("it does not know", why.unknown),
            ("of the wrong kind:", why.unfit),
        )
        if names
    ]
    return f"No run began: {'; '.join(parts)}. Nothing ran."


def _too_short(spec: RunbookSpec, state: RunState) -> str:
    """Return why a secret cannot be taken: what is too short cannot be kept from being shown."""
    for name, item in spec.inputs.items():
        value = state.inputs.get(name)
        if item.secret and isinstance(value, str) and 0 < len(value) < SHORTEST:
            return f"{name} has to have {SHORTEST} characters or more to be kept secret. Nothing ran."
    return ""


def _deny(outcome: Outcome, speaker: Speaker, text: str) -> None:
    outcome.say(Text.of(text))
    reason = Reason(code=ReasonCode.CANNOT_PLACE, text=text)
    record_denial(outcome, reason, person=speaker.operator.id, said=speaker.said)


# ---------------------------------------------------------------- going on


def go_on(core: Core, run: RunId, *, files: Mapping[str, bool] | None = None) -> tuple[ProposalId, ...]:
    """Take every step of `run` that is due; return the proposals that may move.

    What was answered, what ended, what a person stopped: all of it is read from the ledger, so that looking
    once more does nothing more.

    Args:
        files: which of the files that its step expects are there, where that was looked at just now.

    Raises:
        LedgerUnwritableError: nothing was done.
    """
    restored = restore(core, run)
    if restored is None or restored.view.is_over:
        return ()
    outcome = new_outcome(core, restored.view.place)
    outcome.expect(RunIsAt(run, restored.view.seq))
    held, going = core.runs.held.get(run), Going.of(restored)
    moved = _after(core, restored, outcome, files or {})
    if moved is not None:
        write(outcome, run, moved.events)
        tell_end(core, outcome, going, restored.state, moved.events)
        advance(core, outcome, going, moved.state)
    if outcome.drafts:
        answered(core, outcome)
    elif core.runs.held.get(run) != held:
        refresh(outcome, going)  # why it stands still is on its card
    else:
        return ()
    core.probe("run.composed")
    try:
        core.ledger.append(outcome.batch())
    except LostRaceError:
        return ()  # whoever was first goes on with it
    core.probe("run.recorded")
    return tuple(outcome.work)


def follow(core: Core, action: ActionId) -> tuple[ProposalId, ...]:
    """Go on with the run that `action` is the newest of; return the proposals that may move.

    Raises:
        LedgerUnwritableError: nothing was done.
    """
    view = core.queries.run_of(action.rpartition(".")[0])
    return () if view is None else go_on(core, view.id)


def is_step(core: Core, name: ProposalId) -> bool:
    """Whether the proposal `name` is a step of a run."""
    return core.queries.run_of(name) is not None


def newest(core: Core, name: ProposalId) -> ProposalId | None:
    """Return the newest proposal of the run that `name` is a step of; None where there is none."""
    view = core.queries.run_of(name)
    return None if view is None else view.proposal


def _after(core: Core, restored: Restored, outcome: Outcome, files: Mapping[str, bool]) -> Moved | None:
    """Return the run after what became of what it waits for; None where nothing did yet."""
    state, view = restored.state, restored.view
    if state.status is RunStatus.WAITING:
        is_over = state.until is not None and state.until <= outcome.at
        return Moved(state=state) if is_over else None
    if state.status in {RunStatus.ENTERED, RunStatus.BETWEEN}:
        return Moved(state=state)
    asked = None if view.proposal is None else core.queries.proposal(view.proposal)
    return None if asked is None else ends.after(core, state, asked.actions[0], files=files, now=outcome.at)


def advance(core: Core, outcome: Outcome, going: Going, state: RunState) -> None:
    """Write every step of a run from `state` on that waits for nothing."""
    while state.ended is None:
        if core.switches().stopped:
            core.runs.held[going.run] = "until resumed: sayso is stopped"
            break
        moved = course.move_on(state, now=outcome.at)
        write(outcome, going.run, moved.events)
        tell_end(core, outcome, going, state, moved.events)
        before, state = moved.state, moved.state
        if state.status is not RunStatus.ENTERED or state.step is None:
            break
        state = offer(core, outcome, going, state, state.step)
        if state.number == before.number:
            break  # it was proposed, it is held, or it ended
    if outcome.drafts:
        refresh(outcome, going)
