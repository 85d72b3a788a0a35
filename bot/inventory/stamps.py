"""Stamps: what tells a changed file from an unchanged one."""

from pathlib import Path

#: A file as it was when it was read: (path, mtime_ns, size); -1 for one that was not there.
Stamp = tuple[Path, int, int]


def stamp(path: Path) -> Stamp:
    """Return the stamp of a file, or of a folder."""
    try:
        status = path.stat()
    except OSError:
        return (path, -1, -1)
    return (path, status.st_mtime_ns, status.st_size)
