"""Services of a host, against simulated systemd: restarted, triaged, repaired, and what goes wrong."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.library.drive import Answer, Drive, agree, asks_as_it_says, laid_open, play, refuse
from tests.simulators.systemd.host import Machine, machine, unit

LOG = [
    {"unit": "caddy.service", "priority": "info", "text": f"served request {number} in {number} ms"}
    for number in range(30)
] + [{"unit": "caddy.service", "priority": "err", "text": "cannot open /srv/www: no such folder"}]


def run(host: Machine, name: str, answer: Answer = agree, **inputs: Any) -> Drive:
    """Play a runbook on `host`; whoever is asked is asked as its document says."""
    drive = play(name, inputs, path=host.path, answer=answer)
    assert asks_as_it_says(laid_open(name), drive) == []
    return drive


# ---------------------------------------------------------------- restart with a health check


class _Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:  # its base calls it so
        self.send_response(200 if self.path == "/" else 404)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Keep quiet."""


@pytest.fixture
def port() -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Page) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        yield server.server_port
        server.shutdown()
        serving.join()


def test_a_service_is_restarted_and_looked_at(tmp_path: Path) -> None:
    with machine(tmp_path / "m", units={"caddy.service": unit(slow=2)}) as host:
        done = run(host, "restart-with-check", service="caddy")
        assert (done.outcome, done.asked) == ("completed", ["restart"])
        assert done.steps == ["before", "restart", "active", "active", "active", "steady"]
        assert host.state["started"] == ["caddy.service"]


def test_an_address_has_to_answer_where_there_is_one(tmp_path: Path, port: int) -> None:
    with machine(tmp_path / "m", units={"caddy.service": unit()}) as host:
        done = run(host, "restart-with-check", service="caddy", url=f"http://127.0.0.1:{port}/")
        assert (done.outcome, done.output("answers")) == ("completed", "200")
        missing = run(host, "restart-with-check", service="caddy", url=f"http://127.0.0.1:{port}/none")
        assert missing.outcome == "failed"
        assert missing.steps.count("answers") == 4
        assert missing.steps[-1] == "logs"


@pytest.mark.parametrize(
    ("fault", "last"),
    [
        ({"fails": 1}, "restart"),
        ({"dies": True}, "active"),
        ({"flaps": 3}, "steady"),
        ({"slow": 9}, "active"),
    ],
)
def test_a_restart_that_does_not_help_shows_the_log_and_fails(
    tmp_path: Path, fault: dict[str, Any], last: str
) -> None:
    with machine(tmp_path / "m", units={"caddy.service": unit(**fault)}, journal=LOG) as host:
        done = run(host, "restart-with-check", service="caddy")
        assert (done.outcome, done.steps[-2:]) == ("failed", [last, "logs"])
        assert "no such folder" in done.output("logs")


def test_a_service_that_is_not_there_is_not_restarted(tmp_path: Path) -> None:
    with machine(tmp_path / "m") as host:
        done = run(host, "restart-with-check", service="cady")
        assert (done.outcome, done.steps, host.state["started"]) == ("failed", ["before"], [])


def test_a_no_leaves_the_service_as_it_is(tmp_path: Path) -> None:
    with machine(tmp_path / "m", units={"caddy.service": unit()}) as host:
        done = run(host, "restart-with-check", refuse("restart"), service="caddy")
        assert (done.outcome, done.steps, host.state["started"]) == ("aborted", ["before"], [])


# ---------------------------------------------------------------- triage


def test_triage_only_reads_and_counts_messages(tmp_path: Path) -> None:
    with machine(tmp_path / "m", units={"caddy.service": unit()}, journal=LOG) as host:
        done = run(host, "triage-service", service="caddy", hours=2)
        assert (done.outcome, done.asked) == ("completed", [])
        assert "     30 served request N in N ms" in done.output("patterns")
        assert "served" not in done.output("errors")
        assert "no such folder" in done.output("errors")


def test_triage_hands_a_service_that_is_down_to_a_person(tmp_path: Path) -> None:
    with machine(tmp_path / "m", units={"caddy.service": unit("failed")}) as host:
        down = run(host, "triage-service", service="caddy")
        assert (down.outcome, down.state.inputs["state"]) == ("escalated", "failed")
        assert run(host, "triage-service", service="cady").outcome == "failed"


# ---------------------------------------------------------------- failed units


def test_the_first_failed_unit_is_repaired(tmp_path: Path) -> None:
    units = {
        "backup.service": unit("failed", oneshot=True),
        "caddy.service": unit("failed"),
        "x.service": unit(),
    }
    with machine(tmp_path / "m", units=units, journal=LOG) as host:
        done = run(host, "repair-failed-units")
        assert (done.outcome, done.asked) == ("completed", ["restart"])
        assert "no such folder" in done.output("each")
        assert host.state["started"] == ["backup.service"]
        assert done.state.inputs["count"] == "1"
        named = run(host, "repair-failed-units", service="caddy")
        assert (named.outcome, host.unit("caddy.service")["active"]) == ("completed", "active")
        assert run(host, "repair-failed-units").steps == ["count"]


def test_a_unit_that_fails_again_shows_its_log(tmp_path: Path) -> None:
    with machine(tmp_path / "m", units={"caddy.service": unit("failed", dies=True)}) as host:
        done = run(host, "repair-failed-units")
        assert (done.outcome, done.steps.count("healthy"), done.steps[-1]) == ("failed", 3, "logs")
        assert "Failed with result 'exit-code'" in done.output("logs")


