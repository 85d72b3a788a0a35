"""Health: how the surfaces are, written by the running process for `sayso status` and `sayso doctor`.

One small JSON file beside the ledger, replaced as a whole. It holds no secrets and no words of people.
"""

import asyncio
import json
import logging
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Protocol

from bot.ports import Clock, Health

log = logging.getLogger(__name__)

#: How often it is written, and how old it may be to be believed.
EVERY_S, BELIEVED_S = 10.0, 30.0
#: The same while a surface is not well, as at the start: nobody wants to read that for ten seconds.
UNWELL_EVERY_S = 1.0
#: The longest that one surface is waited for.
_PATIENCE_S = 5.0


class Healthy(Protocol):
    """What has a health: a port, or who listens to it."""

    @property
    def name(self) -> str:
        """The name of the surface."""

    async def health(self) -> Health:
        """Tell how it is."""


async def keep(file: Path, ports: Sequence[Healthy], clock: Clock) -> None:
    """Write how `ports` are, again and again, until cancelled; the file goes away then."""
    try:
        while True:
            well = await write(file, ports, clock)
            await asyncio.sleep(EVERY_S if well else UNWELL_EVERY_S)
    finally:
        await asyncio.to_thread(file.unlink, missing_ok=True)


async def write(file: Path, ports: Sequence[Healthy], clock: Clock) -> bool:
    """Write how `ports` are now; whether all of them are well."""
    found = await asyncio.gather(*(_ask(port) for port in ports))
    document = {
        "at": clock.now().isoformat(),
        "adapters": {
            port.name: {"ok": health.ok, "detail": health.detail, "facts": dict(health.facts)}
            for port, health in zip(ports, found, strict=True)
        },
    }
    writing = asyncio.ensure_future(asyncio.to_thread(_replace, file, json.dumps(document)))
    try:
        await asyncio.shield(writing)
    except asyncio.CancelledError:
        # A thread cannot be called back: what it writes must not come after the file was taken away.
        await asyncio.wait([writing])
        raise
    return all(health.ok for health in found)


def _replace(file: Path, text: str) -> None:
    fresh = file.with_suffix(".new")
    try:
        fresh.write_text(text, encoding="utf-8")
        fresh.replace(file)
    except OSError as error:
        log.warning("the health of the surfaces was not written: %s", error)


async def _ask(port: Healthy) -> Health:
    try:
        async with asyncio.timeout(_PATIENCE_S):
            return await port.health()
    except TimeoutError:
        return Health(ok=False, detail="it does not answer. Look at the log; restart sayso if it stays so.")
    except Exception as error:
        log.exception("health of %s", port.name)
        return Health(ok=False, detail=f"it cannot tell: {type(error).__name__}. Look at the log.")


def read(file: Path, *, now: datetime) -> dict[str, Health]:
    """Return how the surfaces were when the running process wrote last; nothing where none did of late."""
    try:
        document = json.loads(file.read_text("utf-8"))
        if abs((now - datetime.fromisoformat(document["at"])).total_seconds()) > BELIEVED_S:
            return {}
        return {
            name: Health(ok=bool(one["ok"]), detail=str(one["detail"]), facts=tuple(one["facts"].items()))
            for name, one in document["adapters"].items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
