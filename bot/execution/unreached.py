"""Why a command never started: a stable cause, and a note that says what to do.

Every member means that it is certain that nothing ran. `explain` reads the exceptions of a connection
attempt; it never guesses a cause: what it does not know is told in the library's own words.
"""

import socket
from enum import StrEnum


class Unreached(StrEnum):
    """The cause of a NOT_STARTED, stored and shown by `sayso targets check`."""

    DNS = "dns"
    REFUSED = "refused"
    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"
    HOST_KEY_UNKNOWN = "host_key_unknown"
    HOST_KEY_CHANGED = "host_key_changed"
    HOST_KEY_REVOKED = "host_key_revoked"
    AUTH = "auth"
    CONFIG = "config"
    PROTOCOL = "protocol"
    CHANNEL = "channel"  # connected, but the server opens no more sessions
    SUDO = "sudo"  # sudo there did not start the command
    DRIFTED = "drifted"  # the target is not the one that was approved any more
    UNUSABLE = "unusable"  # the command cannot be handed to a shell
    NO_SHELL = "no_shell"  # this machine could not start the program


class UnreachedError(Exception):
    """The target was not reached, nothing ran; see the note for what to do."""

    def __init__(self, cause: Unreached, note: str) -> None:
        super().__init__(note)
        self.cause = cause
        self.note = note


class StoppedError(Exception):
    """A cancel came before the command was sent; nothing ran."""


def explain(
    error: BaseException, *, name: str, address: str, port: int, user: str, hint: str = ""
) -> UnreachedError:
    """Return the cause and the note for a failed attempt to reach `name`.

    Args:
        error: what the attempt raised.
        name: the target, and the jump host where it was one.
        address, port, user: where to, and as whom.
        hint: what is known to be wrong with the keys of ours, in sentences.
    """
    import asyncssh  # noqa: PLC0415  # lazy: whoever needs no SSH reads causes too

    if isinstance(error, UnreachedError):
        return error
    where = f"{address} port {port}"
    match error:
        case socket.gaierror():
            cause, note = (
                Unreached.DNS,
                f"no address found for {address}. Check its spelling, and the DNS here.",
            )
        case asyncssh.PermissionDenied():
            cause, note = (
                Unreached.AUTH,
                (
                    f"{address} does not accept the bot's key for user {user}. {hint}Check user and "
                    f"IdentityFile, and add the public key there: ssh-copy-id -p {port} {user}@{address}"
                ),
            )
        case TimeoutError():
            cause, note = (
                Unreached.TIMEOUT,
                (f"no answer from {where}. Check that it is up, and the firewall between."),
            )
        case ConnectionRefusedError():
            cause, note = (
                Unreached.REFUSED,
                (f"{where} refuses connections. Check that sshd runs there and listens on that port."),
            )
        case asyncssh.ChannelOpenError():
            cause, note = (
                Unreached.UNREACHABLE,
                (f"the jump host cannot reach {where}: {_words(error)}. Check address and port from there."),
            )
        case asyncssh.Error() | ConnectionError():
            cause, note = (
                Unreached.PROTOCOL,
                (f"SSH with {where} failed: {_words(error)}. Try: ssh -v -p {port} {user}@{address}"),
            )
        case OSError():
            cause, note = (
                Unreached.UNREACHABLE,
                (f"{where} cannot be reached: {_words(error)}. Check that it is up, and the network."),
            )
        case _:
            cause, note = Unreached.CONFIG, f"{_words(error)}. Check the SSH config and known_hosts for it."
    return UnreachedError(cause, f"{name}: {note}")


def _words(error: BaseException) -> str:
    return (str(error) or type(error).__name__).strip().rstrip(".")
