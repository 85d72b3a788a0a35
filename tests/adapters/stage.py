"""What the conformance suite needs of an adapter: a person who uses the platform, and their screen.

A stage for adapter NAME is the function `stage(core, folder)` in tests/adapters/stage_NAME.py; the suite
finds adapters by name and fails for one that has no stage.
"""

import pkgutil
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Protocol

import adapters
from bot.ports import Account, Capabilities, ChatPort, PlaceRef
from tests.adapters.console_fakes import FakeCore


class Stage(Protocol):
    """One person in one place, on the platform itself rather than on our side of it."""

    port: ChatPort
    place: PlaceRef
    account: Account

    async def say(self, text: str, event: str) -> None: ...

    async def press(self, token: str, event: str) -> None: ...

    async def acknowledged(self, event: str) -> None:
        """Wait until the platform was told that the event is taken."""

    def was_acknowledged(self, event: str) -> bool: ...

    async def reads(self, text: str) -> str:
        """Wait until the person can read `text`; return all they can read."""

    def tokens(self) -> tuple[str, ...]:
        """The tokens of the buttons that the person can press now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OnScreen:
    """One message that a person can read now, as its platform shows it, without markup.

    Lines that stand in a box of their own are indented. `edits` counts changes of it. `private` is whom alone
    it was shown to; "" for everybody. `files` are (name, content) of what hangs on it, whether or not `text`
    has them too.
    """

    id: str
    text: str
    labels: tuple[str, ...] = ()
    edits: int = 0
    private: str = ""
    files: tuple[tuple[str, bytes], ...] = ()


class NotOnThisSurfaceError(Exception):
    """People cannot do that on this platform at all."""


class Surface(Protocol):
    """Several people in several places of a platform, for whole conversations (tests/transcripts).

    People and places have short names ("ana", "ops"); a place is one conversation in which words reach the
    bot addressed to it. The port is not listening yet: whoever uses the surface calls `port.listen(sink)`.
    Every act returns once the platform has taken it, not once it was answered.
    """

    port: ChatPort

    def restart(self) -> None:
        """Give `port` the successor of a port that was closed, as a new process of the same bot would."""

    def account(self, name: str) -> Account: ...

    def place(self, name: str) -> PlaceRef: ...

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
        """Say something; return the id of the message, for `edit` and `reply_to`."""

    async def edit(self, message: str, text: str, *, by: str = "ana", place: str = "ops") -> None:
        """Change what was said."""

    async def press(self, message: str, label: str, *, by: str = "ana", place: str = "ops") -> None:
        """Press a button of a message, as a client would that shows the message as it was when read last.

        A message that has lost its buttons since is pressed as it was while it had some: phones are slow.
        """

    async def fill(self, text: str, *, by: str = "ana", place: str = "ops") -> None:
        """Fill in and send the form that was opened for `by`, or answer the message that asks for a reply."""

    def screen(self, *, by: str = "ana", place: str = "ops") -> Sequence[OnScreen]:
        """Return what `by` can read in `place` of the bot's messages, oldest first."""


class LastingSurface(Surface, Protocol):
    """A platform that stays while processes of the bot come and go.

    `port_at` gives a process that is not this one the port that listens at `address`.
    """

    @property
    def address(self) -> str: ...


LastingOpener = Callable[[Path], AbstractAsyncContextManager[LastingSurface]]

SurfaceOpener = Callable[[Path], AbstractAsyncContextManager[Surface]]

Opener = Callable[[FakeCore, Path], AbstractAsyncContextManager[Stage]]


def adapter_names() -> list[str]:
    """Return the adapters in which people converse; agents and machines come in by the others."""
    names = (module.name for module in pkgutil.iter_modules(adapters.__path__))
    return sorted(name for name in names if _converses(import_module(f"adapters.{name}")))


def _converses(module: ModuleType) -> bool:
    return not hasattr(module, "open_entrance") and getattr(module, "CONVERSES", True)


def capabilities_of(name: str) -> Capabilities:
    """Return what the port of an adapter says that its platform can."""
    module = import_module(f"adapters.{name}.port")
    (port,) = [
        one
        for one in vars(module).values()
        if isinstance(one, type) and isinstance(getattr(one, "capabilities", None), Capabilities)
    ]
    found: Capabilities = port.capabilities  # type: ignore[attr-defined] # looked for above
    return found


def lacks(name: str) -> frozenset[str]:
    """Return what people cannot do on a platform at all, by the words that a transcript has for it."""
    found: frozenset[str] = getattr(import_module(f"tests.adapters.stage_{name}"), "LACKS", frozenset())
    return found


def opener(name: str) -> Opener:
    """Return the stage of an adapter."""
    return import_module(f"tests.adapters.stage_{name}").stage


def surface_opener(name: str) -> SurfaceOpener:
    """Return what opens the surface of an adapter, for whole conversations."""
    return import_module(f"tests.adapters.stage_{name}").surface


def lasting_opener(name: str) -> LastingOpener:
    """Return what opens the surface of an adapter whose bot may be another process."""
    if name == "console":  # its window is a program of its own
        return import_module("tests.adapters.console_window").window
    return import_module(f"tests.adapters.stage_{name}").surface


def port_at(name: str, address: str, folder: Path) -> ChatPort:
    """Return the port of an adapter for the platform at `address`; what it needs is put into `folder`."""
    port: ChatPort = import_module(f"tests.adapters.stage_{name}").port_at(address, folder)
    return port
