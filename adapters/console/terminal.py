"""The interactive front end: history, colours, numbered buttons, live output.

What runs shows its newest state below the prompt; what is new in a message scrolls by once. The rules it
owns: a number presses a button of the newest card, but not of one that appeared while it was being typed; at
the end of input what still runs is waited for.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from prompt_toolkit import PromptSession, print_formatted_text
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.history import FileHistory, InMemoryHistory
from prompt_toolkit.patch_stdout import patch_stdout

from adapters.console.board import Board, Change, Line, is_output, is_running, text_of
from adapters.console.front import GoneError, Said, Send
from bot.ports import Message
from bot.text import Style

FENCE = "```"
_JUST_APPEARED_S = 0.8  # less than anybody needs to read a card and type a number
_COLOURS = {
    Style.PLAIN: "",
    Style.STRONG: "bold",
    Style.MUTED: "ansibrightblack",
    Style.CODE: "ansicyan",
    Style.BLOCK: "ansicyan",
}
_MARKS = {
    "✓": "ansigreen",
    "✗": "ansired",
    "▲": "ansired",
    "◔": "ansiyellow",
    "●": "ansiblue",
    "?": "ansiyellow",
}


class Terminal:
    """Talks to a person at a terminal."""

    def __init__(self, *, history: Path | None) -> None:
        if history is not None:
            history.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            history.touch(mode=0o600)
        self._board = Board()
        self._running: dict[str, str] = {}
        self._output: dict[str, Counter[str]] = {}
        self._appeared_at = 0.0
        self._open: set[asyncio.Future[None]] = set()
        self._prompt: PromptSession[str] = PromptSession(
            history=InMemoryHistory() if history is None else FileHistory(str(history)),
            bottom_toolbar=self._toolbar,
            refresh_interval=1.0,
        )

    def show(self, key: str, message: Message) -> None:
        """Print what is new in a message, except for its running state, which stands below the prompt."""
        newest = self._board.newest
        change = self._board.update(key, message)
        if self._board.newest != newest:
            self._appeared_at = asyncio.get_running_loop().time()
        if is_running(change.now):
            self._running[key] = "  ".join(text_of(line).strip() for line in change.now[:2])
        else:
            self._running.pop(key, None)
        self._print([styled(line) for line in self._news(key, change)])

    def _news(self, key: str, change: Change) -> Iterator[Line]:
        """Give the changed lines that scroll by; a line of output does so once, however often it is shown."""
        printed = self._output.setdefault(key, Counter())
        seen: Counter[str] = Counter()
        new = Counter(change.lines)
        for line in change.now:
            if is_output(line):
                text = text_of(line)
                seen[text] += 1
                if seen[text] > printed[text]:
                    printed[text] += 1
                    yield line
            elif new[line] > 0:
                new[line] -= 1
                if change.fresh or key not in self._running:
                    yield line

    def hint(self, text: str) -> None:
        """Print a line of the console's own."""
        self._print([FormattedText([("ansibrightblack", text)])])

    def _print(self, lines: Sequence[FormattedText]) -> None:
        """Print above the prompt.

        Not with run_in_terminal: that makes the terminal cooked for a moment and swallows a Ctrl-D.
        """
        prompt = self._prompt.app
        if prompt.is_running:
            prompt.renderer.erase()
            for line in lines:
                prompt.print_text([*line, ("", "\n")])
            prompt.invalidate()
            return
        for line in lines:
            print_formatted_text(line)

    async def run(self, send: Send) -> int:
        """Prompt until Ctrl-D, then wait for what still runs."""
        with patch_stdout():
            try:
                # Raw between two prompts too: a cooked terminal would swallow a Ctrl-D typed just then.
                with self._prompt.input.raw_mode():
                    while (text := await self._message()) is not None:
                        await self._send(text, send)
                if self._open:
                    self.hint("Waiting for what still runs. Ctrl-C leaves it.")
                    await asyncio.wait(self._open)
            except GoneError as error:
                self.hint(str(error))
                return 1
        return 0

    async def _send(self, text: str, send: Send) -> None:
        if not text.strip():
            return
        button = self._board.pressed(text.strip())
        if button and asyncio.get_running_loop().time() - self._appeared_at < _JUST_APPEARED_S:
            self.hint("A new card came in just now. Look at it, then type the number again.")
            return
        settled = await send(Said(token=button.token) if button else Said(text=text))
        self._open.add(settled)
        settled.add_done_callback(self._open.discard)

    async def _message(self) -> str | None:
        """Return one message, or None at the end of input; Ctrl-C clears the line."""
        lines: list[str] = []
        while True:
            try:
                lines.append(await self._prompt.prompt_async("... " if lines else "> "))
            except KeyboardInterrupt:
                lines.clear()
                continue
            except EOFError:
                return None
            text = "\n".join(lines)
            if not text.count(FENCE) % 2:
                return text

    def _toolbar(self) -> FormattedText | None:
        if not self._running:
            return None
        return FormattedText([("", "  ".join(self._running.values()))])


def styled(line: Line) -> FormattedText:
    """Return a line with its colours; a state mark at its start has a colour of its own."""
    parts: list[tuple[str, str]] = []
    for index, span in enumerate(line):
        mark = _MARKS.get(span.text[:1]) if index == 0 and span.style is not Style.BLOCK else None
        if mark:
            parts.append((mark, span.text[:1]))
            parts.append((_COLOURS[span.style], span.text[1:]))
        else:
            parts.append((_COLOURS[span.style], span.text))
    return FormattedText(parts)