# ---------------------------------------------------------------- memory and swap

#: MiB of a process -> its service.
EATERS = {900: "java.service", 800: "ssh.service", 700: "user@1000.service", 20: "caddy.service"}
PROCESSES = [{"rss": rss * 1024, "unit": name, "user": "app", "comm": "x"} for rss, name in EATERS.items()]


def short_of_memory(tmp_path: Path, **more: Any) -> Any:
    units = {"java.service": unit(**more.pop("java", {}))}
    return machine(tmp_path / "m", simulated=("ps", "free"), units=units, **{"processes": PROCESSES, **more})


def test_memory_pressure_is_looked_at_and_nothing_else(tmp_path: Path) -> None:
    killed = [{"unit": "kernel", "priority": "info", "text": "Out of memory: Killed process 7 (java)"}]
    with short_of_memory(tmp_path, available=[4], journal=killed) as host:
        done = run(host, "memory-pressure")
        assert (done.outcome, done.asked, host.state["started"]) == ("escalated", [], [])
        assert "Killed process 7" in done.output("killed")
        assert "java.service" in done.output("eaters")
    with short_of_memory(tmp_path / "2", available=[40]) as host:
        assert run(host, "memory-pressure").outcome == "completed"


def test_the_worst_service_is_restarted_and_memory_is_measured_again(tmp_path: Path) -> None:
    with short_of_memory(tmp_path, available=[4, 4, 60]) as host:
        done = run(host, "memory-pressure", act="restart")
        assert (done.outcome, done.asked, host.state["started"]) == (
            "completed",
            ["restart"],
            ["java.service"],
        )
        assert done.state.inputs["available"] == "60"


def test_what_holds_the_machine_together_is_never_the_worst(tmp_path: Path) -> None:
    with short_of_memory(tmp_path, available=[4], processes=PROCESSES[1:3]) as host:
        done = run(host, "memory-pressure", act="restart")
        assert (done.outcome, done.steps[-1], host.state["started"]) == ("escalated", "worst", [])


@pytest.mark.parametrize(
    ("java", "available", "outcome"),
    [({"fails": 1}, [4], "failed"), ({"dies": True}, [4], "failed"), ({}, [4], "escalated")],
)
def test_a_restart_that_does_not_free_memory_is_said(
    tmp_path: Path, java: dict[str, Any], available: list[int], outcome: str
) -> None:
    with short_of_memory(tmp_path, available=available, java=java) as host:
        assert run(host, "memory-pressure", act="restart").outcome == outcome


@pytest.mark.parametrize(
    ("swap", "moving", "outcome", "last"),
    [
        ([0, 0, 0], 0, "completed", "used"),
        ([1000, 100, 900], 0, "completed", "eager"),
        ([1000, 900, 100], 0, "escalated", "eager"),
        ([1000, 100, 900], 5000, "escalated", "eager"),
    ],
)
def test_swap_is_measured(tmp_path: Path, swap: list[int], moving: int, outcome: str, last: str) -> None:
    with machine(tmp_path / "m", simulated=("free", "vmstat"), swap=swap, moving=moving) as host:
        done = run(host, "swap-activity")
        assert (done.outcome, done.steps[-1], done.asked) == (outcome, last, [])


# ---------------------------------------------------------------- clock and timers


def test_the_clock_is_put_in_sync(tmp_path: Path) -> None:
    clock = {"ntp": False, "can": True, "asked": False, "after": 4}
    with machine(tmp_path / "m", units={"systemd-timesyncd.service": unit()}, clock=clock) as host:
        done = run(host, "fix-clock")
        assert (done.outcome, done.asked) == ("completed", ["on", "restart"])
        assert done.steps.count("again") == 4
        assert run(host, "fix-clock").steps[-1] == "synced"


def test_a_clock_that_stays_wrong_is_for_a_person(tmp_path: Path) -> None:
    clock = {"ntp": False, "can": True, "asked": False, "after": 99}
    units = {"systemd-timesyncd.service": unit()}
    with machine(tmp_path / "m", units=units, clock=clock) as host:
        done = run(host, "fix-clock")
        assert (done.outcome, done.steps.count("again"), done.steps[-1]) == ("escalated", 7, "why")
        assert done.state.undo == "off"
    with machine(tmp_path / "2", clock={**clock, "can": False}) as host:
        assert (run(host, "fix-clock").steps[-1], host.state["clock"]["ntp"]) == ("can", False)


@pytest.mark.parametrize(
    ("cron", "text", "other", "outcome"),
    [
        ("active", "(root) CMD (run-parts)", "active", "completed"),
        ("failed", "(root) CMD (run-parts)", "active", "escalated"),
        ("active", "(root) BAD FILE MODE: error", "active", "escalated"),
        ("active", "(root) CMD (run-parts)", "failed", "escalated"),
    ],
)
def test_timers_and_cron_jobs_are_checked(
    tmp_path: Path, cron: str, text: str, other: str, outcome: str
) -> None:
    units = {"cron.service": unit(cron), "backup.service": unit(other), "backup.timer": unit()}
    journal = [{"unit": "cron.service", "priority": "info", "text": text}]
    with machine(tmp_path / "m", units=units, journal=journal) as host:
        done = run(host, "check-timers")
        assert (done.outcome, done.asked) == (outcome, [])
        assert "backup.timer" in done.output("timers")
