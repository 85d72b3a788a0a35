"""A stop and a start on the same ledger: cards and forms of before still work, what is over says so (P7)."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.adapters.play import Play, at
from tests.adapters.stage import Surface, adapter_names, surface_opener
from tests.kit import ScriptedClock

PLATFORMS = [name for name in adapter_names() if name != "console"]
SCRIPT: Mapping[str, Any] = {
    "setup": {"operators": {"ana": [], "bo": []}},
    "turn": [{"by": "ana"}, {"by": "bo"}],
}


async def do(play: Play, **turn: Any) -> None:
    """Take one turn, as a transcript would."""
    await play.take(turn, str(turn))


class Lives:
    """A platform that stays while sayso comes and goes."""

    def __init__(self, surface: Surface, folder: Path) -> None:
        self.surface, self.folder, self.clock = surface, folder, ScriptedClock()
        self._lives = 0
        self.memory: dict[str, dict[str, str]] = {"ids": {}, "cards": {}}

    @asynccontextmanager
    async def live(self) -> AsyncIterator[Play]:
        """One life of sayso."""
        if self._lives:
            self.surface.restart()
        self._lives += 1
        async with at(self.surface, SCRIPT, self.folder, clock=self.clock) as play:
            play.ids, play.cards = self.memory["ids"], self.memory["cards"]
            yield play


@pytest.fixture(params=PLATFORMS)
async def lives(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Lives]:
    async with surface_opener(request.param)(tmp_path) as surface:
        yield Lives(surface, tmp_path)


async def test_a_button_of_before_still_works(lives: Lives) -> None:
    async with lives.live() as play:
        await do(play, say="run touch {dir}/a on local", name="card", states=["waiting"])
    async with lives.live() as play:
        await do(play, press="Details", card="card", shows=["#{card} · asked by ana"], missing=["a"])
        await do(play, press="Approve", card="card", shows=["approved by ana"], exists=["a"])
        await do(play, press="Approve", card="card", by="bo", shows=["#{card} was already approved by ana"])
    async with lives.live() as play:
        await do(play, press="Deny", card="card", by="bo", shows=["#{card} was already approved by ana"])


async def test_a_form_of_before_still_works(lives: Lives) -> None:
    async with lives.live() as play:
        await do(play, say="run mkdir {dir}/doomed on local")
        await do(play, press="Approve", exists=["doomed"])
        await do(play, by="bo", say="run rm -r {dir}/doomed on local", name="card", states=["waiting"])
        await do(play, press="Type phrase", card="card")
    async with lives.live() as play:
        await do(play, fill="{phrase}", shows=["approved by ana"], missing=["doomed"], states=["succeeded"])


async def test_a_reason_is_given_in_the_form_of_before(lives: Lives) -> None:
    async with lives.live() as play:
        await do(play, say="run touch {dir}/a on local", name="card")
        await do(play, press="Deny", card="card", states=["cancelled"])
    async with lives.live() as play:
        await do(play, fill="the backup runs", shows=["Noted with #{card}."], missing=["a"])


async def test_a_changed_request_is_sent_in_the_form_of_before(lives: Lives) -> None:
    async with lives.live() as play:
        await do(play, say="run touch {dir}/a on local", name="card")
        await do(play, press="Edit", card="card", states=["waiting"])
    async with lives.live() as play:
        await do(play, fill="run touch {dir}/b on local", shows=["This card was replaced by #"], name="new")
        await do(
            play, press="Approve", card="card", shows=["#{card} was replaced by #{new}"], missing=["a", "b"]
        )
        await do(play, press="Approve", card="new", exists=["b"], missing=["a"])


async def test_what_expired_meanwhile_is_closed_first_and_its_card_says_so(lives: Lives) -> None:
    async with lives.live() as play:
        await do(play, say="run touch {dir}/a on local", name="card")
        await do(play, press="Edit", card="card")
    lives.clock.advance(901)
    async with lives.live() as play:
        await play.kit.app.conversation._delivery.settled()
        shown = next(one for one in lives.surface.screen() if one.id == play.cards["card"])
        assert shown.labels == ()
        assert "expired" in shown.text
        await do(play, press="Approve", card="card", shows=["#{card} expired at 14:15, nothing ran."])
        await do(
            play, fill="run touch {dir}/b on local", shows=["#{card} expired at 14:15"], missing=["a", "b"]
        )


async def test_an_option_of_before_still_works(lives: Lives) -> None:
    async with lives.live() as play:
        await do(play, say="uptime on web1 and memory on web2 if it is slow", shows=["1  uptime on web1"])
    async with lives.live() as play:
        await do(play, press="uptime on web1", shows=["web1 · uptime", "ran at once"])
