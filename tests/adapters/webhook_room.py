"""A webhook listener under test: the real port on loopback, a sink that remembers, and senders.

Payloads are written after what Alertmanager and Grafana document, not copied from them.
"""

import asyncio
import contextlib
import hashlib
import hmac
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

from adapters.webhook import Settings
from adapters.webhook.port import WebhookPort
from bot.ports import Inbound, NotCommittedError, Receipt
from gate.signals import Signal, unpack
from tests.kit import START, ScriptedClock

SECRET = "s3cret-of-the-sender"


class Inbox:
    """A sink that remembers, and says what it was told."""

    def __init__(self) -> None:
        self.taken: list[Inbound] = []
        self.full = False

    async def __call__(self, inbound: Inbound) -> Receipt:
        if self.full:
            raise NotCommittedError
        settled: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        settled.set_result(None)
        fresh = all(one.event_id != inbound.event_id for one in self.taken)
        if fresh:
            self.taken.append(inbound)
        return Receipt(fresh=fresh, settled=settled)

    def signals(self) -> list[Signal]:
        """Return every signal that was taken."""
        return [signal for one in self.taken for signal in unpack(one.text)]


@dataclass
class Room:
    """A port that listens, and a session that sends."""

    port: WebhookPort
    clock: ScriptedClock
    session: aiohttp.ClientSession
    inbox: Inbox = field(default_factory=Inbox)

    async def send(
        self,
        source: str,
        body: Any,
        *,
        token: str = SECRET,
        headers: Mapping[str, str] | None = None,
        method: str = "POST",
    ) -> tuple[int, str]:
        """Send `body` with a bearer secret; return status and answer."""
        assert self.port.bound is not None
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        sent = {"Authorization": f"Bearer {token}"} if headers is None else dict(headers)
        url = f"http://127.0.0.1:{self.port.bound[1]}/signals/{source}"
        async with self.session.request(method, url, data=data, headers=sent) as answer:
            return answer.status, (await answer.text()).strip()

    def signed(
        self, body: bytes, *, prefix: str = "X-Sayso", key: str = SECRET, off_s: int = 0
    ) -> dict[str, str]:
        """Return the headers that sign `body` now, or `off_s` seconds off."""
        stamp = str(int(self.clock.now().timestamp()) + off_s)
        digest = hmac.new(key.encode(), f"{stamp}:".encode() + body, hashlib.sha256).hexdigest()
        return {f"{prefix}-Signature": digest, f"{prefix}-Timestamp": stamp}


def settings(folder: Path, **changes: Any) -> Settings:
    """Return settings with a source of each format."""
    file = folder / "secret"
    file.write_text(f"{SECRET}\n")
    file.chmod(0o600)
    sources = {
        "am": {"format": "alertmanager", "token_file": str(file)},
        "grafana": {"format": "grafana", "hmac_file": str(file)},
        "cron": {"format": "generic", "token_file": str(file)},
        "signed": {"format": "generic", "hmac_file": str(file)},
    }
    return Settings.model_validate({"listen": "127.0.0.1:0", "sources": sources, **changes})


@contextlib.asynccontextmanager
async def room(folder: Path, **changes: Any) -> AsyncIterator[Room]:
    """Listen, and close again."""
    made, clock = settings(folder, **changes), ScriptedClock()
    port = WebhookPort(made, secrets=made.secrets(), clock=clock)
    async with aiohttp.ClientSession() as session:
        there = Room(port=port, clock=clock, session=session)
        listening = asyncio.create_task(port.listen(there.inbox))
        try:
            while port.bound is None:  # noqa: ASYNC110 - it tells nobody
                await asyncio.sleep(0)
            yield there
        finally:
            await port.close()
            await listening


def alertmanager(*alerts: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Return what Alertmanager sends (version 4)."""
    return {
        "version": "4",
        "groupKey": '{}:{alertname="DiskFull"}',
        "truncatedAlerts": 0,
        "status": "firing",
        "receiver": "sayso",
        "groupLabels": {"alertname": "DiskFull"},
        "commonLabels": {},
        "commonAnnotations": {},
        "externalURL": "http://alertmanager.example:9093",
        "alerts": list(alerts) or [alert()],
        **changes,
    }


def alert(**changes: Any) -> dict[str, Any]:
    """Return one alert of Alertmanager or Grafana."""
    return {
        "status": "firing",
        "labels": {"alertname": "DiskFull", "instance": "web1:9100", "severity": "critical"},
        "annotations": {"summary": "/var is 93 % full"},
        "startsAt": START.isoformat().replace("+00:00", "Z"),
        "endsAt": "0001-01-01T00:00:00Z",
        "generatorURL": "http://prometheus.example:9090/graph",
        "fingerprint": "1a30ba71cca2921f",
        **changes,
    }
