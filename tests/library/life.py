"""A process that provisions a container and is killed while it does, so that another one finds what is left.

    python -m tests.library.life FOLDER

Everything is in FOLDER: the ledger in `state`, the node in `node`. It says yes to whatever is asked.
"""

import asyncio
import sys
from pathlib import Path

from tests.kit import conversation
from tests.library.tale import OnScript, Tale, programs_in, this_machine
from tests.simulators.proxmox.host import Host

REQUEST = "provision a container with nginx on pve1 with hostname=web7, port={port}"


async def live(folder: Path) -> None:
    """Provision a container, whatever is asked."""
    host = Host(folder=folder / "node")
    with programs_in(host.path):
        async with conversation(folder / "state", inventory=this_machine("pve1")) as kit:
            tale = Tale(player=OnScript(kit=kit))
            await tale.say(REQUEST.format(port=host.state["http_port"]))
            await tale.agree_until("")


if __name__ == "__main__":
    asyncio.run(live(Path(sys.argv[1])))
