"""Which paths matter: secrets, system folders, disks. Purely textual; nothing is looked up.

A path is normalised first (doubled slashes, `.`, `..`, a trailing `/*`).
"""

import fnmatch
import re
from collections.abc import Iterable

from gate.shell.model import Places
from gate.shell.words import Word

_GLOB_CHARS = re.compile(r"[*?\[]")
#: What is a file by its name, and no folder to descend into.
_FILE = re.compile(r".*[^/]\.(?:conf|cfg|ini|log|json|ya?ml|toml|txt|service|timer|rules|xml|csv)")
_EVERYTHING = frozenset({"*", ".*", ".[!.]*", "..?*", ".??*"})


def normalise(path: str, *, cwd: str = "") -> str:
    """Return the path without detours, absolute or from `~` where `cwd` allows it; "" stands for nothing."""
    if cwd and not path.startswith(("/", "~")):
        path = f"{cwd}/{path}"
    if path and path[0] != "." and path[-1] != "/" and "/." not in path and "//" not in path:
        return path
    head = "/" if path.startswith("/") else ""
    parts: list[str] = []
    for part in path.split("/"):
        if part in ("", "."):
            continue
        if part == ".." and parts and parts[-1] not in ("..", "~"):
            parts.pop()
        elif part != ".." or not head:
            parts.append(part)
    return head + "/".join(parts) or "."


def without_everything(path: str) -> str:
    """Return the folder for a path whose last part is a glob for all of it."""
    folder, _, last = path.rpartition("/")
    if last in _EVERYTHING:
        return folder or ("/" if path.startswith("/") else ".")
    return path


def is_system(path: str, places: Places, *, cwd: str = "") -> bool:
    """Whether losing this folder and what is below it ends a system or a home."""
    return places.system.fullmatch(without_everything(normalise(path, cwd=cwd))) is not None


def is_system_disk(path: str, places: Places) -> bool:
    """Whether this block device (also as the value of an operand such as of=) is probably the system's."""
    return places.disks.fullmatch(normalise(path.rpartition("=")[2])) is not None


def is_device(path: str, places: Places) -> bool:
    """Whether this is a block device or something as raw."""
    return places.devices.fullmatch(normalise(path.rpartition("=")[2])) is not None


def holds_secret(word: Word, places: Places) -> bool:
    """Whether a file of this name holds secrets; for a glob, whether it may match one that does."""
    return any_holds_secret((word,), places)


def any_holds_secret(words: Iterable[Word], places: Places) -> bool:
    """Whether one of these files holds secrets."""
    for word in words:
        path = normalise(word.text)
        if _is_secret(path, places) or (word.glob and _glob_shows_secret(path, places)):
            return True
    return False


def is_secret(path: str, places: Places) -> bool:
    """Whether a file of exactly this name holds secrets."""
    return _is_secret(normalise(path), places)


def _is_secret(path: str, places: Places) -> bool:
    if places.secret_paths.fullmatch(path):
        return True
    if places.secret_names.fullmatch(path.rpartition("/")[2]):
        return places.open_trees.fullmatch(path) is None
    return False


def _glob_shows_secret(path: str, places: Places) -> bool:
    if places.open_trees.fullmatch(path):
        return False
    return _may_match_secret(path, places) or is_secret(_GLOB_CHARS.sub("", path), places)


def _may_match_secret(path: str, places: Places) -> bool:
    folder, _, last = path.rpartition("/")
    if _GLOB_CHARS.search(folder):
        return True
    names = places.secret_samples
    return any(fnmatch.filter(names.get("", ()), last)) or any(fnmatch.filter(names.get(folder, ()), last))


def may_hold_secrets_below(path: str, places: Places) -> bool:
    """Whether descending into this folder may come upon secrets."""
    clean = normalise(path)
    if places.open_trees.fullmatch(clean) or places.open_trees.fullmatch(f"{clean}/x"):
        return False
    if _GLOB_CHARS.search(clean):
        return True
    if clean.startswith("/") and _FILE.fullmatch(clean):
        return False
    return not clean.startswith("/") or places.secret_trees.fullmatch(clean) is not None
