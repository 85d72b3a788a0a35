"""Control words about signals: "signals", "maintenance web1 for 2h", "watches", "stop watching k7f3a2".

Reads whole messages, like `bot.control_words`, which asks this module.
"""

import re

from bot.commands import Command, Maintain, MaintainNoMore, ShowSignals, ShowWatches, StopWatching


def _phrases(listed: str) -> frozenset[str]:
    return frozenset(" ".join(phrase.split()) for phrase in listed.split("|"))


_SIGNALS = _phrases(
    """signals | alerts | list signals | list alerts | show signals | show alerts | open alerts | what fires |
    what is firing | what's firing | which alerts are firing | which alerts fire | التنبيهات | الانذارات"""
)
_WATCHES = _phrases(
    """watches | my watches | list watches | show watches | what do you watch | what are you watching |
    what is watched | المراقبات"""
)
_TARGET = r"(?P<target>@?[a-z0-9][a-z0-9._-]*)"
_LENGTH = re.compile(
    r"(?P<count>\d{1,4})\s*(?P<unit>m|min|mins|minutes?|h|hrs?|hours?|d|days?)", re.IGNORECASE
)
_MAINTAIN = re.compile(
    rf"(?:start\s+)?maintenance\s+(?:of\s+|on\s+)?{_TARGET}\s+for\s+(?P<length>{_LENGTH.pattern})[\s.!]*",
    re.IGNORECASE,
)
_NO_MORE = re.compile(
    rf"(?:end|stop|finish)\s+(?:the\s+)?maintenance\s+(?:of\s+|on\s+)?{_TARGET}[\s.!]*", re.IGNORECASE
)
_STOP_WATCHING = re.compile(
    r"(?:(?:please|pls)\s+)?(?:stop\s+watching|unwatch|cancel\s+watch|stop\s+watch)\s+#?(?P<id>(?=[a-z]*\d)[a-z0-9]{6})"
    r"[\s.!]*|(?:اوقف|الغ)\s+المراقبه\s+#?(?P<other>(?=[a-z]*\d)[a-z0-9]{6})[\s.!]*",
    re.IGNORECASE,
)
_SECONDS = {"m": 60, "h": 3600, "d": 86_400}


def read(message: str) -> Command | None:
    """Read a control word about signals; None for anything else."""
    plain = " ".join(message.casefold().split()).rstrip(" .!?")
    if plain in _SIGNALS:
        return ShowSignals()
    if plain in _WATCHES:
        return ShowWatches()
    if match := _MAINTAIN.fullmatch(message):
        seconds = int(match["count"]) * _SECONDS[match["unit"][0].lower()]
        return Maintain(target=match["target"].lower(), seconds=seconds) if seconds else None
    if match := _NO_MORE.fullmatch(message):
        return MaintainNoMore(target=match["target"].lower())
    if match := _STOP_WATCHING.fullmatch(message):
        return StopWatching(job=(match["id"] or match["other"]).casefold())
    return None
