"""Times of day: "3pm", "at half past nine", "15:30", and the Arabic forms with quarters and ordinals.

Says only what was said: whether "at 6" is morning or evening is settled in `gate.when.points`, against the
day and the message's own time.
"""

import re

from gate.when.numbers import AR_HOURS, NUMBER, any_of, number
from gate.when.pieces import Clock, DayPart, Half, Part, Piece, Trouble

_TWELVE, _DAY, _SIXTY = 12, 24, 60
_END = r"(?![^\W_])"
_OTHER = {Half.AM: Half.PM, Half.PM: Half.AM}
_HALVES = {"a": Half.AM, "p": Half.PM, "ص": Half.AM, "م": Half.PM}
_MERIDIEM = r"(?: ?(?P<half>[ap])\.? ?m\b\.?)"
_SHORT_MERIDIEM = r"(?:(?P<half2>[ap])\b\.?| (?P<half3>[صم])(?!\w))"  # only where it is surely a time
_HOUR = rf"(?P<h>\d{{1,2}}|{NUMBER})"
_MINUTES = {
    "quarter": 15, "a quarter": 15, "ربع": 15, "الربع": 15, "half": 30, "نصف": 30, "نص": 30, "النصف": 30,
    "ثلث": 20, "الثلث": 20, "تلت": 20,
}  # fmt: skip
_AR_PART = any_of(word for word in _MINUTES if not word.isascii())
_NAMED = {"noon": 12, "midday": 12, "midnight": 24, "منتصف الليل": 24, "الظهيره": 12}
_AR_MINUTE = r"(?: (?:دقيقه|دقايق))?"

_TO_OR_PAST = "(?P<way>past|after|to|before)"
_COLONED = r"(?P<h>\d{1,2}):(?P<m>\d\d)(?::(?P<s>\d\d))?"
_SURE = rf"(?:{_MERIDIEM}| o'?clock|(?= in the | at night| tonight))"
_TOLD = rf"(?:(?P<named>noon|midday|midnight)|{_HOUR}{_SURE}){_END}"
_AR_HOUR = rf"(?:(?P<ord>{any_of(AR_HOURS)})|{_HOUR})"
_AR_AND = rf"و ?(?P<part>{_AR_PART}|{NUMBER}(?= دقيق| دقايق))"
_AR_LESS = rf"الا (?P<less>{_AR_PART}|{NUMBER})"
_AR_DAY_PART = (
    "(?:صباحا|الصبح|مسا|المسا|ظهرا|الظهر|بعد الظهر|العصر|عصرا|العشا|بالليل|ليلا|الفجر|فجرا|(?:هذه )?الليله)"
)

_PAST = tuple(
    re.compile(pattern)
    for pattern in (
        # a quarter past 3pm, 20 minutes to noon; "5 to 6" alone may be a range
        rf"(?:at )?(?P<part>half|(?:a )?quarter|{NUMBER})(?: min(?:ute)?s?)? {_TO_OR_PAST} {_TOLD}",
        rf"(?:at )?(?P<part>half|(?:a )?quarter) (?P<way>past|to) {_HOUR}{_END}",
    )
)
_CLOCKS = tuple(
    re.compile(pattern)
    for pattern in (
        # 15:30, 9:01:10 am; the colon makes it a time wherever it stands
        rf"(?:at |@ ?|الساعه |في الساعه )?{_COLONED}(?:{_MERIDIEM}|{_SHORT_MERIDIEM})?{_END}(?![:/-]\d)",
        # 3pm, three am, 3 o'clock am
        rf"(?:at |@ ?)?{_HOUR}(?: o'?clock)?{_MERIDIEM}{_END}",
        rf"(?:at |@ ?)?{_HOUR} ?o'?clock{_END}",
        rf"(?:at )?(?P<named>{any_of(_NAMED)}){_END}",
        # the hour, and quarter, less five
        rf"(?:في |عند )?الساعه {_AR_HOUR}(?: (?:{_AR_AND}|{_AR_LESS}){_AR_MINUTE})?{_SHORT_MERIDIEM}?{_END}",
        rf"{_AR_HOUR}(?: (?:{_AR_AND}|{_AR_LESS}){_AR_MINUTE})?(?= {_AR_DAY_PART}{_END})",
        rf"(?:at|@) ?{_HOUR}{_SHORT_MERIDIEM}",
        # at 6, at six; a length or a date has been tried before
        rf"(?:at|@) ?{_HOUR}{_END}(?! ?[-/:.]? ?\d)",
    )
)
_EN_DAY_PART = r"(?:tonight|at night|(?:this|in|in the) (?:morning|afternoon|evening))"
_LAST_RESORT = re.compile(rf"{_HOUR}(?= {_EN_DAY_PART}{_END})")

