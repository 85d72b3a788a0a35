"""The console: the reference adapter, for this machine's people only.

One session on stdin and stdout, and any number over the Unix socket of D1; who speaks is who the kernel says
is there, never who somebody claims to be. `port` is the ChatPort, `server` and `client` the two ends of the
socket, `frames` what crosses it, `piped` and `terminal` the two ways to show and to read, `board` what they
share.
"""

from adapters.console.choose import choose_front
from adapters.console.front import FrontEnd
from adapters.console.port import ConsolePort

__all__ = ["ConsolePort", "FrontEnd", "choose_front"]
