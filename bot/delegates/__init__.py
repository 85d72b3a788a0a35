"""Delegates: agents that ask from outside, each within what its owner let it (N5 to N8, C4, D20).

`delegate` is one of them, `config` what the config may say of it, `loading` makes the one of the other,
`keys` knows them by their secrets. `scope` puts every request of theirs before the gate, `limits` counts
them, `submitting` makes each an ordinary proposal, `withdrawing` takes one back, `telling` says what came of
it, and `desk` does all of it for the adapters.
An agent asks and never decides: its name is no operator's and no alias of one.
"""
