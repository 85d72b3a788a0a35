"""A change of nginx's configuration, against a real nginx with a private configuration and port."""

import contextlib
import os
import shutil
import signal
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from gate.supervise.state import RunState
from tests.library.drive import Answer, Drive, agree, asks_as_it_says, laid_open, play, refuse
from tests.sshd import free_port

NGINX = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
pytestmark = pytest.mark.skipif(NGINX is None, reason="nginx is not here; .ci/run installs it")

MAIN = """\
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 64; }}
http {{
  access_log off;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  include {folder}/site.conf;
}}
"""
SITE = "server {{ listen 127.0.0.1:{port}; location / {{ return {answer}; }} }}\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Web:
    """A running nginx."""

    folder: Path
    port: int

    @property
    def site(self) -> Path:
        return self.folder / "site.conf"

    def write(self, name: str, answer: str) -> Path:
        """Write a site that answers so."""
        file = self.folder / name
        file.write_text(SITE.format(port=self.port, answer=answer))
        return file

    def says(self) -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/", timeout=30) as answer:
            return str(answer.read().decode())

    def change(self, new: Path, *, answer: Answer = agree, **more: object) -> Drive:
        inputs = {
            "new": str(new),
            "file": str(self.site),
            "main": str(self.folder / "nginx.conf"),
            "check": f"http://127.0.0.1:{self.port}/",
        }
        played = play("nginx-config-change", inputs, answer=answer, **more)  # type: ignore[arg-type] # by name
        assert asks_as_it_says(laid_open("nginx-config-change"), played) == []
        return played


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[Web]:
    """Run nginx with everything that is its own in `folder`."""
    made = Web(folder=folder, port=free_port())
    (folder / "nginx.conf").write_text(MAIN.format(folder=folder))
    made.write("site.conf", '200 "old"')
    subprocess.run([str(NGINX), "-c", str(folder / "nginx.conf")], check=True, capture_output=True)
    try:
        yield made
    finally:
        with contextlib.suppress(OSError, ValueError):
            os.kill(int((folder / "nginx.pid").read_text()), signal.SIGTERM)


@pytest.fixture
def web(tmp_path: Path) -> Iterator[Web]:
    with serving(tmp_path) as made:
        yield made


def says_soon(web: Web, wanted: str) -> bool:
    """Whether it answers so within a moment: old workers finish what they have."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            if web.says() == wanted:
                return True
        time.sleep(0.05)
    return False


def test_a_good_change_is_shown_tested_and_taken_up(web: Web) -> None:
    changed = web.change(web.write("new.conf", '200 "new"'))
    assert changed.outcome == "completed"
    assert changed.asked == ["differs", "put", "reload"]
    assert "+server { listen" in changed.output("differs")
    assert says_soon(web, "new")
    assert (web.folder / "site.conf.before-change").read_text().count('"old"') == 1


def test_what_nginx_does_not_understand_is_put_back(web: Web) -> None:
    (web.folder / "new.conf").write_text("server { listen nonsense; }\n")
    before = web.site.read_text()
    changed = web.change(web.folder / "new.conf")
    assert (changed.outcome, changed.steps[-2:]) == ("aborted", ["placed", "restore"])
    assert "test failed" in changed.output("put")
    assert (web.site.read_text(), says_soon(web, "old")) == (before, True)


def test_a_site_that_does_not_answer_as_it_should_is_put_back(web: Web) -> None:
    def settle(state: RunState) -> None:
        if state.current == "answers":
            time.sleep(1)  # the step before waits for as long on a real clock

    changed = web.change(web.write("new.conf", "503"), before=settle)
    assert (changed.outcome, changed.steps[-2:]) == ("aborted", ["answers", "restore"])
    assert says_soon(web, "old")


def test_what_was_broken_before_is_not_touched(web: Web) -> None:
    web.site.write_text("broken already\n")
    web.write("site.conf.before-change", '200 "of another day"')
    changed = web.change(web.write("new.conf", '200 "new"'))
    assert (changed.outcome, changed.steps[-2:]) == ("failed", ["put", "placed"])
    assert web.site.read_text() == "broken already\n"


def test_the_same_again_changes_nothing(web: Web) -> None:
    changed = web.change(web.write("new.conf", '200 "old"'))
    assert (changed.outcome, changed.steps[-1]) == ("failed", "differs")


def test_a_no_to_the_reload_leaves_what_runs(web: Web) -> None:
    changed = web.change(web.write("new.conf", '200 "new"'), answer=refuse("reload"))
    assert (changed.outcome, web.says()) == ("aborted", "old")
    assert changed.state.undo == "restore", "the file is in place, and can be put back"
