"""Runbooks in use: what a run needs is asked for (`inputs`), and what the supervisor permits is done."""
