"""The local socket's plumbing: addresses that fit, who is at the other end, whether anybody is.

Imports nothing of ours, so that the console and `sayso doctor` can share it. The rule it owns: who speaks is
what the kernel says (SO_PEERCRED), never what a client claims (D1).
"""

import grp
import os
import pwd
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_CREDENTIALS = struct.Struct("3i")  # pid, uid, gid; see unix(7)
_MAX_ADDRESS_BYTES = 107  # sun_path less its NUL; see unix(7)
_PROBE_TIMEOUT_S = 1.0


@contextmanager
def address_of(path: Path) -> Iterator[str]:
    """Yield an address for `path` that fits a socket address; a longer one goes through its open folder."""
    if len(os.fsencode(path)) <= _MAX_ADDRESS_BYTES:
        yield str(path)
        return
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


def listener_at(path: Path, *, group: str = "") -> socket.socket:
    """Return a socket that is bound to `path`, instead of a file that was left behind there.

    Args:
        group: Unix group that may reach it, and pass through its folder, which stays unlisted; "" for this
            user only.
    """
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)  # never open to others, not even between bind and chmod
    try:
        with address_of(path) as address:
            listener.bind(address)
        if group:
            _open_to_group(path, grp.getgrnam(group).gr_gid)
    except BaseException:
        listener.close()
        raise
    finally:
        os.umask(before)
    return listener


def _open_to_group(path: Path, group_id: int) -> None:
    folder = path.parent
    os.chown(folder, -1, group_id)
    folder.chmod(folder.stat().st_mode & 0o700 | 0o010)
    os.chown(path, -1, group_id)
    path.chmod(0o660)


def connect(path: Path, *, timeout_s: float | None = None) -> socket.socket:
    """Return a connection to whoever listens at `path`.

    Raises:
        OSError: nobody does, or we may not.
    """
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(timeout_s)
        with address_of(path) as address:
            connection.connect(address)
    except BaseException:
        connection.close()
        raise
    return connection


def answers(path: Path) -> bool:
    """Tell whether anybody listens at `path`; one that we may not talk to counts."""
    try:
        connect(path, timeout_s=_PROBE_TIMEOUT_S).close()
    except PermissionError:
        return True
    except OSError:
        return False
    return True


def peer_login(connection: socket.socket) -> str:
    """Return the login of the user at the other end, as the kernel knows it."""
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    _pid, uid, _gid = _CREDENTIALS.unpack(raw)
    return login_name(uid)


def login_name(uid: int) -> str:
    """Return the login of a user of this machine; "uid-<n>" for one without an entry."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"uid-{uid}"
