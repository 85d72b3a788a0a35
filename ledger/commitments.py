"""Acts that were resolved, and what became of each (K30 to K35).

The projection and its reader.
"""

from collections.abc import Mapping

from ledger.reader import Handler, Reader

TABLES = ("commitment",)

HANDLERS: Mapping[str, Handler] = {}


class CommitmentReader(Reader):
    """Questions about acts that were resolved."""
