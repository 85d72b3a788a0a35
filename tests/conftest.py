"""Settings of every test: how long an example of Hypothesis takes is the machine's affair, no failure."""

from hypothesis import settings

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
