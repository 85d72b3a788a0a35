"""Lengths of time: "in an hour and a half", "2h30m", "20 min", and the Arabic forms with their dual.

A length in falling units is one length ("1 day, 3 hours"). Vague ones ("a few minutes", a bare Arabic
plural) and odd ones are left for `gate.when.cues`, which asks. Fractions are kept to the
second, and never of a month.
"""

import re
from fractions import Fraction

from gate.when.numbers import NUMBER, any_of, number
from gate.when.pieces import Lead, Piece, Trouble, Way

# unit -> (months, days, seconds)
_SECOND, _MINUTE, _HOUR = (0, 0, 1), (0, 0, 60), (0, 0, 3600)
_DAY, _WEEK, _MONTH, _YEAR = (0, 1, 0), (0, 7, 0), (1, 0, 0), (12, 0, 0)
_Unit = tuple[int, int, int]
_ORDER = (_YEAR, _MONTH, _WEEK, _DAY, _HOUR, _MINUTE, _SECOND)

UNITS: dict[str, _Unit] = {
    word: unit
    for unit, words in (
        (_SECOND, "s sec secs second seconds"),
        (_MINUTE, "m min mins minute minutes minuts"),
        (_HOUR, "h hr hrs hour hours"),
        (_DAY, "d day days"),
        (_WEEK, "w wk wks week weeks"),
        (_MONTH, "mo mos month months"),
        (_YEAR, "y yr yrs year years"),
    )
    for word in words.split()
} | {"fortnight": (0, 14, 0), "fortnights": (0, 14, 0)}
_LETTERS = frozenset("smhdwy")  # only right after digits: "5m"

# Arabic: one, two, many.
_SINGLE: dict[str, _Unit] = {
    "ثانيه": _SECOND, "دقيقه": _MINUTE, "ساعه": _HOUR, "يوم": _DAY, "يوما": _DAY, "اسبوع": _WEEK,
    "اسبوعا": _WEEK, "شهر": _MONTH, "شهرا": _MONTH, "سنه": _YEAR, "عام": _YEAR, "عاما": _YEAR,
}  # fmt: skip
_DUAL: dict[str, _Unit] = {
    stem + end: unit
    for stem, unit in (
        ("ثانيت", _SECOND), ("دقيقت", _MINUTE), ("ساعت", _HOUR), ("يوم", _DAY), ("اسبوع", _WEEK),
        ("شهر", _MONTH), ("سنت", _YEAR), ("عام", _YEAR),
    )
    for end in ("ين", "ان")
}  # fmt: skip
_PLURAL: dict[str, _Unit] = {
    "ثواني": _SECOND, "ثوان": _SECOND, "دقايق": _MINUTE, "ساعات": _HOUR, "ايام": _DAY, "اسابيع": _WEEK,
    "اشهر": _MONTH, "شهور": _MONTH, "سنوات": _YEAR, "سنين": _YEAR, "اعوام": _YEAR,
}  # fmt: skip
_ARABIC = _SINGLE | _DUAL | _PLURAL
_PARTS = {
    "half": Fraction(1, 2), "quarter": Fraction(1, 4), "نصف": Fraction(1, 2), "نص": Fraction(1, 2),
    "النصف": Fraction(1, 2), "ربع": Fraction(1, 4), "الربع": Fraction(1, 4), "ثلث": Fraction(1, 3),
    "الثلث": Fraction(1, 3), "تلت": Fraction(1, 3),
}  # fmt: skip
_PLURAL_WORDS = frozenset(_PLURAL)

_END = r"(?![^\W_])"
_EN_UNIT = rf"(?P<unit>{any_of(word for word in UNITS if word not in _LETTERS)}){_END}"
_AR_PART = any_of(word for word in _PARTS if not word.isascii())
_NUM = rf"(?P<n>\d{{1,9}}(?:\.\d{{1,3}})?|{NUMBER})"

_AR_UNITS = rf"(?:{_NUM} ?)?(?P<unit>{any_of(_ARABIC)})"
_JOIN = r"(?:, ?(?:and )?| and | ?و ?| )?"
_TERMS = tuple(
    re.compile(_JOIN + pattern)
    for pattern in (
        # half an hour, a quarter of an hour, three quarters of an hour
        rf"(?:(?P<three>three)[ -])?(?:an? )?(?P<frac>half|quarter)s?(?: of)?(?: an?|-)? ?{_EN_UNIT}",
        rf"(?P<over>\d)/(?P<under>[2-9])(?: of)?(?: an?)? ?(?P<unit>{any_of(UNITS)}){_END}",
        # 2 and a half hours, an hour and a half
        rf"{_NUM} and an? (?P<part>half|quarter) {_EN_UNIT}",
        rf"(?:{_NUM}|an?|one) {_EN_UNIT} and an? (?P<part>half|quarter){_END}(?! (?:past|to|an?)\b)",
        rf"(?:a )?(?P<couple>couple)(?: of)? {_EN_UNIT}",
        rf"(?:{_NUM}[ -]?|an? (?:single )?){_EN_UNIT}",
        r"(?P<n>\d{1,9}(?:\.\d{1,3})?)(?P<unit>[smhdwy])(?![^\W\d_])",
        # Arabic: half an hour; an hour and a half; an hour less a quarter; 5 days; two days; a day
        rf"(?P<frac>{_AR_PART}) (?P<unit>{any_of(_SINGLE)}){_END}",
        rf"{_AR_UNITS} (?:و ?(?P<part>{_AR_PART})|الا (?P<less>{_AR_PART})){_END}",
        rf"{_AR_UNITS}{_END}",
    )
)

