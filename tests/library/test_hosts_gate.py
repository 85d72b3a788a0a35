"""What the documents of a host say of each step, held to the gate: also of steps that no test plays."""

import pytest

from bot.loading.library import load_library
from bot.planning.drafts import RunbookPlan
from bot.planning.plan import plan
from gate.supervise.binding import Bound, bind_command
from gate.supervise.domain import DECLARED, StepKind, StepRisk, StepSpec
from tests.library.drive import judged, laid_open

#: Each runbook of a host -> values for what it asks for or finds out.
HOSTS = {
    "add-user": {"user": "anna", "key": "ssh-ed25519 AAAA anna"},
    "certificate-expiry": {"file": "/etc/ssl/web.pem", "seconds": "2592000"},
    "check-log-rotation": {},
    "check-timers": {},
    "empty-log": {"file": "/var/log/app.log"},
    "firewall-close": {"port": "8080", "rule": "7"},
    "firewall-open": {"port": "8080", "source": "10.0.0.0/8"},
    "fix-clock": {},
    "free-disk": {},
    "high-load": {"pid": "4242"},
    "install-updates": {"count": "3"},
    "memory-pressure": {"service": "java.service"},
    "remove-user": {"user": "anna", "home": "/home/anna"},
    "renew-certificate": {
        "file": "/etc/ssl/web.pem",
        "key": "/etc/ssl/private/web.key",
        "ca": "/etc/ssl/ca.pem",
        "ca_key": "/etc/ssl/private/ca.key",
        "host": "web.example.org",
        "service": "caddy",
        "fingerprint": "sha256 Fingerprint=AA:BB",
    },
    "repair-failed-units": {"service": "caddy"},
    "restart-with-check": {"service": "caddy", "url": "http://127.0.0.1:8080/health"},
    "rotate-ssh-key": {
        "key": "/srv/keys/backup",
        "host": "db1.example.org",
        "server": "db1",
        "old": "ssh-ed25519 AAAA",
        "new": "ssh-ed25519 BBBB",
    },
    "swap-activity": {},
    "triage-service": {"service": "caddy"},
}
#: What cannot be undone or destroys, and so takes the typed phrase: nothing else does, and nothing less.
PHRASES = {
    ("add-user", "remove"),
    ("empty-log", "empty"),
    ("firewall-close", "remove"),
    ("free-disk", "vacuum"),
    ("remove-user", "remove"),
}
COMMANDS = [(name, step) for name in HOSTS for step in laid_open(name).steps if step.command is not None]


@pytest.mark.parametrize(("name", "step"), COMMANDS, ids=[f"{name}.{step.id}" for name, step in COMMANDS])
def test_every_command_is_what_its_document_says(name: str, step: StepSpec) -> None:
    inputs = laid_open(name).inputs
    values = {key: item.default for key, item in inputs.items() if item.default is not None} | HOSTS[name]
    for template in (step.command, step.preview):
        if template is None:
            continue
        bound = bind_command(template, values, inputs=inputs)
        assert isinstance(bound, Bound), bound
        verdict = judged(bound.text, step)
        assert verdict.never is None
        only_reads = step.risk is StepRisk.READ_ONLY or template == step.preview
        if only_reads and not step.requires_approval:
            undeclared = judged(bound.text, laid_open("free-disk").steps[0])
            assert undeclared.auto_run, (bound.text, undeclared.reasons)
        elif not only_reads:
            assert verdict.risk.at_least(DECLARED[step.risk])
            wants_phrase = (name, str(step.id)) in PHRASES
            assert (verdict.risk is DECLARED[StepRisk.DESTRUCTIVE]) is wants_phrase, verdict.reasons


@pytest.mark.parametrize("name", HOSTS)
def test_every_step_says_what_a_person_has_to_know(name: str) -> None:
    steps = laid_open(name).steps
    assert len(steps) >= 4
    for step in steps:
        if step.command is not None:
            assert step.timeout_s is not None, step.id
        if step.kind is StepKind.ACTION:
            assert step.rollback, f"{step.id} does not say how it is undone"
        if step.risk.at_least(StepRisk.DESTRUCTIVE):
            assert step.kind is StepKind.ACTION


@pytest.mark.parametrize("name", HOSTS)
def test_several_ways_of_saying_it_lead_to_it(name: str) -> None:
    library = load_library()
    document = library.documents[name]
    assert len(document.aliases) >= 4
    for phrase in (document.title, *document.aliases):
        said = phrase
        for slot, value in HOSTS[name].items():
            said = said.replace(f"{{{slot}}}", value)
        outcome = plan(
            f"{said} on web1", targets=("web1",), tags=(), services={"caddy": ("web1",)}, library=library
        )
        assert isinstance(outcome, RunbookPlan), (said, outcome)
        assert (outcome.document.id, outcome.confidence) == (name, 1), said


def test_nothing_of_a_host_reboots_it() -> None:
    words = ("reboot", "shutdown", "poweroff", "halt", "kexec", "init 6")
    for name, step in COMMANDS:
        command = step.command or ""
        assert not any(f"{word} " in f"{command} " for word in words), (name, step.id)
