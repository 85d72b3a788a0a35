"""Stamps: what tells a changed file from an unchanged one."""

from pathlib import Path

#: A file as it was when it was read: (path, mtime_ns, size, ctime_ns, inode); -1 for one that was not there.
#: The last two tell of one of the same size that was put in its place, dated back.
Stamp = tuple[Path, int, int, int, int]


def stamp(path: Path) -> Stamp:
    """Return the stamp of a file, or of a folder."""
    try:
        status = path.stat()
    except OSError:
        return (path, -1, -1, -1, -1)
    return (path, status.st_mtime_ns, status.st_size, status.st_ctime_ns, status.st_ino)
