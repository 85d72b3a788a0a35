"""The floor: asyncssh alone, a connection a host, so many commands at once. sides.py starts it.

No limits, no timeouts, no host identity, no ledger and no cards: what any client on asyncssh has to spend.
"""

import asyncio
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

import asyncssh

from benchmarks.fanout.asked import serve


class Bare:
    """Connections by host."""

    def __init__(
        self, hosts: Mapping[str, str], *, at_once: int, port: int, user: str, key: str, known: str
    ) -> None:
        self._hosts = hosts
        self._places = asyncio.Semaphore(at_once)
        self._options: dict[str, Any] = {
            "port": port,
            "username": user,
            "client_keys": [asyncssh.read_private_key(key)],
            "known_hosts": asyncssh.read_known_hosts(known),
            "config": [],
        }
        self._open: dict[str, asyncssh.SSHClientConnection] = {}

    async def run(self, line: str) -> dict[str, Any]:
        """Run a line on every host; return seconds and what the hosts that did it said."""
        began, spent = time.perf_counter(), time.process_time()
        ended = await asyncio.gather(*(self._one(name, line) for name in self._hosts))
        cpu = time.process_time() - spent
        return {"took": time.perf_counter() - began, "cpu": cpu, "said": [one for one in ended if one]}

    async def _one(self, name: str, line: str) -> str:
        async with self._places:
            connection = self._open.get(name)
            if connection is None:
                connection = await asyncssh.connect(self._hosts[name], **self._options)
                self._open[name] = connection
            return str((await connection.run(line, check=True)).stdout)

    async def close(self) -> dict[str, Any]:
        """Close every connection."""
        for connection in self._open.values():
            connection.close()
        await asyncio.gather(*(one.wait_closed() for one in self._open.values()))
        self._open.clear()
        return {}


async def main(argv: Sequence[str]) -> None:
    at_once, port, user, key, known, *hosts = argv
    found = dict(one.split("=") for one in hosts)
    bare = Bare(found, at_once=int(at_once), port=int(port), user=user, key=key, known=known)
    await serve({"run": bare.run, "close": bare.close})


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
