"""Scraping: serves /metrics on this machine, where the owner switched it on.

Off by default. It answers on loopback addresses only: what it tells is no secret, but there is neither a
password nor encryption here. Whoever scrapes from elsewhere puts what has both in front of it. Nothing else
waits for it: a listener that cannot begin is tried again, slower and slower, and its health says so.
"""

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING, Protocol

from bot.listening import Patience
from bot.ports import Health
from bot.settings.addresses import Address

if TYPE_CHECKING:  # the library takes a fifth of a second to import, and most never switch this on
    from aiohttp import web

log = logging.getLogger(__name__)

PATH = "/metrics"
#: How long a scraper that is being answered is waited for at the end.
_CLOSING_S = 1.0


class Page(Protocol):
    """What is served, see `bot.metrics.Metrics`."""

    def count(self) -> None:
        """Get ready, however long that takes."""

    def page(self, accept: str) -> tuple[bytes, str]:
        """Return what a scraper reads, and the name of its form."""


class Scraping:
    """The listener.

    Attributes:
        name: as health knows it.
        bound: where it listens; None while it does not.
    """

    name = "metrics"

    def __init__(self, address: Address, page: Page, *, patience: Patience | None = None) -> None:
        self._address = address
        self._page = page
        self._patience = patience or Patience()
        self._fault = "they are not served yet"
        self._one_at_a_time = asyncio.Lock()
        self.bound: Address | None = None

    async def keep(self) -> None:
        """Listen until cancelled. Nothing that fails in here ends it or anything else."""
        counting = asyncio.create_task(self._count())
        pause_s = self._patience.first_s
        try:
            while True:
                try:
                    await self._listen()
                except OSError as error:
                    self._fault = f"{self._address} cannot be listened on: {error.strerror or error}"
                    log.error("metrics: %s; it is tried again", self._fault)  # noqa: TRY400 - expected, and said
                except Exception as error:
                    self._fault = f"they cannot be served ({type(error).__name__}, see the log)"
                    log.exception("metrics")
                await asyncio.sleep(pause_s)
                pause_s = min(2 * pause_s, self._patience.most_s)
        finally:
            counting.cancel()
            await asyncio.gather(counting, return_exceptions=True)

    async def health(self) -> Health:
        """Tell whether it listens."""
        if self.bound is None:
            return Health(ok=False, detail=f"{self._fault}; it is tried again")
        return Health(ok=True, detail=f"http://{self.bound}{PATH}")

    async def _count(self) -> None:
        try:
            await asyncio.to_thread(self._page.count)
        except Exception:
            log.exception("metrics: the ledger was not counted; it is tried when somebody asks")

    async def _listen(self) -> None:
        """Listen until cancelled.

        Raises:
            OSError: the address cannot be had.
        """
        from aiohttp import web  # noqa: PLC0415  # lazy, see above

        app = web.Application()
        app.router.add_get(PATH, self._answer)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=_CLOSING_S)
        await runner.setup()
        try:
            await web.TCPSite(runner, self._address.host, self._address.port).start()
            host, port = runner.addresses[0][:2]
            self.bound = Address(str(host), int(port))
            log.info("metrics: http://%s%s", self.bound, PATH)
            await asyncio.Event().wait()
        finally:
            self.bound = None
            self._fault = "they are not served any more"
            with contextlib.suppress(Exception):
                await runner.cleanup()

    async def _answer(self, request: "web.Request") -> "web.Response":
        from aiohttp import web  # noqa: PLC0415  # lazy, see above

        async with self._one_at_a_time:
            try:
                body, form = await asyncio.to_thread(self._page.page, request.headers.get("Accept", ""))
            except Exception:
                log.exception("metrics: nothing can be told now")
                return web.Response(status=503, text="The ledger cannot be read now. Look at the log.\n")
        return web.Response(body=body, headers={"Content-Type": form})
