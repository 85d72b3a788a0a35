"""The bot: the conversation core and all that surrounds it.

A message becomes facts, a decision of the gate, entries of the ledger and effects (docs/architecture.md).
Here live the ports, the turn, cards, planning, execution, inventory, settings and the command line. No
platform's name, no SQL and no chat SDK appears in this folder; `bot.app` is the composition root and,
with the loaders that it calls, the only reader of clock, environment and files.
"""
