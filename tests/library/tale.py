"""A run of a runbook as people live it: the real core, ledger and runner, on any platform or on none.

A `Tale` says and presses what it is told, lets time pass where the run waits, and comes back once a person is
asked or the run is over. Commands find the programs of the test first.
"""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import pytest

from bot.execution import wrap
from bot.inventory import Inventory, TargetConfig, build
from gate.domain import PendingApproval, TargetKind
from gate.lifecycle import RunStatus
from ledger.runs import RunView
from tests.kit import Kit

#: A run that has not come to rest by then hangs; nothing else is measured by it.
HANGS_AFTER_S = 120.0
#: Where a tale is told: alone with the bot, since groups are slow on some platforms.
PLACE = "dm-ana"


@contextmanager
def programs_in(path: str) -> Iterator[None]:
    """Let commands look for programs in `path`."""
    with pytest.MonkeyPatch.context() as patch:
        environment = {**dict(wrap.ENVIRONMENT), "PATH": path}
        patch.setattr(wrap, "ENVIRONMENT", tuple(environment.items()))
        yield


def this_machine(*names: str) -> Inventory:
    """Return an inventory that knows this machine by other names."""
    return build({name: TargetConfig(kind=TargetKind.LOCAL) for name in names}, {})


class Talks(Protocol):
    """Who says things for people."""

    kit: Kit

    async def turn(self, turn: Mapping[str, Any]) -> str: ...


@dataclass(slots=True, kw_only=True)
class OnScript:
    """People on a port that only remembers."""

    kit: Kit

    async def turn(self, turn: Mapping[str, Any]) -> str:
        """Do what a turn says; return everything that is new on the screen."""
        by, place = turn.get("by", "ana"), turn["place"]
        if "press" in turn:
            return await self.kit.press(self.kit.card, turn["press"], by=by, place=place)
        return await self.kit.say(turn["say"], by=by, place=place)


@dataclass(slots=True, kw_only=True)
class Tale:
    """One conversation about runs."""

    player: Talks
    place: str = PLACE

    @property
    def kit(self) -> Kit:
        return self.player.kit

    @property
    def run(self) -> RunView:
        """The newest run."""
        return self.kit.core.queries.runs(limit=1)[0]

    def steps(self) -> list[str]:
        """The steps that the newest run has entered, in order, with repetitions."""
        return [str(one.step) for one in self.kit.core.queries.run_steps(self.run.id)]

    async def say(self, text: str, **more: Any) -> str:
        """Say something, and wait until a person is asked or the run is over; return what is new."""
        return await self._take({"say": text, **more})

    async def press(self, label: str, **more: Any) -> str:
        """Press a button of the newest card that has it."""
        return await self._take({"press": label, **more})

    async def wait(self, seconds: float) -> None:
        """Let time pass, and what is due be done."""
        self.kit.clock.advance(seconds)
        await self.rest()

    async def _take(self, turn: Mapping[str, Any]) -> str:
        self.kit.clock.advance(1)
        shown = await self.player.turn({"place": self.place, **turn})
        await self.rest()
        return shown

    async def rest(self) -> None:
        """Wait until nothing goes on by itself any more."""
        async with asyncio.timeout(HANGS_AFTER_S):
            while not await self._rests():  # noqa: ASYNC110 - what goes on is in other tasks and processes
                await asyncio.sleep(0.01)

    async def _rests(self) -> bool:
        await self.kit.look()
        runs = self.kit.core.queries.runs(limit=1)
        if not runs or runs[0].is_over:
            return True
        if runs[0].status is RunStatus.WAITING and runs[0].until is not None:
            left = (runs[0].until - self.kit.clock.now()).total_seconds()
            self.kit.clock.advance(max(left, 0))
            return False
        pending = self.kit.core.queries.pending()
        # A yes to a card that is still on its way counts for nothing (X2).
        return runs[0].status is RunStatus.AWAITING_APPROVAL and bool(pending) and self._is_shown(pending[-1])

    def _is_shown(self, pending: PendingApproval) -> bool:
        return self.kit.core.queries.was_shown(pending.proposal, pending.shown_in)

    async def agree_until(self, step: str) -> None:
        """Say yes to everything until the run comes to rest in `step` or is over."""
        for _ in range(50):
            if self.run.is_over or self.run.step == step:
                return
            await self.agree()
        raise AssertionError(f"never came to {step}: {self.steps()}")

    async def agree(self) -> None:
        """Say yes to what is asked: with its phrase where it wants one, by its id where it came by itself."""
        pending = self.kit.core.queries.pending()
        assert pending, f"nothing is asked in {self.run.step}"
        view = self.kit.core.queries.proposal(pending[-1].proposal)
        assert view is not None
        yes = f"approve {view.id}" if view.unasked else "yes"
        await self.say(pending[-1].phrase or yes)
