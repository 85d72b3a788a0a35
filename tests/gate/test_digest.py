"""Digests: every field that decides what runs is covered, and nothing else is (D5)."""

import hashlib
from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.digest import action_digest, identity, list_digest, short
from gate.domain import Action, ActionId, Digest, Target, TargetId, TargetKind, TargetState
from tests.gate.makers import action

BASE = action()

#: field of the action -> a value that makes another action of it.
COVERED: dict[str, object] = {
    "act": "remind",
    "command": "systemctl restart caddy ",
    "workdir": "/srv",
    "env": (("A", "1"),),
    "timeout_s": 601,
    "verify": "systemctl is-active caddy",
    "runbook": "r7#2",
}
NOT_COVERED: dict[str, object] = {
    "id": ActionId("m4d1x9.3"),
    "index": 3,
    "purpose": "another",
    "declared_risk": "destructive",
}
COVERED_TARGET: dict[str, object] = {
    "id": TargetId("web2"),
    "kind": TargetKind.LOCAL,
    "address": "10.0.0.2",
    "port": 2222,
    "user": "root",
    "via": TargetId("pve1"),
    "become": "root",
    "shell": "sh",
    "host_keys": ("SHA256:x",),
    "wrapper": ("pct", "exec", "112", "--"),
}
NOT_COVERED_TARGET: dict[str, object] = {
    "tags": ("db",),
    "depends_on": ("pve1",),
    "state": TargetState.DESTROYED,
    "never_auto_act": True,
}


def _action_with(name: str, value: object) -> Action:
    return replace(BASE, **{name: value})  # type: ignore[arg-type] # any field of the tables


def _target_with(name: str, value: object) -> Action:
    target = replace(BASE.target, **{name: value})  # type: ignore[arg-type] # any field of the tables
    return replace(BASE, target=target)


def test_every_field_was_thought_about() -> None:
    assert {one.name for one in fields(Action)} == {*COVERED, *NOT_COVERED, "target"}
    assert {one.name for one in fields(Target)} == {*COVERED_TARGET, *NOT_COVERED_TARGET}


@pytest.mark.parametrize(("name", "value"), COVERED.items())
def test_another_action_has_another_digest(name: str, value: object) -> None:
    assert action_digest(_action_with(name, value)) != action_digest(BASE)


@pytest.mark.parametrize(("name", "value"), COVERED_TARGET.items())
def test_another_target_has_another_digest(name: str, value: object) -> None:
    assert action_digest(_target_with(name, value)) != action_digest(BASE)


@pytest.mark.parametrize(("name", "value"), NOT_COVERED.items())
def test_what_does_not_change_the_run_does_not_change_the_digest(name: str, value: object) -> None:
    assert action_digest(_action_with(name, value)) == action_digest(BASE)


@pytest.mark.parametrize(("name", "value"), NOT_COVERED_TARGET.items())
def test_labels_of_a_target_do_not_change_the_digest(name: str, value: object) -> None:
    assert action_digest(_target_with(name, value)) == action_digest(BASE)


def test_the_digest_can_be_computed_by_hand() -> None:
    covered = (
        '{"act":"exec","command":"systemctl restart caddy","env":[],"format":"sayso-action/1","runbook":null,'
        '"shell":"bash","targets":[{"address":"10.0.0.1","become":"","host_keys":[],"id":"web1","kind":"ssh",'
        '"port":22,"user":"","via":"","wrapper":[]}],"timeout_s":600,"verify":null,"workdir":""}'
    )
    assert action_digest(BASE) == hashlib.sha256(covered.encode()).hexdigest()


def test_the_host_is_named_where_a_container_is_reached_through_it() -> None:
    assert identity(replace(BASE.target, via=TargetId("pve1")))["via"] == "pve1"


def test_bytes_that_were_no_utf_8_count() -> None:
    one, other = (replace(BASE, command=f"cat {byte}") for byte in ("\udcff", "\udcfe"))
    assert action_digest(one) != action_digest(other)


def test_a_list_is_its_actions_in_order() -> None:
    one, other = Digest("a" * 64), Digest("b" * 64)
    found = {list_digest(digests) for digests in ([], [one], [one, other], [other, one], [one, one])}
    assert len(found) == 5
    assert list_digest([one]) != one


def test_people_see_twelve_digits() -> None:
    assert short(action_digest(BASE)) == action_digest(BASE)[:12]


@given(st.text(), st.text())
def test_the_same_command_and_only_it_has_the_same_digest(one: str, other: str) -> None:
    digests = [action_digest(replace(BASE, command=command)) for command in (one, other)]
    assert (digests[0] == digests[1]) is (one == other)
