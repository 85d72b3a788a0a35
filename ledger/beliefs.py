"""Remembered facts, with where they come from and what they took the place of.

The projection and its reader.
"""

from collections.abc import Mapping

from ledger.reader import Handler, Reader

TABLES = ("belief",)

HANDLERS: Mapping[str, Handler] = {}


class BeliefReader(Reader):
    """Questions about remembered facts."""
