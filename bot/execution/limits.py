"""The numbers of execution: how many, how long, how much. Values only."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds on connections, time and memory.

    Attributes:
        channels: commands at once on one connection; OpenSSH's stock MaxSessions is 10.
        handshakes: connections being opened at once, over all hosts; a stock sshd starts to drop at 10
            unauthenticated ones of its own.
        connect_s: seconds for name, TCP, handshake and login together.
        open_s: seconds for an open connection to accept a channel, before it is taken for dead.
        keepalive_s: seconds of silence before the other side is asked for a sign; three missed are a loss.
        idle_s: seconds an unused connection is kept.
        kill_after_s: seconds between asking a command to stop and killing it.
        grace_s: seconds beyond an action's timeout until our own clock stops it, if the remote one failed.
        linger_s: seconds of silence to wait when a command ended and something it left holds the pipe.
        head_bytes, tail_bytes: output kept of each command.
        command_bytes: longest line handed to a shell; Linux takes at most 131 072 bytes in one argument.
    """

    channels: int = 8
    handshakes: int = 20
    connect_s: float = 15.0
    open_s: float = 10.0
    keepalive_s: float = 15.0
    idle_s: float = 300.0
    kill_after_s: float = 5.0
    grace_s: float = 5.0
    linger_s: float = 1.0
    head_bytes: int = 64 * 1024
    tail_bytes: int = 64 * 1024
    command_bytes: int = 120_000
