"""sayso config get, explain, set and unset as real processes, with a daemon and without one."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.bot.cli.test_chat import PATIENCE_S, SAYSO, environ, say, serving

__all__ = ["environ"]


def config(*words: str, environ: dict[str, str]) -> tuple[int, str]:
    """Run `sayso config …`; return its exit code and what it printed."""
    done = subprocess.run(
        [SAYSO, "config", *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
        env=environ,
    )
    assert done.stderr == ""
    return done.returncode, done.stdout


def test_without_a_daemon_it_is_written_to_the_ledger(environ: dict[str, str]) -> None:
    assert config("get", "repair.autonomy", environ=environ) == (0, "advise  (default)\n")
    code, told = config("set", "repair.autonomy", "off", environ=environ)
    assert (code, told) == (0, "repair.autonomy is off from now on. Before: advise.\n")
    code, told = config("get", "repair.autonomy", environ=environ)
    assert told.startswith("off  (runtime ")
    assert told.endswith("; displaced default advise)\n")
    assert "from now on" not in say("pending", environ=environ)  # it was answered already
    assert config("unset", "repair.autonomy", environ=environ)[0] == 0
    assert config("get", "repair.autonomy", environ=environ)[1] == "advise  (default)\n"


def test_with_a_daemon_the_daemon_does_it(environ: dict[str, str]) -> None:
    with serving(environ):
        say(f"run touch {environ['HOME']}/waits on local", environ=environ)
        code, told = config("set", "autonomy.max", "ask", "--json", environ=environ)
        found = json.loads(told)
        assert (code, found["applied"], found["restart_required"]) == (0, True, False)
        assert "waits" not in found["message"]
        code, told = config("get", "schedule.autonomy", "--json", environ=environ)
        found = json.loads(told)
        assert (found["value"], found["requested"]) == ("ask", "run")
        assert found["clamped_by"] == "autonomy.max (runtime)"
        code, told = config("set", "autonomy.max", "run", environ=environ)
        assert code == 1
        assert "This loosens the gate. Type:  raise autonomy.max to run" in told
        assert "Done" not in say("raise autonomy.max to run", environ=environ)
    assert config("get", "autonomy.max", environ=environ)[1].startswith("run  (runtime")


@pytest.mark.parametrize(
    ("key", "restart", "told"),
    [
        ("bot.ssh_config", True, "takes a restart, so nothing changed."),
        ("policy.approval_s", True, "is protected."),
        ("safety.x", False, "is protected."),
        ("no.such", False, "There is no setting no.such."),
        ("repair.autonomy", False, "Input should be 'off', 'advise'"),
    ],
)
def test_what_is_not_changed_says_how_to(environ: dict[str, str], key: str, restart: bool, told: str) -> None:  # noqa: FBT001
    code, shown = config("set", key, "42", "--json", environ=environ)
    found = json.loads(shown)
    assert (code, found["applied"], found["restart_required"]) == (1, False, restart)
    assert told in found["message"]


def test_one_is_explained(environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('[autonomy]\nmax = "propose"\n')
    environ |= {"SAYSO_CONFIG": str(tmp_path / "config.toml"), "SAYSO_REPAIR_AUTONOMY": "run"}
    code, told = config("explain", "repair.autonomy", environ=environ)
    assert code == 0
    assert "requested run, lowered to propose by autonomy.max (file)" in told
    assert "environment SAYSO_REPAIR_AUTONOMY; displaced default advise" in told
    assert "Never above autonomy.max." in told
    assert config("get", "repair.autonmy", environ=environ)[0] == 1
    assert "lowered to propose by autonomy.max (file)" in config("show", environ=environ)[1]
