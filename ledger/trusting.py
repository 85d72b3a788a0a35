"""Rules that let an exact command run unasked for a while, and how often they did.

The projection and its reader.
"""

from collections.abc import Mapping

from ledger.reader import Handler, Reader

TABLES = ("trust_rule",)

HANDLERS: Mapping[str, Handler] = {}


class TrustReader(Reader):
    """Questions about trust rules."""
