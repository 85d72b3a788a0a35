"""Number words of English and Arabic up to 99, as patterns and their values. Digits are numbers too.

Spellings are the folded ones of `gate.when.text`. Nothing above 99 in words: "a hundred" is asked about.
"""

import re
from collections.abc import Iterable

_EN = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_EN_TENS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "ninety": 90}
_EN_ORDINALS = [
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
]
_AR_ONES = {
    "واحد": 1, "واحده": 1, "اثنين": 2, "اثنان": 2, "اثنتين": 2, "اتنين": 2,
    "ثلاث": 3, "ثلاثه": 3, "تلات": 3, "تلاته": 3, "اربع": 4, "اربعه": 4, "خمس": 5, "خمسه": 5,
    "ست": 6, "سته": 6,
    "سبع": 7, "سبعه": 7, "ثمان": 8, "ثماني": 8, "ثمانيه": 8, "تمن": 8, "تمنيه": 8, "تمانيه": 8,
    "تسع": 9, "تسعه": 9,
}  # fmt: skip
_AR_TEENS = {
    "عشر": 10, "عشره": 10,
    "احد عشر": 11, "احدي عشره": 11, "حداشر": 11, "احداشر": 11, "اثنا عشر": 12, "اثني عشر": 12,
    "اثنتا عشره": 12, "اثنتي عشره": 12, "اتناشر": 12, "ثلاثه عشر": 13, "ثلاث عشره": 13, "اربعه عشر": 14,
    "اربع عشره": 14, "خمسه عشر": 15, "خمس عشره": 15, "خمستاشر": 15, "سته عشر": 16, "ست عشره": 16,
    "سبعه عشر": 17, "سبع عشره": 17, "ثمانيه عشر": 18, "ثماني عشره": 18, "تسعه عشر": 19, "تسع عشره": 19,
}  # fmt: skip
_AR_TENS = {
    "عشرين": 20, "عشرون": 20, "ثلاثين": 30, "ثلاثون": 30, "تلاتين": 30, "اربعين": 40, "اربعون": 40,
    "خمسين": 50, "خمسون": 50, "ستين": 60, "ستون": 60, "تسعين": 90, "تسعون": 90,
}  # fmt: skip
#: Hours as Arabic tells them: "the ninth".
AR_HOURS = {
    "الواحده": 1, "الثانيه": 2, "التانيه": 2, "الثالثه": 3, "التالته": 3, "الرابعه": 4, "الخامسه": 5,
    "السادسه": 6, "السابعه": 7, "الثامنه": 8, "التامنه": 8, "التاسعه": 9, "العاشره": 10, "الحاديه عشره": 11,
    "الحاديه عشر": 11, "الثانيه عشره": 12, "الثانيه عشر": 12,
}  # fmt: skip

WORDS: dict[str, int] = (
    {word: value for value, word in enumerate(_EN)}
    | _EN_TENS
    | {
        f"{ten}{join}{_EN[one]}": value + one
        for ten, value in _EN_TENS.items()
        for one in range(1, 10)
        for join in "- "
    }
    | _AR_ONES
    | _AR_TEENS
    | _AR_TENS
    | {
        f"{one} {join}{ten}": value + unit
        for ten, value in _AR_TENS.items()
        for one, unit in _AR_ONES.items()
        for join in ("و", "و ")
    }
)
#: Days of a month: "15th", "fifteenth", "twenty-first".
ORDINALS: dict[str, int] = (
    {word: value for value, word in enumerate(_EN_ORDINALS, start=1)}
    | {"twentieth": 20, "thirtieth": 30}
    | {
        f"{ten}{join}{_EN_ORDINALS[one - 1]}": value + one
        for ten, value in (("twenty", 20), ("thirty", 30))
        for one in range(1, 10)
        for join in "- "
    }
)


def any_of(words: Iterable[str]) -> str:
    """Return a pattern that matches any of these words, the longest first."""
    return f"(?:{'|'.join(sorted(map(re.escape, words), key=len, reverse=True))})"


#: A whole number, in digits or words.
NUMBER = (
    rf"(?:\d{{1,9}}|{any_of(_EN_TENS)}[- ]{any_of(_EN[1:10])}|{any_of(_AR_ONES)} و ?{any_of(_AR_TENS)}|"
    rf"{any_of([*_AR_TEENS, *_EN, *_EN_TENS, *_AR_TENS, *_AR_ONES])})"
)
#: A day of a month, in digits, "15th" or in words.
DAY_NUMBER = rf"(?:\d{{1,2}}(?:st|nd|rd|th)?|{any_of(ORDINALS)})"
_SUFFIX = re.compile(r"st|nd|rd|th")


def number(text: str) -> int:
    """Return the value of what NUMBER matched."""
    return WORDS[text] if text in WORDS else int(text)


def day_number(text: str) -> int:
    """Return the value of what DAY_NUMBER matched."""
    return ORDINALS[text] if text in ORDINALS else int(_SUFFIX.sub("", text))
