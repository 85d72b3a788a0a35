"""Little languages inside arguments: sed, awk and jq programs that certainly only print.

Each check returns why a program is not certainly harmless, or None. They are allow-lists: a construct that is
not recognised is an objection. Nothing here looks for severity.
"""

import re
from collections.abc import Callable, Mapping

#: A bracket expression of a regex, if it ends where every implementation says it does. Some let a delimiter
#: stand in one and some do not, a "]" that comes first belongs to it, and backslashes are read both ways:
#: what differs there would turn the code behind it into text, and text into code.
_BRACKET = r"\[(?!\^\])\^?(?:[^]\[\\\n{0}]|\[(?![{0}]):[a-z]+:\]|\\(?![{0}])[tnrfvwWsS.*+?$|(){{}}-])+\]"


def _sed_regex(delimiter: str) -> str:
    bracket = _BRACKET.format(delimiter)
    return rf"(?:[^{delimiter}\\\n\[]|\\[^\n]|{bracket})*"


def _sed_substitution(delimiter: str) -> str:
    mark = re.escape(delimiter)
    return rf"{mark}{_sed_regex(delimiter)}{mark}(?:[^{delimiter}\\\n]|\\[^\n])*{mark}"


_ADDRESS = rf"(?:\d+(?:~\d+)?|\$|/{_sed_regex('/')}/I?)"
_ADDRESSES = rf"(?:{_ADDRESS}(?:[ \t]*,[ \t]*(?:{_ADDRESS}|[+~]\d+))?)?[ \t]*!?[ \t]*"
_SED = re.compile(
    rf"[ \t;\n]*{_ADDRESSES}"
    rf"(?:[{{}}pdDPnNhHgGxlF=bt]|[qQ]\d*|s(?:{'|'.join(map(_sed_substitution, '/|#,:@'))})[gpiI\d]*"
    r"|y/(?:[^/\\\n\[]|\\[^\n])*/(?:[^/\\\n\[]|\\[^\n])*/)"
    r"[ \t]*(?=[;\n{}]|$)[;\n \t]*"
)
_SED_OPEN = re.compile(rf"[ \t;\n]*{_ADDRESSES}\{{[ \t;\n]*")
#: The one loop that is certain to end: it takes in all lines. Where a label reaches to the line's end, the
#: rest of the line is part of it, and nothing runs.
_SED_ALL_LINES = re.compile(
    r"[ \t;\n]*:[ \t]*(\w+)[ \t]*[;\n][ \t]*N[;\n][ \t]*\$!b[ \t]*\1[ \t]*(?:[;\n]|$)"
)
_AWK_WORDS = re.compile(
    r"system|getline(?![ \t]*(?:[;}]|\Z))|ENVIRON|PROCINFO|ARGV|ARGC|close|fflush|function|func"
    r"|include|load|namespace|@|\\\n"
)
_AWK_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_AWK_REGEX = re.compile(rf"/(?:[^/\\\n\[]|\\.|{_BRACKET.format('/')})*/")
_AWK_PRINT = re.compile(r"(?<![A-Za-z0-9_])printf?(?![A-Za-z0-9_])")
#: What a regex follows and a division cannot; "" is the program's beginning.
_AWK_BEFORE_REGEX = frozenset(["", *"({[,;~!&|=?:<*%^"])
#: Values after which a slash divides: fields, numbers, elements, and names that are no word of the language.
_AWK_VALUE = re.compile(
    r"(?:\$\w+|\]|(?<![A-Za-z0-9_.])\d[\d.]*|(?<![A-Za-z0-9_$])"
    r"(?!(?:print|printf|return|in|else|do|case|exit|delete|default|next|length|BEGIN|END)[ \t]*\Z)"
    r"[A-Za-z_]\w*)[ \t]*\Z"
)
#: No word before a slash is longer; a longer one is not looked at to its beginning.
_AWK_LONGEST = 80
_AWK_NO_MATTER = re.compile(r"[\w .,;$*%+-]*")
_JQ_WORDS = re.compile(
    r"\benv\b|\beval\s*\(|\$ENV|\bimport\b|\binclude\b|modulemeta|get_search_list|\binputs?\b(?!_filename)|\$__loc__|getpath/1"
)


def _sed(code: str) -> str | None:
    at = 0
    while at < len(code):
        found = _SED_OPEN.match(code, at) or _SED.match(code, at) or _SED_ALL_LINES.match(code, at)
        if found is None or found.end() == at:
            return "this sed program may write files or run commands"
        at = found.end()
    return None


def _awk(code: str) -> str | None:
    objection = "this awk program may write files or run commands"
    if _AWK_WORDS.search(code):
        return objection
    at = 0
    braces = parens = 0
    before = ""
    while at < len(code):
        char = code[at]
        token = _awk_literal(code, at, before)
        if token is None:
            return objection
        if len(token) > 1:
            at += len(token)
            before = "x"
            continue
        braces += (char == "{") - (char == "}")
        parens += (char == "(") - (char == ")")
        if char == "|" and code[at : at + 2] != "||" and code[at - 1 : at + 1] != "||":
            return objection
        if char == ">" and braces > 0 and parens < 1:
            return objection
        # A loop's head may print, and so redirect, where a ">" is otherwise a comparison.
        if char == "p" and parens > 0 and _AWK_PRINT.match(code, at):
            return objection
        before = before if char.isspace() else char
        at += 1
    return None


def _awk_literal(code: str, at: int, before: str) -> str | None:
    """Return the string or regex that starts here, one character if none does, None if it does not end."""
    char = code[at]
    if char == '"':
        found = _AWK_STRING.match(code, at)
        return found[0] if found else None
    if char == "/":
        return _awk_slash(code, at, before)
    if char == "#":
        return None
    return char


def _awk_slash(code: str, at: int, before: str) -> str | None:
    """Return a regex, or the slash where it divides; None where reading it the other way would matter."""
    if before in _AWK_BEFORE_REGEX:
        found = _AWK_REGEX.match(code, at)
        return found[0] if found else None
    if _AWK_VALUE.search(code, max(0, at - _AWK_LONGEST), at):
        return "/"
    # After a word, a parenthesis, a sign or a line's end only the whole grammar tells which of both it is.
    behind, more, _ = code[at + 1 :].partition("/")
    return None if more and not _AWK_NO_MATTER.fullmatch(behind) else "/"


def _jq(code: str) -> str | None:
    if _JQ_WORDS.search(code):
        return "this jq filter reads the environment, modules or more input"
    return None


_CHECKS: Mapping[str, Callable[[str], str | None]] = {"sed": _sed, "awk": _awk, "jq": _jq}


def objection(checker: str, code: str) -> str | None:
    """Return why this program is not certainly harmless; None when it is."""
    check = _CHECKS.get(checker)
    return check(code) if check else None


_STRINGS = re.compile(r"'((?:[^'\\\n]|\\.)*)'|\"((?:[^\"\\\n]|\\.)*)\"|`([^`]*)`")


def strings_in(code: str) -> list[str]:
    """Return the string literals of a program in any of the common languages; they may be shell lines."""
    return ["".join(found.groups(default="")) for found in _STRINGS.finditer(code)]
