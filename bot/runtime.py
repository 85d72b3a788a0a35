"""The runtime layer of settings: what the ledger holds of them, as values that the registry takes.

Reads only. The rule it owns: a stored value that the registry does not take any more counts for nothing, but
for a ceiling, which then reads as its lowest word.
"""

import json

from bot.settings.layers import Candidate, Layer
from bot.settings.live import Said
from bot.settings.registry import BY_KEY
from bot.settings.setting import Value
from bot.settings.strings import StringError, from_json
from ledger.dials import DialReader, SettingView


def said_at_run_time(queries: DialReader) -> Said:
    """Return what was set at run time and still counts, by key."""
    said = {}
    for key, view in queries.settings().items():
        value = _value(view) if key in BY_KEY else None
        if value is not None:
            where = f"{view.person}, entry {view.seq}"
            said[key] = Candidate(layer=Layer.RUNTIME, where=where, value=value)
    return said


def _value(view: SettingView) -> Value | None:
    try:
        return from_json(BY_KEY[view.key], json.dumps(view.value))
    except StringError:
        return BY_KEY[view.key].words[0] if BY_KEY[view.key].is_ceiling else None
