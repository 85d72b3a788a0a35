"""Redaction: secrets in commands and output are shown as ***.

Owns which values are masked before anything is displayed or kept (K44, C20): the value, never its name and
never the target. Display only: nothing here decides risk. It works on whole text (join streamed chunks at
line ends first: a secret cut in two is not recognised) and in linear time, so every repeat is bounded or
consumes what it scanned.

Output is masked broadly. A command that somebody may say yes to is masked narrowly: only a literal run inside
one word, so that nothing that would be executed is ever hidden; when in doubt the text stays readable.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from re import Match, Pattern

MASK = "***"

#: Shorter configured values are left alone: masking "a" everywhere would hide the target too (C20).
_MIN_LITERAL = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Redacted:
    """Text that may be shown, and how many values in it were masked."""

    text: str
    count: int


# A value: quoted (an unclosed quote runs to the end of the line) or one bare word.
_VALUE = r"""(?:"(?:[^"\\\n]|\\.)*"?|'[^'\n]*'?|[^\s"'&;|,)}\]]+)"""
_TELLING = (
    r"(?:passwords?|passwd|passphrase|pwd|pgpass|secrets?|tokens?|credentials?|api[_-]?keys?|apikey"
    r"|(?:access|secret|private|encryption|signing|auth)[_-]?keys?"
    r"|session[_-]?(?:id|key)|client[_-]?secrets?|connection[_-]?strings?)"
)
#: Names that speak about a secret without being one: their values stay readable.
_ABOUT = re.compile(
    r"(?i)[_-]?(?:files?|paths?|dir|names?|urls?|uri|type|policy|age|length|count|expir\w*|ttl|limit)$"
)

#: Upper case only: "$ecret" in a file is a password, "$DB_PASS" is the name of one.
_REFERENCE = re.compile(r"\$\{?[A-Z_][A-Z0-9_]*\}?$|\$\(|@\.{0,2}/")

