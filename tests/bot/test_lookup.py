"""What `sayso status` calls an action whose end is not recorded."""

from bot.lookup import _started


def test_an_open_end_of_a_sayso_that_does_not_run_is_no_running_action() -> None:
    assert _started(1, is_running=False) == {
        "running_actions": 0,
        "open_ends": "1 started, end not recorded yet (sayso is not running)",
    }


def test_what_a_running_sayso_runs_is_running() -> None:
    assert _started(1, is_running=True) == {"running_actions": 1}
    assert _started(0, is_running=False) == {"running_actions": 0}
