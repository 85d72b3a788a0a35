"""MCP: where agents ask, over HTTP on this machine and over stdio through `sayso mcp` (N5 to N8).

`tools` is what can be asked, `serving` one agent's MCP server, `door` who is let in over HTTP, `web` the
listener of HTTP, `local` the socket that `sayso mcp` talks to, `pipe` that other end of it, `entrance` both
listeners as one. The SDK is imported where something is served, not before.
It decides nothing: no tool answers a question, settles, resumes, or changes a setting or the policy.
"""

from pathlib import Path

from adapters.mcp.settings import Settings
from bot.callers import Callers, Entrance

__all__ = ["Settings", "open_entrance"]


def open_entrance(settings: Settings, *, callers: Callers, socket: Path, group: str) -> Entrance:
    """Return what agents come in by; nothing listens before `listen`.

    Args:
        socket: where `sayso mcp` talks to it.
        group: Unix group that may reach the socket; "" for this user only.
    """
    from adapters.mcp.entrance import McpEntrance  # noqa: PLC0415  # the SDK loads only where it is used

    return McpEntrance(settings, callers=callers, socket=socket, group=group)
