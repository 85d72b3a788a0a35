"""Transcripts: every conversation in tests/transcripts, what it may say, and what must hold after a turn.

A transcript is TOML: `[setup]` (operators, accounts, policy, routing, places, runbooks, webs), then
`[[turn]]`s in order. `webs` is how many names of this machine are tagged web. A turn says or presses
something and lists what must and must not be on the screen afterwards. `{id}` stands for the newest
proposal's id, `{run}` for the newest run's, `{phrase}` for the newest phrase, `{dir}` for a scratch folder.
`name` names the newest proposal and its card, so that `card` can press an older one, with the buttons that
it had. `fill` answers a form. `only` says what a platform must have for the conversation to be possible. A
key that nobody knows is an error, wherever a turn comes from. Real commands run on this machine.

Who plays it, and where, is
in tests/bot/test_transcripts.py (a port that only remembers) and tests/adapters/play.py (every platform).
"""

import tomllib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bot.inventory import Inventory
from bot.planning.library import Library
from gate.domain import PersonId, Risk
from gate.policy import Operator, Permission, Policy, Posture
from tests.kit import EVERYTHING, Kit, local_inventory
from tests.runbooks import library_of

FOLDER = Path(__file__).parent / "transcripts"
TRANSCRIPTS: Mapping[str, Mapping[str, Any]] = {
    file.stem: tomllib.loads(file.read_text("utf-8")) for file in sorted(FOLDER.glob("*.toml"))
}
#: What people do in a turn; one without any of these only looks, or lets time pass.
ACTS = frozenset({"say", "press", "fill"})
_HOW = frozenset({"by", "place", "card", "reply", "kind", "bot", "forwarded", "addressed", "advance_s"})
_AFTERWARDS = frozenset({"shows", "hides", "nothing", "states", "exists", "missing", "name"})
TURN_KEYS = ACTS | _HOW | _AFTERWARDS
_SETUP_KEYS = frozenset({"only", "operators", "accounts", "policy", "routing", "places", "runbooks", "webs"})
_POLICY_KEYS = frozenset({"posture", "approval_s", "quorum", "nudge_s", "escalate_s"})


def known(turn: Mapping[str, Any], where: str, *, more: frozenset[str] = frozenset()) -> None:
    """Assert that a turn says nothing that nobody would look at; `more` is known beside the usual."""
    assert set(turn) <= TURN_KEYS | more, f"{where}: unknown keys {set(turn) - TURN_KEYS - more}"
    assert len(ACTS & set(turn)) <= 1, f"{where}: several acts in one turn"