_PARTS = tuple(
    (re.compile(rf"(?:{pattern}){_END}"), part)
    for pattern, part in (
        (r"(?:in (?:the )?)?mornings?|(?:في |ب ?)?(?:الصباح|الصبح|صباحا|الفجر|فجرا)", Part.MORNING),
        (r"(?:in (?:the )?)?afternoons?|(?:في )?(?:بعد الظهر|بعد الضهر|العصر|عصرا)", Part.AFTERNOON),
        (r"ظهرا|الظهر|الضهر", Part.NOON),
        (r"(?:in (?:the )?)?evenings?|(?:في |ب ?)?(?:المسا|مسا|المغرب|العشا)", Part.EVENING),
        (r"(?:at |in the )?nights?|(?:في |ب ?)?(?:الليل|ليلا)", Part.NIGHT),
    )
)


def read_clock(text: str, at: int) -> tuple[Piece, int] | None:
    """Read a time of day at `at`; a `Trouble` for one that no clock shows."""
    for pattern in (*_CLOCKS, _LAST_RESORT):
        found = pattern.match(text, at)
        if found:
            said = {key: value for key, value in found.groupdict().items() if value}
            return _clock(said) or Trouble(found[0]), found.end()
    return None


def read_past(text: str, at: int) -> tuple[Piece, int] | None:
    """Read "20 minutes past 3pm" at `at`, which begins like a length."""
    for pattern in _PAST:
        found = pattern.match(text, at)
        if found:
            said = {key: value for key, value in found.groupdict().items() if value}
            return _clock(said) or Trouble(found[0]), found.end()
    return None


def read_part(text: str, at: int) -> tuple[Piece, int] | None:
    """Read "in the morning" at `at`."""
    for pattern, part in _PARTS:
        found = pattern.match(text, at)
        if found:
            return DayPart(part), found.end()
    return None


def _clock(said: dict[str, str]) -> Clock | None:
    half = _HALVES.get(said.get("half") or said.get("half2") or said.get("half3") or "", Half.NONE)
    hour, minute, second = _hour(said), _minute(said), int(said.get("s", 0))
    if "named" in said or (
        half is Half.NONE and (hour > _TWELVE or hour == 0 or said.get("h", "").startswith("0"))
    ):
        half = Half.EXACT
    if said.get("way") in {"to", "before"} or "less" in said:
        if hour == _TWELVE:
            half = _OTHER.get(half, half)  # a quarter to 12 pm is a.m.
        hour, minute = hour - 1, _SIXTY - minute
        if hour == 0 and half is not Half.EXACT:
            hour = _TWELVE  # a quarter to one
    top = _DAY if half in {Half.EXACT, Half.NONE} else _TWELVE
    if not (0 <= hour <= top and 0 <= minute < _SIXTY and second < _SIXTY) or (
        half in {Half.AM, Half.PM} and hour == 0
    ):
        return None
    if hour == _DAY and (minute or second):
        return None
    return Clock(hour=hour, minute=minute, second=second, half=half, fine="m" in said or minute > 0)


def _hour(said: dict[str, str]) -> int:
    if "named" in said:
        return _NAMED[said["named"]]
    return AR_HOURS[said["ord"]] if "ord" in said else number(said["h"])


def _minute(said: dict[str, str]) -> int:
    if "m" in said:
        return int(said["m"])
    part = said.get("part") or said.get("less")
    if part is None:
        return 0
    return _MINUTES[part] if part in _MINUTES else number(part)
