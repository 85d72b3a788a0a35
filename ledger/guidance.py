"""Instructions that sayso was taught, and who confirmed them.

The projection and its reader.
"""

from collections.abc import Mapping

from ledger.reader import Handler, Reader

TABLES = ("guidance",)

HANDLERS: Mapping[str, Handler] = {}


class GuidanceReader(Reader):
    """Questions about instructions that were taught."""