class Player(ABC):
    """Takes the turns of one conversation in one place after another, and asserts what they ask for."""

    kit: Kit
    scratch: Path
    ids: dict[str, str]

    @abstractmethod
    async def turn(self, turn: Mapping[str, Any]) -> str:
        """Do what a turn says; return everything that is new on the screen of who did it."""

    @abstractmethod
    def remember_card(self, turn: Mapping[str, Any]) -> None:
        """Keep the newest card, where there is one, under the name that a turn gives it."""

    def place_called(self, name: str) -> str:
        """Return what people read for the place that a transcript calls "NAME on script"."""
        return f"{name} on script"

    def read(self, text: str) -> str:
        """Return `text` as far as a transcript is particular about it."""
        return text

    async def take(self, turn: Mapping[str, Any], where: str) -> None:
        """Take one turn, with all that it asks for."""
        known(turn, where)
        self.kit.clock.advance(turn.get("advance_s", 1))
        shown = await self.turn(turn) if ACTS & set(turn) else ""
        self._check(turn, shown, where)

    def remember(self, turn: Mapping[str, Any]) -> None:
        """Give the newest proposal, and its card, the name that a turn gives it."""
        self.ids[turn["name"]] = self.kit.newest_id()
        self.remember_card(turn)

    def filled(self, text: str) -> str:
        """Return `text` with what stands in braces put in, and places called as they are here."""
        filled = text.replace("{dir}", str(self.scratch))
        for name in ("security", "web"):
            if f"{name} on script" in filled:
                filled = filled.replace(f"{name} on script", self.place_called(name))
        if "{phrase}" in filled:
            phrases = [one.phrase for one in self.kit.core.queries.pending() if one.phrase is not None]
            filled = filled.replace("{phrase}", phrases[-1])
        if "{id}" in filled:
            filled = filled.replace("{id}", self.kit.newest_id())
        if "{run}" in filled:
            filled = filled.replace("{run}", self.kit.core.queries.runs(limit=1)[0].id)
        for name, value in self.ids.items():
            filled = filled.replace("{" + name + "}", value)
        return filled

    def _check(self, turn: Mapping[str, Any], shown: str, where: str) -> None:
        """Assert what a turn says of the screen, the ledger and the scratch folder."""
        if turn.get("nothing"):
            assert shown == "", f"{where}: showed\n{shown}"
        for wanted in turn.get("shows", []):
            assert self.read(self.filled(wanted)) in self.read(shown), f"{where}: no {wanted!r} in\n{shown}"
        for unwanted in turn.get("hides", []):
            assert self.read(self.filled(unwanted)) not in self.read(shown), (
                f"{where}: {unwanted!r} in\n{shown}"
            )
        if "name" in turn:
            self.remember(turn)
        if "states" in turn:
            assert self.kit.states(self.ids.get(turn.get("name", ""))) == turn["states"], where
        for name in turn.get("exists", []):
            assert (self.scratch / name).exists(), f"{where}: {name} does not exist"
        for name in turn.get("missing", []):
            assert not (self.scratch / name).exists(), f"{where}: {name} exists"


def operators_of(setup: Mapping[str, Any], keys: Callable[[str], Sequence[str]]) -> tuple[Operator, ...]:
    """Return the people of a setup.

    Args:
        keys: the accounts of who goes by a name; a further account "script::ana-phone" goes by its last part.
    """
    assert set(setup) <= _SETUP_KEYS, f"unknown keys {set(setup) - _SETUP_KEYS}"
    further = setup.get("accounts", {})
    return tuple(
        Operator(
            id=PersonId(name),
            accounts=tuple(
                key
                for one in (name, *(text.rpartition(":")[2] for text in further.get(name, ())))
                for key in keys(one)
            ),
            may=tuple(Permission(risk=Risk(line["risk"]), targets=tuple(line["targets"])) for line in may)
            or EVERYTHING,
        )
        for name, may in setup.get("operators", {"ana": []}).items()
    )


def places_of(setup: Mapping[str, Any], place: Callable[[str], str]) -> dict[str, str]:
    """Return the names of places of a setup; `place` is as in `policy_of`."""
    return {name: place(at.rpartition(":")[2]) for name, at in setup.get("places", {}).items()}


def library_for(setup: Mapping[str, Any], scratch: Path) -> Library | None:
    """Return the library of a setup that brings runbooks of its own, YAML each; None for the usual one."""
    texts = setup.get("runbooks", [])
    return library_of(*(text.replace("{dir}", str(scratch)) for text in texts)) if texts else None


def inventory_of(setup: Mapping[str, Any]) -> Inventory:
    """Return the targets of a setup."""
    return local_inventory(webs=setup.get("webs", 2))


def policy_of(setup: Mapping[str, Any], place: Callable[[str], str]) -> Policy:
    """Return the policy of a setup; `place` tells how the config writes the place that a route leads to."""
    policy = setup.get("policy", {})
    assert set(policy) <= _POLICY_KEYS, f"unknown keys {set(policy) - _POLICY_KEYS}"
    routing = setup.get("routing", {})
    return Policy(
        revision="r" * 64,
        posture=Posture(policy.get("posture", "approve_most")),
        approval_s=policy.get("approval_s", 900),
        routes=tuple((key, place(to.rpartition(":")[2])) for key, to in routing.items()),
        quorum=tuple(policy.get("quorum", {}).items()),
        nudge_s=policy.get("nudge_s", 300),
        escalate_s=policy.get("escalate_s", 600),
    )
