"""Sweeping: what a process has loaded is looked through no more, and garbage that comes later still goes."""

import subprocess
import sys

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


def test_what_is_loaded_stays_and_later_garbage_goes() -> None:
    # A process of its own: it counts for all of one.
    subprocess.run([sys.executable, "-c", _LATER], check=True)
