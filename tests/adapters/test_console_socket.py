"""The console over its socket: who is let in, the client's side, and what a lost connection means."""

import asyncio
import contextlib
import grp
import io
import os
import socket
import stat
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from adapters.console import ConsolePort
from adapters.console.client import Client, NobodyThereError, talk
from adapters.console.frames import read_server
from adapters.console.piped import Piped
from adapters.console.server import SocketInUseError
from bot.local_socket import address_of, answers, connect, login_name, peer_login
from bot.ports import Account, Button, Inbound, InboundKind, Message, PlaceRef
from bot.text import Text
from tests.adapters.console_fakes import FakeCore, StillClock, listening

LOGIN = login_name(os.geteuid())
PLACE = PlaceRef(platform="console", channel=LOGIN)


def port_at(path: Path, *, admits: bool = True, group: str = "") -> ConsolePort:
    return ConsolePort(clock=StillClock(), login=LOGIN, socket=path, admits=lambda _: admits, group=group)


@contextlib.asynccontextmanager
async def served(
    path: Path, core: FakeCore, *, admits: bool = True, group: str = ""
) -> AsyncIterator[ConsolePort]:
    port = port_at(path, admits=admits, group=group)
    running = asyncio.create_task(port.listen(core.sink))
    await listening(port)
    try:
        yield port
    finally:
        await port.close()
        await asyncio.wait_for(running, 30)


async def converse(path: Path, text: str) -> tuple[int, str]:
    """Hold a piped conversation over the socket; return the exit code and what was printed."""
    ours, theirs = os.pipe()
    os.write(theirs, text.encode())
    os.close(theirs)
    out = io.StringIO()
    reader, writer = await asyncio.open_unix_connection(path)
    try:
        code = await asyncio.wait_for(Client(reader, writer, Piped(fd=ours, out=out)).run(), 30)
    finally:
        os.close(ours)
    return code, out.getvalue()


def say(*lines: str, buttons: tuple[Button, ...] = ()) -> Message:
    return Message(body=Text.of(*lines), buttons=buttons)


async def test_a_conversation_over_the_socket_is_the_same_as_without(tmp_path: Path) -> None:
    path, core = tmp_path / "s", FakeCore()
    async with served(path, core) as port:

        async def answer(inbound: Inbound) -> None:
            card = await port.post(PLACE, say(f"● {inbound.text}"), nonce=inbound.event_id)
            for second in range(5):
                await port.edit(card, say(f"● {inbound.text} {second} s"))
            await port.edit(card, say(f"✓ {inbound.text}"))

        core.answer = answer
        code, shown = await converse(path, "one\n```\ntwo\n```\n")
    assert shown == "✓ one\n\n✓ ```\ntwo\n```\n\n" or shown.startswith("● one\n\n✓ one\n\n● ```\ntwo")
    assert code == 0
    assert [heard.account.key for heard in core.heard] == [f"console::{LOGIN}"] * 2


async def test_a_number_presses_over_the_socket(tmp_path: Path) -> None:
    path, core = tmp_path / "s", FakeCore()
    async with served(path, core) as port:

        async def answer(inbound: Inbound) -> None:
            if inbound.kind is InboundKind.MESSAGE:
                await port.post(PLACE, say("go?", buttons=(Button(label="Yes", token="t"),)), nonce="c")

        core.answer = answer
        await converse(path, "ask\n1\n")
    assert [heard.token for heard in core.heard] == ["", "t"]


async def test_what_was_not_stored_is_told_and_the_conversation_goes_on(tmp_path: Path) -> None:
    path, core = tmp_path / "s", FakeCore(full=frozenset({"one"}))
    async with served(path, core):
        code, shown = await converse(path, "one\ntwo\n")
    assert "nothing was done" in shown
    assert [heard.text for heard in core.heard] == ["two"]
    assert code == 0


async def test_whoever_is_no_operator_is_told_so_in_one_line(tmp_path: Path) -> None:
    path, core = tmp_path / "s", FakeCore()
    async with served(path, core, admits=False):
        code, shown = await converse(path, "run reboot on web1\n")
    assert code == 1
    assert shown.count("\n") == 2
    assert f"{LOGIN} is no operator here" in shown
    assert core.heard == []


async def test_when_the_server_stops_the_client_says_so_and_fails(tmp_path: Path) -> None:
    path, core = tmp_path / "s", FakeCore()
    async with served(path, core) as port:

        async def answer(_inbound: Inbound) -> None:
            await port.close()
            await asyncio.Event().wait()

        core.answer = answer
        code, shown = await converse(path, "stop yourself\nnever said\n")
    assert code == 1
    assert "sayso stops here" in shown
    assert [heard.text for heard in core.heard] == ["stop yourself"]


