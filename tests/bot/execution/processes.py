import asyncio
import time
from pathlib import Path


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


async def gone(*pids: int) -> bool:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if not any(map(alive, pids)):
            return True
        await asyncio.sleep(0.02)
    return False


def written(path: Path) -> list[int]:
    return list(map(int, path.read_text().split())) if path.exists() else []


def together(folder: Path, count: int) -> str:
    """Return a command that says how many of its like it saw at once.

    It waits until some saw `count`, and then for one too many to come.
    """
    seen = f"n=$(ls {folder} | grep -c '^[0-9]')"
    met = f"[ $n -ge {count} ] && touch {folder}/met"
    wait = f"for i in $(seq 300); do {seen}; {met}; [ -e {folder}/met ] && break; sleep 0.1; done"
    return f"mkdir {folder}/$$; {wait}; sleep 0.3; {seen}; rmdir {folder}/$$; echo $n"


async def pids_in(path: Path, count: int) -> list[int]:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        pids = written(path)
        if len(pids) >= count:
            return pids
        await asyncio.sleep(0.02)
    raise AssertionError(f"{count} pids never appeared in {path}")
