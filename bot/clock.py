"""The clock of this machine, for whoever was given it (bot.app, doctor); everybody else is told the time."""

from datetime import UTC, datetime


class SystemClock:
    """Reads the time."""

    def now(self) -> datetime:
        """Return the current instant, aware UTC."""
        return datetime.now(UTC)
