"""How long something is, as people type it beside a command: "90s", "2h", "5 minutes".

Only amounts of time next to a command; when something is to happen is `gate.when`'s.
"""

import re

#: One amount with its unit.
DURATION = r"\d{1,6}[ \t]*(?:seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d)\b"
_PARTS = re.compile(r"(\d{1,6})[ \t]*([smhd])[a-z]*", re.IGNORECASE)
_UNIT_S = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


def duration_s(text: str) -> int | None:
    """Return seconds for "90s", "2h", "5 minutes" and sums such as "1h30m"; None for anything else."""
    parts = _PARTS.findall(text)
    if not parts or _PARTS.sub("", text).strip(" \t"):
        return None
    return sum(int(count) * _UNIT_S[unit.lower()] for count, unit in parts)
