"""What people read of signals: one line each, secrets masked, the sender's words between quotes.

Pure text. What a machine says can look like no card of ours: it is one line, it is cut, it stands in quotes
that it cannot close, and adapters show it as plain text that pings nobody.
"""

import re
from collections.abc import Sequence

from bot.core import Core
from bot.phrasing import shortened
from gate.domain import PersonId
from gate.redact import redact
from gate.signals import WATCH, Signal

NAME_MAX, TEXT_MAX = 60, 200
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,19}", re.ASCII)
_QUOTES = str.maketrans({'"': "'", "\u201c": "'", "\u201d": "'", "\u201e": "'", "\u00ab": "'", "\u00bb": "'"})


def line(core: Core, text: str, *, most: int = TEXT_MAX) -> str:
    """Return words of a sender as one line, masked and cut."""
    return shortened(" ".join(redact(text, extra=core.secrets).text.translate(_QUOTES).split()), most=most)


def name(core: Core, signal: Signal) -> str:
    """Return what a signal is called."""
    return line(core, signal.name, most=NAME_MAX)


def quoted(core: Core, text: str, *, most: int = NAME_MAX) -> str:
    """Return words of a sender between quotes that they cannot close."""
    return f'"{line(core, text, most=most)}"'


def title(core: Core, signal: Signal) -> str:
    """Return what a signal is called, between quotes where a machine calls it so."""
    return name(core, signal) if signal.source == WATCH else quoted(core, signal.name)


def reports(core: Core, signal: Signal) -> str:
    """Return 'am reports "DiskFull": "/var is full"'; of a watch what it saw."""
    if signal.source == WATCH:
        return line(core, signal.says)
    said = f": {quoted(core, signal.says, most=TEXT_MAX)}" if signal.says.strip() else ""
    return f"{signal.source} reports {title(core, signal)}{said}"


def severity(signal: Signal) -> str:
    """Return how bad a sender calls it, where that is a plain word."""
    return signal.severity.lower() if _PLAIN.fullmatch(signal.severity) else ""


def says(core: Core, signal: Signal) -> str:
    """Return 'am says: "…"', or what a watch saw; "" where it says nothing."""
    text = line(core, signal.says)
    if signal.source == WATCH or not text:
        return text
    return f"{signal.source} says: {quoted(core, signal.says, most=TEXT_MAX)}"


def where(core: Core, signals: Sequence[Signal], *, most: int = 3) -> str:
    """Return the instances that signals are about, as their sender names them."""
    found = [_instance(one) for one in signals]
    ours = all(one.source == WATCH for one in signals)
    show = line if ours else quoted
    names = [show(core, text, most=NAME_MAX) for text in dict.fromkeys(filter(None, found))]
    if len(names) <= most:
        return ", ".join(names)
    return f"{', '.join(names[:most])} and {len(names) - most} more"


def _instance(signal: Signal) -> str:
    return next(
        (signal.labels[one] for one in ("instance", "host", "node", "target") if signal.labels.get(one)), ""
    )


def requester(source: str) -> PersonId:
    """Return who asks in the record for what a signal leads to: no operator has a name with ":" in it."""
    return PersonId(f"alert:{source}")


def purpose(core: Core, signal: Signal) -> str:
    """Return why something is done because of `signal`."""
    text = line(core, signal.says)
    return f"{name(core, signal)}{f': {text}' if text else ''}"
