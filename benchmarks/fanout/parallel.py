"""parallel-ssh, in the interpreter of the peers. sides.py starts it.

Imports nothing of ours but what needs the standard library alone.
"""

import asyncio
import sys
import time
from collections.abc import Sequence
from typing import Any

from pssh.clients import ParallelSSHClient  # type: ignore[import-not-found] # the peers have it

from benchmarks.fanout.asked import serve


class Parallel:
    """One client for all hosts; a new one has no connection."""

    def __init__(self, hosts: Sequence[str], *, at_once: int, port: int, user: str, key: str) -> None:
        self._hosts = list(hosts)
        self._options: dict[str, Any] = {"port": port, "user": user, "pkey": key, "pool_size": at_once}
        self._options["allow_agent"] = False
        self._client: Any = None

    async def run(self, line: str) -> dict[str, Any]:
        """Run a line on every host, as it is; return seconds and what the hosts that did it said."""
        began = time.perf_counter()
        if self._client is None:
            self._client = ParallelSSHClient(self._hosts, **self._options)
        said = []
        for output in self._client.run_command(line):
            text = "\n".join(output.stdout)
            if output.exit_code == 0:
                said.append(text)
        return {"took": time.perf_counter() - began, "said": said}

    async def close(self) -> dict[str, Any]:
        """Let go of every connection; they close with their client."""
        self._client = None
        return {}


async def main(argv: Sequence[str]) -> None:
    at_once, port, user, key, *hosts = argv
    parallel = Parallel(hosts, at_once=int(at_once), port=int(port), user=user, key=key)
    await serve({"run": parallel.run, "close": parallel.close})


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
