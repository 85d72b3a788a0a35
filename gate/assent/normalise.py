"""From a chat message to tokens: quotes gone, markup read, letters folded.

Owns what of a message is the speaker's own words. Quoted lines, struck-out text and invisible characters are
taken out; code and quoted spans become one opaque token each; emoji, mentions and Slack's :names: become
tokens. It knows no language and judges nothing.
"""

import re
import unicodedata
from dataclasses import dataclass
from enum import Enum, auto
from re import Match


class Kind(Enum):
    """What sort of token."""

    WORD = auto()  # letters only
    NUMBER = auto()  # digits, "#2" included
    VALUE = auto()  # anything with structure: web1, 4.2.1, --wait, /srv/x, 18:00
    EMOJI = auto()
    CODE = auto()  # `…` or ```…```, whole
    QUOTE = auto()  # "…", whole: somebody's words, not necessarily the speaker's
    MENTION = auto()
    BREAK = auto()  # , . ; : ! ? … ( ) and line ends


@dataclass(frozen=True, slots=True)
class Token:
    """One token; `start` and `end` are offsets in `Message.clean`. `plain` is `text` without accents."""

    text: str
    plain: str
    kind: Kind
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message as the speaker's own words.

    Attributes:
        clean: the text without quoted lines and invisible characters, case kept; for giving back reasons.
        quoted: what the quoted lines said, for "this one" below a quote.
    """

    clean: str
    tokens: tuple[Token, ...]
    quoted: str = ""


#: Longer than any answer; the rest is not read, so nothing this long is ever a yes.
MAX_CHARS = 2000

_QUOTED_LINE = re.compile(r"^[ \t]*(?:>|&gt;).*$", re.MULTILINE)
_STRUCK = re.compile(r"~~[^~\n]{1,400}~~|(?<![\w~/])~[^~\s][^~\n]{0,400}~(?![\w~/])")
#: Punctuation that always ends a clause, Arabic and Spanish marks included.
_STOPS = ",;!?\u060c\u061b\u061f()\\[\\]{}\u2026\u00bf\u00a1\u2013\u2014|"
_SCAN = re.compile(
    rf"""
    (?P<fence>```(?:[^`]|`(?!``)){{0,2000}}(?:```|$))
  | (?P<code>`[^`\n]{{1,400}}`)
  | (?P<quote>"[^"\n]{{1,400}}"|\u201c[^\u201d\n]{{1,400}}\u201d
      |\u00ab[^\u00bb\n]{{1,400}}\u00bb|\u201e[^\u201c\u201d\n]{{1,400}}[\u201c\u201d]
      |\u201d[^\u201d\n]{{1,400}}\u201d|\u00bb[^\u00ab\u00bb\n]{{1,400}}[\u00ab\u00bb]|\u300c[^\u300d\n]{{1,400}}\u300d
      |(?<![\w'])'[^'\n:/=!$-]{{1,400}}'(?![\w'])
      |(?<!\w)[\u2018\u201a][^\u2018\u2019\n]{{1,400}}[\u2018\u2019](?!\w)|\u2039[^\u203a\n]{{1,400}}\u203a)
  | (?P<stray>(?<!\w)["\u201c\u201d]|["\u201c\u201d](?!\w))
  | (?P<smile>[:;]-?[)D](?!\w))
  | (?P<unmarked>\[[ ]\]|(?<!\S)!+(?=\w))
  | (?P<mention><[@\#!][^>\s]{{1,80}}>|(?<![\w.])@[\w][\w.-]{{0,60}})
  | (?P<name>:[a-z0-9_+-]{{1,40}}:(?!\d))
  | (?P<break>[{_STOPS}\n]|\.(?=\s|\.|$)|:(?=\s|$)|(?<!\S)-+(?=\s)|->|<-|\u2192|=>)
  | (?P<chunk>(?:(?![{_STOPS}"`\u201c\u201d\u2192]|<-|->)\S){{1,400}})
    """,
    re.VERBOSE,
)
_WORD = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*'?")
_NUMBER = re.compile(r"#?\d+")
_DOTS = re.compile(r"\.{2,}|^\.(?=[^\W\d_])|(?<=[a-z])\.(?=[A-Z][a-z])")
_ANSWERS = re.compile(r"(?:y|n|yes|no)(?:/(?:y|n|yes|no))+")
_LIST = re.compile(r"\d+(?:[/&+]\d+)+")
_AND_NUMBER = re.compile(r"\u0648(\d+)")  # Arabic writes "and 113" as one word
_MARKUP = "*_~'"
_SKIN = frozenset("\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff\ufe0f\u200d\u20e3")
_CONTRACTED = {"s": "is", "re": "are", "ll": "will", "d": "would", "ve": "have", "m": "am"}
_IRREGULAR = {"can't": ("can", "not"), "won't": ("will", "not"), "shan't": ("shall", "not")}
_ARABIC = str.maketrans("أإآٱىةؤئ", "اااايهوي", "ـًٌٍَُِّْٰ")
_DIGITS = {ord(char): str(unicodedata.digit(char)) for char in "٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹"}


def read_message(text: str) -> Message:
    """Return the speaker's own words of `text` as tokens."""
    shown = _visible(text[:MAX_CHARS])
    lines = _QUOTED_LINE.findall(shown)
    quoted = "\n".join(line.lstrip(" \t").removeprefix("&gt;").lstrip("> ") for line in lines)
    clean = _QUOTED_LINE.sub("", shown)
    clean = clean.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    clean = _STRUCK.sub(" ", clean)
    tokens: list[Token] = []
    for match in _SCAN.finditer(clean):
        tokens.extend(_tokens(match))
    if len(text) > MAX_CHARS:
        tokens.append(Token("…", "…", Kind.QUOTE, len(clean), len(clean)))
    return Message(clean=clean, tokens=tuple(tokens), quoted=quoted)


