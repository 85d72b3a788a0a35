"""People of the chat campaign: they talk to a bot that comes and goes, and keep account of what they did.

What they say is drawn from a seed; what happens in between is not. A person waits for an answer, for a while;
presses again what showed no effect; and says things twice where the platform delivers them twice.
"""

import asyncio
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.simulators.crowd.people import Crowd, Press, Room

#: How long a person waits for an answer before they go on, and for the effect of a press.
ANSWER_S, PRESS_S = 1.0, 4.0
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
    await room.until(lambda: len(room.posted) > before, seconds=ANSWER_S)


async def _change(crowd: Crowd, room: Room, account: Account, *, how: str) -> None:
    before = crowd.card(room)
    await _say(
        crowd, room, account, f"run sh -c 'echo t{next(account.tags)} >> {account.witness}' on {room.name}"
    )
    await room.until(lambda: crowd.card(room) not in ("", before), seconds=ANSWER_S)
    card = crowd.card(room)
    if card in ("", before):
        return  # nobody was there, or its target is frozen
    if how == "press":
        await approve(crowd, room, account, card)
    elif account.take():
        await _say(crowd, room, account, "go ahead" if how == "words" else "no")


async def approve(crowd: Crowd, room: Room, account: Account, card: str) -> bool:
    """Press Approve; whether the card shows an effect. Whoever sees none presses again."""
    account.cards.append((crowd, room, card))
    for tries in range(8):
        if "Approve" not in crowd.labels(room, card):
            return True
        account.pressed_again += tries > 0
        account.presses.append(await crowd.press(room, card, "Approve"))
        await room.until(lambda: "Approve" not in crowd.labels(room, card), seconds=PRESS_S)
        while not crowd.is_connected():  # noqa: ASYNC110 - simulators differ in what they tell
            await asyncio.sleep(0.1)
    return False
