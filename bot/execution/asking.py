"""sudo that asks: the password on its standard input, and whether it let the command start.

Right behind sudo runs a shell of ours that says one word nobody else knows and then becomes the command,
whose own input is empty. Without the word, nothing ran. A password that was refused is not tried again until
it is another one or some time has passed, so that no schedule locks an account by guessing.
"""

import contextlib
import time
from collections.abc import Callable, Iterable, Mapping

from bot.execution.unreached import Unreached, UnreachedError
from bot.inventory.passwords import Password, PasswordError
from gate.domain import TargetId

#: As long as pam_faillock counts failures by default (fail_interval).
_PAUSE_S = 900.0
_SAID_BYTES = 4096
#: What sudo and sudo-rs say, in the language that we set, of a password that is not right.
_REFUSES = (
    "try again",
    "incorrect",
    "no password was provided",
    "authentication failed",
    "password is required",
)

#: Tells values to whoever masks them.
Learn = Callable[[Iterable[str]], None]


class NotLetError(Exception):
    """sudo ended without having started the command; nothing ran."""

    def __init__(self, said: str) -> None:
        super().__init__("sudo did not start the command")
        self.said = said


class Opening:
    """Holds output back until the command has started; what came before that is sudo's own.

    Args:
        word: what is said at the start, on each stream of the command.
        deliver: takes the command's own output, and which stream it is of.
    """

    def __init__(self, word: str, deliver: Callable[[bytes, bool], None]) -> None:
        self._line = f"{word}\n".encode()
        self._deliver = deliver
        self._held: dict[bool, bytes | None] = {False: b"", True: b""}
        self.started = False

    def feed(self, chunk: bytes, *, stderr: bool) -> None:
        """Take the next bytes."""
        held = self._held[stderr]
        if held is None:
            self._deliver(chunk, stderr)
            return
        before, found, rest = (held + chunk).partition(self._line)
        if not found:
            # enough to find the word in, and to tell what sudo said
            self._held[stderr] = before[-_SAID_BYTES:]
            return
        self._held[stderr] = None
        self.started = True
        if rest:
            self._deliver(rest, stderr)

    def flush(self) -> None:
        """Deliver what is still held back, when nothing more will come."""
        for stderr, held in self._held.items():
            self._held[stderr] = None
            if held:
                self._deliver(held, stderr)

    @property
    def said(self) -> str:
        """What was said instead."""
        return b"\n".join(held for held in self._held.values() if held).decode("utf-8", "replace")


class Passwords:
    """The passwords of an inventory, and which of them were refused.

    Args:
        sources: by target.
        learn: told every password that is read, before it is used.
    """

    def __init__(self, sources: Mapping[TargetId, Password], *, learn: Learn) -> None:
        self._sources = sources
        self._learn = learn
        self._refused: dict[TargetId, tuple[object, float]] = {}
        for source in sources.values():  # what is shown before it is used is masked too
            with contextlib.suppress(PasswordError):
                learn([source.read()])

    def read(self, host: TargetId | None) -> str | None:
        """Return what sudo on `host` asks for; None where it asks for nothing. Raises UnreachedError."""
        source = None if host is None else self._sources.get(host)
        if host is None or source is None:
            return None
        version, until = self._refused.get(host, (None, 0.0))
        if time.monotonic() < until and version == source.version:
            raise UnreachedError(
                Unreached.SUDO,
                f"{host}: sudo there refused this password a short while ago, so it was not tried again. "
                f"Nothing ran. Mend {source.key} of [targets.{host}]; once it is saved, it is tried.",
            )
        try:
            password = source.read()
        except PasswordError as error:
            raise UnreachedError(
                Unreached.SUDO, f"{host}: {error}. Nothing ran. Mend {source.key} of [targets.{host}]."
            ) from None
        self._learn([password])
        return password

    def refusal(self, host: TargetId, said: str) -> UnreachedError:
        """Return what to say when sudo on `host` started nothing, given what it said."""
        source = self._sources[host]
        if any(words in said.lower() for words in _REFUSES):
            self._refused[host] = (source.version, time.monotonic() + _PAUSE_S)
            return UnreachedError(
                Unreached.SUDO,
                f"sudo on {host} refuses the password; see {source.key}. Nothing ran, and it is not tried "
                f"again before that is changed, or for {_PAUSE_S / 60:.0f} minutes.",
            )
        lines = said.strip().splitlines()
        last = lines[-1].strip() if lines else "it said nothing"
        try:
            last = last.replace(source.read(), "***")
        except PasswordError:
            last = "what it said is left out, since the password cannot be read any more"
        return UnreachedError(
            Unreached.SUDO,
            f"{host}: sudo there did not start the command: {last}. Nothing ran. See sudo -l there.",
        )