def words_of(text: str) -> tuple[Token, ...]:
    """Return the tokens of a phrase or description, without the breaks."""
    return tuple(token for token in read_message(text).tokens if token.kind is not Kind.BREAK)


def fold(text: str) -> str:
    """Fold one token: case, compatibility forms, typographic apostrophes, Arabic variants, digits."""
    if text.isascii():
        return text.casefold()
    folded = unicodedata.normalize("NFKC", text).casefold().translate(_DIGITS)
    folded = folded.replace("\u2019", "'").replace("\u2018", "'").replace("\u02bc", "'")
    return folded if folded.isascii() else unicodedata.normalize("NFC", folded.translate(_ARABIC))


def plain(text: str) -> str:
    """Return `text` without accents."""
    if text.isascii():
        return text
    split = unicodedata.normalize("NFD", text)
    return "".join(char for char in split if unicodedata.category(char) != "Mn").replace("ß", "ss")


def _visible(text: str) -> str:
    """Drop zero-width, bidi and control characters; joiners inside emoji are dropped with them."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        char for char in unicodedata.normalize("NFC", text) if char in "\n\t" or not _is_hidden(char)
    )


def _is_hidden(char: str) -> bool:
    return char in _SKIN or unicodedata.category(char) in {"Cc", "Cf", "Co", "Cs"}


#: An unmarked yes stands behind an empty box, or behind the exclamation mark that means not in code. A lone
#: quotation mark may make a quote of anything.
_KINDS = {"mention": Kind.MENTION, "break": Kind.BREAK, "unmarked": Kind.QUOTE, "stray": Kind.QUOTE}


def _tokens(match: Match[str]) -> list[Token]:
    raw, start, end = match.group(), match.start(), match.end()
    match match.lastgroup:
        case "fence" | "code":
            inner = fold(raw.strip("`").strip())
            return [Token(inner, inner, Kind.CODE, start, end)]
        case "quote":
            inner = fold(raw[1:-1])
            return [Token(inner, inner, Kind.QUOTE, start, end)]
        case "smile":
            return []
        case "name":
            name = raw.casefold()
            return [] if name.startswith(":skin-tone") else [Token(name, name, Kind.EMOJI, start, end)]
        case "mention" | "break" | "unmarked" | "stray" as group:
            text = raw.casefold()
            return [Token(text, text, _KINDS[group], start, end)]
        case _:
            return _chunk(raw, start, end)


def _chunk(raw: str, start: int, end: int) -> list[Token]:
    """Split one run without spaces into words, values and emoji."""
    if raw.isascii():
        if raw.isalpha():
            word = raw.casefold()
            return [Token(word, word, Kind.WORD, start, end)]
        return _plain_chunk(raw, start, end)
    found: list[Token] = []
    text = ""
    for char in raw:
        if _is_pictogram(char):
            found.extend(_plain_chunk(text, start, end))
            found.append(Token(char, char, Kind.EMOJI, start, end))
            text = ""
        else:
            text += char
    found.extend(_plain_chunk(text, start, end))
    return found


def _is_pictogram(char: str) -> bool:
    return not char.isascii() and unicodedata.category(char) in {"So", "Sk"}


def _plain_chunk(raw: str, start: int, end: int) -> list[Token]:
    pieces = [piece for piece in _DOTS.split(raw) if piece]
    if len(pieces) > 1 or (pieces and pieces[0] != raw):
        stop = Token(".", ".", Kind.BREAK, start, start)
        found = [stop] if raw.startswith(".") else []
        for piece in pieces:
            found.extend((*_plain_chunk(piece, start, end), stop))
        return found if raw.endswith(".") else found[:-1]
    marked = fold(raw).strip(_MARKUP)
    text = marked.rstrip(".:").rstrip(_MARKUP)
    found = _whole(text, start, end) if text else []
    if text != marked.rstrip(_MARKUP):
        mark = ":" if marked.endswith(":") else "."
        found.append(Token(mark, mark, Kind.BREAK, end - 1, end))
    return found


def _whole(text: str, start: int, end: int) -> list[Token]:
    if _WORD.fullmatch(text):
        return [Token(part, plain(part), Kind.WORD, start, end) for part in _words(text)]
    joined = _AND_NUMBER.fullmatch(text)
    if joined is not None:
        return [
            Token("\u0648", "\u0648", Kind.WORD, start, end),
            Token(joined[1], joined[1], Kind.NUMBER, start, end),
        ]
    if _LIST.fullmatch(text):
        return [Token(part, part, Kind.NUMBER, start, end) for part in re.split(r"\D", text)]
    if _ANSWERS.fullmatch(text):
        return [Token(part, part, Kind.WORD, start, end) for part in text.split("/")]
    if _NUMBER.fullmatch(text):
        return [Token(text.lstrip("#"), text.lstrip("#"), Kind.NUMBER, start, end)]
    return [Token(text, plain(text), Kind.VALUE, start, end)]


def _words(text: str) -> list[str]:
    """Split at hyphens and apostrophes: "don't" is do not, "c'est" c est, "vas-y" vas y."""
    found: list[str] = []
    for part in text.split("-"):
        head, apostrophe, tail = part.rpartition("'")
        if not apostrophe:
            found.append(part)
        elif part in _IRREGULAR:
            found.extend(_IRREGULAR[part])
        elif tail == "t" and head.endswith("n"):
            found.extend((head[:-1], "not"))
        elif tail in _CONTRACTED:
            found.extend((*_words(head), _CONTRACTED[tail]))
        else:
            found.extend(word for word in (*head.split("'"), tail) if word)
    return [word for word in found if word]
