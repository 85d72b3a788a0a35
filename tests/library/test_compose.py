"""A deployment with docker compose, against a simulated `docker`: tests have no container engine."""

import contextlib
import json
import os
import signal
import sys
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.library.drive import Answer, Drive, agree, asks_as_it_says, laid_open, play, refuse
from tests.sshd import free_port

SIMULATION = Path(__file__).parents[1] / "simulators" / "docker" / "main.py"
COMPOSE = """\
services:
  web:
    image: registry.example/app:${{TAG}}
    ports:
      - "127.0.0.1:{port}:80"
"""
STATE = {"tags": ["1.0", "1.1", "1.2", "1.3"], "unhealthy": ["1.2"], "broken": ["1.3"]}


@dataclass(frozen=True, slots=True, kw_only=True)
class App:
    """A project of which version 1.0 runs."""

    folder: Path
    port: int

    @property
    def project(self) -> Path:
        return self.folder / "app"

    def says(self) -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/", timeout=30) as answer:
            return str(answer.read().decode().strip())

    def deploy(self, tag: str, *, answer: Answer = agree) -> Drive:
        inputs = {
            "folder": str(self.project),
            "tag": tag,
            "check": f"http://127.0.0.1:{self.port}/",
        }
        path = f"{self.folder / 'bin'}:/usr/bin:/bin"
        played = play("docker-compose-deploy", inputs, path=path, answer=answer)
        assert asks_as_it_says(laid_open("docker-compose-deploy"), played) == []
        return played


@contextlib.contextmanager
def deployed(folder: Path) -> Iterator[App]:
    """Let a project run in `folder`, with a simulated docker on its path."""
    made = App(folder=folder, port=free_port())
    made.project.mkdir()
    (made.project / "compose.yaml").write_text(COMPOSE.format(port=made.port))
    (made.project / ".env").write_text("PASSWORD=hunter2\nTAG=1.0\n")
    (folder / "state.json").write_text(json.dumps(STATE))
    docker = folder / "bin" / "docker"
    docker.parent.mkdir()
    docker.write_text(f'#!/bin/sh\nexec {sys.executable} -I {SIMULATION} {folder} "$@"\n')
    docker.chmod(0o755)
    try:
        assert os.system(f"{docker} compose --project-directory {made.project} up -d --wait 2>/dev/null") == 0
        yield made
    finally:
        with contextlib.suppress(OSError):
            os.killpg(int((folder / "web.pid").read_text()), signal.SIGKILL)


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    with deployed(tmp_path) as made:
        yield made


def test_a_version_is_deployed(app: App) -> None:
    deployed = app.deploy("1.1")
    assert (deployed.outcome, deployed.asked) == ("completed", ["put", "pull", "up"])
    assert app.says() == "version 1.1"
    assert (app.project / ".env").read_text() == "PASSWORD=hunter2\nTAG=1.1\n"


@pytest.mark.parametrize(
    ("tag", "failed", "said"),
    [
        ("9.9", "pull", "manifest unknown"),
        ("1.2", "up", "is unhealthy"),
        ("1.3", "answers", "500"),
    ],
)
def test_what_does_not_come_up_is_taken_back(app: App, tag: str, failed: str, said: str) -> None:
    back = app.deploy(tag)
    assert (back.outcome, back.steps[-2:]) == ("aborted", [failed, "restore"])
    assert said in back.output(failed)
    assert (app.says(), (app.project / ".env").read_text()) == ("version 1.0", "PASSWORD=hunter2\nTAG=1.0\n")


def test_a_compose_file_that_is_wrong_is_found_before_anything_is_asked(app: App) -> None:
    (app.project / "compose.yaml").write_text("services:\n  web:\n    imgae: x\n")
    wrong = app.deploy("1.1")
    assert (wrong.outcome, wrong.asked) == ("failed", [])


def test_a_variable_that_is_not_there_changes_nothing(app: App) -> None:
    (app.project / ".env").write_text("VERSION=1.0\nTAGS=1\n")
    wrong = app.deploy("1.1")
    assert (wrong.outcome, wrong.steps[-1]) == ("failed", "put")
    assert (app.project / ".env").read_text() == "VERSION=1.0\nTAGS=1\n"


def test_a_rollback_that_nobody_agrees_to_does_not_happen(app: App) -> None:
    left = app.deploy("1.2", answer=refuse("restore"))
    assert (left.outcome, app.says()) == ("aborted", "version 1.2")
