"""Results: how far a fan-out is and how it went, in as few lines as a phone shows.

What went wrong is told with its reason, targets of the same reason together; whatever is left out, a number
stands for it. What was printed is in `bot.fanout.outputs`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot import card_words
from bot.card_words import Lines
from bot.fanout import rounds
from bot.fanout.asking import by
from bot.fanout.folding import folded
from bot.fanout.look import Look
from bot.fanout.outputs import FILE, printed
from bot.fanout.pacing import pause
from bot.fanout.tally import BAD, Fate, Tally, busy_s, counted, fate, names
from bot.phrasing import action_ref, duration, listed, shortened, size
from bot.text import muted
from gate.lifecycle import ActionState
from ledger.views import ActionView, EndingView, ProposalView

#: Reasons told while it runs or waits, and when it is over; names of what runs.
_FIRST, _REASONS, _RUNNING = 3, 5, 4
#: Lost targets of which the number to settle is named, and failed ones named in the line why it stopped.
_SETTLED, _STOPPED = 8, 3
_QUOTED, _REASON_WIDE = 100, 240


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """Lines about what came of it; `whole` where all that was printed stands in them."""

    lines: Lines
    whole: bool = True


def under_way(view: ProposalView, tally: Tally, look: Look) -> Told:
    """Return how far it is, for a fan-out of which something runs or is to come."""
    took = duration(max(busy_s(view.actions, look.now), 1))
    lines: Lines = [f"{' · '.join(tally.counts())} · {took}"]
    running = tally.under_way
    if running and len(running) <= _RUNNING:
        lines.append(f"under way: {', '.join(names(running))}")
    brake = view.fanout.brake if view.fanout is not None else None
    if not running and look.behind:
        lines.append(f"waits {look.behind}")
    elif not running and brake is not None and brake.pause_s:
        lines.append(f"pauses {pause(brake.pause_s)} before it goes on")
    return Told(lines=[*lines, *reasons(tally, look, most=_FIRST)])


def stopped(view: ProposalView, tally: Tally, look: Look) -> Told:
    """Return why it stopped, for a fan-out of which the rest waits for a new yes."""
    took = duration(busy_s(view.actions, look.now))
    rest = len(tally.of_fate(Fate.WAITING))
    waits = f"{rest} {'has' if rest == 1 else 'have'} not run and {'waits' if rest == 1 else 'wait'}"
    why = _why_stopped(rounds.newest(view))
    return Told(
        lines=[
            f"{why}{waits} for a new yes.",
            f"{' · '.join(tally.counts())} · {took}",
            *reasons(tally, look, most=_FIRST, unrun=True),
            *_unknown(tally, look),
        ],
        whole=not any(_is_long(one) for one in view.actions),
    )


def over(view: ProposalView, tally: Tally, look: Look) -> Told:
    """Return how it went, for a fan-out of which nothing more runs."""
    ran = [one for one in view.actions if one.started_at is not None]
    took = f" in {duration(busy_s(ran, look.now))}" if ran else ""
    first, *others = tally.counts(ok_of_all=True)
    lines: Lines = [" · ".join([f"{first}{took}", *others])]
    told = reasons(tally, look, most=_REASONS, unrun=view.replaced_by is None)
    lines += told
    lines += _unknown(tally, look)
    lines += _settled(view, look)
    if len(told) > _REASONS and (codes := exit_codes(view.actions)):
        lines.append(codes)  # else each that did not end well is told of with its own
    where = f"in {FILE}" if look.files else f"see  details {view.id}"
    found = printed([one for one in ran if not is_quoted(one)], look, where=where)
    lines += found.lines
    whole = found.whole and not any(_is_long(one) for one in tally.of_fate(*BAD))
    if kept := not_kept(ran):
        lines.append(kept)
    if ran and not whole and not look.files:
        one = next(iter(tally.of_fate(*BAD)), ran[0])
        lines.append(muted(f"details {one.action.id} tells all of {one.action.target.id}"))
    if tally.of_fate(Fate.FAILED) or any(not one.freezes for one in tally.of_fate(Fate.LOST)):
        lines.append("Say  retry the failed  to run it again there.")
    return Told(lines=lines, whole=whole)


# ---------------------------------------------------------------- what went wrong


def _why_stopped(round_: Sequence[ActionView]) -> str:
    """Return "Stopped: web3 failed (exit 1). "; "" where nothing went wrong."""
    bad = [one for one in round_ if fate(one) in (*BAD, Fate.NOT_RUN)]
    if not bad:
        return ""
    if len(bad) > _STOPPED:
        return f"Stopped: {len(bad)} did not succeed ({folded(names(bad), most=4)}). "
    return f"Stopped: {', '.join(f'{one.action.target.id} {_verb(one)}' for one in bad)}. "


def _verb(one: ActionView) -> str:
    exit_code = None if one.ending is None else one.ending.exit_code
    match fate(one):
        case Fate.LOST:
            return "has an unknown end"
        case Fate.UNVERIFIED:
            return "failed its check"
        case Fate.KILLED:
            return "was cancelled"
        case Fate.NOT_RUN:
            return "could not start"
        case _:
            return "failed" if exit_code is None else f"failed (exit {exit_code})"


def reasons(tally: Tally, look: Look, *, most: int, unrun: bool = False, names_most: int = 4) -> Lines:
    """Return what went wrong and where, the same reason once.

    Args:
        unrun: tell also why some never will run.
        names_most: as `most` of `folded`.
    """
    found: list[tuple[Fate, list[ActionView]]] = []
    for key in (*BAD, Fate.NOT_RUN) if unrun else BAD:
        found += [(key, members) for members in by(tally.of_fate(key), reason).values()]
    lines: Lines = [_told(key, members, look, most=names_most) for key, members in found[:most]]
    if left := sum(len(members) for _, members in found[most:]):
        lines.append(f"… {left} more did not succeed")
    return lines


def _told(key: Fate, members: Sequence[ActionView], look: Look, *, most: int) -> str:
    mark = card_words.MARKS[ActionState.LOST if key is Fate.LOST else ActionState.FAILED]
    why = look.line(reason(members[0], alone=len(members) == 1), most=_REASON_WIDE)
    return f"{mark} {folded(names(members), most=most, counts=True)}: {why}"


def reason(one: ActionView, *, alone: bool = False) -> str:
    """Return why `one` did not succeed, with the last line that it printed.

    Without `alone`, what is its own is left out: its address, and after how long it was lost.
    """
    ending = one.ending
    if ending is None:
        return one.state.value
    said = _cause(one, ending, alone=alone)
    address = one.action.target.address
    if address and not alone:
        said = said.replace(address, "…")
    last = ending.output.rstrip().rpartition("\n")[2].strip()
    return f"{said} · {shortened(last, most=_QUOTED)}" if last else said


def _cause(one: ActionView, ending: EndingView, *, alone: bool) -> str:
    # What was not reached is noted with its name in front, which stands before the reason here.
    note = ending.note.strip().rstrip(".").removeprefix(f"{one.action.target.id}: ")
    match fate(one):
        case Fate.LOST:
            return card_words.unknown_end(ending if alone else replace(ending, run_s=0.0))
        case Fate.UNVERIFIED if ending.verify_exit is None:
            return "ran, and nobody knows how its check went"
        case Fate.UNVERIFIED:
            return f"ran, and its check ended with exit {ending.verify_exit}"
        case Fate.KILLED | Fate.NOT_RUN:
            return note or "cancelled"
        case _:
            return _failed(ending, note)


def _failed(ending: EndingView, note: str) -> str:
    if ending.settled:
        return f"it did not run, says who looked: {shortened(ending.settled, most=_QUOTED)}"
    if ending.exit_code is None:
        return note or "failed"
    return f"exit {ending.exit_code}{f': {note}' if note else ''}"


def is_quoted(one: ActionView) -> bool:
    """Whether all that `one` printed stands with the reason why it did not succeed."""
    return fate(one) in BAD and not _is_long(one)


def _is_long(one: ActionView) -> bool:
    text = "" if one.ending is None else one.ending.output.strip()
    return "\n" in text or len(text) > _QUOTED


def _unknown(tally: Tally, look: Look) -> Lines:
    """Say what unknown ends mean, and what to type."""
    unknown = tally.of_fate(Fate.LOST)
    lost = [one for one in unknown if one.freezes]
    if not lost:
        return [card_words.UNCHANGED] if unknown else []
    lines: Lines = []
    if read := [one for one in unknown if not one.freezes]:
        lines.append(f"It only reads on {folded(names(read), counts=True)}: nothing can have changed there.")
    lines.append(f"Changes on {folded(names(lost), counts=True)} are frozen until someone looks.")
    look_at = card_words.where_to_look(lost[0], look.secrets)
    if look_at:
        lines.append(f"Check: run {look_at} on {lost[0].action.target.id}")
    ref = action_ref(lost[0].action.id, alone=False)
    lines.append("Then one of:" if len(lost) == 1 else "Then, of each, one of:")
    lines += [f"  settle {ref} ran, because …", f"  settle {ref} did-not-run, because …"]
    if len(lost) > 1:
        refs = [f"{one.action.target.id} #{one.action.id}" for one in lost]
        lines.append(listed(refs, most=_SETTLED))
    return lines


def _settled(view: ProposalView, look: Look) -> Lines:
    """Return what somebody looked after and found to have run."""
    looked = by(
        (one for one in view.actions if fate(one) is Fate.OK and one.ending is not None),
        lambda one: one.ending.settled if one.ending is not None else "",
    )
    return [
        f"✓ {folded(names(members))} ran, says who looked: {look.line(said)}"
        for said, members in looked.items()
        if said
    ]


def exit_codes(actions: Sequence[ActionView]) -> str:
    """Return "exit 0 on 10 · exit 1 on web3, web7" where they differ; "" elsewhere."""
    known = [one for one in actions if one.ending is not None and one.ending.exit_code is not None]
    codes = by(known, lambda one: one.ending.exit_code if one.ending is not None else None)
    if len(codes) < 2:  # noqa: PLR2004 - one is no difference
        return ""
    usual = max(codes, key=lambda code: len(codes[code]))
    told = {code: folded(names(members), most=4, counts=True) for code, members in codes.items()}
    told[usual] = str(len(codes[usual]))
    return " · ".join(f"exit {code} on {told[code]}" for code in sorted(codes, key=lambda code: code or 0))


def not_kept(actions: Sequence[ActionView]) -> str:
    """Return of whose output not all was kept, and how much; "" where it was."""
    cut = [one for one in actions if one.ending is not None and one.ending.dropped_bytes]
    if not cut:
        return ""
    first = cut[0].ending
    if len(cut) == 1 and first is not None:
        return f"{cut[0].action.target.id}: {size(first.dropped_bytes)} of {size(first.total_bytes)} not kept"
    dropped = sum(one.ending.dropped_bytes for one in cut if one.ending is not None)
    return f"{size(dropped)} of the output of {counted(cut)} not kept: {folded(names(cut), most=4)}"
