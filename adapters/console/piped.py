"""The piped front end: line by line, deterministic, no colours.

Each line is one turn, finished before the next is read; a ``` fence makes several lines one message; a line
of digits presses a button of the newest card. The rule it owns: the same conversation prints the same text,
so what still runs and changes of a message are held until the turn ends, and of these the outcome alone is
printed, of a message that was there before only its new lines.
"""

from typing import TextIO

from adapters.console.board import Board, is_running, plain, render
from adapters.console.front import GoneError, Said, Send
from adapters.console.lines import BadInputError, Lines
from bot.ports import Message

FENCE = "```"


class Piped:
    """Reads a descriptor, writes a stream."""

    def __init__(self, *, fd: int, out: TextIO) -> None:
        self._lines = Lines(fd)
        self._out = out
        self._board = Board()
        self._shown: set[str] = set()
        self._changed: dict[str, Message] = {}

    def show(self, key: str, message: Message) -> None:
        """Print a new message at once; hold a change, and what still runs, until the turn ends."""
        if key in self._shown or key in self._changed or is_running(render(message)):
            self._changed[key] = message
            return
        self._shown.add(key)
        self._print(plain(self._board.update(key, message).lines))

    def hint(self, text: str) -> None:
        """Print a line of the console's own."""
        self._print(f"{text}\n")

    async def run(self, send: Send) -> int:
        """Send line after line until the input ends; 1 when some of it could not be sent."""
        code = 0
        while True:
            try:
                text = await self._message()
            except BadInputError as error:
                self.hint(f"{error}.")
                code = 1
                continue
            if text is None:
                break
            if not text.strip():
                continue
            button = self._board.pressed(text.strip())
            try:
                settled = await send(Said(token=button.token) if button else Said(text=text))
                await settled
            except GoneError as error:
                self._flush()
                self.hint(str(error))
                return 1
            self._flush()
        self._flush()
        return code

    async def _message(self) -> str | None:
        """Return one message: a line, or several where a fence is open; None at the end of input."""
        line = await self._lines.next()
        if line is None or not line.count(FENCE) % 2:
            return line
        block = [line]
        while (line := await self._lines.next()) is not None:
            block.append(line)
            if line.count(FENCE) % 2:
                return "\n".join(block)
        raise BadInputError(f"the input ended inside {FENCE}; that block was not sent")

    def _flush(self) -> None:
        changed, self._changed = self._changed, {}
        self._shown |= changed.keys()
        for key, message in changed.items():
            self._print(plain(self._board.update(key, message).lines))

    def _print(self, text: str) -> None:
        if text:
            self._out.write(text + "\n")
            self._out.flush()
