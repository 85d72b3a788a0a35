"""The ledger: the one writer of truth.

Entries are append-only and hash-chained; everything else here (projections, inbox, outbox, checkpoints) is
either derived from them or committed together with them. It imports gate/ and nothing of ours above it;
rows never leave this folder, views do. docs/ledger-format.md is the format, to be checked by hand.
"""
