"""Questions and their answers, played with the real bot: what `evals.acts` asks of commitments.

One small family of acts stands in for all of them, since what is judged is what they share: how long an act
waits, what ends it, and that an answer counts once and for what it names.
"""

import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from bot.acts.handler import ActRequest, Bound
from bot.acts.record import REMIND_OPEN_S
from bot.answering import Speaker
from bot.core import Core
from bot.outcome import Outcome
from bot.text import Text
from gate.lifecycle import COMMITMENT, CommitmentEvent, CommitmentState, advance, terminal
from gate.resolve.decision import Act, Allow, Clarify, Confirm, Decision, Option
from ledger.commitments import CommitmentView
from tests.kit import Kit, conversation, person

#: Returns what is wrong, "" for nothing, and the rule that argues against the label, "" for none.
Play = Callable[[dict[str, Any], dict[str, Any]], Awaitable[tuple[str, str]]]

DEADLINES = "one deadline each: a phrase 900 s as approvals, no drafts, what is allowed is done at once (C2)"


class _Errands:
    """Does what it is told: "errand allow x", "errand confirm x", "errand clarify x", "errand open x"."""

    acts = frozenset({Act.REMIND})

    def read(self, _core: Core, speaker: Speaker, request_at: datetime) -> ActRequest | None:
        verb, _, rest = speaker.said.partition(" ")
        if verb != "errand":
            return None
        how, _, name = rest.partition(" ")
        slots = {"how": how, "text": name}
        return ActRequest(
            act=Act.REMIND, slots=slots, said=speaker.said, request_at=request_at, tool="remind"
        )

    def resolve(self, _core: Core, _outcome: Outcome, _speaker: Speaker, request: ActRequest) -> Decision:
        slots = {**request.slots, "fire_at": request.slots.get("fire_at", "")}
        match request.slots["how"], slots["fire_at"]:
            case "confirm", _:
                phrase = f"do {slots['text']}"
                return Confirm(slots={**slots, "fire_at": "now"}, question="Sure?", phrase=phrase)
            case "clarify", "":
                options = (Option(id="now", label="Now", patch={"fire_at": "now"}),)
                return Clarify(
                    question=f"When, {slots['text']}?", slots=slots, options=options, free="fire_at"
                )
            case "open", "" | "yes":
                return Clarify(question="When?", slots={**slots, "fire_at": ""}, free="fire_at")
            case _:
                return Allow(slots={**slots, "fire_at": slots["fire_at"] or "now"})

    def perform(
        self, _core: Core, outcome: Outcome, _speaker: Speaker, _request: ActRequest, bound: Bound
    ) -> None:
        outcome.say(Text.of(f"did {bound.slots['text']}"))


@asynccontextmanager
async def _bot() -> AsyncIterator[Kit]:
    with tempfile.TemporaryDirectory() as folder:
        people = (person("ana"), person("kim"))
        async with conversation(Path(folder), acts=(_Errands(),), operators=people) as kit:
            yield kit


def _views(kit: Kit) -> list[CommitmentView]:
    rows = kit.core.ledger.reader().execute("SELECT id FROM commitment ORDER BY made_seq").fetchall()
    found = [kit.core.queries.commitment(row[0]) for row in rows]
    return [one for one in found if one is not None]


def _states(kit: Kit) -> list[CommitmentState]:
    return [one.state for one in _views(kit)]


def _unless(*wrongs: tuple[bool, object]) -> str:
    return "; ".join(str(said) for right, said in wrongs if not right)


# ---------------------------------------------------------------- commitments


async def store(given: dict[str, Any], expected: dict[str, Any]) -> tuple[str, str]:
    """Play one row about what is stored of an act."""
    if given["op"] == "create":
        return await _deadlines(expected["ttl_seconds"]), DEADLINES
    match given["op"]:
        case "update_status" if "raises" in expected:
            found = _unless((given["to"] not in set(CommitmentState), f"{given['to']} is a state"))
        case "update_status":
            found = await (_revived() if given["from"] == "expired" else _committed())
        case "pending_cap":
            found = await _capped(given, expected)
        case "abort_pending_for_thread":
            found = await _dropped(given, expected)
        case other:
            found = f"no judge for {other}"
    return found, ""


async def _deadlines(wanted: dict[str, int | None]) -> str:
    async with _bot() as kit:
        for how in ("clarify", "confirm", "allow"):
            await kit.say(f"errand {how} it")
        waits = {
            one.state: one.expires_at and (one.expires_at - one.request_at).total_seconds()
            for one in _views(kit)
        }
    ends = [one.value for one in terminal(COMMITMENT)]
    return _unless(
        (wanted["needs_clarify"] == REMIND_OPEN_S, "reminders wait another while"),
        (all(wanted[one] is None for one in ends), "an end has a deadline"),
        (waits.get(CommitmentState.COMMITTED) is None, waits),
        (waits.get(CommitmentState.NEEDS_CONFIRM) == kit.core.policy.approval_s, waits),
    )


