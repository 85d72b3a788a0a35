"""People of the chat campaign: they talk to a bot that comes and goes, and keep account of what they did.

What they say is drawn from a seed; what happens in between is not. A person waits for an answer, for a while;
presses again what showed no effect; and says things twice where the platform delivers them twice.
"""

import asyncio
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.simulators.crowd.people import Crowd, Press, Room, of

#: How long a person waits: for an answer while somebody is there, while nobody is, for the effect of a press.
ANSWER_S, AWAY_S, PRESS_S = 15.0, 2.0, 4.0
#: Of what is said so much is delivered twice.
TWICE = 0.05


@dataclass
class Account:
    """What was done, by everybody."""

    left: int
    luck: random.Random
    witness: Path
    tags: Iterator[int]
    said: list[str] = field(default_factory=list)
    overheard: list[str] = field(default_factory=list)
    presses: list[Press] = field(default_factory=list)
    cards: list[tuple[Crowd, Room, str]] = field(default_factory=list)
    repeated: int = 0
    pressed_again: int = 0

    def take(self) -> bool:
        """Take one of the messages that are left to be said."""
        self.left -= 1
        return self.left >= 0


async def talk(crowd: Crowd, room: Room, account: Account) -> None:
    """Be a person until everything was said."""
    luck = account.luck
    while account.take():
        draw = luck.random()
        if draw < 0.1:
            account.overheard.append(await crowd.chat(f"lunch at {luck.randrange(11, 14)}?"))
        elif draw < 0.6:
            await _say(crowd, room, account, f"run true on {room.name}")
        else:
            await _change(
                crowd, room, account, how="press" if draw < 0.85 else "words" if draw < 0.95 else "no"
            )


async def _say(crowd: Crowd, room: Room, account: Account, text: str) -> None:
    """Say something and wait for an answer, for a while."""
    before = len(room.posted)
    event = await crowd.say(room, text)
    account.said.append(event)
    if account.luck.random() < TWICE:
        await crowd.again(room, event)
        account.repeated += 1
    await _wait(crowd, room, lambda: len(room.posted) > before)


async def _wait(crowd: Crowd, room: Room, fact: Callable[[], bool], *, most: int = 0) -> None:
    """Wait for an answer as long as somebody may give one."""
    for _ in range(most or round(ANSWER_S / AWAY_S)):
        if await room.until(fact, seconds=AWAY_S) or not crowd.is_connected():
            return


async def _change(crowd: Crowd, room: Room, account: Account, *, how: str) -> None:
    before = crowd.card(room)
    await _say(
        crowd, room, account, f"run sh -c 'echo t{next(account.tags)} >> {account.witness}' on {room.name}"
    )
    await _wait(crowd, room, lambda: crowd.card(room) not in ("", before), most=4)
    card = crowd.card(room)
    if card in ("", before):
        return  # nobody was there, or its target is frozen
    if how == "press":
        await approve(crowd, room, account, card)
    elif account.take():
        name = of(crowd.text(room, card))
        await _say(crowd, room, account, "go ahead" if how == "words" else f"deny {name}, not today")
        if "Approve" in crowd.labels(room, card) and account.take():
            await _say(crowd, room, account, f"approve {name}")


async def approve(crowd: Crowd, room: Room, account: Account, card: str) -> None:
    """Press Approve until the card shows an effect, or two presses were taken and it still shows none."""
    if (crowd, room, card) not in account.cards:
        account.cards.append((crowd, room, card))
    mine: list[Press] = []
    for tries in range(8):
        if "Approve" not in crowd.labels(room, card) or sum(one.acknowledged() for one in mine) > 1:
            return
        account.pressed_again += tries > 0
        press = await crowd.press(room, card, "Approve")
        account.presses.append(press)
        mine.append(press)
        await room.until(lambda: "Approve" not in crowd.labels(room, card), seconds=PRESS_S)
        while not crowd.is_connected():  # noqa: ASYNC110 - simulators differ in what they tell
            await asyncio.sleep(0.1)
