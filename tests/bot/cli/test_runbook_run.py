"""`sayso runbook run` as a real process: what it would do, and a run that goes on as in chat."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SAYSO = Path(sys.executable).with_name("sayso")
RUNBOOK = """\
version: 1
id: marks
title: leave marks for {name}
inputs:
  name: {type: name}
steps:
  - {id: look, kind: check, title: Look, risk: read-only, command: ls FOLDER}
  - id: make
    title: Make it
    risk: mutating
    command: touch FOLDER/{{ inputs.name }}
    rollback: none
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    library = tmp_path / "state" / "library"
    library.mkdir(parents=True)
    (tmp_path / "marks").mkdir()
    (library / "marks.yaml").write_text(RUNBOOK.replace("FOLDER", str(tmp_path / "marks")))
    return tmp_path


def run(home: Path, *words: str, said: str = "") -> tuple[int, str, str]:
    environ = {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "SAYSO_HOME": str(home / "state"),
        "LANG": "C.UTF-8",
    }
    done = subprocess.run(
        [SAYSO, "runbook", "run", *words],
        input=said,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env=environ,
    )
    return done.returncode, done.stdout, done.stderr


def test_a_plan_tells_what_would_be_done_and_does_nothing(home: Path) -> None:
    code, told, _ = run(home, "marks", "--target", "local", "--with", "name=two", "--plan")
    assert code == 0
    assert told.splitlines() == [
        "leave marks for <name> on local, planned. Nothing ran.",
        "1 Look · local · runs at once · read-only: lists files",
        f"    ls {home}/marks",
        "2 Make it · local · asks first · changes configuration: makes or changes files",
        f"    touch {home}/marks/two",
    ]
    assert not list((home / "marks").iterdir())


def test_a_run_begins_and_asks_as_in_chat(home: Path) -> None:
    code, told, _ = run(home, "marks", "--target", "local", "--with", "name=two", said="go ahead\nruns\n")
    assert code == 0
    assert (home / "marks" / "two").exists()
    assert "✓ leave marks for two on local: done. 2 steps" in told
    assert "leave marks for two on local: completed" in told


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("mark",), 'mark: there is no such runbook. Did you mean "marks"?'),
        (("marks", "--with", "name"), "name: say it as name=value"),
    ],
)
def test_what_means_nothing_is_told_before_anything_is_said(
    home: Path, words: tuple[str, ...], why: str
) -> None:
    code, told, errors = run(home, *words)
    assert (code, told) == (1, "")
    assert errors.startswith(why[:20])
