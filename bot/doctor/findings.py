"""What a fact means: each judgement turns probed facts into one finding with a way to mend it.

Pure: facts come in as values. The rule it owns: each fault has a code of its own, so that two causes are
never told in the same words.
"""

import stat
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from bot.execution.check import Reach
from bot.ports import Health


class Status(StrEnum):
    """How bad it is."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        name: what was looked at: "config", "disk", "target web1".
        code: what was found, stable for scripts; "ok" for nothing wrong.
        mend: what to do about it; "" when nothing is wrong.
    """

    name: str
    status: Status
    code: str
    what: str
    mend: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Who may get at a file: permission bits and owner; `exists` False makes the rest meaningless."""

    exists: bool
    mode: int = 0
    uid: int = 0


_MIN_PYTHON = (3, 11)
_FREE_FAIL_BYTES = 50 * 2**20  # below it SQLite and its journal may fail in the middle of a day
_FREE_WARN_SHARE = 0.05
_SKEW_S = 5.0


def _ok(name: str, what: str) -> Finding:
    return Finding(name=name, status=Status.OK, code="ok", what=what)


def python(version: tuple[int, int]) -> Finding:
    """Judge the interpreter."""
    words = f"Python {version[0]}.{version[1]}"
    if version < _MIN_PYTHON:
        mend = "Install Python 3.11 or newer and run: make setup"
        return Finding(name="python", status=Status.FAIL, code="python_too_old", what=words, mend=mend)
    return _ok("python", words)


def surface(name: str, health: Health | None, problems: Sequence[str], *, running: bool) -> Finding:
    """Judge a chat platform: what its settings lack, else how the running process says it is."""
    title = f"adapter {name}"
    if problems:
        return Finding(
            name=title,
            status=Status.FAIL,
            code="adapter_settings",
            what=" ".join(problems),
            mend="Mend it, then: sayso config check",
        )
    if health is None:
        words = "not heard of yet; look again in a few seconds" if running else "sayso serve does not run"
        return Finding(
            name=title, status=Status.WARN, code="adapter_not_running", what=words, mend="sayso serve"
        )
    facts = " · ".join(f"{fact} {value}" for fact, value in health.facts)
    if not health.ok:
        return Finding(
            name=title,
            status=Status.FAIL,
            code="adapter_down",
            what=facts or "it is down",
            mend=health.detail or "Look at the log of sayso serve.",
        )
    return _ok(title, " · ".join(filter(None, (facts, health.detail))))


def metrics(address: str, health: Health | None, *, running: bool) -> Finding:
    """Judge whether metrics can be read at `address`; nothing else depends on it."""
    if health is None:
        words = "not heard of; a new address takes a restart" if running else "sayso serve does not run"
        return Finding(
            name="metrics", status=Status.WARN, code="metrics_not_running", what=words, mend="sayso serve"
        )
    if not health.ok:
        return Finding(
            name="metrics",
            status=Status.WARN,
            code="metrics_down",
            what=health.detail,
            mend=f"See what holds it: ss -ltnp | grep {address.rpartition(':')[2]}; else set metrics.listen",
        )
    return _ok("metrics", health.detail)


def config(problems: tuple[str, ...], where: str) -> tuple[Finding, ...]:
    """Judge the config; `problems` as bot.settings tells them."""
    if not problems:
        return (_ok("config", where),)
    return tuple(
        Finding(
            name="config",
            status=Status.FAIL,
            code="config_error",
            what=one,
            mend="Mend it, then: sayso config check",
        )
        for one in problems
    )


def config_access(access: Access, path: str, *, uid: int) -> Finding:
    """Judge who may write the config: they may do everything."""
    if not access.exists:
        return _ok("config access", "no config file")
    if access.mode & (stat.S_IWGRP | stat.S_IWOTH):
        return Finding(
            name="config access",
            status=Status.FAIL,
            code="config_writable_by_others",
            what=f"{path} can be written by others, who could make themselves operators",
            mend=f"chmod go-w {path}",
        )
    if access.uid not in {uid, 0}:
        return Finding(
            name="config access",
            status=Status.WARN,
            code="config_of_somebody_else",
            what=f"{path} belongs to user id {access.uid}, who can change what is allowed",
            mend=f"chown it to the user that runs sayso, or to root: chown root {path}",
        )
    return _ok("config access", path)


def state_access(access: Access, path: str, *, uid: int) -> Finding:
    """Judge who may get into the state folder."""
    name = "state folder"
    if not access.exists:
        return _ok(name, f"{path} is made at the first start")
    if access.uid != uid:
        return Finding(
            name=name,
            status=Status.FAIL,
            code="state_of_somebody_else",
            what=f"{path} belongs to user id {access.uid}, sayso runs as {uid}",
            mend=f"Run sayso as its owner, or: chown -R {uid} {path}",
        )
    if access.mode & (stat.S_IWGRP | stat.S_IRWXO):
        return Finding(
            name=name,
            status=Status.FAIL,
            code="state_open_to_others",
            what=f"{path} is open to others (mode {stat.S_IMODE(access.mode):o})",
            mend=f"chmod 700 {path} (710 with bot.socket_group set)",
        )
    return _ok(name, path)


def key_access(access: Access, path: str) -> Finding:
    """Judge who may read the signing key."""
    if not access.exists:
        return _ok("signing key", "made at the first start")
    if access.mode & (stat.S_IRWXG | stat.S_IRWXO):
        return Finding(
            name="signing key",
            status=Status.FAIL,
            code="key_open_to_others",
            what=f"{path} can be read by others, who could sign false checkpoints",
            mend=f"chmod 600 {path}, then make a new key if anybody may have read it",
        )
    return _ok("signing key", path)


def password_access(name: str, access: Access, path: str) -> Finding:
    """Judge who may read the password that sudo on a target asks for."""
    title = f"password of {name}"
    if not access.exists:
        return Finding(
            name=title,
            status=Status.FAIL,
            code="password_missing",
            what=f"{path} is not there, so nothing runs on {name}",
            mend=f"Write it: install -m 600 /dev/stdin {path}, or mend become_password_file",
        )
    if access.mode & (stat.S_IRWXG | stat.S_IRWXO):
        return Finding(
            name=title,
            status=Status.FAIL,
            code="password_open_to_others",
            what=f"{path} is open to others (mode {stat.S_IMODE(access.mode):o}), who could be root there",
            mend=f"chmod 600 {path}, then change the password if anybody may have read it",
        )
    return _ok(title, path)


def disk(*, free: int, total: int, path: str) -> Finding:
    """Judge the room that the ledger has; without any nothing can be recorded, so nothing runs."""
    what = f"{free // 2**20} MiB of {total // 2**20} MiB free at {path}"
    mend = f"Free some space there. What takes it: du -xh {path} | sort -h | tail"
    if free < _FREE_FAIL_BYTES:
        return Finding(name="disk", status=Status.FAIL, code="disk_full", what=what, mend=mend)
    if total and free / total < _FREE_WARN_SHARE:
        return Finding(name="disk", status=Status.WARN, code="disk_almost_full", what=what, mend=mend)
    return _ok("disk", what)


def instance(*, writer: int | None, answers: bool, socket: str) -> Finding:
    """Judge whether a sayso already runs here; `writer` is the process that holds the ledger's lock."""
    if writer is not None and answers:
        return Finding(
            name="instance",
            status=Status.WARN,
            code="second_instance",
            what=f"sayso runs here already (process {writer}) and answers; a second one would not start",
            mend=f"Talk to it with sayso chat, or stop it first: kill {writer}",
        )
    if writer is not None:
        return Finding(
            name="instance",
            status=Status.WARN,
            code="instance_without_socket",
            what=f"process {writer} holds the ledger and does not answer on {socket}",
            mend=f"It is starting, stopping or hung. If it stays so: kill {writer}",
        )
    if answers:
        return Finding(
            name="instance",
            status=Status.FAIL,
            code="socket_without_lock",
            what=f"something answers on {socket} without holding the ledger",
            mend=f"Find and stop it: ss -xlp | grep {socket}",
        )
    return _ok("instance", "none runs; sayso chat or sayso serve starts one")


