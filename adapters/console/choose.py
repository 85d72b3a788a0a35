"""Which front end fits this process: the interactive one for a terminal on both ends, else the piped one."""

import sys
from pathlib import Path

from adapters.console.begun import Begun
from adapters.console.front import FrontEnd


def choose_front(*, history: Path | None, first: str = "") -> FrontEnd:
    """Return the front end that fits this process.

    Args:
        history: keeps what is typed; None keeps nothing.
        first: what is said before anybody types; "" for nothing.
    """
    front = _fitting(history)
    return Begun(front, first) if first else front


def _fitting(history: Path | None) -> FrontEnd:
    if sys.stdin.isatty() and sys.stdout.isatty():
        from adapters.console.terminal import Terminal  # noqa: PLC0415  # lazy: brings prompt_toolkit

        return Terminal(history=history)
    from adapters.console.piped import Piped  # noqa: PLC0415  # lazy, for symmetry

    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]  # stdout is a TextIOWrapper here
    return Piped(fd=sys.stdin.fileno(), out=sys.stdout)
