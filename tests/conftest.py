"""Settings of every test: how long an example of Hypothesis takes is the machine's affair, no failure."""

import pytest
from hypothesis import settings

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the crash tests: they take longest, and no worker should be alone with them at the end."""
    items.sort(key=lambda item: item.path.parent.name != "crash")
