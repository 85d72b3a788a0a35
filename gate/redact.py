"""Redaction: secrets in commands and output are shown as ***.

Owns which values are masked before anything is displayed or kept (K44, C20): the value, never its name and
never the target. Display only: nothing here decides risk. It works on whole text (join streamed chunks at
line ends first: a secret cut in two is not recognised) and in linear time, so every repeat is bounded or
consumes what it scanned.
"""

import re
from collections.abc import Sequence
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

#: (pattern, index of the group that holds the value). Order matters: whole blocks first.
_PATTERNS: tuple[tuple[Pattern[str], int], ...] = (
    # A block that was cut off is masked to its end.
    (
        re.compile(
            r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
            r"(.*?)(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z)",
            re.DOTALL,
        ),
        1,
    ),
    (
        re.compile(
            r"(?i)\b(?:proxy-)?authorization[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?"
            r"(?:(?:basic|bearer|digest|token|apikey|negotiate|aws4-hmac-sha256)[ \t]{1,4})?"
            r"([^\s\"'][^\"'\r\n]*)"
        ),
        1,
    ),
    (
        re.compile(
            r"(?i)\b(?:set-cookie|cookie|x-api-key|x-auth-token|x-access-token|x-vault-token|private-token)"
            r"[\"']?[ \t]{0,4}:[ \t]{0,4}[\"']?([^\s\"'][^\"'\r\n]*)"
        ),
        1,
    ),
    (re.compile(r"(?i)\bbearer[ \t]{1,4}([A-Za-z0-9._~+/=-]{8,})"), 1),
    # user:password@ in a URL; the host stays.
    (re.compile(r"://[^\s/@:\"']{0,200}:([^\s/@\"']{1,400})@"), 1),
    (re.compile(r"://((?:gh[pousr]_|glpat-|github_pat_)[^\s/@:\"']{1,400})@"), 1),
    # Programs that take a password without a telling name.
    (re.compile(rf"\bsshpass[ \t]{{1,4}}-p[ \t]{{0,4}}({_VALUE})"), 1),
    (
        re.compile(
            r"\b(?:mysql|mysqldump|mysqladmin|mysqlimport|mariadb|mariadb-dump|mariadb-admin)\b"
            rf"(?:[ \t]{{1,4}}(?!-p)[^\s|;&]{{1,200}}){{0,12}}[ \t]{{1,4}}-p({_VALUE})"
        ),
        1,
    ),
    (
        re.compile(
            r"\bredis-cli\b(?:[ \t]{1,4}(?!-a\b)[^\s|;&]{1,200}){0,12}"
            rf"[ \t]{{1,4}}-a[ \t]{{1,4}}({_VALUE})"
        ),
        1,
    ),
    (
        re.compile(
            r"\b(?:curl|wget|http|https)\b(?:[ \t]{1,4}(?!-u\b|--user\b)[^\s|;&]{1,400}){0,20}"
            r"[ \t]{1,4}(?:-u|--user)[ \t=]{0,4}[\"']?[^\s:\"']{1,200}:([^\s\"']{1,400})"
        ),
        1,
    ),
    (re.compile(r"\bopenssl\b[^\n]{0,400}?\bpass:([^\s\"']{1,400})"), 1),
    # Shapes that are secrets wherever they stand.
    (re.compile(r"\b(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{16}\b"), 0),
    (re.compile(r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}"), 0),
    (
        re.compile(r"\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}|\bglpat-[A-Za-z0-9_-]{16,}"),
        0,
    ),
    (re.compile(r"\bxox[abeoprs]-[A-Za-z0-9-]{8,}|\bxapp-[A-Za-z0-9-]{8,}"), 0),
    (re.compile(r"https://hooks\.slack\.com/services/([A-Za-z0-9/_-]{8,})"), 1),
    (re.compile(r"https://(?:[a-z]{1,10}\.)?discord(?:app)?\.com/api/webhooks/([A-Za-z0-9/_-]{8,})"), 1),
    (re.compile(r"\b[0-9]{8,10}:[A-Za-z0-9_-]{35}\b"), 0),  # Telegram
    (re.compile(r"\b[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,45}"), 0),  # Discord
    (re.compile(r"\b(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}|\bsk-[A-Za-z0-9_-]{20,}"), 0),
    (re.compile(r"\bAIza[A-Za-z0-9_-]{35}|\bya29\.[A-Za-z0-9_-]{20,}|\bnpm_[A-Za-z0-9]{30,}"), 0),
    (
        re.compile(
            r"\bhvs\.[A-Za-z0-9_-]{20,}|\bdop_v1_[a-f0-9]{64}|\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"
        ),
        0,
    ),
    (re.compile(r"\bage-secret-key-1[a-z0-9]{20,}|\bAGE-SECRET-KEY-1[A-Z0-9]{20,}"), 0),
    (re.compile(r"\$(?:1|2[aby]|5|6|7|y|argon2id?)\$[^\s:$]{1,100}(?:\$[^\s:$]{1,200}){0,4}"), 0),  # crypt(3)
)

#: name = value, "name": "value", --name value, --name=value; the name may go on (DB_PASSWORD_PROD).
_NAMED = re.compile(
    rf"(?i)(?P<flag>(?<![\w-])--[a-z0-9-]{{0,40}}?)?(?P<name>{_TELLING})(?P<rest>[\w-]{{0,40}})"
    rf"(?P<sep>[\"']?[ \t]{{0,4}}(?:=>|[:=])[ \t]{{0,4}}|[ \t]{{1,4}}(?=[^\s-]))(?P<value>{_VALUE})"
)


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
    for pattern, group in _PATTERNS:
        text, found = _mask(text, pattern, group)
        count += found
    return _mask_named(text, count)


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
