"""What the conformance suite needs of an adapter: a person who uses the platform, and their screen.

A stage for adapter NAME is the function `stage(core, folder)` in tests/adapters/stage_NAME.py; the suite
finds adapters by name and fails for one that has no stage.
"""

import pkgutil
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from importlib import import_module
from pathlib import Path
from typing import Protocol

import adapters
from bot.ports import Account, ChatPort, PlaceRef
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


Opener = Callable[[FakeCore, Path], AbstractAsyncContextManager[Stage]]


def adapter_names() -> list[str]:
    """Return the adapters that exist."""
    return sorted(module.name for module in pkgutil.iter_modules(adapters.__path__))


def opener(name: str) -> Opener:
    """Return the stage of an adapter."""
    return import_module(f"tests.adapters.stage_{name}").stage
