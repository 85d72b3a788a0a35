"""The command line as a whole: help, version, config, init, targets, doctor, faults."""

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.cli import commands, main
from bot.cli.commands import build_parser
from bot.cli.init import starter
from bot.settings.config import load
from bot.settings.paths import Paths
from bot.version import VERSION

ROOT = Path(__file__).parents[3]
SAYSO = Path(sys.executable).with_name("sayso")
COMMANDS = (
    "chat", "serve", "mcp", "init", "status", "approvals", "jobs", "memory", "trust", "guidance", "runbook",
    "learning", "targets", "config", "doctor", "ledger", "classify", "assent", "explain", "db",
)  # fmt: skip


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home folder of its own, and no settings from outside."""
    for name in list(os.environ):
        if name.startswith(("SAYSO_", "XDG_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def test_the_version_is_that_of_the_project(capsys: pytest.CaptureFixture[str]) -> None:
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == VERSION
    for flag in ("--version", "-V"):
        assert main([flag]) == 0
        assert capsys.readouterr().out == f"sayso {VERSION}\n"


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert all(f"    {command} " in shown for command in COMMANDS)


def test_the_list_of_commands_says_what_the_commands_say() -> None:
    (registered,) = [action for action in build_parser()._actions if action.choices]
    listed = {one.dest: one.help for one in registered._get_subactions()}
    assert listed == commands.COMMANDS | commands._platforms()
    assert tuple(commands.COMMANDS) == COMMANDS


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    assert command in capsys.readouterr().out


def test_help_and_version_import_nothing_heavy() -> None:
    heavy = {
        "asyncio",
        "pydantic",
        "sqlmodel",
        "sqlalchemy",
        "asyncssh",
        "rapidfuzz",
        "tree_sitter",
        "prompt_toolkit",
    }
    code = (
        "import sys\nfrom bot.cli import main\n"
        "try:\n    main(sys.argv[1:])\nexcept SystemExit:\n    pass\n"
        "print(*sorted(m for m in sys.modules), file=sys.stderr)"
    )
    for flag in ("--help", "--version"):
        done = subprocess.run(
            [sys.executable, "-c", code, flag], capture_output=True, text=True, check=True, timeout=60
        )
        assert not heavy & set(done.stderr.split())


def test_a_wrong_word_is_a_usage_error() -> None:
    with pytest.raises(SystemExit) as ended:
        main(["frobnicate"])
    assert ended.value.code == 2


# ---------------------------------------------------------------- config


def test_config_check_says_ok(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "check"]) == 0
    assert "ok · no config file, defaults" in capsys.readouterr().out


def test_config_check_of_the_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "check", "--config", str(ROOT / "config.example.toml")]) == 0
    assert "operators: ana, bo · targets: 6" in capsys.readouterr().out


_PEOPLE = """
[operators.ana]
may = [{risk = "destructive", targets = ["*"]}]
[operators.bo]
may = [{risk = "%s", targets = ["@web"]}]
[targets.local]
kind = "local"
[targets.web1]
kind = "local"
tags = ["web"]
[policy]
separate_requester = "%s"
"""


@pytest.mark.parametrize(
    ("risk", "separate", "warned"),
    [
        (
            "reversible_low",
            "auto",
            "only ana may approve destructive work on local, web1. What ana asks",
        ),
        ("destructive", "auto", "only ana may approve destructive work on local. What"),
        ("reversible_low", "never", None),
    ],
)
def test_config_check_warns_where_no_second_person_may_approve(
    home: Path, capsys: pytest.CaptureFixture[str], risk: str, separate: str, warned: str | None
) -> None:
    file = home / "people.toml"
    file.write_text(_PEOPLE % (risk, separate))
    assert main(["config", "check", "--config", str(file)]) == 0
    told = capsys.readouterr().out
    assert (warned in told) if warned else ("warning" not in told)


def test_a_config_error_is_told_in_lines_and_not_as_a_traceback(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = home / "bad.toml"
    file.write_text("[policy]\npostre = 1\n[targets.x]\nkind = 'pct'\ncontainer = '1'\n")
    assert main(["config", "check", "--config", str(file)]) == 2
    assert capsys.readouterr().err == f"{file}:2: policy.postre: there is no such key. Nearest: posture.\n"


def test_an_inventory_error_is_told_the_same_way(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = home / "bad.toml"
    file.write_text("[targets.x]\nkind = 'pct'\ncontainer = '1'\nvia = 'gone'\n")
    assert main(["config", "check", "--config", str(file)]) == 2
    assert "gone" in capsys.readouterr().err


def test_a_config_that_was_named_and_is_not_there_is_an_error(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["config", "check", "--config", str(home / "none.toml")]) == 2
    assert "cannot be read" in capsys.readouterr().err


def test_config_show_tells_value_origin_and_what_was_displaced(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / ".config" / "sayso").mkdir(parents=True)
    file = home / ".config" / "sayso" / "config.toml"
    file.write_text('[policy]\nposture = "approve_config"\n')
    monkeypatch.setenv("SAYSO_POLICY_POSTURE", "approve_all")
    monkeypatch.setenv("SAYSO_HOME", str(home / "state"))
    arguments = ["config", "show", "--set", "policy.posture=approve_most", "--set", "bot.action_timeout_s=5"]
    assert main(arguments) == 0
    shown = capsys.readouterr().out
    (posture,) = [line for line in shown.splitlines() if line.startswith("policy.posture ")]
    assert "approve_all  (environment SAYSO_POLICY_POSTURE, the most restrictive" in posture
    assert f"displaced file {file} approve_config" in posture
    assert str(home / "state") in shown

    assert main([*arguments, "--json"]) == 0
    settings = json.loads(capsys.readouterr().out)["settings"]
    assert settings["policy.posture"]["value"] == "approve_all"
    assert settings["policy.posture"]["origin"] == [
        {"layer": "environment", "where": "SAYSO_POLICY_POSTURE", "value": "approve_all"}
    ]
    assert settings["bot.action_timeout_s"]["displaced"] == [{"layer": "default", "where": "", "value": 600}]


# ---------------------------------------------------------------- init


def test_init_writes_a_config_that_loads_and_is_private(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = home / ".config" / "sayso" / "config.toml"
    assert main(["init"]) == 0
    assert str(file) in capsys.readouterr().out
    assert file.stat().st_mode & 0o077 == 0
    assert main(["config", "check"]) == 0


def test_init_leaves_what_is_there_alone(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = home / "mine.toml"
    file.write_text("# mine\n")
    assert main(["init", "--config", str(file)]) == 1
    assert "left alone" in capsys.readouterr().out
    assert file.read_text() == "# mine\n"


@pytest.mark.parametrize("login", ["ana", "Ana.Smith", "CORP\\ana", "sayso", "bot", "_x", "Ünal", 'a"b'])
def test_a_starter_config_loads_whoever_writes_it(tmp_path: Path, login: str) -> None:
    file = tmp_path / "config.toml"
    file.write_text(starter(login))
    config = load(file=file, environ={}, flags=[], login=login, paths=Paths(tmp_path))
    assert config.operator_of(f"console::{login}") is not None
    assert list(config.targets) == ["local"]


# ---------------------------------------------------------------- targets


def test_targets_list(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["targets", "list", "--config", str(ROOT / "config.example.toml")]) == 0
    shown = capsys.readouterr().out
    assert "web1" in shown
    assert "@prod" in shown
    assert main(["targets", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["name"] == "local"


def test_targets_check_reaches_this_machine(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["targets", "check"]) == 0
    assert "✓ local" in capsys.readouterr().out
    assert main(["targets", "check", "local", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["ok"] is True


def test_targets_check_of_an_unknown_name_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["targets", "check", "locl"]) == 1
    assert "local" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("config", "Host web1\n  HostName 10.0.0.1\n  User ops\nHost *\n  Port 22\n"),
        ("hosts", "[web]\nweb1 ansible_host=10.0.0.1 ansible_user=ops\n"),
        (
            "hosts.yml",
            "all:\n  children:\n    web:\n      hosts:\n        web1:\n          ansible_host: 10.0.0.1\n",
        ),
    ],
)
def test_targets_import_prints_tables_that_load(
    home: Path, capsys: pytest.CaptureFixture[str], name: str, text: str
) -> None:
    (home / name).write_text(text)
    assert main(["targets", "import", str(home / name)]) == 0
    printed = capsys.readouterr().out
    assert "web1" in tomllib.loads(printed)["targets"]
    (home / "new.toml").write_text(printed)
    assert main(["config", "check", "--config", str(home / "new.toml")]) == 0


def test_targets_import_of_nothing_says_so(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["targets", "import"]) == 1
    assert ".ssh/config" in capsys.readouterr().err
    (home / "hosts").write_text("\n")
    assert main(["targets", "import", str(home / "hosts")]) == 1
    assert "no hosts" in capsys.readouterr().err


# ---------------------------------------------------------------- doctor


def test_doctor_of_a_fresh_machine(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    assert "✓ target local" in capsys.readouterr().out


def test_doctor_as_json_and_its_exit_code(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = home / "bad.toml"
    file.write_text("[nope]\n")
    assert main(["doctor", "--json", "--config", str(file)]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["ok"] is False
    assert {"name": "config", "status": "fail", "code": "config_error"}.items() <= told["checks"][1].items()
    assert set(told["checks"][1]) == {"name", "status", "code", "what", "mend"}
