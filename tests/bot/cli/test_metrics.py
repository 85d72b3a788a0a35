"""Metrics of a real sayso serve: off unless switched on, of this machine alone, no reason not to start."""

import socket
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.bot.cli.test_chat import PATIENCE_S, environ, say, serving, subprocess_out
from tests.sshd import free_port

__all__ = ["environ"]


def in_metrics(words: str, port: int) -> None:
    """Wait until it listens and has counted its old entries: without them it shows no counter."""
    deadline = time.monotonic() + PATIENCE_S
    while words not in (found := scraped(port)):
        assert time.monotonic() < deadline, found
        time.sleep(0.05)


def scraped(port: int) -> str:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=PATIENCE_S) as answer:
            return str(answer.read().decode())
    except urllib.error.URLError as error:
        return str(error)


def in_status(words: str, environ: dict[str, str]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while words not in (found := subprocess_out("status", environ=environ)):
        assert time.monotonic() < deadline, found
        time.sleep(0.1)


def test_what_is_done_is_counted(environ: dict[str, str]) -> None:
    port = free_port()
    environ |= {"SAYSO_METRICS_LISTEN": f"127.0.0.1:{port}"}
    with serving(environ):
        say("run true on local", environ=environ)
        in_metrics('sayso_actions_total{end="succeeded"} 1.0', port)
        in_status(f"ok · http://127.0.0.1:{port}/metrics", environ)
        assert f"✓ metrics           http://127.0.0.1:{port}/metrics" in subprocess_out(
            "doctor", environ=environ
        )
    with serving(environ):
        in_metrics('sayso_actions_total{end="succeeded"} 1.0', port)


def test_a_port_that_is_taken_keeps_nothing_from_running(environ: dict[str, str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        environ |= {"SAYSO_METRICS_LISTEN": f"127.0.0.1:{port}"}
        with serving(environ):
            in_status(f"NOT OK · 127.0.0.1:{port} cannot be listened on", environ)
            assert say("targets", environ=environ).startswith("local")
            told = subprocess_out("doctor", environ=environ)
            assert f"▲ metrics           127.0.0.1:{port} cannot be listened on" in told
            assert f"ss -ltnp | grep {port}" in told


@pytest.mark.parametrize("address", ["0.0.0.0:9464", "9464"])
def test_an_address_of_others_is_a_config_error(
    environ: dict[str, str],
    tmp_path: Path,
    address: str,
) -> None:
    config = tmp_path / "config.toml"
    config.write_text(f'[metrics]\nlisten = "{address}"\n')
    environ |= {"SAYSO_CONFIG": str(config)}
    with pytest.raises(Exception, match="non-zero exit status"):
        subprocess_out("config", "check", environ=environ)
