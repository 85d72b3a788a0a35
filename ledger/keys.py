"""The ledger's signing key: one file beside it, mode 0600, and its public half in another.

The key is made on the first start. Its name, "sayso/<random>", is the origin line of every checkpoint and so
the identity of the ledger. The public file lists every key this ledger ever signed with, newest last, one
a line in C2SP text form; copy it, and checkpoints, to where a person who could rewrite the ledger cannot
write (docs/ledger-format.md says what that buys).
"""

import os
from collections.abc import Callable
from pathlib import Path

from ledger.engine import unwritable
from ledger.kinds import LedgerError
from ledger.note import KeyFormatError, Signer, Verifier

_SEED_BYTES = 32
_NAME_BYTES = 6


class KeyMissingError(LedgerError):
    """The signing key of this ledger is gone. Restore it, or make a new one with `sayso ledger key --new`."""


def key_file(path: Path) -> Path:
    """Return where the signing key of the ledger at `path` lies, unless it was put elsewhere."""
    return path.with_suffix(".key")


def public_file(key: Path) -> Path:
    """Return the file of public keys that belongs to the signing key file `key`."""
    return key.with_suffix(".pub")


def load(key: Path) -> Signer | None:
    """Return the signing key in `key`; None when there is none.

    Raises:
        KeyFormatError: the file holds no key.
        LedgerUnwritableError: it may not be read.
    """
    try:
        return Signer.parse(key.read_text("utf-8"))
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise KeyFormatError(f"This is no signing key: {key}.") from error
    except OSError as error:
        raise unwritable(error) from error


def make(key: Path, *, origin: str, random_bytes: Callable[[int], bytes]) -> Signer:
    """Make a signing key, write it to `key` and add its public half to the public file.

    Args:
        key: where to write it; replaced if it exists.
        origin: the ledger's identity if it has one; "" makes one.
        random_bytes: source of the key.

    Raises:
        LedgerUnwritableError: a file cannot be written.
    """
    signer = Signer(origin or f"sayso/{random_bytes(_NAME_BYTES).hex()}", random_bytes(_SEED_BYTES))
    try:
        _write(key, f"{signer.text}\n", mode=0o600)
    except OSError as error:
        raise unwritable(error) from error
    publish(key, signer.verifier)
    return signer


def publish(key: Path, verifier: Verifier) -> None:
    """Add `verifier` to the public file of `key`, unless it is in it.

    Raises:
        LedgerUnwritableError: the file cannot be written.
    """
    known = known_keys(key)
    if verifier in known:
        return
    try:
        _write(public_file(key), "".join(f"{each.text}\n" for each in (*known, verifier)), mode=0o644)
    except OSError as error:
        raise unwritable(error) from error


def known_keys(key: Path) -> tuple[Verifier, ...]:
    """Return every public key in the public file of `key`, newest last; () when there is none.

    Raises:
        KeyFormatError: a line is no key.
        LedgerUnwritableError: it may not be read.
    """
    try:
        text = public_file(key).read_text("utf-8")
    except FileNotFoundError:
        return ()
    except UnicodeDecodeError as error:
        raise KeyFormatError(f"{KeyFormatError.__doc__} Looked in: {public_file(key)}.") from error
    except OSError as error:
        raise unwritable(error) from error
    return tuple(Verifier.parse(line) for line in text.splitlines() if line.strip())


def _write(path: Path, text: str, *, mode: int) -> None:
    """Replace a file in one step, durable before it takes the name."""
    fresh = path.with_name(path.name + ".new")
    fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, mode)
    try:
        os.fchmod(fd, mode)
        os.write(fd, text.encode())
        os.fsync(fd)
    finally:
        os.close(fd)
    fresh.replace(path)
