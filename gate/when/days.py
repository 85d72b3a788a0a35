"""Days: today and its neighbours, weekdays, dates of the calendar, ISO 8601, and recurrences of them.

Reads English and Arabic. A numeric date is read only when day and month cannot be confused; "8/10" is left
for `gate.when.cues`, which asks.
"""

import re
from datetime import datetime

from gate.when.numbers import DAY_NUMBER, any_of, day_number
from gate.when.pieces import (
    Date,
    DayShift,
    Lead,
    Moment,
    MonthDay,
    NextWeek,
    Part,
    Piece,
    Trouble,
    Weekday,
)

_END = r"(?![^\W_]|'s)"  # "Monday's outage" names no day to act on
_MONTHS_A_YEAR, _LONGEST = 12, 31
_MONTHS = {
    word: month
    for month, words in enumerate(
        (
            "january jan يناير", "february feb فبراير شباط", "march mar مارس اذار",
            "april apr ابريل نيسان",
            "may مايو ايار", "june jun يونيو حزيران", "july jul يوليو تموز", "august aug اغسطس",
            "september sept sep سبتمبر ايلول", "october oct اكتوبر",
            "november nov نوفمبر", "december dec ديسمبر",
        ),
        start=1,
    )
    for word in words.split()
}  # fmt: skip
_FULL = {
    word: day
    for day, words in enumerate(
        (
            "monday الاثنين الاتنين اثنين", "tuesday tues tue الثلاثا التلات ثلاثا",
            "wednesday weds wed الاربعا الاربع اربعا", "thursday thurs thur thu الخميس خميس",
            "friday fri الجمعه جمعه", "saturday السبت سبت", "sunday الاحد احد",
        )
    )
    for word in words.split()
}  # fmt: skip
_SHORT = {"mon": 0, "sat": 5, "sun": 6}  # words of their own: only where a day is expected
_ARTICLE = "ال"
_ALONE = [word for word in _FULL if word.isascii() or word.startswith(_ARTICLE)]
_DAY = rf"(?P<day>{any_of(_ALONE)}|{any_of(_SHORT)}(?=\.|,? \d))"
_ANY_DAY = rf"(?P<day>{any_of([*_FULL, *_SHORT])})"
_NEXT_AR = "(?P<following>القادم|القادمه|المقبل|المقبله|الجاي|الجايه|التالي)"
_MONTH = rf"(?P<month>{any_of(_MONTHS)})"
_YEAR = r"(?:,? ?(?P<year>(?:19|20|21)\d\d)(?![\d:]))?"

_SHIFTS: tuple[tuple[re.Pattern[str], int, Part | None], ...] = tuple(
    (re.compile(rf"(?:{pattern}){_END}"), days, part)
    for pattern, days, part in (
        (r"(?:the )?day after tomorrow|بعد (?:غد|غدا|الغد|بكره|بكرا)", 2, None),
        (r"tomorrow|tmrw|tmr|(?:يوم )?غدا|الغد|غد|بكره|بكرا|باكر", 1, None),
        (r"(?:the )?day before yesterday|(?:اول|قبل) (?:امس|امبارح|البارحه)", -2, None),
        (r"last night|البارحه بالليل", -1, Part.NIGHT),
        (r"yesterday|امس|امبارح|البارحه", -1, None),
        (r"tonight|(?:هذه )?الليله|الليلادي", 0, Part.NIGHT),
        (r"this morning|هذا الصباح", 0, Part.MORNING),
        (r"this afternoon", 0, Part.AFTERNOON),
        (r"this evening|هذا المسا", 0, Part.EVENING),
        (r"(?:later )?today|اليوم|النهارده", 0, None),
    )
)
_NEXT_WEEK = re.compile(rf"(?:(?:of )?next week|the following week|الاسبوع (?:القادم|المقبل|الجاي)){_END}")
_NEXT_MONTH = re.compile(rf"(?:next month|الشهر (?:القادم|المقبل|الجاي)){_END}")

_ISO = re.compile(
    r"(?P<y>\d{4})-(?P<mo>\d\d?)-(?P<d>\d\d?)"
    r"(?:(?:t| ?, ?| at | الساعه | )(?P<h>\d\d?):(?P<mi>\d\d)(?::(?P<s>\d\d)(?:\.\d{1,6})?)?(?! ?[ap]\.?m)"
    r"(?P<z>z\b| ?[+-]\d\d:?\d\d\b)?)?(?![\w:/-])"
)
_SLASHED = re.compile(r"(?P<y>\d{4})/(?P<m>\d\d?)/(?P<d>\d\d?)(?![\w/:.-])|"
                      r"(?P<a>\d\d?)[/.](?P<b>\d\d?)[/.](?P<y4>\d{4})(?![\w/:.-])")  # fmt: skip
