"""Signals: what machines report, from a delivery to a card, a question, a proposal or nothing (N40, D20).

`taking` hears a delivery; `matching` finds the target and the runbook that its labels mean; `acting` does
what `signals.autonomy` allows; `ending` withdraws what nobody answered; `keeping` lets go of what
was held; `cards` draws. `checks` and `watching` are the watches that people ask for. No HTTP is here, and no
text of a signal is ever planned as if a person had typed it.
"""
