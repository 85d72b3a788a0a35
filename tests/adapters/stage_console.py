"""The console on stage: a real socket, and a person whose frames are written by hand."""

import asyncio
import contextlib
import json
import os
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from pathlib import Path

from adapters.console import ConsolePort
from adapters.console.board import plain, render
from adapters.console.frames import read_server, unpack
from adapters.console.front import Said
from adapters.console.session import Session, account_of
from bot.local_socket import login_name
from bot.ports import Account, Button, Message, PlaceRef
from tests.adapters.console_fakes import FakeCore, StillClock, listening
from tests.adapters.stage import NotOnThisSurfaceError, OnScreen

LOGIN = login_name(os.geteuid())


class ConsoleStage:
    def __init__(self, port: ConsolePort, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.port = port
        self.place = PlaceRef(platform="console", channel=LOGIN)
        self.account = Account(platform="console", user=LOGIN)
        self._reader, self._writer = reader, writer
        self.shown: dict[str, Message] = {}
        self._stored: set[str] = set()
        self.hints: list[str] = []
        self.goodbye = ""
        self._news = asyncio.Event()

    async def follow(self) -> None:
        while line := await self._reader.readline():
            frame = read_server(line)
            if frame.show is not None and frame.message is not None:
                self.shown[frame.show] = unpack(frame.message)
            if frame.stored is not None:
                self._stored.add(frame.stored)
            if frame.refused is not None:
                self.hints.append(frame.why)
            self.goodbye = frame.bye or self.goodbye
            self._news.set()

    def write(self, line: bytes) -> None:
        self._writer.write(line)

    async def hang_up(self) -> None:
        self._writer.close()
        with contextlib.suppress(ConnectionError):
            await self._writer.wait_closed()

    async def say(self, text: str, event: str) -> None:
        self.write(json.dumps({"id": event, "text": text}).encode() + b"\n")

    async def press(self, token: str, event: str) -> None:
        self.write(json.dumps({"id": event, "press": token}).encode() + b"\n")

    async def acknowledged(self, event: str) -> None:
        await self.until(lambda: event in self._stored)

    def was_acknowledged(self, event: str) -> bool:
        return event in self._stored

    async def reads(self, text: str) -> str:
        await self.until(lambda: text in self.screen())
        return self.screen()

    def screen(self) -> str:
        return "".join(plain(render(message)) for message in self.shown.values())

    def tokens(self) -> tuple[str, ...]:
        return tuple(button.token for message in self.shown.values() for button in message.buttons)

    async def until(self, fact: Callable[[], bool]) -> None:
        async with asyncio.timeout(30):
            while not fact():
                self._news.clear()
                await self._news.wait()


def port_at(address: str, _folder: Path) -> ConsolePort:
    """Return a port that lets in who runs the tests, by the socket at `address`."""
    return ConsolePort(
        clock=StillClock(),
        login=LOGIN,
        socket=Path(address),
        admits=lambda account: account == f"console::{LOGIN}",
    )


@contextlib.asynccontextmanager
async def stage(core: FakeCore, folder: Path) -> AsyncIterator[ConsoleStage]:
    socket = folder / "s.sock"
    port = port_at(str(socket), folder)
    running = asyncio.create_task(port.listen(core.sink))
    await listening(port)
    reader, writer = await asyncio.open_unix_connection(socket)
    hello = read_server(await reader.readline())
    assert hello.hello == f"console::{LOGIN}"
    on_stage = ConsoleStage(port, reader, writer)
    following = asyncio.create_task(on_stage.follow())
    try:
        yield on_stage
    finally:
        writer.close()
        await port.close()
        await asyncio.wait_for(running, 30)
        await asyncio.wait_for(following, 30)


#: One process and its lines: no replies, fields, edits, forwards or talk of others, nothing after its end.
LACKS = frozenset({"reply", "fill", "forwarded", "bot", "addressed", "edit", "after close"})


class ConsoleSurface:
    """People at one console: whose turn it is, is told as in a rehearsal. There are no replies here."""

    def __init__(self, port: ConsolePort) -> None:
        self.port = port
        self._sessions: dict[str, Session] = {}
        self._shown: dict[str, dict[str, tuple[Message, int]]] = {}
        self._pressable: dict[tuple[str, str], Sequence[Button]] = {}

    def restart(self) -> None:
        raise NotOnThisSurfaceError  # what was shown goes with its process

    def account(self, name: str) -> Account:
        return account_of(name)

    def place(self, name: str) -> PlaceRef:
        return self._at(name).place

    def _at(self, place: str) -> Session:
        if place not in self._sessions:
            shown = self._shown[place] = {}
            self._sessions[place] = Session(login=place, screen=_Kept(shown))
            self.port.join(self._sessions[place])
        return self._sessions[place]

    async def say(
        self,
        text: str,
        *,
        by: str = "ana",
        place: str = "ops",
        reply_to: str = "",
        forwarded: bool = False,
        is_bot: bool = False,
        addressed: bool = True,
    ) -> str:
        if reply_to or forwarded or is_bot or not addressed:
            raise NotOnThisSurfaceError
        return await self._hand_over(place, by, Said(text=text))

    async def edit(self, message: str, text: str, *, by: str = "ana", place: str = "ops") -> None:
        raise NotOnThisSurfaceError

    async def press(self, message: str, label: str, *, by: str = "ana", place: str = "ops") -> None:
        shown = self._pressable[place, message]
        (token,) = [button.token for button in shown if button.label == label]
        await self._hand_over(place, by, Said(token=token))

    async def fill(self, text: str, *, by: str = "ana", place: str = "ops") -> None:
        raise NotOnThisSurfaceError

    async def _hand_over(self, place: str, by: str, said: Said) -> str:
        session = self._at(place)
        session.speaker = by
        await self.port.hand_over(session, said)
        return ""

    def screen(self, *, by: str = "ana", place: str = "ops") -> Sequence[OnScreen]:
        self._at(place)
        for key, (message, _) in self._shown[place].items():
            if (
                message.buttons or (place, key) not in self._pressable
            ):  # what scrolled by may be pressed still
                self._pressable[place, key] = message.buttons
        return [
            OnScreen(
                id=key,
                text=plain(render(replace(message, buttons=()))),
                labels=tuple(button.label for button in message.buttons),
                edits=edits,
                private=by if key.startswith("note:") else "",
            )
            for key, (message, edits) in self._shown[place].items()
        ]


class _Kept:
    def __init__(self, shown: dict[str, tuple[Message, int]]) -> None:
        self._shown = shown

    async def show(self, key: str, message: Message) -> None:
        edits = self._shown[key][1] + 1 if key in self._shown else 0
        self._shown[key] = (message, edits)


@contextlib.asynccontextmanager
async def surface(folder: Path) -> AsyncIterator[ConsoleSurface]:
    del folder
    yield ConsoleSurface(ConsolePort(clock=StillClock(), login=LOGIN))
