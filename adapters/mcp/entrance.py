"""The entrance: both listeners as one, begun again together where one of them ends by a fault."""

import asyncio
from pathlib import Path

from adapters.mcp.local import Local
from adapters.mcp.settings import Settings
from adapters.mcp.web import Web
from bot.callers import Callers
from bot.ports import Health, Sink


class McpEntrance:
    """Where agents come in."""

    name = "mcp"

    def __init__(self, settings: Settings, *, callers: Callers, socket: Path, group: str) -> None:
        self._local = Local(callers, path=socket, group=group)
        self._web = Web(settings, callers) if settings.listen else None
        self._callers = callers
        self._socket = socket

    @property
    def bound(self) -> tuple[str, int] | None:
        """Where HTTP is answered; None for nowhere, and while it does not listen."""
        return None if self._web is None else self._web.bound

    async def listen(self, _sink: Sink) -> None:
        """Answer until closed; messages of people come in elsewhere."""
        listening = [asyncio.ensure_future(self._local.listen())]
        if self._web is not None:
            listening.append(asyncio.ensure_future(self._web.listen()))
        try:
            # Where one ends, both do: they are begun again together.
            await asyncio.wait(listening, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await self.close()
            await asyncio.wait(listening)
        for one in listening:
            one.result()

    async def health(self) -> Health:
        """Tell whether agents are heard."""
        if not self._local.is_listening or (self._web is not None and self._web.bound is None):
            return Health(ok=False, detail="Agents are not heard. Look at the log.")
        agents = ", ".join(self._callers.agents()) or "none; add [agents.NAME]"
        facts = [("agents", agents), ("socket", str(self._socket))]
        if self._web is not None and self._web.bound is not None:
            host, port = self._web.bound
            facts.append(("http", f"http://{f'[{host}]' if ':' in host else host}:{port}/mcp"))
        return Health(ok=True, detail=f"agents: {agents}", facts=tuple(facts))

    async def close(self) -> None:
        """Stop answering."""
        await self._local.close()
        if self._web is not None:
            await self._web.close()
