"""Lines from a file descriptor, without a thread and without reading ahead of the reader.

Waits in the event loop for pipes and terminals; a plain file never blocks, so it is just read. The rule it
owns: a line that is too long or not UTF-8 is an error, never a changed line.
"""

import asyncio
import os

MAX_LINE_BYTES = 1_048_576
_CHUNK_BYTES = 65_536


class BadInputError(Exception):
    """The line cannot be read as text; nothing of it was sent."""


class Lines:
    """The lines of one descriptor, in order."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._buffer = bytearray()
        self._ended = False

    async def next(self) -> str | None:
        """Return the next line without its newline; None at the end of input.

        Raises:
            BadInputError: the line is longer than 1 MiB or no UTF-8; it is dropped.
        """
        while (end := self._buffer.find(b"\n")) < 0 and not self._ended:
            if len(self._buffer) > MAX_LINE_BYTES:
                self._buffer.clear()
                self._ended = True
                raise BadInputError("a line is longer than 1 MiB; it was not sent, nor was what follows")
            await self._readable()
            chunk = os.read(self._fd, _CHUNK_BYTES)
            self._ended = not chunk
            self._buffer += chunk
        if end < 0:
            end = len(self._buffer)
            if not end:
                return None
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        try:
            return line.rstrip(b"\r").decode()
        except UnicodeDecodeError:
            raise BadInputError("a line is not UTF-8; it was not sent") from None

    async def _readable(self) -> None:
        loop = asyncio.get_running_loop()
        ready = asyncio.Event()
        try:
            loop.add_reader(self._fd, ready.set)
        except PermissionError:
            return  # a plain file or /dev/null: reading it never waits
        try:
            await ready.wait()
        finally:
            loop.remove_reader(self._fd)
