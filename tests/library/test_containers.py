"""Containers on a Proxmox VE node: provisioned, used and destroyed, and what goes wrong with that."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gate.supervise.state import RunState
from tests.library.drive import Answer, Drive, agree, asks_as_it_says, laid_open, play, refuse, unasked
from tests.simulators.proxmox.host import Host, proxmox

OURS = {"hostname": "web7", "tags": "sayso", "arch": "amd64", "memory": "1024"}


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    with proxmox(tmp_path / "node") as made:
        yield made


def provision(host: Host, *, answer: Answer = agree, **more: Any) -> Drive:
    before = more.pop("before", lambda _: None)
    inputs = {"hostname": "web7", "port": host.state["http_port"], **more}
    return play("provision-lxc", inputs, path=host.path, home=home(host), answer=answer, before=before)


def destroy(host: Host, vmid: int, *, answer: Answer = agree) -> Drive:
    return play("destroy-lxc", {"vmid": vmid}, path=host.path, home=home(host), answer=answer)


def home(host: Host) -> str:
    return str(host.folder / "home")


def test_a_free_vmid_is_found_and_is_a_number(host: Host) -> None:
    host.add("100")
    found = play("free-vmid", {}, path=host.path, home=home(host))
    assert (found.outcome, found.state.inputs["vmid"], found.asked) == ("completed", "101", [])


def test_provision_use_destroy(host: Host) -> None:
    made = provision(host)
    assert made.outcome == "completed"
    assert made.asked == ["dns", "download", "create", "start", "install", "answers"]
    assert unasked(made) == ["space", "newest", "have", "vmid/next", "network"]
    assert asks_as_it_says(laid_open("provision-lxc"), made) == []
    assert made.state.inputs["template"] == "debian-12-standard_12.12-1_amd64.tar.zst", (
        "newest, not last by name"
    )
    used = host.run(f"curl -sS http://{made.state.inputs['ip']}:{host.state['http_port']}/")
    assert "Welcome to nginx!" in used.stdout
    gone = destroy(host, 100)
    assert (gone.outcome, gone.asked, host.guests) == ("completed", ["stop", "destroy"], [])
    assert asks_as_it_says(laid_open("destroy-lxc"), gone) == []


def test_a_template_that_is_there_is_not_downloaded(host: Host) -> None:
    host.add_template()
    assert "download" not in provision(host).steps


def test_without_a_port_nothing_is_asked_of_it(host: Host) -> None:
    made = provision(host, package="curl", port=0)
    assert (made.outcome, made.steps[-1]) == ("completed", "install")


def test_the_network_may_take_its_time(host: Host) -> None:
    host.faults(network_after=3)
    made = provision(host)
    assert (made.outcome, made.steps.count("network")) == ("completed", 4)


# ---------------------------------------------------------------- what goes wrong before there is a container


@pytest.mark.parametrize(
    ("faults", "last"),
    [({"node_dns": True}, "dns"), ({"download_dns": 1}, "download")],
)
def test_broken_names_on_the_node_stop_it_before_anything_is_made(
    host: Host, faults: dict[str, Any], last: str
) -> None:
    host.faults(**faults)
    failed = provision(host)
    assert (failed.outcome, failed.steps[-1], host.guests) == ("failed", last, [])


def test_a_full_storage_stops_it_before_anything_is_made(host: Host) -> None:
    full = {name: dict(one, used=one["total"] * 96 // 100) for name, one in host.state["storages"].items()}
    host.change(storages=full)
    failed = provision(host)
    assert (failed.outcome, failed.steps[-1], host.guests) == ("failed", "space", [])


def test_a_system_without_a_template_stops_it(host: Host) -> None:
    failed = provision(host, system="plan9-standard")
    assert (failed.outcome, failed.steps[-1], host.guests) == ("failed", "newest", [])


def test_a_storage_that_fills_up_meanwhile_leaves_nothing(host: Host) -> None:
    def fill(state: RunState) -> None:
        if state.current == "create":
            storages = host.state["storages"]
            storages["local-lvm"]["used"] = storages["local-lvm"]["total"]
            host.change(storages=storages)

    failed = provision(host, before=fill)
    assert "reached threshold" in failed.output("create")
    assert (failed.outcome, failed.steps[-2:], host.guests) == ("failed", ["create", "taken"], [])


# ---------------------------------------------------------------- numbers that somebody else took


def test_a_vmid_that_was_taken_meanwhile_is_given_up_and_asked_about_anew(host: Host) -> None:
    host.faults(vmid_race=1)
    made = provision(host)
    assert (made.outcome, made.state.inputs["vmid"]) == ("completed", "101")
    assert made.asked.count("create") == 2, "another command, another question"
    assert host.state["guests"]["100"]["config"]["hostname"] == "somebody-elses-100"


def test_a_container_of_somebody_else_is_never_destroyed(host: Host) -> None:
    host.faults(vmid_race=9)
    failed = provision(host)
    assert (failed.outcome, failed.steps.count("create")) == ("escalated", 3)
    assert host.guests == ["100", "101", "102"]
    assert "remove" not in failed.steps


def test_half_of_what_was_to_be_made_is_for_a_person(host: Host) -> None:
    def half(state: RunState) -> None:
        if state.current == "create":
            host.add("100", "web7", config=OURS, lock="create")

    stuck = provision(host, before=half)
    assert (stuck.outcome, stuck.steps[-2:], host.guests) == ("escalated", ["taken", "whose"], ["100"])


# ---------------------------------------------------------------- what goes wrong with it, and is undone


@pytest.mark.parametrize(
    ("faults", "last"),
    [
        ({"start_fails": 1}, "start"),
        ({"network_after": 99}, "network"),
        ({"container_dns": True}, "install"),
        ({"service_fails": 9}, "answers"),
    ],
)
def test_what_was_made_is_destroyed_again_once_a_person_agrees(
    host: Host, faults: dict[str, Any], last: str
) -> None:
    host.faults(**faults)
    host.add("105", "bystander")
    undone = provision(host)
    assert undone.steps[-3:] == [last, "undo", "remove"]
    assert (undone.outcome, undone.asked[-1], host.guests) == ("aborted", "remove", ["105"])
    assert asks_as_it_says(laid_open("provision-lxc"), undone) == []


def test_broken_names_inside_are_told_by_the_program_itself(host: Host) -> None:
    host.faults(container_dns=True)
    undone = provision(host)
    assert "Temporary failure resolving 'deb.debian.org'" in undone.output("install")


def test_a_package_that_does_not_exist_is_undone(host: Host) -> None:
    undone = provision(host, package="ngnix")
    assert "E: Unable to locate package ngnix" in undone.output("install")
    assert (undone.outcome, host.guests) == ("aborted", [])


def test_locales_that_are_not_there_disturb_nothing(host: Host) -> None:
    host.faults(container_locales=True)
    made = provision(host)
    assert (made.outcome, "perl: warning" in made.output("install")) == ("completed", False)
    assert "perl: warning" in host.run("pct exec 100 -- apt-get update").stderr, "they would have warned"


def test_it_is_not_undone_where_nobody_agrees(host: Host) -> None:
    host.faults(start_fails=1)
    left = provision(host, answer=refuse("remove"))
    assert (left.outcome, host.guests) == ("aborted", ["100"])


def test_what_looks_like_another_container_is_not_undone(host: Host) -> None:
    host.faults(start_fails=1)

    def rename(state: RunState) -> None:
        if state.current == "undo":
            host.add("100", "renamed")

    left = provision(host, before=rename)
    assert (left.outcome, left.steps[-1], host.guests) == ("escalated", "undo", ["100"])


@pytest.mark.parametrize("step", ["dns", "create", "install"])
def test_a_no_ends_it_where_it_stands(host: Host, step: str) -> None:
    ended = provision(host, answer=refuse(step))
    assert (ended.outcome, ended.asked[-1], step in ended.steps) == ("aborted", step, False)


# ---------------------------------------------------------------- destroying


def test_a_stopped_container_is_not_stopped_again(host: Host) -> None:
    host.add("112")
    assert destroy(host, 112).steps == ["who", "depends", "running", "destroy", "gone"]


def test_who_depends_on_it_is_shown_before_anything_is_asked(host: Host) -> None:
    host.add("112", snapshots=["before-upgrade"])
    host.change(ha=["ct:112"], backup_jobs=[{"id": "backup-1", "vmid": "112"}])
    gone = destroy(host, 112)
    for word in ("before-upgrade", "ct:112", "backup-1"):
        assert word in gone.output("depends")
    assert (gone.outcome, host.state["ha"]) == ("completed", [])


def test_nothing_is_done_to_a_container_that_is_not_there(host: Host) -> None:
    failed = destroy(host, 112)
    assert (failed.outcome, failed.steps, failed.asked) == ("failed", ["who"], [])


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"lock": "backup"}, "CT is locked (backup)"),
        ({"config": {"hostname": "old", "protection": "1"}}, "protection mode enabled"),
    ],
)
def test_what_cannot_be_destroyed_is_for_a_person(host: Host, more: dict[str, Any], said: str) -> None:
    host.add("112", **more)
    stuck = destroy(host, 112)
    assert (stuck.outcome, host.guests) == ("escalated", ["112"])
    assert said in stuck.output("destroy")


def test_a_refused_destruction_leaves_it(host: Host) -> None:
    host.add("112")
    left = destroy(host, 112, answer=refuse("destroy"))
    assert (left.outcome, host.guests) == ("aborted", ["112"])
