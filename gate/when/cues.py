"""Words that place a time: every, before, after, zones; and the words about time that nobody else read.

The last reader is what keeps a wrong time out: a week, a weekday's plural, "until", "except", a lone date in
figures. Whatever of these remains makes the whole text a question.
"""

import re
from collections.abc import Mapping
from datetime import UTC, timedelta, timezone, tzinfo

from gate.when.days import MONTH_NAMES, WEEKDAY_NAMES, weekday_of
from gate.when.lengths import UNITS, read_length
from gate.when.numbers import any_of
from gate.when.pieces import Every, Lead, Piece, Relation, Side, Trouble, Weekday, Zone

_FURTHEST, _SIXTY = 14, 60  # UTC+14 is the furthest zone
_END = r"(?![^\W_])"
_WORKDAYS, _WEEKEND = (0, 1, 2, 3, 4), (5, 6)

_EVERY = re.compile(rf"(?:on )?(?:every|each|كل)(?P<other> other| second)?(?: single)? (?!{_END}[\W])")
_UNIT = {
    word: Lead(months=months, days=days, seconds=seconds)
    for word, (months, days, seconds) in UNITS.items()
    if len(word) > 1 and seconds != 1
} | {
    "ساعه": Lead(seconds=3600), "دقيقه": Lead(seconds=60), "يوم": Lead(days=1), "اسبوع": Lead(days=7),
    "شهر": Lead(months=1),
}  # fmt: skip
_EVERY_UNIT = re.compile(rf"(?P<unit>{any_of(_UNIT)}){_END}(?! (?:عمل|{WEEKDAY_NAMES}))")
_ADVERBS = {
    "daily": Lead(days=1), "يوميا": Lead(days=1), "weekly": Lead(days=7), "اسبوعيا": Lead(days=7),
    "monthly": Lead(months=1), "شهريا": Lead(months=1), "hourly": Lead(seconds=3600),
}  # fmt: skip
_ADVERB = re.compile(rf"(?P<adverb>{any_of(_ADVERBS)}){_END}")
_SEVERAL = re.compile(
    rf"(?:on )?(?P<group>(?:week|work(?:ing )?) ?days?|weekends?|(?:{WEEKDAY_NAMES}s)){_END}"
    rf"(?P<more>(?:, ?| and |, and )(?:{WEEKDAY_NAMES})s?{_END})*"
)
_DAY_NAME = re.compile(rf"(?:week|work(?:ing )?)days?|weekends?|{WEEKDAY_NAMES}(?=s?{_END})")
_LIST = re.compile(
    rf"(?:يوم )?{WEEKDAY_NAMES}s?\.?{_END}"
    rf"(?:(?:, ?(?:and )?| and | ?& ?| و ?)(?:يوم )?{WEEKDAY_NAMES}s?{_END})*"
)

_RELATIONS = tuple(
    (re.compile(rf"(?:{pattern}){_END}"), side)
    for pattern, side in (
        (r"before|prior to|ahead of|قبل", Side.BEFORE),
        (r"after|following|بعد", Side.AFTER),
    )
)

_OFFSET = re.compile(
    r"(?:(?:utc|gmt) ?(?P<sign>[+-]) ?(?P<h>\d\d?)(?::?(?P<m>\d\d))?|(?:utc|gmt|zulu)(?: time)?)(?![\w:])"
)
_ABBREVIATIONS = (
    r"(?:est|edt|cst|cdt|mst|mdt|pst|pdt|bst|ist|cet|cest|eet|eest|msk|jst|aest|aedt|et|ct|pt|hkt|sgt)"
)
_NAMED_ZONE = re.compile(
    rf"(?:{_ABBREVIATIONS}(?: time)?|"
    r"(?!(?:the|this|that|some|any|every|each|of|in) )[^\W\d_]+(?: [^\W\d_]+)? time|"
    rf"(?:بتوقيت|توقيت) [^\W\d_]+(?: [^\W\d_]+)?){_END}"
)