async def test_the_server_dying_without_a_word_is_told_too(tmp_path: Path) -> None:
    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.close()

    server = await asyncio.start_unix_server(hang_up, tmp_path / "s")
    async with server:
        code, shown = await converse(tmp_path / "s", "hello\n")
    assert code == 1
    assert "connection to sayso is gone" in shown


@pytest.mark.parametrize(
    "line",
    [
        b"hello\n",
        b"[]\n",
        b'{"id": "1"}\n',
        b'{"id": "1", "text": "a", "press": "b"}\n',
        b'{"id": 1, "text": "a"}\n',
        b'{"id": "1", "text": "a", "as": "bo"}\n',
        b'{"id": "1", "text": "\\ud800"}\n',
        b'{"id": "1", "text": "' + b"x" * 1_100_000 + b'"}\n',
    ],
)
async def test_what_is_no_frame_ends_the_connection_and_is_not_heard(tmp_path: Path, line: bytes) -> None:
    path, core = tmp_path / "s", FakeCore()
    async with served(path, core), asyncio.timeout(30):
        reader, writer = await asyncio.open_unix_connection(path)
        assert read_server(await reader.readline()).hello
        with contextlib.suppress(ConnectionError):
            writer.write(line)
            await writer.drain()
        with contextlib.suppress(ConnectionError):
            assert read_server(await reader.readline()).bye is not None
        writer.close()
    assert core.heard == []


async def test_two_windows_of_one_person_see_the_same(tmp_path: Path) -> None:
    path, core = tmp_path / "s", FakeCore()
    async with served(path, core) as port, asyncio.timeout(30):
        windows = [await asyncio.open_unix_connection(path) for _ in range(2)]
        for reader, _ in windows:
            await reader.readline()
        await port.post(PLACE, say("hello"), nonce="n")
        assert [read_server(await reader.readline()).show for reader, _ in windows] == ["n", "n"]
        windows[0][1].close()
        await port.post(PLACE, say("still here"), nonce="m")
        assert read_server(await windows[1][0].readline()).show == "m"
        windows[1][1].close()


async def test_a_note_is_only_for_the_account_it_names(tmp_path: Path) -> None:
    path, core = tmp_path / "s", FakeCore()
    async with served(path, core) as port, asyncio.timeout(30):
        reader, writer = await asyncio.open_unix_connection(path)
        await reader.readline()
        with pytest.raises(Exception, match="nobody is at the console of somebody"):
            await port.note(PLACE, Account(platform="console", user="somebody"), say("secret"))
        writer.close()


async def test_the_socket_is_closed_to_others_and_gone_afterwards(tmp_path: Path) -> None:
    path = tmp_path / "s"
    async with served(path, FakeCore()):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert not path.exists()


async def test_a_group_opens_it_to_that_group(tmp_path: Path) -> None:
    path = tmp_path / "s"
    group = grp.getgrgid(os.getegid()).gr_name
    async with served(path, FakeCore(), group=group):
        assert stat.S_IMODE(path.stat().st_mode) == 0o660
        assert path.stat().st_gid == os.getegid()
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o710


async def test_a_socket_left_behind_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    assert path.exists()
    async with served(path, FakeCore()):
        assert answers(path)
    assert not answers(path)


async def test_a_socket_that_answers_is_not_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "s"
    async with served(path, FakeCore()):
        with pytest.raises(SocketInUseError):
            await port_at(path).listen(FakeCore().sink)
        assert answers(path)


async def test_a_path_too_long_for_a_socket_address_works(tmp_path: Path) -> None:
    folder = tmp_path / ("deep" * 25)
    folder.mkdir()
    path = folder / "sayso.sock"
    assert len(str(path)) > 108
    async with served(path, FakeCore()):
        assert answers(path)
    assert not answers(path)


def test_a_short_address_is_the_path_itself(tmp_path: Path) -> None:
    with address_of(Path("/run/s")) as address:
        assert address == "/run/s"


def test_talking_to_nobody_says_so(tmp_path: Path) -> None:
    with pytest.raises(NobodyThereError):
        talk(tmp_path / "s", history=tmp_path / "history")


def test_the_kernel_tells_who_is_there(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s"))
        server.listen()
        client = connect(tmp_path / "s")
        accepted, _ = server.accept()
        assert peer_login(accepted) == LOGIN
        accepted.close()
        client.close()


def test_a_user_without_an_entry_has_a_name_nobody_else_can_have() -> None:
    assert login_name(3_999_999_999) == "uid-3999999999"
