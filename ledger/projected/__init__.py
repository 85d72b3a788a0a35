"""Projection tables: the present state, derived from entries and rebuilt from them (D9).

SQLModel defines them; migrations create them; `ledger.projections` and the modules it names fill them. They
hold what decisions and cards read often; exact words stay in payloads and are named here by their hash.
Nothing outside ledger/ sees a row.
"""