_LEFT = re.compile(
    r"(?:"
    # units, parts and directions nobody read
    r"(?:milli)?seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|weekends?|weekdays?|months?|quarters?|qtrs?|"
    r"years?|yrs?|decades?|centur(?:y|ies)|fortnights?|o'?clock|[ap]\.?m|"
    r"until|til|till|except|unless|since|within|during|throughout|between|ago|hence|later|earlier|early|late|"
    r"sooner|soon|shortly|asap|eventually|sometime|someday|afterwards?|beforehand|past|by|around|approximately|"
    r"noonish|\d+ish|instead|rather|again|fewer|every|each|daily|weekly|monthly|yearly|annually|hourly|quarterly|"
    r"biweekly|nightly|once|twice|starting|beginning|ending|eod|eow|eom|cob|end of|start of|middle of|"
    r"half|first thing|next|last|now|right away|immediately|at this time|at the moment|currently|"
    r"lunch(?:time)?|dinner(?:time)?|breakfast|bedtime|dawn|dusk|sunrise|sunset|spring|summer|autumn|winter|"
    r"onwards?|(?:at )?the (?:latest|earliest)|at (?:least|most)|"
    r"sorry|i mean|actually|correction|make (?:it|that)|scratch that|oops|wait|"
    r"(?:do not|don't|dont|stop) remind\w*|لا تذكرني|(?:at|@) ?\d+|in (?:19|20)\d\d|"
    r"christmas|easter|ramadan|eid|new year(?:'s)?|thanksgiving|halloween|"
    rf"{MONTH_NAMES}|(?:كانون|تشرين|شهر)|"
    r"(?:in|of|by|for|next|this|last|on) (?:may|march|mar|sat|sun|mon|spring|fall)|"
    r"(?:a )?(?:few|several|couple)(?: of)?(?= (?:sec|min|hour|day|week|month|year))|"
    # Arabic
    r"[وبلف]?(?:ال)?(?:ثانيه|ثواني|دقيقه|دقيقتين|دقايق|ساعه|ساعتين|ساعات|يوم|يومين|ايام|اسبوع|اسبوعين|"
    r"اسابيع|شهر|شهرين|اشهر|"
    r"شهور|سنه|سنتين|سنوات|عام|اعوام|صباح|صبح|مسا|ليل|ظهر|عصر|فجر|مغرب)|صباحا|مسا|ليلا|ظهرا|"
    r"حتي|لغايه|منذ|خلال|طوال|لمده|بين|باستثنا|ماعدا|ما عدا|الا|كل|يوميا|اسبوعيا|شهريا|سنويا|"
    r"نهايه|بدايه|القادم|القادمه|"
    r"المقبل|المقبله|الماضي|الماضيه|السابق|السابقه|الفايت|الفايته|قريبا|لاحقا|الان|حالا|فورا|حوالي|تقريبا|بعدين|"
    r"كمان شويه|شويه|مرتين|مره (?:اخري|تانيه)|"
    rf"tomorrow|today|tonight|yesterday|{WEEKDAY_NAMES}s?"
    rf"){_END}"
    r"|\d{1,4}(?:[/:.-]\d{1,4})+(?![\w.:/-])|\d{1,4}:\d"
)
#: "the cat sat", "the sun", an Arabic "one" or a number that is a day elsewhere.
_HARMLESS = re.compile(rf"(?:sat|sun|mon|wed|احد|may|march|خميس){_END}")
_ADDRESS = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}(?![\w.])")


def read_every(text: str, at: int) -> tuple[Piece, int] | None:
    """Read "every", "every 2 hours", "daily" at `at`; the days behind a lone "every" come next."""
    if found := _ADVERB.match(text, at):
        return Every(_ADVERBS[found["adverb"]]), found.end()
    found = _EVERY.match(text, at)
    if not found:
        return None
    if unit := _EVERY_UNIT.match(text, found.end()):
        lead = _UNIT[unit["unit"]]
        times = 2 if found["other"] else 1
        return Every(
            Lead(months=lead.months * times, days=lead.days * times, seconds=lead.seconds * times)
        ), unit.end()
    length = None if _LIST.match(text, found.end()) else read_length(text, found.end())
    if length is None:
        return (Trouble(found[0]) if found["other"] else Every(None)), found.end() - 1
    lead_or_trouble, end = length
    if isinstance(lead_or_trouble, Trouble) or found["other"]:
        return Trouble(text[at:end]), end
    return Every(lead_or_trouble), end


def read_days(text: str, at: int, *, every: bool) -> tuple[Piece, int] | None:
    """Read several weekdays at `at`: "Mondays", "weekdays", and after "every" also "Monday and Thursday"."""
    found = (_LIST.match(text, at) if every else None) or _SEVERAL.match(text, at)
    if not found:
        return None
    days: set[int] = set()
    for name in _DAY_NAME.findall(found[0]):
        if name.startswith("weekend"):
            days |= set(_WEEKEND)
        elif name.startswith(("week", "work")):
            days |= set(_WORKDAYS)
        else:
            days.add(weekday_of(name))
    return Weekday(days=tuple(sorted(days)), many=True), found.end()


def read_relation(text: str, at: int) -> tuple[Piece, int] | None:
    """Read "before" or "after" at `at`."""
    for pattern, side in _RELATIONS:
        if found := pattern.match(text, at):
            return Relation(side), found.end()
    return None


def read_zone(text: str, at: int, zones: Mapping[str, tzinfo]) -> tuple[Piece, int] | None:
    """Read a zone at `at`: an offset, or a name among `zones` (folded, "cairo"), "cairo time" included."""
    if found := _OFFSET.match(text, at):
        hours, minutes = int(found["h"] or 0), int(found["m"] or 0)
        if hours > _FURTHEST or minutes >= _SIXTY:
            return Zone(None), found.end()
        offset = timedelta(hours=hours, minutes=minutes)
        return Zone(timezone(-offset if found["sign"] == "-" else offset) if offset else UTC), found.end()
    for name in sorted(zones, key=len, reverse=True):
        if found := re.compile(rf"(?:بتوقيت )?{re.escape(name)}(?: time)?{_END}").match(text, at):
            return Zone(zones[name]), found.end()
    found = _NAMED_ZONE.match(text, at)
    return (Zone(None), found.end()) if found else None


def read_trouble(text: str, at: int) -> tuple[Piece, int] | None:
    """Read a word about time that no other reader took; an IP address is none."""
    if _ADDRESS.match(text, at) or _HARMLESS.match(text, at):
        return None
    found = _LEFT.match(text, at)
    return (Trouble(found[0]), found.end()) if found else None
