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
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        if not any(map(alive, pids)):
            return True
        await asyncio.sleep(0.02)
    return False


def written(path: Path) -> list[int]:
    return list(map(int, path.read_text().split())) if path.exists() else []


async def pids_in(path: Path, count: int) -> list[int]:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        pids = written(path)
        if len(pids) >= count:
            return pids
        await asyncio.sleep(0.02)
    raise AssertionError(f"{count} pids never appeared in {path}")
