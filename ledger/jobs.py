"""Reminders and schedules, and every time that one was due.

The projection and its reader.
"""

from collections.abc import Mapping

from ledger.reader import Handler, Reader

TABLES = ("job", "occurrence")

HANDLERS: Mapping[str, Handler] = {}


class JobReader(Reader):
    """Questions about reminders and schedules."""
