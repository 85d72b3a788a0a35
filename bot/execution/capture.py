"""Output within bounds: the first and the last bytes, a count and a hash over everything.

Memory is bounded by head + 2 x tail whatever arrives, and by twice head + tail more where the streams are
kept apart. Each chunk goes to the caller's sink as it comes; a
sink that fails is dropped, never the command, since the record of what ran matters more than its display.
"""

import hashlib
import logging

from bot.ports import Captured, OutputSink, Streams

_log = logging.getLogger(__name__)


class Capture:
    """Collects the output of one command.

    Args:
        head_bytes, tail_bytes: bytes kept from the start and from the end.
        on_output: called with every chunk.
        apart: keep the first bytes of each stream for itself too.
    """

    def __init__(
        self, *, head_bytes: int, tail_bytes: int, on_output: OutputSink, apart: bool = False
    ) -> None:
        self.apart = apart
        self._streams = (bytearray(), bytearray())
        self._cut = False
        self._head_bytes = head_bytes
        self._tail_bytes = tail_bytes
        self._sink: OutputSink | None = on_output
        self._head = bytearray()
        self._tail = bytearray()
        self._total = 0
        self._hash = hashlib.sha256()

    @property
    def total(self) -> int:
        """Bytes that arrived so far."""
        return self._total

    def feed(self, chunk: bytes, *, stderr: bool = False) -> None:
        """Take the next bytes, of stdout or of stderr."""
        if self.apart:
            self._keep_apart(chunk, self._streams[stderr])
        self._total += len(chunk)
        self._hash.update(chunk)
        room = self._head_bytes - len(self._head)
        if room > 0:
            self._head += chunk[:room]
        rest = chunk[max(room, 0) :]
        if rest:
            self._keep_last(rest)
        self._show(chunk)

    def _keep_apart(self, chunk: bytes, stream: bytearray) -> None:
        room = self._head_bytes + self._tail_bytes - len(stream)
        stream += chunk[: max(room, 0)]
        self._cut = self._cut or len(chunk) > room

    def _keep_last(self, rest: bytes) -> None:
        if len(rest) >= self._tail_bytes:
            self._tail[:] = rest[len(rest) - self._tail_bytes :]
            return
        self._tail += rest
        # trimmed only when it has doubled, so that each byte is moved at most once more
        if len(self._tail) > 2 * self._tail_bytes:
            del self._tail[: len(self._tail) - self._tail_bytes]

    def _show(self, chunk: bytes) -> None:
        if self._sink is None:
            return
        try:
            self._sink(chunk)
        except Exception:  # noqa: BLE001 -- a display's fault must not lose a command's end
            self._sink = None
            _log.exception("live output stopped; the command goes on and its output is still recorded")

    def result(self) -> Captured:
        """Return what was kept. `tail` is joined to `head` when nothing between them was dropped."""
        tail = bytes(self._tail[max(len(self._tail) - self._tail_bytes, 0) :])
        head = bytes(self._head)
        if len(head) + len(tail) == self._total:
            head, tail = head + tail, b""
        streams = None
        if self.apart:
            streams = Streams(stdout=bytes(self._streams[0]), stderr=bytes(self._streams[1]), cut=self._cut)
        return Captured(
            head=head, tail=tail, total=self._total, sha256=self._hash.hexdigest(), streams=streams
        )