#: (pattern, index of the group that holds the value, what no match is without, in lower case). Order matters:
#: whole blocks first.
_PATTERNS: tuple[tuple[Pattern[str], int, tuple[str, ...]], ...] = (
    # A block that was cut off is masked to its end.
    (
        re.compile(
            r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
            r"(.*?)(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z)",
            re.DOTALL,
        ),
        1,
        ("private key",),
    ),
    (
        re.compile(
            r"(?i)\b(?:proxy-)?authorization[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?"
            r"(?:(?:basic|bearer|digest|token|apikey|negotiate|aws4-hmac-sha256)[ \t]{1,4})?"
            r"([^\s\"'][^\"'\r\n]*)"
        ),
        1,
        ("authorization",),
    ),
    (
        re.compile(
            r"(?i)\b(?:set-cookie|cookie|x-api-key|x-auth-token|x-access-token|x-vault-token|private-token)"
            r"[\"']?[ \t]{0,4}:[ \t]{0,4}[\"']?([^\s\"'][^\"'\r\n]*)"
        ),
        1,
        ("cookie", "x-api-key", "x-auth-token", "x-access-token", "x-vault-token", "private-token"),
    ),
    (re.compile(r"(?i)\bbearer[ \t]{1,4}([A-Za-z0-9._~+/=-]{8,})"), 1, ("bearer",)),
    # user:password@ in a URL; the host stays.
    (re.compile(r"://[^\s/@:\"']{0,200}:([^\s/@\"']{1,400})@"), 1, ("://",)),
    (re.compile(r"://((?:gh[pousr]_|glpat-|github_pat_)[^\s/@:\"']{1,400})@"), 1, ("://",)),
    # Programs that take a password without a telling name.
    (re.compile(rf"\bsshpass[ \t]{{1,4}}-p[ \t]{{0,4}}({_VALUE})"), 1, ("sshpass",)),
    (
        re.compile(
            r"\b(?:mysql|mysqldump|mysqladmin|mysqlimport|mariadb|mariadb-dump|mariadb-admin)\b"
            rf"(?:[ \t]{{1,4}}(?!-p)[^\s|;&]{{1,200}}){{0,12}}[ \t]{{1,4}}-p({_VALUE})"
        ),
        1,
        ("mysql", "mariadb"),
    ),
    (
        re.compile(
            r"\bredis-cli\b(?:[ \t]{1,4}(?!-a\b)[^\s|;&]{1,200}){0,12}"
            rf"[ \t]{{1,4}}-a[ \t]{{1,4}}({_VALUE})"
        ),
        1,
        ("redis-cli",),
    ),
    (
        re.compile(
            r"\b(?:curl|wget|http|https)\b(?:[ \t]{1,4}(?!-u\b|--user\b)[^\s|;&]{1,400}){0,20}"
            r"[ \t]{1,4}(?:-u|--user)[ \t=]{0,4}[\"']?[^\s:\"']{1,200}:([^\s\"']{1,400})"
        ),
        1,
        ("curl", "wget", "http"),
    ),
    (re.compile(r"\bopenssl\b[^\n]{0,400}?\bpass:([^\s\"']{1,400})"), 1, ("openssl",)),
    # Shapes that are secrets wherever they stand.
    (re.compile(r"\b(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{16}\b"), 0, ("akia", "asia", "aroa", "aida")),
    (
        re.compile(r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}"),
        0,
        ("eyj",),
    ),
    (
        re.compile(r"\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}|\bglpat-[A-Za-z0-9_-]{16,}"),
        0,
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-"),
    ),
    (re.compile(r"\bxox[abeoprs]-[A-Za-z0-9-]{8,}|\bxapp-[A-Za-z0-9-]{8,}"), 0, ("xox", "xapp-")),
    (re.compile(r"https://hooks\.slack\.com/services/([A-Za-z0-9/_-]{8,})"), 1, ("hooks.slack.com",)),
    (
        re.compile(r"https://(?:[a-z]{1,10}\.)?discord(?:app)?\.com/api/webhooks/([A-Za-z0-9/_-]{8,})"),
        1,
        ("discord",),
    ),
    (re.compile(r"\b[0-9]{8,10}:[A-Za-z0-9_-]{35}\b"), 0, (":",)),  # Telegram
    (
        re.compile(r"\b[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,45}"),
        0,
        (".",),
    ),  # Discord
    (
        re.compile(r"\b(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}|\bsk-[A-Za-z0-9_-]{20,}"),
        0,
        ("_live_", "_test_", "sk-"),
    ),
    (
        re.compile(r"\bAIza[A-Za-z0-9_-]{35}|\bya29\.[A-Za-z0-9_-]{20,}|\bnpm_[A-Za-z0-9]{30,}"),
        0,
        ("aiza", "ya29.", "npm_"),
    ),
    (
        re.compile(
            r"\bhvs\.[A-Za-z0-9_-]{20,}|\bdop_v1_[a-f0-9]{64}|\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"
        ),
        0,
        ("hvs.", "dop_v1_", "sg."),
    ),
    (
        re.compile(r"\bage-secret-key-1[a-z0-9]{20,}|\bAGE-SECRET-KEY-1[A-Z0-9]{20,}"),
        0,
        ("age-secret-key-1",),
    ),
    (
        re.compile(r"\$(?:1|2[aby]|5|6|7|y|argon2id?)\$[^\s:$]{1,100}(?:\$[^\s:$]{1,200}){0,4}"),
        0,
        ("$",),
    ),  # crypt(3)
)

#: Letters that count as an "i", an "s" or a "k" where case does not; with one of them no pattern is left out.
_LIKE_ASCII = "\u0130\u0131\u017f\u212a"

#: name = value, "name": "value", --name value, --name=value; the name may go on (DB_PASSWORD_PROD).
_NAMED = re.compile(
    rf"(?i)(?P<flag>(?<![\w-])--[a-z0-9-]{{0,40}}?)?(?P<name>{_TELLING})(?P<rest>[\w-]{{0,40}})"
    rf"(?P<sep>[\"']?[ \t]{{0,4}}(?:=>|[:=])[ \t]{{0,4}}|[ \t]{{1,4}}(?=[^\s-]))(?P<value>{_VALUE})"
)
#: What no match of that is without.
_NAMES = ("pass", "pwd", "secret", "token", "credential", "key", "session", "connection")