def ledger(problem: str | None, *, entries: int) -> Finding:
    """Judge the ledger; `problem` names the entry or range that verification found."""
    if problem is None:
        return _ok("ledger", f"{entries} entries verify" if entries else "none yet")
    return Finding(
        name="ledger",
        status=Status.FAIL,
        code="ledger_broken",
        what=problem,
        mend="Keep the file as it is, do not rebuild. Details: sayso ledger verify. Compare it with a "
        "checkpoint or an export held elsewhere.",
    )


def own_clock(ahead_s: float) -> Finding:
    """Judge this machine's clock by the newest entry, which is `ahead_s` seconds in its future."""
    if ahead_s > _SKEW_S:
        return Finding(
            name="clock",
            status=Status.FAIL,
            code="clock_went_back",
            what=f"the newest ledger entry is {ahead_s:.0f} s in the future: this clock went back",
            mend="timedatectl, then set the time; deadlines are wrong until then",
        )
    return _ok("clock", "not behind the newest ledger entry")


def target(name: str, reach: Reach) -> Finding:
    """Judge how a target was reached; the cause is the code: auth, host_key_changed, clock_skew."""
    subject = f"target {name}"
    if reach.ok and not reach.cause:
        return _ok(subject, f"reached in {reach.connect_s:.1f} s")
    what, _, mend = reach.note.partition(". ")
    return Finding(
        name=subject,
        status=Status.WARN if reach.ok else Status.FAIL,
        code="clock_skew" if reach.cause == "skew" else reach.cause,
        what=what.rstrip("."),
        mend=mend,
    )
