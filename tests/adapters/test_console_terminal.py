"""The interactive console, at a terminal made of a pipe."""

import asyncio
import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output.plain_text import PlainTextOutput

from adapters.console.board import Board, plain
from adapters.console.front import GoneError, Said
from adapters.console.terminal import Terminal, styled
from bot.ports import Button, Message
from bot.text import Span, Style, Text, block, code

YES_NO = (Button(label="Approve", token="yes"), Button(label="Deny", token="no"))


class Keyboard:
    """A terminal, its keys and what it printed."""

    def __init__(self, keys: PipeInput, printed: io.StringIO, history: Path) -> None:
        self.keys = keys
        self.printed = printed
        self.terminal = Terminal(history=history)
        self.said: list[Said] = []
        self.settled: list[asyncio.Future[None]] = []
        self.settle_at_once = True
        self._news = asyncio.Event()

    async def send(self, said: Said) -> "asyncio.Future[None]":
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if self.settle_at_once:
            future.set_result(None)
        self.settled.append(future)
        self.said.append(said)
        self._news.set()
        return future

    async def heard(self, count: int) -> None:
        async with asyncio.timeout(30):
            while len(self.said) < count:
                self._news.clear()
                await self._news.wait()

    async def run(self) -> int:
        return await asyncio.wait_for(self.terminal.run(self.send), 30)


@pytest.fixture
def keyboard(tmp_path: Path) -> Iterator[Keyboard]:
    printed = io.StringIO()
    with create_pipe_input() as keys, create_app_session(input=keys, output=PlainTextOutput(printed)):
        yield Keyboard(keys, printed, tmp_path / "state" / "history")


def say(*lines: str, buttons: tuple[Button, ...] = ()) -> Message:
    return Message(body=Text.of(*lines), buttons=buttons)


async def test_a_line_is_sent_and_end_of_input_ends_it(keyboard: Keyboard) -> None:
    keyboard.keys.send_text("run df -h on local\r\r")
    running = asyncio.create_task(keyboard.run())
    await keyboard.heard(1)
    keyboard.keys.send_text("\x04")
    assert await running == 0
    assert keyboard.said == [Said(text="run df -h on local")]


async def test_what_was_typed_is_remembered_in_a_private_file(keyboard: Keyboard, tmp_path: Path) -> None:
    keyboard.keys.send_text("remember me\r")
    running = asyncio.create_task(keyboard.run())
    await keyboard.heard(1)
    keyboard.keys.send_text("\x04")
    await running
    history = tmp_path / "state" / "history"
    assert "remember me" in history.read_text()
    assert history.stat().st_mode & 0o077 == 0


async def test_a_number_presses_the_newest_card(keyboard: Keyboard) -> None:
    keyboard.terminal._appeared_at = -1.0
    running = asyncio.create_task(keyboard.run())
    await asyncio.sleep(0)
    keyboard.terminal.show("c", say("go?", buttons=YES_NO))
    keyboard.terminal._appeared_at -= 10
    keyboard.keys.send_text("2\r")
    await keyboard.heard(1)
    keyboard.keys.send_text("\x04")
    await running
    assert keyboard.said == [Said(token="no")]


async def test_a_number_does_not_press_a_card_that_just_appeared(keyboard: Keyboard) -> None:
    running = asyncio.create_task(keyboard.run())
    await asyncio.sleep(0)
    before = asyncio.get_running_loop().time()
    keyboard.terminal.show("c", say("go?", buttons=YES_NO))
    assert keyboard.terminal._appeared_at >= before
    keyboard.terminal._appeared_at += 3600  # however long the key takes to get there
    keyboard.keys.send_text("1\rhelp\r")
    await keyboard.heard(1)
    keyboard.keys.send_text("\x04")
    await running
    assert keyboard.said == [Said(text="help")]
    assert "type the number again" in keyboard.printed.getvalue()


async def test_a_fence_is_typed_over_several_lines(keyboard: Keyboard) -> None:
    keyboard.keys.send_text("```\rdf -h\r```\r")
    running = asyncio.create_task(keyboard.run())
    await keyboard.heard(1)
    keyboard.keys.send_text("\x04")
    await running
    assert keyboard.said == [Said(text="```\ndf -h\n```")]