async def _committed() -> str:
    async with _bot() as kit:
        await kit.say("errand confirm it")
        said = await kit.say("do it", by="kim")
        (view,) = _views(kit)
        return _unless(
            ("did it" in said, said),
            (view.state is CommitmentState.COMMITTED, view.state),
            (view.expires_at is None, view.expires_at),
            ("commitment:committed" in kit.kinds(), "no entry says when"),
        )


async def _revived() -> str:
    async with _bot() as kit:
        await kit.say("errand confirm it")
        kit.clock.advance(kit.core.policy.approval_s + 1)
        await kit.look()
        said = await kit.say("do it", by="kim")
        (view,) = _views(kit)
        back = [event for event in CommitmentEvent if advance(COMMITMENT, view.state, event) is not None]
        return _unless(
            (view.state is CommitmentState.EXPIRED, view.state),
            ("did it" not in said, said),
            ("commitment:revive_refused" in kit.kinds(), "not recorded"),
            (not back, back),
        )


async def _capped(given: dict[str, Any], expected: dict[str, Any]) -> str:
    async with _bot() as kit:
        for number in range(given["pending"]):
            await kit.say(f"errand confirm {number}")
        states = _states(kit)
        oldest = expected["aborted_oldest"]
        return _unless(
            (states[:oldest] == [CommitmentState.ABORTED] * oldest, states),
            (states[oldest:] == [CommitmentState.NEEDS_CONFIRM] * given["cap"], states),
        )


async def _dropped(given: dict[str, Any], expected: dict[str, Any]) -> str:
    async with _bot() as kit:
        for number in range(given["committed"]):
            await kit.say(f"errand allow done{number}")
        for number in range(given["pending"]):
            await kit.say(f"errand confirm {number}")
        for _ in range(given["pending"]):
            await kit.say("cancel")
        counts = {state: _states(kit).count(state) for state in CommitmentState}
        return _unless(
            (counts[CommitmentState.ABORTED] == expected["aborted"], counts),
            (counts[CommitmentState.COMMITTED] == expected["committed_untouched"], counts),
        )


# ---------------------------------------------------------------- answers


async def resume(given: dict[str, Any], _expected: dict[str, Any]) -> tuple[str, str]:
    """Play one row about what an answer amounts to."""
    yes = given.get("approved", True)
    if "pending" in given and given["pending"] is None:
        found = await _nothing_open()
    elif given["kind"] == "security":
        found = await _approved(yes=yes)
    elif given.get("items", 1) > 1:
        found = await _each(given["items"])
    elif given.get("options"):
        found = await _picked(yes=yes)
    else:
        found = await _without_options()
    return found, ""


async def _nothing_open() -> str:
    async with _bot() as kit:
        await kit.say("yes")
        done = [kind for kind in kit.kinds() if kind.startswith(("commitment", "approval", "action"))]
        return _unless((not done, done))


async def _approved(*, yes: bool) -> str:
    async with _bot() as kit:
        await kit.say("run local: kill -0 $$")  # asks, and does nothing
        await kit.press(kit.card, "Approve" if yes else "Deny")
        kinds = kit.kinds()
        return _unless(
            (kinds.count("approval:granted") == yes, kinds),
            (kinds.count("action:started") == yes, kinds),
            (kinds.count("approval:refused") == (not yes), kinds),
        )


async def _without_options() -> str:
    async with _bot() as kit:
        await kit.say("errand open it")
        await kit.say("yes")
        (still,) = _states(kit)
        await kit.say("at noon")
        (after,) = _states(kit)
        return _unless(
            (still is CommitmentState.NEEDS_CLARIFY, still), (after is CommitmentState.COMMITTED, after)
        )


async def _picked(*, yes: bool) -> str:
    async with _bot() as kit:
        await kit.say("errand clarify it")
        await kit.press(kit.card, "Now" if yes else "Cancel")
        wanted = CommitmentState.COMMITTED if yes else CommitmentState.ABORTED
        return _unless((_states(kit) == [wanted], _states(kit)))


async def _each(items: int) -> str:
    async with _bot() as kit:
        cards = []
        for number in range(items):
            await kit.say(f"errand clarify {number}", place=f"room{number}")
            cards.append(kit.card)
        for number, card in enumerate(cards):
            await kit.press(card, "Now", place=f"room{number}")
        states = _states(kit)
        return _unless((states == [CommitmentState.COMMITTED] * items, states))
