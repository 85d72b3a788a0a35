"""The table of errors: each kind is found by what programs really print, and what it looks with reads."""

import pytest

from bot.loading.library import load_library
from bot.loading.repairs import MAX_CHARS, RepairsError, diagnose, kind_of, load_repairs
from bot.loading.rules import load_rules
from bot.planning.binding import bind
from gate.domain import Risk
from gate.shell.classify import classify

KINDS = load_repairs()
LIBRARY = load_library().documents

#: What programs print, with their exit code, the kind, and what is looked at.
PRINTED = [
    ("cp: error writing 'x': No space left on device", 1, "no_space", "df -h"),
    ("touch: cannot touch '/x': Read-only file system", 1, "read_only_filesystem", "findmnt"),
    (
        "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by 12",
        100,
        "package_lock",
        "pgrep -l apt",
    ),
    ("Unit cady.service could not be found.", 4, "no_unit", "systemctl list-units"),
    ("Failed to restart cady.service: Unit cady.service not found.", 5, "no_unit", "systemctl list-units"),
    (
        'Job for caddy.service failed. See "systemctl status caddy.service"',
        1,
        "unit_failed",
        "journalctl -u caddy",
    ),
    ("listen tcp :8080: bind: address already in use", 1, "port_in_use", "sport = :8080"),
    ("bind() to 0.0.0.0:80 failed (98: Address already in use)", 1, "port_in_use", "sport = :80"),
    ("OSError: [Errno 98] Address already in use", 1, "some_port_in_use", "ss -tlnp"),
    ("curl: (7) Failed to connect to x port 1: Connection refused", 7, "refused", "ss -tlnp"),
    ("curl: (6) Could not resolve host: x", 6, "no_name", "resolv"),
    ("fork: Cannot allocate memory", 1, "no_memory", "free"),
    ("touch: cannot touch '/etc/x': Permission denied", 1, "not_permitted", ""),
    ("bash: line 1: htop: command not found", 127, "no_command", "apt-cache policy htop"),
    ("sh: 1: htop: not found", 127, "no_command", "apt-cache policy htop"),
]


@pytest.mark.parametrize(("output", "exit_code", "kind", "looks"), PRINTED)
def test_what_programs_print_is_told_apart_and_looked_at_by_reading(
    output: str, exit_code: int, kind: str, looks: str
) -> None:
    found = diagnose(KINDS, output=f"some work\n{output}\n", exit_code=exit_code, target="web1")
    assert found is not None
    assert found.kind == kind
    assert "{" not in found.why
    if not looks:
        assert found.look == ""
        return
    document = LIBRARY[found.look]
    defaults = {name: one.default for name, one in document.inputs.items() if one.default is not None}
    command = bind(document.steps[0].command, {**defaults, **found.inputs}, inputs=document.inputs)
    assert looks in command
    verdict = classify(command, rules=load_rules())
    assert (verdict.auto_run, verdict.risk) == (True, Risk.READ_ONLY)


def test_every_kind_is_printed_by_something_above() -> None:
    assert {kind.id for kind in KINDS} == {kind for _, _, kind, _ in PRINTED}


@pytest.mark.parametrize(
    ("output", "exit_code"),
    [
        ("", 1),
        ("all is well", 1),
        ("htop: command not found", 1),  # not by this shell
        ("No space left on device" + "x" * MAX_CHARS, 1),  # long before the end
    ],
)
def test_what_is_no_such_error_is_none(output: str, exit_code: int) -> None:
    assert diagnose(KINDS, output=output, exit_code=exit_code, target="web1") is None


@pytest.mark.parametrize("raw", [{"id": "x", "output": "x", "likely": "x", "lok": "disk"}, {"with": "x"}])
def test_a_malformed_kind_is_an_error(raw: dict[str, object]) -> None:
    with pytest.raises(RepairsError):
        kind_of(raw)
