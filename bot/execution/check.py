"""Can this target be worked with? For `sayso doctor` and `sayso targets check`.

One command through the very path that actions take, so that what is found to work is what will be used.
Tells apart: not reached (and why), no shell or `timeout`, sudo that asks, a login shell that mangles commands
or adds output.
"""

from dataclasses import dataclass

from bot.execution.settle import probe
from bot.execution.unreached import Unreached
from bot.inventory.hostkeys import KnownHostsError
from bot.inventory.ssh_config import SshConfigError
from bot.ports import Clock, Ended, EndKind, Executor
from gate.domain import Target, TargetState

#: Characters that a login shell other than a POSIX one reads differently inside quotes.
_TORTURE = "a\\\\b'c\"d$e`f!g"
_COMMAND = "date +%s; printf '%s' 'a\\\\b'\\''c\"d$e`f!g'"
_SKEW_S = 5.0
_NOT_FOUND = 127


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """What was found out about one target.

    Attributes:
        ok: commands run there as they should.
        cause: a value of `Unreached`, or sudo, shell, login_shell, no_answer, destroyed, skew; "" for none.
        note: what to do about it; also for a skewed clock, with which commands still run.
        skew_s: seconds that its clock is ahead of ours, at least and to about a second; None when unknown.
    """

    ok: bool
    cause: str = ""
    note: str = ""
    connect_s: float = 0.0
    skew_s: float | None = None


async def check(executor: Executor, target: Target, *, clock: Clock) -> Reach:
    """Reach `target` and try it out."""
    try:
        identified = await executor.identify(target)
    except (SshConfigError, KnownHostsError) as error:
        return Reach(ok=False, cause=Unreached.CONFIG, note=f"{target.id}: {error}")
    if identified.state is TargetState.DESTROYED:
        return Reach(ok=False, cause="destroyed", note=f"{target.id} is marked destroyed in the config.")
    ended = await probe(executor, identified, _COMMAND, timeout_s=15)
    return _judge(ended, identified, now_s=clock.now().timestamp())


def _judge(ended: Ended, target: Target, *, now_s: float) -> Reach:
    if ended.kind is EndKind.NOT_STARTED:
        return Reach(ok=False, cause=ended.cause, note=ended.note)
    text = ended.output.head.decode("utf-8", "replace")
    if ended.kind is not EndKind.EXITED:
        return _bad("no_answer", f"{target.id}: reached, but a command got no answer ({ended.note}).", ended)
    if ended.exit_code != 0:
        return _failed(ended, target, text)
    first, _, rest = text.partition("\n")
    if not first.isdigit() or rest != _TORTURE:
        return _bad(
            "login_shell",
            f"{target.id}: the login shell there changes commands or adds output of its own. Make it a POSIX "
            "shell (chsh -s /bin/bash) and keep its start files silent.",
            ended,
        )
    skew_s = _skew_s(float(first), since_s=now_s - ended.run_s, until_s=now_s)
    if abs(skew_s) > _SKEW_S:
        note = f"{target.id}: its clock is {skew_s:+.0f} s off ours. Check timedatectl there and here."
        return Reach(ok=True, cause="skew", note=note, connect_s=ended.connect_s, skew_s=skew_s)
    return Reach(ok=True, connect_s=ended.connect_s, skew_s=skew_s)


def _skew_s(told_s: float, *, since_s: float, until_s: float) -> float:
    """Return how far a clock is off that was read in between, less its fraction; to be slow is no skew."""
    if told_s > until_s:
        return told_s - until_s
    return min(0.0, told_s + 1 - since_s)


def _failed(ended: Ended, target: Target, text: str) -> Reach:
    last = text.strip().splitlines()[-1] if text.strip() else f"exit {ended.exit_code}"
    if "sudo:" in text:
        return _bad(
            "sudo",
            f"{target.id}: sudo -n does not work for {target.user} ({last}). Allow it without a password in "
            f"/etc/sudoers.d, or give its password: become_password_file in [targets.{target.id}].",
            ended,
        )
    missing = f"It needs {target.shell}, env and timeout. " if ended.exit_code == _NOT_FOUND else ""
    return _bad("shell", f"{target.id}: a plain command fails there: {last}. {missing}".rstrip(), ended)


def _bad(cause: str, note: str, ended: Ended) -> Reach:
    return Reach(ok=False, cause=cause, note=note, connect_s=ended.connect_s)
