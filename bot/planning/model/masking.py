"""What a model may read, and how what is not ours is marked in it.

The rules it owns: no secret value and no phrase that somebody could type now reaches a model or comes back
from one; and what a machine or a person wrote is quoted, each line behind a mark of its own, so that none of
it can close the quote or pass for words of sayso.
"""

import re

from bot.core import Core
from bot.text import visible
from gate.redact import MASK, redact

#: In front of every quoted line. No fence begins with it.
MARK = "> "
#: Characters of one quote; what lies between its start and its end is left out.
MOST = 6000


def masked(core: Core, text: str) -> str:
    """Return `text` without what nobody may read: secrets, and the phrases that wait to be typed."""
    for phrase in phrases(core):
        text = re.sub(re.escape(phrase), MASK, text, flags=re.IGNORECASE)
    return redact(text, extra=core.secrets).text


def phrases(core: Core) -> tuple[str, ...]:
    """Return every phrase that would do something if an operator typed it now, the longest first."""
    found = [one.phrase for one in core.queries.pending() if one.phrase]
    found += [one.phrase for one in core.queries.open_commitments() if one.phrase]
    found += [one.phrase for one in core.queries.loosenings() if one.phrase]
    return tuple(sorted(dict.fromkeys(found), key=len, reverse=True))


def quoted(core: Core, label: str, text: str) -> str:
    """Return `text` as a quote of at most about MOST characters; `label` says whose it is."""
    shown = visible(masked(core, text)).strip("\n")
    lines = capped(shown).split("\n") if shown else ["(nothing)"]
    head = " ".join(label.split())
    return "\n".join(
        [f"=== {head}, quoted, untrusted ===", *(f"{MARK}{one}" for one in lines), "=== end ==="]
    )


def capped(text: str, *, most: int = MOST) -> str:
    """Return the start and the end of a long text, with a line that says how much is left out."""
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n(… {len(text) - 2 * half} characters left out …)\n{text[-half:]}"


def one_line(core: Core, text: str, *, most: int = 300) -> str:
    """Return words of a model as one line of at most `most` characters."""
    line = " ".join(masked(core, text).split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
