"""The one entry of the simulated programs: `main.py PROGRAM FOLDER ARGUMENTS…`, called by small launchers."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import cluster
import inside
import pct
from state import Node

_PROGRAMS = {
    "pct": pct.main,
    "pvesh": cluster.pvesh,
    "pvesm": cluster.pvesm,
    "pveam": cluster.pveam,
    "lxc-info": cluster.lxc_info,
    "node-getent": cluster.getent,  # a container has another one
}


def main(argv: list[str]) -> int:
    """Run one program; those that are no program of the node are inside a container."""
    program, node, rest = argv[0], Node(Path(argv[1])), argv[2:]
    if program in _PROGRAMS:
        return _PROGRAMS[program](node, rest)
    return inside.main(node, program, rest[0], rest[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
