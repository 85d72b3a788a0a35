"""A real Alertmanager sends to the real listener of a real conversation, through bad and good days."""

import asyncio
import contextlib
import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from adapters.webhook.port import WebhookPort
from bot.clock import SystemClock
from bot.ports import Inbound, NotCommittedError, Receipt
from bot.signals.cards import OVER
from ledger.verify import verify_live
from tests.adapters.webhook_room import SECRET, settings
from tests.bot.signals.alerting import alerting, cards, executor, telling, texts
from tests.bot.test_brake import full
from tests.kit import Kit, ScriptedClock
from tests.sshd import free_port

ALERTMANAGER = shutil.which("prometheus-alertmanager") or shutil.which("alertmanager")
pytestmark = pytest.mark.skipif(ALERTMANAGER is None, reason="there is no Alertmanager on this machine")

CONFIG = """
route:
  receiver: sayso
  group_by: [alertname]
  group_wait: 1s
  group_interval: 1s
  repeat_interval: 1h
receivers:
  - name: sayso
    webhook_configs:
      - url: http://127.0.0.1:{port}/signals/am
        send_resolved: true
        http_config:
          authorization: {{ credentials: {secret} }}
"""


@dataclass
class Sends:
    """Alertmanager, and a client that posts alerts to it as Prometheus does; `refused` counts deliveries."""

    url: str
    session: aiohttp.ClientSession
    refused: int = 0

    async def post(self, *alerts: dict[str, Any]) -> None:
        async with self.session.post(f"{self.url}/api/v2/alerts", json=list(alerts)) as answer:
            assert answer.status == 200, await answer.text()


def firing(name: str, instance: str = "web1:9100", **more: Any) -> dict[str, Any]:
    labels = {"alertname": name, "instance": instance, "severity": "critical", **more}
    return {"labels": labels, "annotations": {"summary": f"{name} on {instance}"}}


@contextlib.asynccontextmanager
async def sending(kit: Kit, folder: Path) -> AsyncIterator[Sends]:
    """Run Alertmanager against a listener of `kit`."""
    made = settings(folder)
    port = WebhookPort(made, secrets=made.secrets(), clock=kit.clock)
    sends: Sends | None = None

    async def sink(inbound: Inbound) -> Receipt:
        try:
            return await kit.app.conversation.sink(inbound)
        except NotCommittedError:
            if sends is not None:
                sends.refused += 1
            raise

    listening = asyncio.create_task(port.listen(sink))
    while port.bound is None:  # noqa: ASYNC110 - it tells nobody
        await asyncio.sleep(0.01)
    config, number = folder / "alertmanager.yml", free_port()
    config.write_text(CONFIG.format(port=port.bound[1], secret=SECRET))
    process = await asyncio.create_subprocess_exec(
        str(ALERTMANAGER),
        f"--config.file={config}",
        f"--storage.path={folder / 'am'}",
        f"--web.listen-address=127.0.0.1:{number}",
        "--cluster.listen-address=",
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    url = f"http://127.0.0.1:{number}"
    try:
        async with aiohttp.ClientSession() as session:
            while not await _is_ready(session, url):  # noqa: ASYNC110 - of another process
                await asyncio.sleep(0.1)
            sends = Sends(url=url, session=session)
            yield sends
    finally:
        process.terminate()
        await process.wait()
        await port.close()
        await listening


async def _is_ready(session: aiohttp.ClientSession, url: str) -> bool:
    try:
        async with session.get(f"{url}/-/ready") as answer:
            return answer.status == 200
    except aiohttp.ClientConnectionError:
        return False


class MovingClock(ScriptedClock):
    """The time of this machine, since Alertmanager has no other."""

    def now(self) -> Any:
        return SystemClock().now()


async def until(kit: Kit, sees: Any) -> None:
    """Wait until `sees()` is so."""
    while not sees():
        await asyncio.sleep(0.05)
        await kit.app.conversation._delivery.flush()


async def test_an_alert_is_shown_acted_on_and_closed_when_it_is_over(tmp_path: Path) -> None:
    told = telling({"df -h": [(0, "93% /var")]})
    async with (
        alerting(tmp_path, level="run", executor=told, clock=MovingClock()) as kit,
        sending(kit, tmp_path) as sends,
    ):
        await sends.post(firing("DiskFull"))
        await until(kit, lambda: any("ok in" in card for card in cards(kit)))
        assert executor(kit).ran == ["df -h"]
        over = {**firing("DiskFull"), "endsAt": SystemClock().now().isoformat()}
        await sends.post(over)
        await until(kit, lambda: cards(kit, OVER))
        assert "over since" in cards(kit, OVER)[0]


async def test_what_could_not_be_stored_is_sent_again_and_taken_then(tmp_path: Path) -> None:
    async with (
        alerting(tmp_path, clock=MovingClock()) as kit,
        sending(kit, tmp_path) as sends,
    ):
        full(kit)
        await sends.post(firing("DiskFull"))
        await until(kit, lambda: sends.refused > 1)
        assert texts(kit) == []
        full(kit, is_full=False)
        await until(kit, lambda: cards(kit))
        assert kit.kinds().count("signal:handled") == 1


async def test_a_thousand_alerts_become_a_readable_number_of_cards(tmp_path: Path) -> None:
    async with (
        alerting(tmp_path, level="run", executor=telling({}), clock=MovingClock()) as kit,
        sending(kit, tmp_path) as sends,
    ):
        for number in range(100):
            await sends.post(*(firing(f"Gremlin{number}", f"web1:{9000 + each}") for each in range(10)))

        def taken() -> bool:
            row = kit.core.ledger.reader().execute("SELECT count(*) FROM signal").fetchone()
            return bool(row[0] == 1000)

        await until(kit, taken)
        await kit.look()
        shown = texts(kit)
        print(f"\n1,000 alerts through Alertmanager: {len(shown)} messages\n\n{shown[-1]}\n")
        assert len(shown) == 11
        assert executor(kit).ran == []
        report = verify_live(kit.core.ledger.path, keys=[kit.core.ledger.verifier], held={})
        assert report.findings == ()
