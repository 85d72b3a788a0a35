"""Simulated systemd programs: `main.py PROGRAM FOLDER ARGUMENTS…`, called by small launchers.

A machine under test has no systemd of its own to restart things with, so these are played from a file of what
is so (`host.FRESH`). Only what the starter runbooks call is known; anything else ends with 64. A unit
may name a `hook`, a real command that runs whenever it starts.
"""

import sys

sys.path.insert(0, __file__.rpartition("/")[0])

import state


def main(argv: list[str]) -> int:
    """Run one program; what it changed is kept."""
    machine = state.Machine(argv[1])
    if argv[0] == "systemctl":
        from units import systemctl as program  # noqa: PLC0415 -- each program loads what it needs
    elif argv[0] == "logrotate":
        from logs import logrotate as program  # noqa: PLC0415
    else:
        import others  # noqa: PLC0415

        program = getattr(others, argv[0].replace("-", "_"))
    try:
        return program(machine, argv[2:])
    finally:
        machine.save()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