def redact(text: str, *, extra: Sequence[str] = ()) -> Redacted:
    """Mask secrets in `text`, which may be a command line or many lines of output.

    Args:
        text: what is about to be shown or kept.
        extra: secret values known from the configuration, masked literally (4 characters or longer).
    """
    count = 0
    for secret in sorted({value for value in extra if len(value) >= _MIN_LITERAL}, key=len, reverse=True):
        found = text.count(secret)
        if found:
            text = text.replace(secret, MASK)
            count += found
    # Most text holds nothing of all this, which is soon seen; a mask adds nothing that is looked for.
    plain = None if any(letter in text for letter in _LIKE_ASCII) else text.lower()
    for pattern, group, parts in _PATTERNS:
        if plain is None or any(part in plain for part in parts):
            text, found = _mask(text, pattern, group)
            count += found
    if plain is None or any(part in plain for part in _NAMES):
        return _mask_named(text, count)
    return Redacted(text=text, count=count)


def _mask(text: str, pattern: Pattern[str], group: int) -> tuple[str, int]:
    """Replace one group of every match by the mask."""
    count = 0

    def masked(match: Match[str]) -> str:
        nonlocal count
        value = match.group(group)
        if MASK in value:
            return match.group()
        count += 1
        start, end = match.start(group) - match.start(), match.end(group) - match.start()
        whole = match.group()
        return whole[:start] + MASK + whole[end:]

    return pattern.sub(masked, text), count


def _mask_named(text: str, count: int) -> Redacted:
    """Mask values that follow a telling name."""

    def masked(match: Match[str]) -> str:
        nonlocal count
        value = match["value"]
        bare_words = match["flag"] is None and not match["sep"].strip("\"' \t")
        if bare_words or MASK in value or _ABOUT.search(match["rest"]) or _is_reference(value):
            return match.group()
        count += 1
        quote = value[0] if value[0] in "\"'" else ""
        closing = quote if len(value) > 1 and value.endswith(quote) else ""
        return match.group()[: match.start("value") - match.start()] + quote + MASK + closing

    return Redacted(text=_NAMED.sub(masked, text), count=count)


def _is_reference(value: str) -> bool:
    """Tell whether a value names where the secret is ($VAR, @file, empty quotes) instead of being it."""
    bare = value.strip("\"'")
    return not bare or _REFERENCE.match(bare) is not None


# ---------------------------------------------------------------- commands

#: What one masked run may consist of: no space, no quote, nothing that a shell acts on, nothing unprintable.
_LITERAL = re.compile(
    r"""[^\s"'`$;&|<>(){}\\\x00-\x20\x7f-\xa0\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff]+"""
)
#: A run after one of these may be a name that a shell looks up, or a half-escaped word.
_LOOKED_UP = re.compile(r"(?:\$\{?[A-Za-z0-9_]*|\\)\Z")
#: Programs whose arguments are data, and those that only print: what they print may be piped to a shell.
_SENDS = re.compile(r"\s{0,20}(?:sudo[ \t]+)?(?:curl|wget|https?|xh)[ \t]")
_PRINTS = re.compile(r"\s{0,20}(?:echo|printf|logger|:)[ \t]+(?:-[a-z]+[ \t]+)?[\"']?\Z")
_STARTS = re.compile(r"(?:\A|[;&|(\n]|\b(?:sudo|do|then))[ \t]*(?:/[\w./-]{0,80}/)?\Z")
#: A flag whose value is the next word; not where the flag may itself be the value of another.
_NO_FLAG = re.compile(r"(?:[<>][ \t]*|[^\s]|(?:\A|\s)-[^\s=]*[ \t]+)\Z")
_PLURAL = re.compile(r"(?i)(?:credentials?|s)\Z")
_SUBSTITUTES = re.compile(r"[`$]\(?|[<>]\(")
_LOOK_BACK = 120


def redact_command(text: str, *, extra: Sequence[str] = ()) -> Redacted:
    """Mask secrets in a command that people are asked about.

    Everything but the masked runs is returned as it is, and no run holds a space, a quote, or a character
    that a shell acts on. What follows the first literal run of a value stays readable.

    Args:
        text: the command, whole.
        extra: secret values known from the configuration (4 characters or longer).
    """
    starts = [*_literal_starts(text, extra), *_pattern_starts(text), *_named_starts(text)]
    shown: list[str] = []
    done = count = 0
    for start, end in sorted(_run(text, start, most) for start, most in starts):
        if (
            start == end
            or end <= done
            or text[start:end] == MASK
            or _LOOKED_UP.search(text[max(0, start - 80) : start])
        ):
            continue
        if start > done or not count:
            shown += [text[done:start], MASK]
            count += 1
        done = end
    return Redacted(text="".join([*shown, text[done:]]), count=count)


