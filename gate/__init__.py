"""The gate: pure policy that knows nobody.

Everything here is a function of its arguments: the vocabulary, the classification of shell, the reading
of assent, typed phrases, authority, blast radius, redaction and `decide`. It does no I/O, reads no clock,
draws no random numbers, logs nothing and never imports asyncio; rule tables, lexicons and policy come in
as values. Whoever calls it records what it said (ledger/) and acts on it (bot/).
"""
