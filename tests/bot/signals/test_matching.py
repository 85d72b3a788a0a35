"""Matching: which target and which document an alert's labels mean, and how sure that is."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from bot.inventory import ServiceConfig, TargetConfig, build
from bot.loading.library import load_library
from bot.signals.matching import Matched, host_of, match, words_of
from bot.signals.rules import SignalRule
from gate.domain import TargetKind, TargetState
from gate.signals import Signal, SignalStatus
from tests.kit import START

INVENTORY = build(
    {
        "web1": TargetConfig(kind=TargetKind.SSH, address="10.0.0.11"),
        "web2": TargetConfig(kind=TargetKind.SSH, address="web2.example.org"),
        "db1": TargetConfig(kind=TargetKind.SSH, address="10.0.0.21"),
        "gone": TargetConfig(kind=TargetKind.SSH, address="10.0.0.99", state=TargetState.DESTROYED),
    },
    {"caddy": ServiceConfig(on=("web1",)), "postgres": ServiceConfig(on=("db1", "web2"))},
)
LIBRARY = load_library()


def matched(labels: Mapping[str, str], *rules: SignalRule) -> Matched:
    core: Any = SimpleNamespace(inventory=INVENTORY, library=LIBRARY, signal_rules=rules)
    signal = Signal(
        source="am", fingerprint="f", status=SignalStatus.FIRING, starts_at=START, labels=dict(labels)
    )
    return match(core, signal)


@pytest.mark.parametrize(
    ("labels", "target", "confidence"),
    [
        ({"instance": "web1"}, "web1", 1.0),
        ({"instance": "web1:9100"}, "web1", 1.0),
        ({"instance": "WEB1:9100"}, "web1", 1.0),
        ({"instance": "10.0.0.11:9100"}, "web1", 1.0),
        ({"instance": "https://web2.example.org/metrics"}, "web2", 1.0),
        ({"host": "web2.example.org."}, "web2", 1.0),
        ({"hostname": "web1", "instance": "10.0.0.11:9100"}, "web1", 1.0),
        ({"instance": "web1.staging.example.org"}, "web1", 0.8),  # may be a namesake
        ({"instance": "web1", "host": "db1"}, "", 0.5),  # they say two things
        ({"service": "caddy"}, "web1", 0.9),
        ({"service": "caddy.service"}, "web1", 0.9),
        ({"job": "postgres"}, "", 0.5),  # on two
        ({"instance": "10.0.0.99"}, "", 0.0),  # destroyed
        ({"instance": "web9"}, "", 0.0),
        ({"instance": ""}, "", 0.0),
        ({}, "", 0.0),
    ],
)
def test_a_target_is_known_by_its_name_its_address_or_its_service(
    labels: Mapping[str, str], target: str, confidence: float
) -> None:
    found = matched({"alertname": "DiskFull", **labels}).target
    assert (found.name, found.confidence) == (target, confidence)


@pytest.mark.parametrize(
    ("value", "host"),
    [
        ("web1", "web1"),
        ("web1:9100", "web1"),
        ("https://web1:9100/metrics?x=1", "web1"),
        ("user@web1", "web1"),
        ("[2001:db8::1]:9100", "2001:db8::1"),
        ("2001:db8::1", "2001:db8::1"),
        ("web1.example.org.", "web1.example.org"),
        ("", ""),
    ],
)
def test_a_host_is_read_out_of_an_instance(value: str, host: str) -> None:
    assert host_of(value) == host


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("DiskFull", ["disk", "full"]),
        ("NodeDiskFull", ["disk", "full"]),
        ("disk-full", ["disk", "full"]),
        ("HTTPDown", ["http", "down"]),
        ("node", ["node"]),  # of nothing else
        ("💥", []),
    ],
)
def test_the_name_of_an_alert_is_taken_apart(name: str, words: list[str]) -> None:
    assert words_of(name) == words


@pytest.mark.parametrize(
    ("labels", "document", "values", "sure"),
    [
        ({"alertname": "DiskFull"}, "disk", {}, True),
        ({"alertname": "FailedServices"}, "failed-services", {}, True),
        ({"alertname": "ServiceDown", "service": "caddy"}, "service-status", {"service": "caddy"}, True),
        ({"alertname": "ServiceDown", "service": "caddy; reboot"}, "", {}, False),
        ({"alertname": "Gremlins"}, "", {}, False),
        ({"alertname": "TailFile"}, "", {}, False),  # a word of its name is no value
        ({"alertname": "RebootRequired"}, "reboot-required", {}, True),
    ],
)
def test_a_document_is_known_by_its_title(
    labels: Mapping[str, str], document: str, values: Mapping[str, str], *, sure: bool
) -> None:
    found = matched({"instance": "web1", **labels})
    assert found.is_sure is sure
    if document:
        assert (found.what.name, dict(found.values)) == (document, values)


@pytest.mark.parametrize("path", ["/var/log/syslog", "/var/log; reboot", "../etc", "$(reboot)", "-rf"])
def test_a_value_that_is_not_of_its_type_is_no_value(path: str) -> None:
    found = matched({"alertname": "FolderSizes", "path": path, "instance": "web1"})
    assert found.what.name == "folder-sizes"
    assert found.values.get("path") == (path if path == "/var/log/syslog" else None)
    assert all("reboot" not in request and path in ("/var/log/syslog", "-rf") for _, request in found.options)


def test_what_changes_something_has_to_be_named_word_for_word() -> None:
    found = matched({"alertname": "ServiceRestart", "service": "caddy", "instance": "web1"})
    assert found.what.name == "restart-service"
    assert not found.reads
    assert not found.by_rule
    assert found.is_sure is (found.what.confidence == 1)


def test_what_is_not_sure_comes_with_what_may_be_asked_for() -> None:
    unclear = matched({"alertname": "DiskFull", "job": "postgres"})
    assert not unclear.is_sure
    assert [request for _, request in unclear.options] == [
        "run runbook disk on db1",
        "run runbook disk on web2",
    ]
    assert 'job "postgres" may be db1, web2' in unclear.words


def test_the_first_rule_that_fits_counts() -> None:
    rules = (
        SignalRule(
            labels={"alertname": "Disk*", "env": "prod"}, runbook="free-disk", inputs={"path": "/var"}
        ),
        SignalRule(labels={"alertname": "Disk*"}, target="db1"),
    )
    prod = matched({"alertname": "DiskFull", "env": "prod", "instance": "web1"}, *rules)
    assert (prod.target.name, prod.what.name, dict(prod.values)) == ("web1", "free-disk", {"path": "/var"})
    assert prod.is_sure
    assert prod.by_rule
    assert prod.options[0][1] == "run runbook free-disk on web1 with path=/var"
    other = matched({"alertname": "DiskFull", "env": "test", "instance": "web1"}, *rules)
    assert (other.target.name, other.what.name) == ("db1", "disk")


def test_a_rule_that_lacks_a_value_does_nothing() -> None:
    rule = SignalRule(labels={"alertname": "X"}, target="web1", runbook="restart-service")
    found = matched({"alertname": "X"}, rule)
    assert not found.is_sure
    assert "which lacks service" in found.words


def test_the_key_of_a_match_holds_no_word_of_a_label() -> None:
    one = matched({"alertname": "ServiceDown", "service": "caddy", "instance": "web1"})
    assert len(one.key) == 16
    assert one.key != matched({"alertname": "ServiceDown", "service": "sshd", "instance": "web1"}).key


def test_secrets_in_labels_are_masked_in_what_was_matched() -> None:
    found = matched({"alertname": "DiskFull", "instance": "https://ana:hunter2-secret@web1:9100"})
    assert "hunter2" not in found.words
    assert found.target.name == "web1"
