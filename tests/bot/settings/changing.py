"""Conversations as a process with given settings would hold them, and checks of settings under their keys."""

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

from bot.app import build, open_ledger, running
from bot.settings.config import Config, load
from bot.settings.paths import Paths
from tests.kit import Kit, ScriptedClock, ScriptedPort, conversation, person

TWO = (person("ana"), person("bo"))
PLACES = {"ops": "script::ops", "security": "script::security"}
#: What no command, title or runbook reads.
UNREAD = "why is web1 slow"


def configured(folder: Path, *flags: str, text: str = "") -> Config:
    """Return the config of a process that starts with these flags and this file."""
    folder.mkdir(exist_ok=True)
    file = folder / "config.toml"
    file.write_text(text)
    return load(file=file, environ={}, flags=flags, login="ana", paths=Paths(folder / "state"))


def started(folder: Path, *flags: str, **more: Any) -> contextlib.AbstractAsyncContextManager[Kit]:
    """Return a conversation as a process with these flags would hold it; see `bot.app.build`."""
    config = configured(folder, *flags)
    return conversation(
        folder,
        policy=config.policy,
        floor=config.floor,
        posture_is_set=config.values["policy.posture"].is_set,
        retention_days=config.number("ledger.retention_days"),
        settings=config.layers,
        **more,
    )


@contextlib.asynccontextmanager
async def composed(folder: Path, text: str = "") -> AsyncIterator[Kit]:
    """Run everything as `sayso serve` puts it together from `text`, for one scripted surface and ana."""
    config = configured(folder, text=f'[operators.ana]\naccounts = ["script::ana"]\n{text}')
    clock, port = ScriptedClock(), ScriptedPort()
    ledger = open_ledger(config, clock)  # type: ignore[arg-type]  # a Clock
    try:
        app = build(config, ledger, ports=[port], clock=clock)
        async with running(app):
            yield Kit(app=app, port=port, clock=clock)
    finally:
        ledger.close()


Check = Callable[[Path], Awaitable[None]]


def entering(checks: dict[str, Check]) -> Callable[[str], Callable[[Check], Check]]:
    """Return the decorator that enters a check among these, under its setting."""

    def check(key: str) -> Callable[[Check], Check]:
        def enter(made: Check) -> Check:
            checks[key] = made
            return made

        return enter

    return check
