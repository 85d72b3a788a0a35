"""Sweeping: how often Python looks for garbage in a process that lives long.

It decides nothing else. What was loaded by the time a surface opens stays for as long as the process, and to
look through all of it again stands everything still for a fifth of a second; so it is looked through no more.
Most of what is made later is freed without any looking, so that it is seldom looked for.
"""

import gc

#: Objects that were made and not freed since, after which the youngest are looked through.
_YOUNG = 5_000
#: So many such looks make one at those that are older.
_OLDER = 20


def settle() -> None:
    """Take everything that is loaded now for what stays."""
    gc.freeze()
    gc.set_threshold(_YOUNG, _OLDER, _OLDER)