_NAMED = tuple(
    re.compile(rf"(?:on |في |يوم )?(?:the )?(?:{pattern}){_END}(?! ?[-/:]\d)")
    for pattern in (
        rf"{_MONTH}\.? (?:the )?(?P<n>{DAY_NUMBER})(?![\d:]| ?[ap]\.?m\b|\d){_YEAR}",
        rf"(?P<n>{DAY_NUMBER})(?: of| من)? ?{_MONTH}\.?{_YEAR}",
    )
)
_NO_NOUN = r"(?! (?!(?:at|on|in|to|and|for|about|from)\b)[^\W\d_])"  # "the second meeting"
_MONTH_DAY = re.compile(
    rf"(?:on )?the (?P<n>\d{{1,2}}(?:st|nd|rd|th)|{DAY_NUMBER}){_END}{_NO_NOUN}(?![.:/-]\d)|"
    rf"(?:on )?the (?P<k>\d{{1,2}}(?:st|nd|rd|th)){_END}"
)
_WEEKDAYS = tuple(
    re.compile(rf"(?:{pattern}){_END}")
    for pattern in (
        rf"(?:on |by )?(?P<following>next|coming) {_ANY_DAY}\.?",
        rf"(?:on (?:this )?|this (?:coming )?){_ANY_DAY}\.?",
        rf"(?:يوم |في )?(?P<day>{any_of(word for word in _FULL if word.startswith(_ARTICLE))}) {_NEXT_AR}",
        rf"(?:يوم |هذا ){_ANY_DAY}",
        rf"{_DAY}\.?",
    )
)


def read_day(text: str, at: int) -> tuple[Piece, int] | None:
    """Read a day at `at`: a shift, a weekday, a date or a whole moment."""
    for reader in (_moment, _slashed, _named, _shift, _weekday, _month_day):
        found = reader(text, at)
        if found:
            return found
    return None


def weekday_of(word: str) -> int:
    """Return the day, Monday 0, that a weekday's name means."""
    return (_FULL | _SHORT)[word]


#: Every month's name that is no other word.
MONTH_NAMES = any_of(word for word in _MONTHS if word not in {"may", "mar", "march"})
#: Every weekday's name, for recurrences.
WEEKDAY_NAMES = any_of([*_FULL, *_SHORT])


def _moment(text: str, at: int) -> tuple[Piece, int] | None:
    found = _ISO.match(text, at)
    if not found:
        return None
    date = _dated(found["y"], found["mo"], found["d"], found[0])
    if found["h"] is None or isinstance(date, Trouble):
        return date, found.end()
    zone = (found["z"] or "").strip().replace("z", "+00:00")
    stamp = (
        f"{found['y']}-{int(found['mo']):02}-{int(found['d']):02}T{int(found['h']):02}:{found['mi']}"
        f":{found['s'] or '00'}{zone}"
    )
    try:
        return Moment(at=datetime.fromisoformat(stamp)), found.end()
    except ValueError:
        return Trouble(found[0]), found.end()


def _slashed(text: str, at: int) -> tuple[Piece, int] | None:
    found = _SLASHED.match(text, at)
    if not found:
        return None
    if found["y"]:
        return _dated(found["y"], found["m"], found["d"], found[0]), found.end()
    a, b = found["a"], found["b"]
    if int(a) != int(b) and max(int(a), int(b)) <= _MONTHS_A_YEAR:  # the day first, or the month?
        return Trouble(found[0]), found.end()
    day, month = (b, a) if int(b) > _MONTHS_A_YEAR else (a, b)
    return _dated(found["y4"], month, day, found[0]), found.end()


def _dated(year: str | None, month: str | int, day: str | int, text: str) -> Piece:
    try:
        datetime(int(year or 2000), int(month), int(day))  # noqa: DTZ001 only whether the calendar has it
    except ValueError:
        return Trouble(text)
    return Date(year=int(year) if year else None, month=int(month), day=int(day))


def _named(text: str, at: int) -> tuple[Piece, int] | None:
    for pattern in _NAMED:
        found = pattern.match(text, at)
        if found:
            date = _dated(found["year"], _MONTHS[found["month"]], day_number(found["n"]), found[0])
            return date, found.end()
    return None


def _shift(text: str, at: int) -> tuple[Piece, int] | None:
    for pattern, days, part in _SHIFTS:
        found = pattern.match(text, at)
        if found:
            return DayShift(days=days, part=part), found.end()
    if found := _NEXT_WEEK.match(text, at):
        return NextWeek(), found.end()
    if found := _NEXT_MONTH.match(text, at):
        return Lead(months=1), found.end()
    return None


def _weekday(text: str, at: int) -> tuple[Piece, int] | None:
    for pattern in _WEEKDAYS:
        found = pattern.match(text, at)
        if found:
            following = bool(found.groupdict().get("following"))
            return Weekday(days=(weekday_of(found["day"]),), following=following), found.end()
    return None


def _month_day(text: str, at: int) -> tuple[Piece, int] | None:
    found = _MONTH_DAY.match(text, at)
    if not found:
        return None
    day = day_number(found["n"] or found["k"])
    return (MonthDay(day) if 1 <= day <= _LONGEST else Trouble(found[0])), found.end()
