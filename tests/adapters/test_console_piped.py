"""The piped console: line by line, deterministic."""

import asyncio
import io
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from adapters.console.lines import MAX_LINE_BYTES, BadInputError, Lines
from adapters.console.piped import Piped
from adapters.console.port import ConsolePort
from bot.ports import Button, Inbound, InboundKind, Message, MessageRef, PlaceRef
from bot.text import Text
from tests.adapters.console_fakes import FakeCore, StillClock

PLACE = PlaceRef(platform="console", channel="ana")
YES_NO = (Button(label="Approve", token="yes"), Button(label="Deny", token="no"))


class Conversation:
    """A console fed from a pipe, with a core that can post and edit."""

    def __init__(self, fd: int, *, rehearsal: bool = False) -> None:
        self.out = io.StringIO()
        self.port = ConsolePort(
            clock=StillClock(), login="ana", front=Piped(fd=fd, out=self.out), rehearsal=rehearsal
        )
        self.core = FakeCore()
        self._posted = 0

    async def hold(self) -> str:
        async with asyncio.timeout(30):
            await self.port.listen(self.core.sink)
        return self.out.getvalue()

    async def post(self, *lines: str, buttons: tuple[Button, ...] = ()) -> MessageRef:
        self._posted += 1
        message = Message(body=Text.of(*lines), buttons=buttons)
        return await self.port.post(PLACE, message, nonce=str(self._posted))

    async def edit(self, ref: MessageRef, *lines: str, buttons: tuple[Button, ...] = ()) -> None:
        await self.port.edit(ref, Message(body=Text.of(*lines), buttons=buttons))

    def texts(self) -> list[str]:
        return [heard.text for heard in self.core.heard]


def piped(text: str | bytes, *, rehearsal: bool = False) -> Conversation:
    ours, theirs = os.pipe()
    data = text.encode() if isinstance(text, str) else text
    assert len(data) < 60_000, "would block on the pipe's buffer"
    os.write(theirs, data)
    os.close(theirs)
    return Conversation(ours, rehearsal=rehearsal)


async def test_each_line_is_one_turn() -> None:
    talk = piped("run df -h on local\n\n   \nwhat did you do?\n")
    assert await talk.hold() == ""
    assert talk.texts() == ["run df -h on local", "what did you do?"]
    assert talk.port.exit_code == 0


async def test_a_last_line_without_newline_counts() -> None:
    talk = piped("help")
    await talk.hold()
    assert talk.texts() == ["help"]


async def test_windows_line_ends_are_taken_off() -> None:
    talk = piped("help\r\n")
    await talk.hold()
    assert talk.texts() == ["help"]


async def test_a_turn_has_ended_before_the_next_line_is_read() -> None:
    talk = piped("one\ntwo\n")
    running: list[str] = []

    async def answer(inbound: Inbound) -> None:
        assert running == []
        running.append(inbound.text)
        for _ in range(10):
            await asyncio.sleep(0)
        running.pop()
        await talk.post(f"done {inbound.text}")

    talk.core.answer = answer
    assert await talk.hold() == "done one\n\ndone two\n\n"


async def test_only_the_outcome_of_edits_is_printed_and_only_its_new_lines() -> None:
    talk = piped("yes\n")

    async def answer(_inbound: Inbound) -> None:
        card = await talk.post("◔ web1 · restart caddy", "systemctl restart caddy", "waits")
        for second in range(5):
            await talk.edit(card, "● web1 · restart caddy", "systemctl restart caddy", f"running {second} s")
        await talk.edit(card, "✓ web1 · restart caddy", "systemctl restart caddy", "ok in 1.1 s")

    talk.core.answer = answer
    assert await talk.hold() == (
        "◔ web1 · restart caddy\nsystemctl restart caddy\nwaits\n\n✓ web1 · restart caddy\nok in 1.1 s\n\n"
    )


@pytest.mark.parametrize("edits", [1, 7])
async def test_what_runs_is_printed_once_with_its_outcome_however_often_it_is_edited(edits: int) -> None:
    talk = piped("run df -h on web1\nnext\n")

    async def answer(inbound: Inbound) -> None:
        if inbound.text == "next":
            await talk.post("the next turn")
            return
        card = await talk.post("● web1 · df -h", "running 0.8 s")
        await talk.post("another message")
        for second in range(edits):
            await talk.edit(card, "● web1 · df -h", f"running {second} s")
            await asyncio.sleep(0)
        await talk.edit(card, "✓ web1 · df -h", "ok in 0.9 s")

    talk.core.answer = answer
    assert await talk.hold() == "another message\n\n✓ web1 · df -h\nok in 0.9 s\n\nthe next turn\n\n"


async def test_buttons_are_numbered_and_a_number_presses_one_of_the_newest_card() -> None:
    talk = piped("first\nsecond\n2\n7\n")

    async def answer(inbound: Inbound) -> None:
        if inbound.text == "first":
            await talk.post(
                "old card", buttons=(Button(label="Go", token="old"), Button(label="No", token="old2"))
            )
        if inbound.text == "second":
            await talk.post("new card", buttons=YES_NO)

    talk.core.answer = answer
    assert "new card\n[1 Approve] [2 Deny]\n" in await talk.hold()
    kinds = [(heard.kind, heard.token, heard.text) for heard in talk.core.heard[2:]]
    assert kinds == [(InboundKind.CLICK, "no", ""), (InboundKind.MESSAGE, "", "7")]