_BEFORE_IT: tuple[tuple[re.Pattern[str], Way], ...] = tuple(
    (re.compile(pattern), way)
    for pattern, way in (
        (r"in (?:another |about |around |exactly )*|\+ ?|(?:في|كمان) ", Way.FORWARD),
        (r"after (?:about )?|بعد (?:حوالي )?", Way.AFTER),
        (r"قبل (?:حوالي )?|منذ ", Way.BEFORE),
        (r"ب ?|by ", Way.BY),
        (r"- ?", Way.BACK),
        (r"", Way.BARE),
    )
)
_BEHIND_IT: tuple[tuple[re.Pattern[str], Way], ...] = tuple(
    (re.compile(rf" (?:{pattern}){_END}"), way)
    for pattern, way in (
        (r"from (?:right )?now|hence|later|from this moment|من الان|من الحين|من دلوقتي", Way.FORWARD),
        (r"ago|earlier|back", Way.BACK),
    )
)
#: "15h" is a time of day to many.
_HOUR_OF_DAY = re.compile(r"(?:1[3-9]|2[0-3])h")
_FITTING = {Way.FORWARD: (Way.FORWARD, Way.BARE, Way.AFTER), Way.BACK: (Way.BARE,)}


def read_lead(text: str, at: int) -> tuple[Piece, int] | None:
    """Read a length that begins at `at`; return it and where it ends, None when there is none."""
    for cue, way in _BEFORE_IT:
        begun = cue.match(text, at)
        found = begun and read_length(text, begun.end())
        if begun and found:
            return _directed(text, found, way)
    return None


def _directed(text: str, found: tuple[Lead | Trouble, int], way: Way) -> tuple[Piece, int]:
    lead, end = found
    if isinstance(lead, Trouble):
        return found
    if way is Way.BARE and _HOUR_OF_DAY.fullmatch(text, end - 3, end) and not text[end:].startswith(" from"):
        return Trouble(text[end - 3 : end]), end
    for behind, new in _BEHIND_IT:
        after = behind.match(text, end)
        if after:
            if way not in _FITTING[new]:
                return Trouble(text[: after.end()]), after.end()
            return _turned(lead, new), after.end()
    return _turned(lead, way), end


def _turned(lead: Lead, way: Way) -> Lead:
    return Lead(months=lead.months, days=lead.days, seconds=lead.seconds, way=way)


def read_length(text: str, at: int) -> tuple[Lead | Trouble, int] | None:
    """Read "1 day, 3 hours" at `at`: a `Trouble` when it is a length nobody can count."""
    months = days = seconds = Fraction(0)
    rank, end = -1, at
    while (term := _term(text, end)) is not None:
        unit, amount, end = term
        if amount is None or _rank(unit) <= rank:
            return Trouble(text[at:end]), end
        rank = _rank(unit)
        months, days, seconds = (
            sum_ + amount * size for sum_, size in zip((months, days, seconds), unit, strict=True)
        )
    return None if end == at else (_lead(months, days, seconds, text[at:end]), end)


def _rank(unit: _Unit) -> int:
    return _ORDER.index(unit) if unit in _ORDER else _ORDER.index(_WEEK)


def _term(text: str, at: int) -> tuple[_Unit, Fraction | None, int] | None:
    """Return unit, amount and end; the amount None when the words do not say how many."""
    for pattern in _TERMS:
        found = pattern.match(text, at)
        if found:
            said = {key: value for key, value in found.groupdict().items() if value}
            return (UNITS | _ARABIC)[said["unit"]], _amount(said), found.end()
    return None


def _amount(said: dict[str, str]) -> Fraction | None:
    if "over" in said:
        return Fraction(int(said["over"]), int(said["under"]))
    if "frac" in said:
        return _PARTS[said["frac"]] * (3 if "three" in said else 1)
    if "couple" in said:
        return Fraction(2)
    count = _count(said)
    if count is None:
        return None
    return count + _PARTS.get(said.get("part", ""), 0) - _PARTS.get(said.get("less", ""), 0)


def _count(said: dict[str, str]) -> Fraction | None:
    unit, n = said["unit"], said.get("n")
    if unit in _DUAL:
        return Fraction(2) if n in {None, "2"} else None
    if n is None:
        return None if unit in _PLURAL_WORDS else Fraction(1)
    return Fraction(n) if n[0].isdigit() else Fraction(number(n))


def _lead(months: Fraction, days: Fraction, seconds: Fraction, text: str) -> Lead | Trouble:
    whole_days = days.numerator // days.denominator
    seconds += (days - whole_days) * 86_400
    if months.denominator != 1 or seconds.denominator != 1:
        return Trouble(text)
    return Lead(months=int(months), days=whole_days, seconds=int(seconds))