def _run(text: str, start: int, most: int) -> tuple[int, int]:
    """Return the literal run at `start`, which ends at `most` at the latest; empty where there is none."""
    if text[start : start + 1] in ("'", '"'):
        start += 1
    found = _LITERAL.match(text, start, most)
    return (start, start) if found is None else found.span()


def _literal_starts(text: str, extra: Sequence[str]) -> Iterator[tuple[int, int]]:
    for secret in {value for value in extra if len(value) >= _MIN_LITERAL}:
        at = text.find(secret)
        while at >= 0:
            yield at, at + len(secret)
            at = text.find(secret, at + len(secret))


def _pattern_starts(text: str) -> Iterator[tuple[int, int]]:
    commands: _Commands | None = None
    for pattern, group, _ in _PATTERNS:
        for match in pattern.finditer(text):
            between = text[match.start() : match.start(group)]
            if pattern in _OF_PROGRAMS:
                before = text[max(0, match.start() - _LOOK_BACK) : match.start()]
                safe = not _SUBSTITUTES.search(between) and (
                    not between[-1:].isspace()
                    or (_STARTS.search(before) is not None and match.group(group)[0] not in "/.~")
                )
            elif any(char.isspace() for char in between):
                commands = commands or _Commands(text)
                safe = commands.holds_data(match.start())
            else:
                safe = True
            if safe:
                yield match.span(group)


#: Patterns that begin with the name of the program whose secret they find.
_OF_PROGRAMS = frozenset(
    pattern
    for pattern, *_ in _PATTERNS
    if re.match(r"\\b(?:sshpass|\(\?:mysql|redis|\(\?:curl|openssl)", pattern.pattern)
)


def _named_starts(text: str) -> Iterator[tuple[int, int]]:
    commands: _Commands | None = None
    run = frozenset(_RUN_BY_NAME.findall(text))
    for match in _NAMED.finditer(text):
        sep, before = match["sep"], text[max(0, match.start() - _LOOK_BACK) : match.start()]
        value = match["value"]
        if _ABOUT.search(match["rest"]) or _is_reference(value) or "=>" in sep:
            continue
        if _LOOKED_UP.search(before) or _is_run_later(before, match, run):
            continue
        if not any(char.isspace() for char in sep):
            yield match.span("value")
        elif not sep.strip():
            spoken = f"{match['name']}{match['rest']}"
            if match["flag"] and not (_NO_FLAG.search(before) or _PLURAL.search(spoken) or value[0] in "/.~"):
                yield match.span("value")
        elif not re.match(r"[\"']?=", sep):  # `PASSWORD= program` runs the program
            commands = commands or _Commands(text)
            if commands.holds_data(match.start()):
                yield match.span("value")


def _is_run_later(before: str, match: Match[str], run: frozenset[str]) -> bool:
    """Tell whether the value becomes a program: `alias token=rm`, or `TOKEN=rm; $TOKEN -rf x`."""
    if _ALIAS.search(before):
        return True
    start = re.search(r"\w*\Z", before)
    return f"{start.group() if start else ''}{match['name']}{match['rest']}" in run


_ALIAS = re.compile(r"\balias[ \t]+[^;&|\n]*\Z")
_RUN_BY_NAME = re.compile(
    r"(?:\A|[;&|({`\n!]|[ \t]-c\b|\b(?:sudo|exec|eval|command|nohup|env|then|do|else|xargs|time)\b)"
    r"\s{0,20}[\"']?\$\{?(\w+)"
)


class _Commands:
    """Where each simple command begins, as far as quotes tell; one pass over the text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [0]
        self._unsure = len(text)
        quote = ""
        skip = False
        for at, char in enumerate(text):
            if skip:
                skip = False
            elif char == "\\" and quote != "'":
                skip = True
            elif char in "`$#" or text.startswith("<<", at):
                self._unsure = at  # substitutions, comments and here-documents have quotes of their own
                break
            elif quote:
                quote = "" if char == quote else quote
            elif char in "'\"":
                quote = char
            elif char in ";&|(){}<>\n":
                self._starts.append(at + 1)

    def holds_data(self, at: int) -> bool:
        """Tell whether the next word at `at` is surely an argument, and one that nothing executes."""
        if at > self._unsure:
            return False
        start = self._starts[bisect_right(self._starts, at) - 1]
        sends, prints = _SENDS.match(self._text, start, at), _PRINTS.fullmatch(self._text, start, at)
        return sends is not None or prints is not None
