"""Acts other than commands: reminders, schedules, facts, posts, settings, guidance and trust rules.

Each module reads one kind of request out of words, hands the facts it needs to `gate.resolve`, and records
what was decided. `dispatch` finds the module and keeps what all of them share: the record of the commitment,
the question with its buttons, the typed phrase. Nothing here decides what is allowed.
"""
