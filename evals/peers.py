"""Other ways to decide what runs unasked, ported as their projects describe them, for the same table as ours.

Facts only, no code of theirs. `word_only` is the shape of openai/codex: a line counts if it is plain words,
joined by `|`, `&&`, `||` and `;`, every program is one of about thirty names, and the few that can write or
run something have a list of refused options; words are compared as they are written, a path counts by its
last part. `predicates` is the shape of Tracer-Cloud/opensre: some eighty names, bare only, with a predicate
for find, git, sort, date, hostname and rg; quotes are honoured, expansions and globs outside them refused.
`leading_verb` takes the first words of requirement N10 at their word; `not_denied` is the deny list that
chat bots commonly carry.
"""

import re
import shlex
from collections.abc import Callable, Iterable, Sequence

#: The first words that requirement N10 lists.
LEADING = frozenset({"cat", "ls", "stat", "journalctl", "df", "free", "uptime", "ip", "ss"})
#: What deny lists of chat bots look for.
DENIED = re.compile(
    r"\brm\s+-\w*[rf]|\bdd\s|\bmkfs|\bshutdown\b|\breboot\b|\bchmod\s+-R|>\s*/dev/sd|:\(\)\s*\{|"
    r"\b(?:curl|wget)\b.*\|\s*(?:ba)?sh\b|\bDROP\s+(?:TABLE|DATABASE)\b",
    re.IGNORECASE,
)


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_THIRTY = _names(
    "cat cd cut echo expr false grep head id ls nl paste pwd rev seq stat tail tr true uname uniq wc which "
    "whoami base64 find rg sed"
)
_EIGHTY = _THIRTY - {"base64", "sed", "expr", "seq"} | _names(
    "ps df du free uptime w who last lsof ss netstat ip ifconfig hostname date file tree less diff "
    "cmp comm sort md5sum sha256sum xxd od strings readlink realpath dirname basename lsblk lscpu lsusb "
    "lspci dmesg vmstat iostat top pgrep pidof nproc arch groups tty type printf test getent git"
)
_FIND_WRITES = _names("-exec -execdir -ok -okdir -delete -fls -fprint -fprint0 -fprintf")
_REFUSED = {
    "find": _FIND_WRITES,
    "rg": frozenset({"--pre", "--hostname-bin", "--search-zip", "-z"}),
    "base64": frozenset({"-o", "--output"}),
    "sort": frozenset({"-o", "--output", "--compress-program"}),
    "date": frozenset({"-s", "--set"}),
    "hostname": frozenset({"-F", "-b"}),
}
_GIT_READS = _names("status log diff show branch rev-parse describe ls-files blame remote tag")
_GIT_REFUSED = frozenset({"--output", "--ext-diff", "--textconv", "--exec"})
_SED_PRINTS = re.compile(r"(?:\d+,)?\d+p")
_JOINTS = frozenset({"|", "||", "&&", ";"})


def leading_verb(command: str) -> bool:
    """Whether the first word alone would let it run."""
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    return bool(words) and words[0] in LEADING


def not_denied(command: str) -> bool:
    """Whether a deny list would let it run."""
    return DENIED.search(command) is None


def word_only(command: str) -> bool:
    """Whether a short allow-list over plain words would let it run."""
    if re.search(r"[$`(){}<>&]", re.sub(r"'[^']*'|&&", "", command)):
        return False
    return _every(command, _short)


def predicates(command: str) -> bool:
    """Whether a wide allow-list with a predicate for some programs would let it run."""
    if re.search(r"[$`(){}<>*?\[\\]|(?<!&)&(?!&)", re.sub(r"'[^']*'|\"[^\"$`]*\"", "", command)):
        return False
    return _every(command, _wide)


RIVALS: Sequence[tuple[str, Callable[[str], bool]]] = (
    ("leading verb", leading_verb),
    ("deny list", not_denied),
    ("short allow-list, plain words", word_only),
    ("wide allow-list, predicates", predicates),
)


def _every(command: str, allowed: Callable[[list[str]], bool]) -> bool:
    """Whether each part of the line is allowed."""
    lexer = shlex.shlex(command.replace("\n", " ; "), posix=True, punctuation_chars="|&;")
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        tokens = list(lexer)
    except ValueError:
        return False
    parts: list[list[str]] = [[]]
    for token in tokens:
        if set(token) <= set("|&;"):
            if token not in _JOINTS:
                return False
            parts.append([])
        else:
            parts[-1].append(token)
    return all(part and allowed(part) for part in parts)


def _short(words: list[str]) -> bool:
    name = words[0].rpartition("/")[2]
    if name == "sed":
        return len(words) in (3, 4) and words[1] == "-n" and _SED_PRINTS.fullmatch(words[2]) is not None
    return name in _THIRTY and not _hits(words[1:], _REFUSED.get(name, frozenset()))


def _wide(words: list[str]) -> bool:
    name, rest = words[0], words[1:]
    if name not in _EIGHTY or _hits(rest, _REFUSED.get(name, frozenset())):
        return False
    if name == "git":
        return bool(rest) and rest[0] in _GIT_READS and not _hits(rest, _GIT_REFUSED)
    if name in ("date", "hostname"):
        return all(word.startswith(("-", "+")) for word in rest)
    return True


def _hits(words: Iterable[str], refused: frozenset[str]) -> bool:
    return any(word.partition("=")[0] in refused for word in words)