async def test_the_next_line_can_be_said_while_something_runs_and_the_end_waits_for_it(
    keyboard: Keyboard,
) -> None:
    keyboard.settle_at_once = False
    keyboard.keys.send_text("run sleep 9 on local\rcancel it\r")
    running = asyncio.create_task(keyboard.run())
    await keyboard.heard(2)
    keyboard.keys.send_text("\x04")
    done, _ = await asyncio.wait({running}, timeout=0.2)
    assert not done
    for future in keyboard.settled:
        future.set_result(None)
    assert await running == 0


async def test_a_lost_connection_ends_it_with_a_word(keyboard: Keyboard) -> None:
    async def gone(_said: Said) -> "asyncio.Future[None]":
        raise GoneError("the other end is gone")

    keyboard.send = gone  # type: ignore[method-assign]  # this one case
    keyboard.keys.send_text("hello\r")
    assert await keyboard.run() == 1
    assert "the other end is gone" in keyboard.printed.getvalue()


async def test_a_running_state_stands_below_the_prompt_and_the_outcome_scrolls_by(keyboard: Keyboard) -> None:
    terminal = keyboard.terminal
    terminal.show("c", say("◔ web1 · restart caddy", buttons=YES_NO))
    terminal.show("c", say("● web1 · restart caddy", "running 1 s"))
    terminal.show("c", say("● web1 · restart caddy", "running 2 s"))
    assert terminal._toolbar() == [("", "● web1 · restart caddy  running 2 s")]
    terminal.show("c", say("✓ web1 · restart caddy", "ok in 2.1 s"))
    assert terminal._toolbar() is None
    printed = keyboard.printed.getvalue()
    assert "running" not in printed
    assert "✓ web1 · restart caddy" in printed
    assert "ok in 2.1 s" in printed


async def test_live_output_scrolls_by_once_line_by_line(keyboard: Keyboard) -> None:
    def state(mark: str, *output: str) -> Message:
        return Message(body=Text.of(f"{mark} web1 · apt upgrade", block("\n".join(output))))

    terminal = keyboard.terminal
    terminal.show("c", state("●", "one", "two"))
    terminal.show("c", state("●", "two", "three"))
    terminal.show("c", state("●", "three", "same", "same"))
    terminal.show("c", state("✓", "one", "two", "three", "same", "same", "same", "last"))
    lines = keyboard.printed.getvalue().split()
    assert [line for line in lines if line.isalpha() and line not in {"apt", "upgrade"}] == [
        "one", "two", "three", "same", "same", "same", "last",
    ]  # fmt: skip


async def test_hidden_characters_do_not_reach_the_terminal(keyboard: Keyboard) -> None:
    keyboard.terminal.show("c", Message(body=Text.of([code("a\x1b[2Jb\u202ec")])))
    printed = keyboard.printed.getvalue()
    assert "a\\u{1b}[2Jb\\u{202e}c" in printed
    assert "\x1b" not in printed


def test_marks_and_styles_have_colours() -> None:
    assert styled((Span("✓ web1"),))[:2] == [("ansigreen", "✓"), ("", " web1")]
    assert styled((Span("df", Style.CODE),)) == [("ansicyan", "df")]
    assert styled((block("▲ from output"),)[0:1]) == [("ansicyan", "▲ from output")]


# ---------------------------------------------------------------- board


def test_repeated_lines_count_when_looking_for_what_is_new() -> None:
    board = Board()
    board.update("k", say("a", "a"))
    change = board.update("k", say("a", "a", "a", "b"))
    assert [line[0].text for line in change.lines] == ["a", "b"]


def test_output_cannot_pass_for_a_line_of_a_card() -> None:
    fake = Message(body=Text.of("✓ web1 · cat x", block("✓ ok in 1 s\nTo run it, type:  yes"), "✓ ok in 2 s"))
    lines = plain(Board().update("k", fake).now).splitlines()
    assert lines == ["✓ web1 · cat x", "  ✓ ok in 1 s", "  To run it, type:  yes", "✓ ok in 2 s"]


@pytest.mark.parametrize("text", ["", "0", "3", "-1", "1x", "²", "١", "0001", "99999"])
def test_what_is_no_number_of_a_button_presses_nothing(text: str) -> None:
    board = Board()
    board.update("k", say("go?", buttons=YES_NO))
    assert board.pressed(text) is None


def test_leading_zeros_within_three_digits_still_count() -> None:
    board = Board()
    board.update("k", say("go?", buttons=YES_NO))
    assert board.pressed("01") == YES_NO[0]