async def test_a_card_that_lost_its_buttons_is_not_pressed() -> None:
    talk = piped("first\ndecide\n1\n")
    cards: list[MessageRef] = []

    async def answer(inbound: Inbound) -> None:
        if inbound.text == "first":
            cards.append(await talk.post("card", buttons=YES_NO))
        if inbound.text == "decide":
            await talk.edit(cards[0], "card", "decided")

    talk.core.answer = answer
    await talk.hold()
    assert talk.core.heard[2].kind is InboundKind.MESSAGE
    assert talk.core.heard[2].text == "1"


@pytest.mark.parametrize("line", ["1 ", " 1", "1."])
async def test_a_number_is_a_press_only_when_it_is_alone_on_its_line(line: str) -> None:
    talk = piped(f"first\n{line}\n")

    async def answer(inbound: Inbound) -> None:
        if inbound.text == "first":
            await talk.post("card", buttons=YES_NO)

    talk.core.answer = answer
    await talk.hold()
    assert (talk.core.heard[1].kind is InboundKind.CLICK) == (line.strip() == "1")


async def test_a_fence_makes_one_message() -> None:
    talk = piped("run on web1 ```\nset -e\n\ndf -h\n```\nnext\n```sh\nuptime\n```\n")
    await talk.hold()
    assert talk.texts() == ["run on web1 ```\nset -e\n\ndf -h\n```", "next", "```sh\nuptime\n```"]


async def test_a_fence_on_one_line_is_one_line() -> None:
    talk = piped("run ```df -h``` on web1\nnext\n")
    await talk.hold()
    assert talk.texts() == ["run ```df -h``` on web1", "next"]


async def test_a_fence_that_never_closes_sends_nothing() -> None:
    talk = piped("```\nrm -rf /srv\n")
    assert "not sent" in await talk.hold()
    assert talk.texts() == []
    assert talk.port.exit_code == 1


async def test_a_line_that_is_no_utf8_is_refused_and_the_next_is_read() -> None:
    talk = piped(b"run rm \xff on web1\nhelp\n")
    assert "not UTF-8" in await talk.hold()
    assert talk.texts() == ["help"]
    assert talk.port.exit_code == 1


async def test_what_was_not_stored_is_told() -> None:
    talk = piped("run reboot on web1\nhelp\n")
    talk.core.full = frozenset({"run reboot on web1"})
    assert "nothing was done" in await talk.hold()
    assert talk.texts() == ["help"]


async def test_nobody_speaks_as_somebody_else_outside_a_rehearsal() -> None:
    talk = piped("/as bo\nyes\n")
    await talk.hold()
    assert [(heard.text, heard.account.key) for heard in talk.core.heard] == [
        ("/as bo", "console::ana"),
        ("yes", "console::ana"),
    ]


async def test_a_rehearsal_switches_the_speaker_in_the_same_place() -> None:
    talk = piped("hello\n/as bo\nyes\n/as ana\nno\n", rehearsal=True)
    shown = await talk.hold()
    assert shown.startswith("Rehearsal: commands do run, on this machine only")
    assert [(heard.text, heard.account.key) for heard in talk.core.heard] == [
        ("hello", "console::ana"),
        ("yes", "console::bo"),
        ("no", "console::ana"),
    ]
    assert {heard.place for heard in talk.core.heard} == {PLACE}


async def test_a_fault_of_the_core_is_not_swallowed() -> None:
    talk = piped("hello\n")

    async def answer(_inbound: Inbound) -> None:
        raise ZeroDivisionError

    talk.core.answer = answer
    with pytest.raises(ZeroDivisionError):
        await talk.hold()


async def test_event_ids_never_repeat_within_or_between_sessions() -> None:
    ids: set[str] = set()
    for _ in range(2):
        talk = piped("a\nb\n")
        await talk.hold()
        ids |= {heard.event_id for heard in talk.core.heard}
    assert len(ids) == 4


async def test_closing_ends_it_while_it_waits_for_a_line() -> None:
    ours, theirs = os.pipe()
    talk = Conversation(ours)
    holding = asyncio.create_task(talk.hold())
    while not (await talk.port.health()).ok:  # noqa: ASYNC110  # health is all that a port tells
        await asyncio.sleep(0.001)
    await talk.port.close()
    await asyncio.wait_for(holding, 30)
    os.close(theirs)


# ---------------------------------------------------------------- lines


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ours, theirs = os.pipe()
    yield ours, theirs
    os.close(ours)


async def test_lines_come_as_they_are_written(pipe: tuple[int, int]) -> None:
    lines = Lines(pipe[0])
    os.write(pipe[1], b"one\ntw")
    assert await lines.next() == "one"
    waiting = asyncio.create_task(lines.next())
    await asyncio.sleep(0)
    assert not waiting.done()
    os.write(pipe[1], b"o\n")
    assert await asyncio.wait_for(waiting, 30) == "two"
    os.close(pipe[1])
    assert await lines.next() is None


async def test_a_plain_file_is_read_to_its_end(tmp_path: Path) -> None:
    file = tmp_path / "lines"
    file.write_text("one\n\ntwo")
    with file.open("rb") as opened:
        lines = Lines(opened.fileno())
        assert [await lines.next() for _ in range(4)] == ["one", "", "two", None]


async def test_a_line_without_end_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "lines"
    file.write_bytes(b"x" * (MAX_LINE_BYTES + 100_000))
    with file.open("rb") as opened:
        lines = Lines(opened.fileno())
        with pytest.raises(BadInputError):
            await lines.next()
        assert await lines.next() is None
