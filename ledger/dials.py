"""Settings as they were set at run time.

The projection and its reader.
"""

from collections.abc import Mapping

from ledger.reader import Handler, Reader

TABLES = ("setting",)

HANDLERS: Mapping[str, Handler] = {}


class DialReader(Reader):
    """Questions about settings that were set at run time."""
