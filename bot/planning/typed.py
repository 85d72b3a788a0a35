"""What phones and word processors make of typed commands, and back: curly quotes, long dashes, wide blanks.

Folds to what the keys say, outside code spans only: what stands in backticks or a block is meant byte for
byte. A dash is folded only where it can stand for an option; inside quotes it is somebody's text. What is
folded is what the gate judges, the card shows and the target runs.
"""

import re

_CHARS = str.maketrans(
    {"\u201c": '"', "\u201d": '"', "\u201e": '"', "\u201f": '"'}
    | {"\u2018": "'", "\u2019": "'", "\u201a": "'", "\u201b": "'"}
    | {"\u00a0": " ", "\u202f": " "}
)
_SPAN = re.compile(r"(``.*?``|`[^`\n]*`)")
#: A long dash that begins a word: before letters it was "--" (before a single one "-"), alone it was "--".
_DASH = re.compile(r"(?<![^ \t])[\u2013\u2014](?:(?P<one>(?=[A-Za-z](?![\w-])))|(?=[A-Za-z])|(?=[ \t]|$))")


def folded(text: str) -> str:
    """Return a line of a request as its keys say it; code spans stay as they are.

    Example inputs: "grep \u201cfoo bar\u201d /etc/hosts", "apt list \u2014upgradable", "ls \u2013l".
    """
    if text.isascii():
        return text
    spans = [match.span() for match in _SPAN.finditer(text)]
    line = "".join(
        part if number % 2 else part.translate(_CHARS) for number, part in enumerate(_SPAN.split(text))
    )
    quoted = open_quotes(line)

    def dash(match: re.Match[str]) -> str:
        at = match.start()
        if quoted[at] or any(start <= at < end for start, end in spans):
            return match[0]
        return "--" if match["one"] is None else "-"

    return _DASH.sub(dash, line)


def open_quotes(text: str) -> tuple[bool, ...]:
    """Tell for each position of `text`, its end included, whether a shell quote is open there.

    Used to keep a split out of a quoted word; one pass, because a hostile text may ask for many splits.
    """
    quote = ""
    skip = False
    states = [False]
    for char in text:
        if skip:
            skip = False
        elif char == "\\" and quote != "'":
            skip = True
        elif quote:
            quote = "" if char == quote else quote
        elif char in "'\"`":
            quote = char
        states.append(bool(quote))
    return tuple(states)
