"""A client in a process of its own: answers requests, one JSON line each, until there are no more.

Standard library only, since the interpreter of a peer runs it too. Each client has its own heap and its own
lock, so that memory is that of one client and none of them runs slower because of another's objects.
"""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

Handler = Callable[..., Awaitable[Mapping[str, Any]]]


async def serve(handlers: Mapping[str, Handler]) -> None:
    """Answer `{"do": NAME, …}` with what the handler of that name returns, given the rest."""
    said, sys.stdout = sys.stdout, sys.stderr  # nothing but answers may come between them
    while line := await asyncio.to_thread(sys.stdin.readline):
        request = json.loads(line)
        try:
            answer = await handlers[request.pop("do")](**request)
        except Exception as error:  # noqa: BLE001 - whoever asked tells about it
            answer = {"error": f"{type(error).__name__}: {error}"}
        said.write(json.dumps(answer) + "\n")
        said.flush()


def memory_mb() -> dict[str, Any]:
    """Return what this process holds, and the most that it held since the last call of this."""
    status = Path("/proc/self/status").read_text()
    held, most = (int(status.partition(key)[2].split()[0]) / 1024 for key in ("VmRSS:", "VmHWM:"))
    Path("/proc/self/clear_refs").write_text("5")
    return {"held": held, "most": most}
