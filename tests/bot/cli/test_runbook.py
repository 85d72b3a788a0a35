"""sayso runbook: lint, list, show and new."""

import json
from pathlib import Path

import pytest

from bot.cli import main
from bot.cli.runbook_new import skeleton
from tests.runbooks import FIND, PROVISION, ROTATE


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SAYSO_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def own(home: Path, **files: str) -> None:
    folder = home / "state" / "library"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")


def test_the_library_is_sound(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runbook", "lint"]) == 0
    assert "documents are sound." in capsys.readouterr().out


def test_what_is_wrong_is_told_with_file_and_line(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = home / "rotate.yaml"
    file.write_text(ROTATE.replace("risk: mutating", "risk: mild\n    retyr: 3"), encoding="utf-8")
    assert main(["runbook", "lint", str(file)]) == 1
    one, two, last = capsys.readouterr().out.splitlines()
    assert one.startswith(f"{file}:10: steps.set.risk: ")
    assert "mutating" in one
    assert two.startswith(f"{file}:11: steps.set.retyr: ")
    assert "Nearest: retry" in two
    assert last == "2 things to mend."


def test_faults_as_json(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = home / "rotate.yaml"
    file.write_text(ROTATE.replace("risk: mutating", "risk: mild"), encoding="utf-8")
    assert main(["runbook", "lint", str(file), "--json"]) == 1
    (fault,) = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert (fault["file"], fault["line"], fault["field"]) == (str(file), 10, "steps.set.risk")
    assert main(["runbook", "lint", "--json"]) == 0
    assert capsys.readouterr().out == ""


def test_a_file_is_looked_at_over_the_library(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own(home, find=FIND.replace("free-vmid", "my-vmid").replace("find a free vmid", "my own vmid"))
    caller = ROTATE.replace("command: set-password {{ inputs.user }} {{ inputs.password }}", "call: my-vmid")
    (home / "rotate.yaml").write_text(caller.replace("    risk: mutating\n", ""), encoding="utf-8")
    assert main(["runbook", "lint", "rotate.yaml"]) == 0
    assert capsys.readouterr().out == "It is sound.\n"
    other = FIND.replace("find a free vmid", "my own vmid")
    (home / "other.yaml").write_text(other, encoding="utf-8")
    assert main(["runbook", "lint", "other.yaml"]) == 1
    assert "both claim the words: own vmid" in capsys.readouterr().out


def test_a_folder_is_looked_at_whole(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own(home, provision=PROVISION, rotate=ROTATE.replace("title: rotate", "titel: rotate"))
    assert main(["runbook", "lint", "state/library"]) == 1
    assert "state/library/rotate.yaml:3: titel: " in capsys.readouterr().out
    assert main(["runbook", "lint", "state/library/provision.yaml"]) == 0


def test_two_files_of_one_id_are_told_as_the_loader_tells_them(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "mine").mkdir()
    for name in ("a", "b"):
        (home / "mine" / f"{name}.yaml").write_text(ROTATE, encoding="utf-8")
    for given in (["mine"], ["mine/a.yaml", "mine/b.yaml"]):
        assert main(["runbook", "lint", *given]) == 1
        assert "two files have one id" in capsys.readouterr().out
    assert main(["runbook", "lint", "mine/a.yaml", "mine/a.yaml"]) == 0
    capsys.readouterr()


def test_a_file_that_replaces_another_says_so(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own(home, rotate=ROTATE)
    (home / "mine.yaml").write_text(ROTATE, encoding="utf-8")
    assert main(["runbook", "lint", "mine.yaml"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out == [
        f"It replaces rotate of {home}/state/library/rotate.yaml.",
        "It is sound.",
    ]
    (home / "mine.yaml").write_text(FIND, encoding="utf-8")
    assert main(["runbook", "lint", "mine.yaml"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "It replaces free-vmid, which comes with sayso."


def test_a_file_that_is_not_there_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runbook", "lint", "nowhere.yaml"]) == 2
    assert "no such file" in capsys.readouterr().err


def test_a_library_that_cannot_be_read_is_said_in_a_line_each(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own(home, rotate=ROTATE.replace("title: rotate", "titel: rotate"))
    assert main(["runbook", "list"]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "rotate.yaml:3: titel: " in told.err


def test_runbooks_are_listed(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own(home, provision=PROVISION)
    assert main(["runbook", "list"]) == 0
    listed = capsys.readouterr().out
    assert (
        "provision                mutating     provision a container with {package} on {target}\n" in listed
    )
    assert "\ndisk " not in listed
    assert main(["runbook", "list", "--all"]) == 0
    assert "\ndisk " in capsys.readouterr().out
    assert main(["runbook", "list", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    by_id = {row["id"]: row for row in rows}
    assert by_id["disk"]["kind"] == "diagnostic"
    assert by_id["restart-service"]["kind"] == "action"
    assert by_id["provision"]["kind"] == "runbook"
    assert by_id["provision"]["inputs"]["vmid"]["required"]


def test_a_runbook_is_shown(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own(home, provision=PROVISION)
    assert main(["runbook", "show", "provision"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("provision: provision a container with <package> on <target>\n")
    assert "  vmid: a whole number from 100 to 999999999\n" in shown
    assert "  2. install: Install {{ inputs.package }} (mutating)\n" in shown
    assert main(["runbook", "show", "provision", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["steps"] == ["create", "install"]
    assert main(["runbook", "show", "provisoin"]) == 1
    assert "Nearest: provision" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["my-runbook", "a", "disk", "restart", "the", "0.1_x"])
def test_a_new_runbook_is_sound(home: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runbook", "new", name]) == 0
    file = home / f"{name}.yaml"
    assert file.read_text(encoding="utf-8") == skeleton(name)
    assert main(["runbook", "lint", str(file)]) == 0
    assert main(["runbook", "new", name]) == 2
    assert "File exists" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["My Runbook", "", "-x", "a" * 65, "../x", "a: b"])
def test_an_id_that_is_none_writes_nothing(home: Path, name: str) -> None:
    try:
        code = main(["runbook", "new", name])
    except SystemExit as ended:
        code = int(str(ended.code))
    assert code == 2
    assert not list(home.glob("**/*.yaml"))
