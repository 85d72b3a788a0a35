"""Sweeping: how often a process that lives long looks for garbage, and that its threads share one heap.

It decides nothing else. What was loaded by the time a surface opens stays for as long as the process, and to
look through all of it again stands everything still for a fifth of a second; so it is looked through no more.
Most of what is made later is freed without any looking, so that it is seldom looked for.
"""

import contextlib
import ctypes
import gc

#: Objects that were made and not freed since, after which the youngest are looked through.
_YOUNG = 5_000
#: So many such looks make one at those that are older.
_OLDER = 20
#: The number of heaps, as <malloc.h> of glibc names this parameter.
_M_ARENA_MAX = -8


def settle() -> None:
    """Take everything that is loaded now for what stays."""
    gc.freeze()
    gc.set_threshold(_YOUNG, _OLDER, _OLDER)
    # Else each thread keeps what it was once given: measured, a fifth of what 500 warm hosts add.
    with contextlib.suppress(AttributeError, OSError):  # another C library has its own ways
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)
