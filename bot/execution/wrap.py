"""How a command is handed to a shell: scrubbed environment, timeout, privilege, container (D16).

The command is always one argument of one shell, never pasted into a line of ours, so its bytes arrive as they
were approved. Every process of it carries SAYSO_RUN=<token> in its environment, by which `sweep` finds what
signals do not reach: children in groups of their own, commands under sudo, processes inside containers.
"""

import functools
import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from bot.inventory.identity import sudo
from gate.domain import Action

#: The constructed environment (docs/security.md): system folders only, no pager, no prompts, no colours.
#: /usr/local comes last: a name that the gate judged means the system's own program where there is one.
ENVIRONMENT = (
    ("PATH", "/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/sbin:/usr/local/bin"),
    ("LANG", "C.UTF-8"),
    ("TERM", "dumb"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("SYSTEMD_PAGER", "cat"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    # A repository's own settings may name programs that even `git log` starts (docs/adr/0003).
    ("GIT_CONFIG_COUNT", "5"),
    ("GIT_CONFIG_KEY_0", "core.fsmonitor"),
    ("GIT_CONFIG_VALUE_0", "false"),
    ("GIT_CONFIG_KEY_1", "log.showSignature"),
    ("GIT_CONFIG_VALUE_1", "false"),
    ("GIT_CONFIG_KEY_2", "format.pretty"),
    ("GIT_CONFIG_VALUE_2", "medium"),
    ("GIT_CONFIG_KEY_3", "branch.sort"),
    ("GIT_CONFIG_VALUE_3", "refname"),
    ("GIT_CONFIG_KEY_4", "tag.sort"),
    ("GIT_CONFIG_VALUE_4", "refname"),
    ("LESSSECURE", "1"),
)
_MARK = "SAYSO_RUN"
_WHO = 'HOME="${HOME:-/}" USER="${USER:-root}" LOGNAME="${USER:-root}"'

#: Runs behind sudo or inside a container, since HOME is known only there. $1 is the folder, the rest for env.
_PROLOGUE = f'cd -- "${{1:-${{HOME:-/}}}}" && shift && exec env -i {_WHO} "$@"'

#: $1 is the token, $2 the signal. /proc/PID/environ is what the process was started with.
_SWEEP = (
    f'for e in $(grep -lF "{_MARK}=$1" /proc/[0-9]*/environ 2>/dev/null); do '
    'p="${e#/proc/}"; kill -"$2" "${p%/environ}" 2>/dev/null; done; :'
)

#: Runs right behind a sudo that asks, and has its input: leaves that, and says the word of `asking`.
_SAY = 'exec </dev/null; w="$1"; shift; echo "$w"'
_SAY_APART = f'{_SAY}; echo "$w" >&2'

#: What a command reads, and where it writes: both streams in the order in which they came, unless somebody
#: expects something of one of them.
_TOGETHER, _APART = "</dev/null 2>&1", "</dev/null"

#: What a shell that waits can take: what reads the same whatever hands it over, and at once.
_READABLE = re.compile(r"[^\x00-\x08\x0b-\x1f\x7f]{1,4096}")
#: Says $0 and waits for what `handed` returns; without the NUL at its end it ends, and nothing has run. One
#: program and its words become it at once, as they would from within the bash that all else is for.
_WAITS = (
    'echo "$0"; IFS= read -r -d "" c || exit; exec </dev/null || exit; '
    "case $c in ?t*) exec 2>&1;; esac; "
    'case $c in p*) set -- ${c#??}; hash -- "$1" 2>/dev/null && exec "$@";; esac; '
    'exec bash --noprofile --norc -c "${c#??}"'
)
#: What bash runs itself, or reads as more than the name of a program.
_BASH_OWN = """
. : alias bg bind break builtin caller case cd command compgen complete compopt continue coproc
declare dirs disown do done echo elif else enable esac eval exec exit export false fc fg fi for
function getopts hash help history if in jobs kill let local logout mapfile popd printf pushd pwd
read readarray readonly return select set shift shopt source suspend test then time times trap
true type typeset ulimit umask unalias unset until wait while
"""
BASH_OWN = frozenset(_BASH_OWN.split())

# A lone `sudo X`, X being plain words: nothing that a shell would treat as more than words.
_WORD = r"[A-Za-z0-9_./:=@%+,-]+"
#: One program, found by its name, and plain words.
_PROGRAM = re.compile(rf"([A-Za-z0-9_][A-Za-z0-9_.+-]*)(?: {_WORD})*")
_LONE_SUDO = re.compile(rf"sudo (?:-n )?([A-Za-z0-9_./][A-Za-z0-9_./:@%+,-]*(?: {_WORD})*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrapped:
    """A command ready to start.

    `timeout` is part of every action: it has to end even when neither its connection nor this process lives
    to end it.

    Attributes:
        argv: what to execute where no login shell is in between (this machine).
        line: the same for a login shell, which SSH always puts in between.
        workdir: for `argv` without a prologue: where to start; "" for the user's home.
        env: for `argv` without a prologue: what to add to HOME, USER and LOGNAME.
        password: what sudo reads from its input; None for no sudo that asks.
        word: said by the command right before it starts; "" where nobody waits for it.
    """

    argv: tuple[str, ...]
    line: str
    workdir: str = ""
    env: tuple[tuple[str, str], ...] = ()
    password: str | None = field(default=None, repr=False)
    word: str = ""

    @property
    def stdin(self) -> bytes | None:
        """What to write to its input, which is closed then; None for no input at all."""
        return None if self.password is None else f"{self.password}\n".encode()


#: Makes the command that sends a signal, "TERM" or "KILL", to every process of one run.
Sweeper = Callable[[str], Wrapped]


def wrap(action: Action, *, token: str, kill_after_s: float, password: str | None = None) -> Wrapped:
    """Return how `action` is started; its target must be identified.

    Args:
        action: what was granted.
        token: unique to this run.
        kill_after_s: seconds between the timeout's TERM and its KILL.
        password: what sudo on the host asks for; None where it does not ask.
    """
    target = action.target
    streams = _TOGETHER if action.runbook is None else _APART
    env = (*ENVIRONMENT, (_MARK, token), *action.env)
    shell = (*_shell(target.shell), _inner(action))
    limit = ("timeout", "-k", f"{kill_after_s:g}", str(action.timeout_s))
    word = "" if password is None else f"sayso-started-{token}"
    prefix = _prefix(action, say=_SAY if streams == _TOGETHER else _SAY_APART, word=word)
    if prefix:
        pairs = tuple(f"{name}={value}" for name, value in env)
        argv = (*prefix, "sh", "-c", _PROLOGUE, "sayso", action.workdir, *pairs, *limit, *shell)
        streams = streams if password is None else streams.replace("</dev/null", "").strip()
        line = _outer(argv, streams=streams)
        return Wrapped(argv=argv, line=line, env=ENVIRONMENT, password=password, word=word)
    start = f"cd -- {shlex.quote(action.workdir)} && " if action.workdir else ""
    assigned = f"{_assigned(ENVIRONMENT)} {_assigned(env[len(ENVIRONMENT) :])}"
    # each program in front of the shell costs a millisecond; env is last, so only the shell loads a locale
    line = f"{start}exec {shlex.join(limit)} env -i {_WHO} {assigned} {shlex.join(shell)} {streams}"
    return Wrapped(argv=(*limit, *shell), line=line, workdir=action.workdir, env=env)


def is_plain(action: Action, *, password: str | None) -> bool:
    """Whether nothing but its command tells `action` from others on its target: a shell may wait for it."""
    target = action.target
    return (
        target.shell == "bash"
        and not (target.wrapper or target.become or action.workdir or action.env)
        and password is None
        and _READABLE.fullmatch(action.command) is not None
    )


def announced(wrapped: Wrapped, word: str) -> Wrapped:
    """Return `wrapped` with `word` said on standard error before it, which it does not write to itself."""
    return replace(wrapped, line=f"echo {word} >&2; {wrapped.line}")


def handed(command: str, *, apart: bool) -> bytes:
    """Return what is sent to a shell that waits, for it to become `command`; `apart` keeps its streams so."""
    program = _PROGRAM.fullmatch(command)
    how = "p" if program is not None and program[1] not in BASH_OWN else "c"
    return f"{how}{'a' if apart else 't'}{command}\0".encode()


def waiting(*, token: str, lives_s: float, kill_after_s: float) -> str:
    """Return the line of a shell that says `token`, and then becomes the command that it reads.

    Args:
        token: of the run.
        lives_s: seconds until it ends at the latest, waiting or not.
        kill_after_s: as for `wrap`.
    """
    assigned = f"{_assigned(ENVIRONMENT)} {_assigned(((_MARK, token),))}"
    limit = shlex.join(("timeout", "-k", f"{kill_after_s:g}", f"{lives_s:g}"))
    shell = shlex.join((*_shell("bash"), _WAITS, token))
    return f"exec {limit} env -i {_WHO} {assigned} {shell}"


def sweep(action: Action, token: str, signal: str, *, password: str | None = None) -> Wrapped:
    """Return a command that sends `signal` to every process of the run `token`, wherever it hides."""
    prefix = _prefix(action, say=_SAY, word="" if password is None else "swept")
    argv = (*prefix, "sh", "-c", _SWEEP, "sayso", token, signal)
    streams = _TOGETHER if password is None else "2>&1"
    return Wrapped(argv=argv, line=_outer(argv, streams=streams), env=ENVIRONMENT, password=password)


def _prefix(action: Action, *, say: str, word: str) -> tuple[str, ...]:
    """Return what stands in front: into the container, as somebody else, and the word where one is said."""
    target = action.target
    if not word:
        return target.wrapper + sudo(target.become)
    # the sudo that asks is that of the host, so it comes first
    prefix = target.wrapper + sudo(target.become) if target.wrapper else sudo(target.become, asks=True)
    behind = prefix.index("--") + 1
    return (*prefix[:behind], "sh", "-c", f'{say}; exec "$@"', "sayso", word, *prefix[behind:])


def _outer(argv: tuple[str, ...], *, streams: str = _TOGETHER) -> str:
    return f"exec env -i {_WHO} {_assigned(ENVIRONMENT)} {shlex.join(argv)} {streams}"


@functools.lru_cache(maxsize=8)  # a fleet gets the same again and again
def _assigned(env: tuple[tuple[str, str], ...]) -> str:
    return " ".join(f"{name}={shlex.quote(value)}" for name, value in env)


def _shell(shell: str) -> tuple[str, ...]:
    return ("bash", "--noprofile", "--norc", "-c") if shell == "bash" else (shell, "-c")


def _inner(action: Action) -> str:
    """Return the command without its own sudo where we have become root already; as typed otherwise."""
    if action.target.become != "root":
        return action.command
    lone = _LONE_SUDO.fullmatch(action.command)
    return action.command if lone is None else lone.group(1)


def problems(action: Action, wrapped: Wrapped, *, max_bytes: int) -> Iterator[str]:
    """Yield why `action` cannot be handed to a shell at all, in words; nothing when it can."""
    texts = [action.command, action.workdir, *(part for pair in action.env for part in pair)]
    if any("\0" in text for text in texts):
        yield "The command holds a NUL character, which no shell can take. Write it without."
    for name, _ in action.env:
        if not name.isidentifier() or not name.isascii():
            yield f"{name!r} is no name of an environment variable."
    try:
        length = len(wrapped.line.encode("utf-8"))
    except UnicodeEncodeError:
        yield "The command is not valid Unicode. Type it again, or copy it from somewhere else."
        return
    if length > max_bytes:
        yield (
            f"The command is too long for one shell line ({length} bytes of at most {max_bytes}). "
            "Put it into a file on the target and run that."
        )
