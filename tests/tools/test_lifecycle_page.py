"""The drawn lifecycle is the one that the gate has."""

import pytest

from tools.lifecycle_page import MACHINES, PAGE, Machine, page


def test_the_page_is_not_stale() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run .venv/bin/python tools/lifecycle_page.py"


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.name)
def test_every_arrow_is_drawn_and_told(machine: Machine) -> None:
    text = page()
    for (before, event), after in machine.table.items():
        assert f"    {before} --> {after}: {event}\n" in text
        assert f"| `{before}` | {event} | `{after}` | {machine.events[event]} |\n" in text


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.name)
def test_no_event_is_explained_that_does_not_exist(machine: Machine) -> None:
    assert {event for _, event in machine.table} == set(machine.events)
