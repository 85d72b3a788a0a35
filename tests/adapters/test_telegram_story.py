"""The whole story on Telegram with the real core: asked in a group, decided by presses, words and phrases."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from gate.domain import PersonId, Risk
from gate.policy import Operator, Permission
from tests.adapters.console_fakes import listening
from tests.adapters.stage import OnScreen
from tests.adapters.stage_telegram import TelegramSurface, surface
from tests.kit import EVERYTHING, Kit, ScriptedClock, conversation


class Story:
    """People in a group, and the core behind the bot."""

    def __init__(self, on: TelegramSurface, kit: Kit, folder: Path) -> None:
        self.on, self.kit, self.folder = on, kit, folder

    async def reads(self, *parts: str, by: str = "ana", place: str = "ops") -> OnScreen:
        """Wait until one message that `by` can read holds all of `parts`; return the newest such."""

        def found() -> list[OnScreen]:
            shown = self.on.screen(by=by, place=place)
            return [one for one in shown if all(part in one.text for part in parts)]

        with contextlib.suppress(TimeoutError):
            await self.on.world.until(lambda: bool(found()), seconds=30)
        assert found(), "\n\n".join(one.text for one in self.on.screen(by=by, place=place))
        return found()[-1]

    def exists(self, name: str) -> bool:
        return (self.folder / name).exists()


@pytest.fixture
async def story(tmp_path: Path) -> AsyncIterator[Story]:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    async with contextlib.AsyncExitStack() as stack:
        on = await stack.enter_async_context(surface(tmp_path))
        people = [
            Operator(id=PersonId(name), accounts=(on.account(name).key,), may=may)
            for name, may in (
                ("ana", EVERYTHING),
                ("kim", EVERYTHING),
                ("bo", (Permission(risk=Risk.READ_ONLY, targets=("*",)),)),
            )
        ]
        port: Any = on.port
        clock = ScriptedClock(datetime.now(UTC))  # the simulated platform stamps messages with the real time
        made = conversation(tmp_path / "state", operators=people, port=port, clock=clock)
        kit = await stack.enter_async_context(made)
        running = asyncio.create_task(on.port.listen(kit.app.conversation.sink))
        await listening(on.port)
        yield Story(on, kit, scratch)
        await on.port.close()
        await asyncio.wait_for(running, 30)


async def test_a_change_waits_for_a_press_and_the_card_tells_its_end(story: Story) -> None:
    await story.on.say(f"run touch {story.folder}/a on local")
    card = await story.reads("touch", "until")
    assert {"Approve", "Deny", "Details"} <= set(card.labels)
    assert not story.exists("a")
    await story.on.press(card.id, "Approve")
    done = await story.reads("touch", "approved by ana", "ok in")
    assert (done.id, done.labels) == (card.id, ())
    assert story.exists("a")


async def test_words_are_enough(story: Story) -> None:
    await story.on.say(f"run touch {story.folder}/a on local")
    card = await story.reads("touch", "until")
    await story.on.say("go ahead", reply_to=card.id)
    await story.reads("approved by ana", "ok in")
    assert story.exists("a")


async def test_who_may_not_is_told_alone(story: Story) -> None:
    """Report 21."""
    await story.on.say(f"run touch {story.folder}/a on local")
    card = await story.reads("touch", "until", by="bo")
    await story.on.press(card.id, "Approve", by="bo")
    private = await story.reads("bo", by="bo")
    await story.on.world.until(lambda: bool(story.on.world.answers))
    (answer,) = story.on.world.answers.values()
    assert answer[0]
    assert [one.private for one in story.on.screen(by="bo") if one.text == answer[0]] == ["bo"]
    assert answer[0] not in [one.text for one in story.on.screen(by="ana")]
    assert not story.exists("a")
    assert private


async def test_a_stranger_is_answered_and_changes_nothing(story: Story) -> None:
    """Report 21."""
    await story.on.say(f"run touch {story.folder}/a on local")
    card = await story.reads("touch", "until", by="eve")
    await story.on.press(card.id, "Approve", by="eve")
    shown = await story.reads("Only operators decide here", by="eve")
    assert shown.private == "eve"
    assert not story.exists("a")


async def test_the_second_press_is_told_who_was_first(story: Story) -> None:
    """Reports 22 and 23."""
    await story.on.say(f"run touch {story.folder}/a on local")
    card = await story.reads("touch", "until")
    await story.on.press(card.id, "Approve")
    await story.on.press(card.id, "Approve")
    shown = await story.reads("already")
    assert shown.private == "ana"


async def test_a_phrase_is_asked_for_with_a_field(story: Story) -> None:
    (story.folder / "b").mkdir()
    await story.on.say(f"run rm -rf {story.folder}/b on local")
    card = await story.reads("rm -rf", "kim types:", by="kim")
    await story.on.press(card.id, "Type phrase", by="kim")
    posts = story.on.chat("ops").posts
    await story.on.world.until(
        lambda: any("force_reply" in post.json.get("reply_markup", {}) for post in posts.values())
    )
    phrase = card.text.partition("kim types:")[2].partition("until")[0].strip()
    await story.on.fill(phrase, by="kim")
    await story.reads("rm -rf", "approved by kim", "ok in")
    assert not story.exists("b")


async def test_an_edit_and_a_forward_decide_nothing(story: Story) -> None:
    """Report 36."""
    await story.on.say(f"run touch {story.folder}/a on local")
    await story.reads("touch", "until")
    await story.on.say("yes", forwarded=True)
    said = await story.on.say("hm, let me see")
    await story.on.edit(said, "yes")
    await story.on.say("run uptime on local")
    await story.reads("uptime", "ok in")
    assert not story.exists("a")


async def test_a_group_that_moves_keeps_what_waits(story: Story) -> None:
    """Report 37."""
    await story.on.say(f"run touch {story.folder}/a on local")
    card = await story.reads("touch", "until")
    number = card.text.rpartition("#")[2].split()[0]
    new = story.on.world.migrate(story.on.chat("ops"), -100700)
    story.on._places["ops"] = new
    await story.on.say(f"approve {number}")
    await _until(story, lambda: story.exists("a"))


async def _until(story: Story, fact: Callable[[], bool]) -> None:
    await story.on.world.until(fact, seconds=30)
