"""Time zones that a message names by a city: "9am Cairo time", Arabic included.

Only a city with "time" behind it counts, so that a place that is merely spoken of moves no clock; an offset
("UTC+3") needs no name and is read by the gate itself. The names are those of the zone database.
"""

import functools
import re
from collections import Counter
from collections.abc import Mapping
from datetime import tzinfo
from zoneinfo import ZoneInfo, available_timezones

from gate.when.text import plain

_REGIONS = frozenset({
    "Africa", "America", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific",
})  # fmt: skip
_ARABIC = {
    "القاهرة": "Africa/Cairo", "الرياض": "Asia/Riyadh", "مكة": "Asia/Riyadh", "الكويت": "Asia/Kuwait",
    "دبي": "Asia/Dubai", "بغداد": "Asia/Baghdad", "بيروت": "Asia/Beirut", "دمشق": "Asia/Damascus",
    "الدوحة": "Asia/Qatar", "تونس": "Africa/Tunis", "الجزائر": "Africa/Algiers", "لندن": "Europe/London",
    "باريس": "Europe/Paris", "برلين": "Europe/Berlin", "نيويورك": "America/New_York",
}  # fmt: skip
_ENGLISH_CLAIM = re.compile(r"((?:[^\W\d_]+[ -]){0,2}[^\W\d_]+) time(?![^\W_])")
_ARABIC_CLAIM = re.compile(r"توقيت ([^\W\d_]+(?: [^\W\d_]+)?)")


def zones_in(text: str) -> Mapping[str, tzinfo]:
    """Return the zones that `text` names, by the folded name that it uses: {"cairo": …}."""
    folded = plain(text)
    claims = [found[1] for found in _ENGLISH_CLAIM.finditer(folded)]
    candidates = [" ".join(claim.split()[-count:]) for claim in claims for count in (1, 2, 3)]
    for found in _ARABIC_CLAIM.finditer(folded):
        candidates += [found[1], found[1].split()[0]]
    if not candidates:
        return {}
    cities = _cities()
    return {name: ZoneInfo(cities[name]) for name in dict.fromkeys(candidates) if name in cities}


@functools.cache
def _cities() -> Mapping[str, str]:
    """Return the zone of every city whose name stands for one zone only, by its folded name."""
    keys = [key for key in available_timezones() if key.partition("/")[0] in _REGIONS]
    named = {key: plain(key.rpartition("/")[2].replace("_", " ").replace("-", " ")) for key in keys}
    count = Counter(named.values())
    cities = {name: key for key, name in named.items() if count[name] == 1}
    return cities | {plain(name): key for name, key in _ARABIC.items()}
