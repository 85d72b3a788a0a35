"""Sweeping: what is loaded is looked through no more, later garbage goes, and threads share one heap."""

import subprocess
import sys
from pathlib import Path

_LATER = """
import gc
import weakref
from bot import sweeping

class Knot:
    def __init__(self):
        self.itself = self

sweeping.settle()
assert gc.get_freeze_count() > 1_000, gc.get_freeze_count()
looked_at = []
gc.callbacks.append(lambda phase, info: looked_at.append(info["generation"]))
gone = weakref.ref(Knot())
kept = [[] for _ in range(6_000)]
assert gone() is None
assert set(looked_at) == {0}
"""

_HEAPS = """
import ctypes
import sys
import threading
from pathlib import Path
from bot import sweeping

def heaps(file, libc=ctypes.CDLL(None)):
    libc.fopen.restype = ctypes.c_void_p
    stream = ctypes.c_void_p(libc.fopen(file.encode(), b"w"))
    libc.malloc_info(0, stream)
    libc.fclose(stream)
    return Path(file).read_text().count("<heap ")

def work():
    together.wait()
    kept.append(bytearray(10_000))
    together.wait()

if "settled" in sys.argv:
    sweeping.settle()
before, kept, together = heaps(sys.argv[1]), [], threading.Barrier(4)
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(heaps(sys.argv[1]) - before)
"""


def test_what_is_loaded_stays_and_later_garbage_goes() -> None:
    # A process of its own: it counts for all of one.
    subprocess.run([sys.executable, "-c", _LATER], check=True)


def test_threads_share_one_heap(tmp_path: Path) -> None:
    told = [sys.executable, "-c", _HEAPS, str(tmp_path / "heaps")]
    assert int(subprocess.run(told, check=True, capture_output=True).stdout) > 0
    assert int(subprocess.run([*told, "settled"], check=True, capture_output=True).stdout) == 0
