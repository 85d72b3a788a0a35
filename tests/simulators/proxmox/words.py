"""How the real programs end and complain, in one place.

Perl's `die` in a command line tool of Proxmox VE prints its message and exits with 255; where a configuration
file is missing it exits with 2 (ENOENT). Parameters that the API refuses come with the line of their usage.
"""

import os
import sys
from typing import NoReturn

NO_FILE = 2
DIED = 255
_LOCALES = {"C", "C.UTF-8", "C.utf8", "POSIX", "en_US.UTF-8"}

_PERL_WARNING = """perl: warning: Setting locale failed.
perl: warning: Please check that your locale settings:
\tLANGUAGE = (unset),
\tLC_ALL = {all},
\tLANG = {lang}
    are supported and installed on your system.
perl: warning: Falling back to the standard locale ("C").
"""


def die(message: str, *, code: int = DIED) -> NoReturn:
    """Print `message` to stderr and end."""
    sys.stdout.flush()
    sys.stderr.write(message if message.endswith("\n") else message + "\n")
    raise SystemExit(code)


def refuse(parameter: str, why: str, usage: str) -> NoReturn:
    """End as the API does over a parameter."""
    die(f"400 Parameter verification failed.\n{parameter}: {why}\n{usage}")


def no_config(node: str, vmid: str) -> NoReturn:
    """End as every program does over a container that is not there."""
    die(f"Configuration file 'nodes/{node}/lxc/{vmid}.conf' does not exist", code=NO_FILE)


def warn_of_locale(*, known: "set[str] | None" = None) -> None:
    """Warn as perl does where LC_ALL or LANG name a locale that is not generated."""
    wanted = os.environ.get("LC_ALL") or os.environ.get("LANG") or "C"
    if wanted in (_LOCALES if known is None else known):
        return

    def shown(name: str) -> str:
        return f'"{os.environ[name]}"' if name in os.environ else "(unset)"

    sys.stderr.write(_PERL_WARNING.format(all=shown("LC_ALL"), lang=shown("LANG")))
