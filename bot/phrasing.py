"""Small words: times, durations, names of things, the same everywhere.

Pure text helpers for cards and answers. They never shorten a command. What names an action masks the secrets
in its command, those of the configuration included, which is why nobody may leave `secrets` out;
`bot.text.visible` does the rest where it is shown.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta, tzinfo

from gate.domain import Action, ActionId, Deed, Risk
from gate.redact import redact_command
from ledger.views import ActionView

RISK_WORDS = {
    Risk.READ_ONLY: "read-only",
    Risk.REVERSIBLE_LOW: "reversible",
    Risk.CONFIG_MUTATION: "changes configuration",
    Risk.DESTRUCTIVE: "destroys",
}

_TITLE_MAX = 60


def clock_time(at: datetime, *, zone: tzinfo, now: datetime) -> str:
    """Return "15:04", with the date in front where it is not today's."""
    there, today = at.astimezone(zone), now.astimezone(zone)
    if there.date() == today.date():
        return there.strftime("%H:%M")
    return there.strftime("%a %-d %b %H:%M")


def duration(seconds: float) -> str:
    """Return "under 0.1 s", "0.2 s", "41 s", "3 min", "2 h 5 min"."""
    if seconds < 0.1:  # noqa: PLR2004 - below it nobody waits
        return "under 0.1 s"
    if seconds < 10:  # noqa: PLR2004 - below ten seconds a tenth tells something
        return f"{seconds:.1f} s"
    if seconds < 120:  # noqa: PLR2004 - two minutes
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 120:  # noqa: PLR2004 - two hours
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"


def ago(past: datetime, now: datetime) -> str:
    """Return "just now", "5 minutes ago", "2 days ago"."""
    gone = now - past
    if gone < timedelta(minutes=1):
        return "just now"
    for unit, size in (("day", 86_400), ("hour", 3600), ("minute", 60)):
        count = int(gone.total_seconds() // size)
        if count:
            return f"{count} {unit}{'s' if count > 1 else ''} ago"
    return "just now"


def size(count: int) -> str:
    """Return "812 bytes", "64 KiB", "3.2 MiB"."""
    if count < 1024:  # noqa: PLR2004 - the unit itself
        return f"{count} bytes"
    value = float(count)
    for unit in ("KiB", "MiB", "GiB"):
        value /= 1024
        if value < 1024:  # noqa: PLR2004 - the unit itself
            return f"{value:.1f} {unit}"
    return f"{value / 1024:.1f} TiB"


def command_on(action: Action, *, secrets: Sequence[str]) -> str:
    """Return "systemctl restart caddy on web1", the command whole, what is secret in it masked."""
    return f"{redact_command(action.command, extra=secrets).text} on {action.target.id}"


def title(view: ActionView, *, secrets: Sequence[str]) -> str:
    """Return what the action is called: "restart caddy", else the start of its command's first line."""
    deed = view.verdict.deed
    if deed is not None:
        return redact_command(deed_words(deed), extra=secrets).text
    lines = redact_command(view.action.command.strip(), extra=secrets).text.splitlines()
    return shortened(lines[0], most=_TITLE_MAX) if lines else "(empty command)"


def heading(view: ActionView, *, secrets: Sequence[str]) -> str:
    """Return the title for right above the command itself, which it does not say twice.

    The command, where that is short; of a longer one without a name its first word and "…".
    """
    whole = redact_command(view.action.command.strip(), extra=secrets).text
    named_so = title(view, secrets=secrets)
    if view.verdict.deed is not None or named_so == whole or not whole:
        return named_so
    return f"{shortened(whole.split()[0], most=_TITLE_MAX - 2)} …"


def shortened(text: str, *, most: int = 200) -> str:
    """Return at most `most` characters of `text`, which is no command: a title, a reason."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def deed_words(deed: Deed) -> str:
    """Return "restart caddy", "reboot"."""
    return f"{deed.verb} {deed.object}".strip()


def named(view: ActionView, *, secrets: Sequence[str]) -> str:
    """Return "restart caddy on web1"."""
    return f"{title(view, secrets=secrets)} on {view.action.target.id}"


def action_ref(action: ActionId, *, alone: bool) -> str:
    """Return "#k7f3a2" for the only action of a proposal, "#k7f3a2.2" for one of several."""
    return f"#{action.rpartition('.')[0]}" if alone else f"#{action}"


def listed(names: Sequence[str], *, most: int = 3) -> str:
    """Return "a, b, c" or "a, b, +6"."""
    if len(names) <= most:
        return ", ".join(names)
    return f"{', '.join(names[: most - 1])}, +{len(names) - most + 1}"


def plural(count: int, noun: str) -> str:
    """Return "1 entry"-like phrases for nouns that take an s."""
    return f"{count} {noun}{'' if count == 1 else 's'}"
