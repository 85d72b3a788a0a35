"""What happens when its time has come, with nobody asking at that moment: reminders and scheduled commands.

`recurring` computes when, `due` reads what is due from the ledger, `firing` does it, `timer` wakes the core.
The ledger holds all truth: an occurrence is claimed there in the batch that does it, or it does not happen.
"""
