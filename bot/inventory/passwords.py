"""Where the password is that sudo on a target asks for. Read at the moment of use, and kept nowhere.

A password is no part of who a target is: it is in no digest, and changing it voids nothing that was approved.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from bot.inventory.config import TargetConfig
from bot.inventory.stamps import stamp
from bot.known_secrets import SHORTEST
from gate.domain import TargetId


class PasswordError(Exception):
    """There is no usable password; the message says why, and never what is in the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Password:
    """One target's: in a file, or in a variable of sayso's own environment.

    Attributes:
        key: the key of the config that says so.
        file, variable: one of the two; None and "" for the other.
    """

    key: str
    file: Path | None = None
    variable: str = ""

    def read(self, environ: Mapping[str, str] = os.environ) -> str:
        """Return the password; one line break at the end of a file is not part of it.

        Raises:
            PasswordError: it is missing, or cannot be one.
        """
        if self.file is None:
            text, where = environ.get(self.variable, ""), f"the variable {self.variable}"
        else:
            where = str(self.file)
            try:
                text = self.file.read_text("utf-8").removesuffix("\n").removesuffix("\r")
            except UnicodeDecodeError:
                raise PasswordError(f"{where} is not UTF-8") from None
            except OSError as error:
                raise PasswordError(f"{where} cannot be read ({error.strerror})") from None
        if not text:
            raise PasswordError(f"{where} holds no password")
        if not text.isprintable():
            raise PasswordError(f"{where} holds more than one line, or what no password can hold")
        if len(text) < SHORTEST:
            raise PasswordError(f"the password in {where} is too short to be masked where people look")
        return text

    @property
    def version(self) -> object:
        """What changes when the file is saved again, or the variable is another."""
        return os.environ.get(self.variable) if self.file is None else stamp(self.file)


def passwords(tables: Mapping[str, TargetConfig]) -> dict[TargetId, Password]:
    """Return the passwords of the targets that have one."""
    found: dict[TargetId, Password] = {}
    for name, table in tables.items():
        if table.become_password_file is not None:
            file = Path(table.become_password_file).expanduser()
            found[TargetId(name)] = Password(key="become_password_file", file=file)
        elif table.become_password_env is not None:
            found[TargetId(name)] = Password(key="become_password_env", variable=table.become_password_env)
    return found


def lacking(found: Mapping[TargetId, Password]) -> Iterator[str]:
    """Warn of passwords that cannot be used, or that others can read."""
    for target, password in found.items():
        try:
            password.read()
        except PasswordError as error:
            yield f"targets.{target}.{password.key}: {error}. Nothing runs there until it is mended."
            continue
        if password.file is not None and password.file.stat().st_mode & 0o077:
            yield (
                f"targets.{target}.{password.key}: others on this machine can read {password.file}. "
                f"Type: chmod 600 {password.file}"
            )
