"""Checks: which diagnostic of the library shows what is watched, and what its output says of it.

Reads output only. What cannot be read says nothing, which is something else than that all is well.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from bot.core import Core
from bot.planning.binding import BindingError, bind
from bot.planning.drafts import ActionDraft
from bot.signals.watch_words import Wanted
from gate.lifecycle import ActionState
from gate.resolve.watch import Watched
from gate.supervise.domain import DECLARED
from ledger.views import ActionView

#: Of names that failed, so many are told.
_NAMES = 3
#: Runs anywhere and changes nothing; that it ran says that its target answers.
_ANSWERS = "true"
_DOCUMENTS: Mapping[Watched, tuple[str, str]] = {
    # the document, and its input that what is watched goes into
    Watched.DISK: ("disk", ""),
    Watched.MEMORY: ("memory", ""),
    Watched.FAILED_UNITS: ("failed-services", ""),
    Watched.SERVICE: ("service-status", "service"),
    Watched.CERTIFICATE: ("certificate-file", "path"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What a look saw: a number to compare, and the same in words."""

    value: float
    words: str


def draft_of(core: Core, wanted: Wanted, *, target: str, purpose: str) -> ActionDraft | None:
    """Return the command that looks; None where the library has none for it, or a value does not fit."""
    if wanted.watched is Watched.REACHABLE:
        return ActionDraft(target_words=(target,), command=_ANSWERS, purpose=purpose, timeout_s=30)
    name, item = _DOCUMENTS[wanted.watched]
    if wanted.watched is Watched.CERTIFICATE and not wanted.about.startswith("/"):
        name, item = "certificate", "host"
    document = core.library.documents.get(name)
    if document is None or not document.steps:
        return None
    defaults = {key: one.default for key, one in document.inputs.items() if one.default is not None}
    values = {**defaults, **({item: wanted.about} if item else {})}
    step = document.steps[0]
    try:
        command = bind(step.command, values, inputs=document.inputs)
    except BindingError:
        return None
    return ActionDraft(
        target_words=(target,),
        command=command,
        purpose=purpose,
        timeout_s=step.timeout_s,
        declared_risk=DECLARED[step.risk],
        runbook=f"{document.revision}#{step.id}",
    )


def read(wanted: Wanted, one: ActionView, *, now: datetime) -> Seen | str:
    """Return what a look that ended saw, or why it saw nothing."""
    ending, target = one.ending, one.action.target.id
    if wanted.watched is Watched.REACHABLE:
        if one.state in (ActionState.CANCELLED, ActionState.LOST) or ending is None:
            return "the look was broken off"
        gone = one.state is ActionState.FAILED and ending.exit_code is None
        return Seen(value=float(gone), words=f"{target} {'cannot be reached' if gone else 'can be reached'}")
    if ending is None or ending.exit_code is None:
        return "" if ending is None else ending.note or "the look has no end that is known"
    seen = _READERS[wanted.watched](ending.output, wanted, now)
    if seen is not None:
        return seen
    failed = f" (exit {ending.exit_code})" if ending.exit_code else ""
    return f"what {one.action.command.split()[0]} printed cannot be read{failed}"


# ---------------------------------------------------------------- readers


def _disk(output: str, wanted: Wanted, _now: datetime) -> Seen | None:
    """Read `df`: how full the filesystem is that holds the path."""
    path, best, found = wanted.about or "/", "", None
    for line in output.splitlines():
        match = re.search(r"\s(\d{1,3})%\s+(/.*)$", line.rstrip())
        if match is None:
            continue
        mount = match[2]
        within = path == mount or path.startswith(f"{mount.rstrip('/')}/")
        if within and len(mount) > len(best):
            best, found = mount, int(match[1])
    if found is None:
        return None
    where = path if path == best else f"{path} (on {best})"
    return Seen(value=found, words=f"{where} is {found} % full")


_SIZE = re.compile(r"([\d.]+)([KMGTP]?)i?B?")
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5}


def _memory(output: str, _wanted: Wanted, _now: datetime) -> Seen | None:
    """Read `free`: how much of the memory no program could have."""
    match = re.search(r"^Mem:\s+(\S+)(?:\s+\S+){4}\s+(\S+)\s*$", output, re.MULTILINE)
    sizes = [] if match is None else [_size(one) for one in match.groups()]
    if len(sizes) != 2 or None in sizes or not sizes[0]:  # noqa: PLR2004 - the whole, and what is available
        return None
    used = round(100 * (1 - (sizes[1] or 0) / sizes[0]))
    return Seen(value=used, words=f"{used} % of the memory is used")


def _size(text: str) -> float | None:
    match = _SIZE.fullmatch(text)
    return None if match is None else float(match[1]) * 1024 ** _POWERS[match[2]]


def _failed_units(output: str, _wanted: Wanted, _now: datetime) -> Seen | None:
    """Read `systemctl --failed`."""
    match = re.search(r"^\s*(\d+) loaded units? listed", output, re.MULTILINE)
    if match is None:
        return None
    count = int(match[1])
    names = re.findall(r"^[●*\s]*([\w@:.\\-]+\.\w+)\s+\S+\s+failed", output, re.MULTILINE)
    listed = ", ".join(names[:_NAMES]) + (f" and {count - _NAMES} more" if count > _NAMES else "")
    words = f"{count} failed {'unit' if count == 1 else 'units'}{f': {listed}' if names else ''}"
    return Seen(value=count, words=words if count else "no failed units")


def _service(output: str, wanted: Wanted, _now: datetime) -> Seen | None:
    """Read `systemctl status`."""
    match = re.search(r"^\s*Active:\s+(\S+)", output, re.MULTILINE)
    if match is None:
        return None
    running = match[1] in ("active", "reloading", "activating")
    return Seen(value=float(not running), words=f"{wanted.about} is {match[1]}")


def _certificate(output: str, wanted: Wanted, now: datetime) -> Seen | None:
    """Read the end of a certificate, as `openssl x509 -dates` prints it."""
    match = re.search(r"^notAfter=(\w{3}\s+\d{1,2} [\d:]{8} \d{4}) GMT\s*$", output, re.MULTILINE)
    if match is None:
        return None
    end = datetime.strptime(" ".join(match[1].split()), "%b %d %H:%M:%S %Y").replace(tzinfo=UTC)
    days = (end - now).days
    words = (
        f"the certificate {wanted.about} expires in {days} days"
        if days >= 0
        else f"{wanted.about} has expired"
    )
    return Seen(value=days, words=words)


_READERS: Mapping[Watched, Callable[[str, Wanted, datetime], Seen | None]] = {
    Watched.DISK: _disk,
    Watched.MEMORY: _memory,
    Watched.FAILED_UNITS: _failed_units,
    Watched.SERVICE: _service,
    Watched.CERTIFICATE: _certificate,
}
