"""The numbers of execution: how many, how long, how much. Values only."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds on connections, time and memory.

    Attributes:
        commands: commands under way at once, over all targets; one that waits for its connection is not.
        channels: commands at once on one connection; OpenSSH's stock MaxSessions is 10.
        handshakes: connections being opened at once, over all hosts.
        handshakes_each: the same at one address, and at one sshd (`bot.logins_at_once`); a stock one starts
            to drop at 10 that have not logged in yet (MaxStartups 10:30:100), and others connect to it too.
        silence_s: seconds without a sign of life after which a host that is being waited for does not count
            against these bounds any more.
        connect_s: seconds for name, TCP, handshake and login together.
        open_s: seconds for an open connection to accept a channel, before it is taken for dead.
        keepalive_s: seconds of silence before the other side is asked for a sign; three missed are a loss.
        idle_s: seconds an unused connection is kept.
        quiet_s: seconds without a command under way until a shell is opened that waits for the next one.
        fresh_s: seconds for which a shell that came to wait shows that its host lives; later, it is asked.
        reading_s: longest limit of a command that such a shell may become.
        kill_after_s: seconds between asking a command to stop and killing it.
        grace_s: seconds beyond an action's timeout until our own clock stops it, if the remote one failed.
        linger_s: seconds of silence to wait when a command ended and something it left holds the pipe.
        drain_s: seconds to read on when it is not silent.
        head_bytes, tail_bytes: output kept of each command.
        command_bytes: longest line handed to a shell; Linux takes at most 131 072 bytes in one argument.
    """

    commands: int = 64
    channels: int = 8
    handshakes: int = 64
    handshakes_each: int = 8
    silence_s: float = 2.0
    connect_s: float = 15.0
    open_s: float = 10.0
    keepalive_s: float = 15.0
    idle_s: float = 300.0
    quiet_s: float = 1.0
    fresh_s: float = 10.0
    reading_s: float = 600.0
    kill_after_s: float = 5.0
    grace_s: float = 5.0
    linger_s: float = 1.0
    drain_s: float = 30.0
    head_bytes: int = 64 * 1024
    tail_bytes: int = 64 * 1024
    command_bytes: int = 120_000
