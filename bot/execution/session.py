"""One channel of an SSH connection: what it reports of its command, as it comes, in bytes.

It may look for a word on the command's standard error, which a line of ours says right before the command: a
server that says it runs what it is told, and not a command of its own (ForceCommand). The word is no output.
"""

import signal as signals

import asyncssh
from asyncssh.constants import EXTENDED_DATA_STDERR

from bot.execution.run import Progress

Channel = asyncssh.SSHClientChannel[bytes]
#: What is looked through for the word; a login shell's own words may come before it.
_HELD_BYTES = 4096


class Session(asyncssh.SSHClientSession[bytes]):
    """Reports a channel's output and end.

    Args:
        progress: what it reports into.
        stdin: what the command reads, which ends then; None for nothing.
        word: looked for on its standard error; "" for none.

    Attributes:
        channel: there once it is open, and the command about to be sent.
        gone: the channel is closed.
        proven: the word was said.
    """

    def __init__(self, progress: Progress, *, stdin: bytes | None = None, word: str = "") -> None:
        self.progress = progress
        self.channel: Channel | None = None
        self.gone = False
        self.proven = False
        self._stdin = stdin
        self._word = f"{word}\n".encode() if word else b""
        self._held = b""

    def connection_made(self, chan: Channel) -> None:
        """Remember the channel."""
        # called when the channel is open and right before the exec request is written
        self.channel = chan

    def data_received(self, data: bytes, datatype: int | None) -> None:
        """Pass output on."""
        stderr = datatype == EXTENDED_DATA_STDERR
        if stderr and self._word:
            data = self._without_word(data)
        if data:
            self.progress.feed(data, stderr=stderr)

    def _without_word(self, data: bytes) -> bytes:
        self._held += data
        before, word, after = self._held.partition(self._word)
        if not word and len(self._held) < _HELD_BYTES:
            return b""
        self.proven = bool(word)
        self._word = self._held = b""
        return before + after

    def _let_go(self) -> None:
        """Report what was held back for a word that does not come."""
        held, self._word, self._held = self._held, b"", b""
        if held:
            self.progress.feed(held, stderr=True)

    def session_started(self) -> None:
        """Write the input, where there is one."""
        if self._stdin is not None and self.channel is not None:
            self.channel.write(self._stdin)
            self.channel.write_eof()

    def eof_received(self) -> bool:
        """Note that all of the output has come; the channel is closed once the end is told, so not here."""
        self._let_go()
        self.progress.whole = True
        return True

    def exit_status_received(self, status: int) -> None:
        """Note the exit code."""
        self.progress.exit(status)

    def exit_signal_received(self, signal: str, core_dumped: bool, msg: str, lang: str) -> None:  # noqa: FBT001 -- asyncssh calls it so
        """Note the signal that it ended by."""
        del core_dumped, msg, lang
        number = getattr(signals, f"SIG{signal}", signals.SIGKILL)
        self.progress.exit(128 + int(number))

    def connection_lost(self, exc: Exception | None) -> None:
        """Note that nothing more will come."""
        self.gone = True
        self._let_go()
        why = "the server closed the command without telling its end" if exc is None else "connection lost"
        self.progress.end(lost=why)
