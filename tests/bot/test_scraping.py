"""Scraping: over loopback, with nothing else waiting for it; what fails there is told and tried again."""

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
from prometheus_client.parser import text_string_to_metric_families

from bot.listening import Patience
from bot.metrics import Metrics
from bot.scraping import PATH, Scraping
from bot.settings.addresses import Address, loopback
from tests.bot.test_digest import Ends
from tests.kit import conversation

ANY = Address("127.0.0.1", 0)
QUICK = Patience(first_s=0.001, most_s=0.01)


class FakePage:
    """A page that counts, and breaks or hangs as told."""

    def __init__(self) -> None:
        self.counted = threading.Event()
        self.broken = False
        self.let = threading.Event()
        self.let.set()

    def count(self) -> None:
        self.counted.set()
        if self.broken:
            raise OSError("no such ledger")

    def page(self, accept: str) -> tuple[bytes, str]:
        self.let.wait()
        if self.broken:
            raise RuntimeError("secret")
        return f"accept: {accept}".encode(), "text/plain; version=0.0.4; charset=utf-8"


@contextlib.asynccontextmanager
async def listening(scraping: Scraping) -> AsyncIterator[str]:
    keeping = asyncio.create_task(scraping.keep())
    try:
        async with asyncio.timeout(30):
            while scraping.bound is None:  # noqa: ASYNC110 - it tells nobody
                await asyncio.sleep(0.001)
        yield f"http://{scraping.bound}"
    finally:
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)


async def get(url: str, **headers: str) -> tuple[int, str, str]:
    async with aiohttp.ClientSession() as session, session.get(url, headers=headers) as answer:
        return answer.status, await answer.text(), answer.headers["Content-Type"]


async def samples_at(url: str) -> dict[tuple[str, ...], float]:
    _, text, _ = await get(url)
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


async def test_what_is_scraped_is_what_the_core_did(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        metrics = Metrics(kit.core.ledger, clock=kit.clock, file=tmp_path / "health.json")
        await kit.say("run systemctl restart caddy on web1")
        await kit.say("go ahead")
        async with listening(Scraping(ANY, metrics)) as url:
            status, _, form = await get(url + PATH)
            async with asyncio.timeout(30):  # counters come once the old entries are counted
                while ("sayso_turns_total",) not in (samples := await samples_at(url + PATH)):  # noqa: ASYNC110
                    await asyncio.sleep(0.001)
            assert (status, form) == (200, "text/plain; version=0.0.4; charset=utf-8")
            assert samples["sayso_approvals_total", "granted"] == 1
            assert samples["sayso_actions_total", "succeeded"] == 1
            assert samples["sayso_turns_total",] == 2


async def test_nothing_else_is_there() -> None:
    async with listening(Scraping(ANY, FakePage())) as url:
        for path in ("", "/", "/metrics/x", "/health"):
            assert (await get(url + path))[0] == 404
        async with aiohttp.ClientSession() as session, session.post(url + PATH) as answer:
            assert answer.status == 405


async def test_what_a_scraper_accepts_is_asked() -> None:
    async with listening(Scraping(ANY, FakePage())) as url:
        assert (await get(url + PATH, Accept="text/plain"))[1] == "accept: text/plain"


async def test_a_page_that_breaks_is_said_and_tells_nothing() -> None:
    page = FakePage()
    async with listening(Scraping(ANY, page)) as url:
        page.broken = True
        status, text, _ = await get(url + PATH)
        assert (status, "secret" in text) == (503, False)
        page.broken = False
        assert (await get(url + PATH))[0] == 200


async def test_old_entries_are_counted_at_once_and_a_fault_in_that_ends_nothing() -> None:
    page = FakePage()
    page.broken = True
    async with listening(Scraping(ANY, page)) as url:
        await asyncio.to_thread(page.counted.wait)
        page.broken = False
        assert (await get(url + PATH))[0] == 200


async def test_a_slow_page_holds_up_nothing_else() -> None:
    page = FakePage()
    page.let.clear()
    async with listening(Scraping(ANY, page)) as url:
        scrape = asyncio.create_task(get(url + PATH))
        assert (await get(url + "/other"))[0] == 404
        assert not scrape.done()
        page.let.set()
        assert (await scrape)[0] == 200


async def test_a_port_that_is_taken_is_told_and_tried_again() -> None:
    other = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    port = other.sockets[0].getsockname()[1]
    scraping = Scraping(Address("127.0.0.1", port), FakePage(), patience=QUICK)
    keeping = asyncio.create_task(scraping.keep())
    async with asyncio.timeout(30):
        while str(port) not in (await scraping.health()).detail:  # noqa: ASYNC110 - health tells nobody
            await asyncio.sleep(0.001)
        told = await scraping.health()
        assert not told.ok
        assert told.detail.startswith(f"127.0.0.1:{port} cannot be listened on: ")
        assert told.detail.endswith("; it is tried again")
        other.close()
        await other.wait_closed()
        while not (await scraping.health()).ok:  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.001)
    assert (await scraping.health()).detail == f"http://127.0.0.1:{port}/metrics"
    assert (await get(f"http://127.0.0.1:{port}{PATH}"))[0] == 200
    keeping.cancel()
    await asyncio.gather(keeping, return_exceptions=True)
    assert not (await scraping.health()).ok


async def test_at_the_end_nobody_listens_any_more() -> None:
    async with listening(Scraping(ANY, FakePage())) as url:
        pass
    with pytest.raises(aiohttp.ClientConnectionError):
        await get(url + PATH)


# ---------------------------------------------------------------- where


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("127.0.0.1:9464", "127.0.0.1", 9464),
        ("127.9.9.9:1", "127.9.9.9", 1),
        ("[::1]:9464", "::1", 9464),
        ("localhost:65535", "localhost", 65535),
    ],
)
def test_addresses_of_this_machine_are_taken(text: str, host: str, port: int) -> None:
    found = loopback(text)
    assert (found.host, found.port, str(found)) == (host, port, text)


@pytest.mark.parametrize(
    "text",
    [
        "0.0.0.0:9464",
        "[::]:9464",
        "192.168.1.2:9464",
        "metrics.lan:9464",
        "localhost.evil.example:1",
        "8.8.8.8:53",
    ],
)
def test_addresses_that_others_can_reach_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="this machine itself"):
        loopback(text)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "9464",
            ":9464",
            "127.0.0.1",
            "127.0.0.1:",
            "127.0.0.1:0",
            "127.0.0.1:70000",
            "127.0.0.1:x",
            "::1:9464",
        ),
        *(
            "http://127.0.0.1:9464",
            "127.0.0.1:9464/metrics",
            "x@127.0.0.1:9464",
            "[::1:9464",
            "127.0.0.1:1?a",
        ),
    ],
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="Write an address and a port"):
        loopback(text)
