"""Execution: running one granted action on one target, whatever carries it.

`executor` is the Executor port over `local` and `ssh`; containers are a wrapper around either. `wrap` builds
the argument vector, `run` supervises (timeout, cancel, lost), `capture` bounds the output, `pool` and `trust`
own SSH connections and host keys, `settle` finds out how a reboot ended. `door` is the only caller of the
port.
"""
