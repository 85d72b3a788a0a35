"""Every conversation in tests/transcripts, played through the real core.

A transcript is TOML: `[setup]` (operators, policy), then `[[turn]]`s in order. A turn says or presses
something and lists what must and must not be on the screen afterwards. `{id}` stands for the newest
proposal's id, `{phrase}` for the newest phrase, `{dir}` for a scratch folder. `name` names the newest
proposal and its card, so that `card` can press an older one, with the buttons that it had. `fill` answers a
form. What needs something that the port here lacks says so with `only`, and is played on the platforms that
have it. Real commands run on this machine.
"""

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.ports import InboundKind
from gate.domain import PersonId, Risk
from gate.policy import Operator, Permission, Policy, Posture
from tests.kit import EVERYTHING, Kit, Shown, conversation

FOLDER = Path(__file__).parent.parent / "transcripts"
TRANSCRIPTS = {file.stem: tomllib.loads(file.read_text("utf-8")) for file in sorted(FOLDER.glob("*.toml"))}


@pytest.mark.parametrize("name", TRANSCRIPTS)
async def test_transcript(name: str, tmp_path: Path) -> None:
    script = TRANSCRIPTS[name]
    setup = script.get("setup", {})
    if "only" in setup:
        pytest.skip("played on the platforms that have it, in tests/adapters/test_conversations.py")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    async with conversation(
        tmp_path / "state", operators=_operators(setup), policy=_policy(setup), rehearsal=False
    ) as kit:
        ids: dict[str, str] = {}
        cards: dict[str, Shown] = {}
        for number, turn in enumerate(script["turn"], start=1):
            await _play(kit, turn, where=f"{name} turn {number}", scratch=scratch, ids=ids, cards=cards)


async def _play(
    kit: Kit,
    turn: dict[str, Any],
    *,
    where: str,
    scratch: Path,
    ids: dict[str, str],
    cards: dict[str, Shown],
) -> None:
    known = {
        "say", "press", "by", "place", "reply", "advance_s", "shows", "hides", "states", "exists", "missing",
        "name", "kind", "bot", "forwarded", "addressed", "nothing", "repeat",
        "card",
    }  # fmt: skip
    assert set(turn) <= known, f"{where}: unknown keys {set(turn) - known}"
    kit.clock.advance(turn.get("advance_s", 1))
    shown = await _act(kit, turn, scratch=scratch, ids=ids, cards=cards)
    if turn.get("nothing"):
        assert shown == "", f"{where}: showed\n{shown}"
    for wanted in turn.get("shows", []):
        text = _fill(wanted, kit, scratch, ids)
        assert text in shown, f"{where}: no {text!r} in\n{shown}"
    for unwanted in turn.get("hides", []):
        assert _fill(unwanted, kit, scratch, ids) not in shown, f"{where}: {unwanted!r} in\n{shown}"
    if "name" in turn:
        ids[turn["name"]] = kit.newest_id()
        if any(one.message.buttons for one in kit.port.screen.values()):
            cards[turn["name"]] = replace(kit.card)
    if "states" in turn:
        assert kit.states(ids.get(turn.get("name", ""))) == turn["states"], where
    for name in turn.get("exists", []):
        assert (scratch / name).exists(), f"{where}: {name} does not exist"
    for name in turn.get("missing", []):
        assert not (scratch / name).exists(), f"{where}: {name} exists"


async def _act(
    kit: Kit, turn: dict[str, Any], *, scratch: Path, ids: dict[str, str], cards: dict[str, Shown]
) -> str:
    by, place = turn.get("by", "ana"), turn.get("place", "ops")
    if "press" in turn:
        card = cards[turn["card"]] if "card" in turn else kit.card
        return await kit.press(card, _fill(turn["press"], kit, scratch, ids), by=by, place=place)
    if "say" not in turn:
        return ""
    text = _fill(turn["say"], kit, scratch, ids)
    changes: dict[str, Any] = {flag: turn[flag] for flag in ("forwarded", "addressed") if flag in turn}
    if "kind" in turn:
        changes["kind"] = InboundKind(turn["kind"])
    return await kit.say(
        text,
        by=by,
        place=place,
        is_bot=turn.get("bot", False),
        reply_to=kit.card if turn.get("reply") else None,
        **changes,
    )


def _fill(text: str, kit: Kit, scratch: Path, ids: dict[str, str]) -> str:
    filled = text.replace("{dir}", str(scratch))
    if "{phrase}" in filled:
        phrases = [one.phrase for one in kit.core.queries.pending() if one.phrase is not None]
        filled = filled.replace("{phrase}", phrases[-1])
    if "{id}" in filled:
        filled = filled.replace("{id}", kit.newest_id())
    for name, value in ids.items():
        filled = filled.replace("{" + name + "}", value)
    return filled


def _operators(setup: dict[str, Any]) -> tuple[Operator, ...]:
    people = setup.get("operators", {"ana": []})
    return tuple(
        Operator(
            id=PersonId(name),
            accounts=(f"script::{name}", *setup.get("accounts", {}).get(name, ())),
            may=tuple(Permission(risk=Risk(line["risk"]), targets=tuple(line["targets"])) for line in may)
            or EVERYTHING,
        )
        for name, may in people.items()
    )


def _policy(setup: dict[str, Any]) -> Policy:
    policy = setup.get("policy", {})
    return Policy(
        revision="r" * 64,
        posture=Posture(policy.get("posture", "approve_most")),
        approval_s=policy.get("approval_s", 900),
        routes=tuple(setup.get("routing", {}).items()),
        quorum=tuple(policy.get("quorum", {}).items()),
    )
