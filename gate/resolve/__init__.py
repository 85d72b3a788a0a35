"""Resolve before acting: one module an act, from what was asked to what would be done (K11 to K18).

A resolver reads what a person asked for and the facts that the act needs, all as values, and returns one of
four ends: allowed with its slots bound, a question, a confirmation, or denied with the reason. It performs
nothing, records nothing, and never makes up a slot. `engine` picks the resolver and fails closed.
"""
