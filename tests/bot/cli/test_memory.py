"""sayso memory: what is remembered, from outside, secrets masked and hidden characters seen."""

import json
from pathlib import Path

import pytest

from bot.cli import main
from tests.kit import conversation, person


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SAYSO_HOME", str(tmp_path / "state"))
    return tmp_path


def test_without_a_ledger_nothing_is_remembered(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["memory", "list"]) == 0
    assert main(["memory", "show", "sync"]) == 1
    assert capsys.readouterr().out == "Nothing is remembered.\n" * 2
    assert main(["memory", "list", "--json"]) == 0
    assert main(["memory", "export"]) == 0
    assert capsys.readouterr().out == ""


async def test_what_is_remembered_is_told(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async with conversation(home / "state", operators=(person("ana"),)) as kit:
        await kit.say("remember that the project sync is on 2026-12-01 at 14:00")
        await kit.say("remember that the project sync is on 2026-12-02 at 14:00")
        await kit.say("note that web1 is \u202eold", place="ana-dm")
        await kit.say("note that the moon is full")
        await kit.say("forget the moon")
    assert main(["memory", "list"]) == 0
    sync, web1 = capsys.readouterr().out.splitlines()
    assert "the project sync is on 2026-12-02 at 14:00  (2026-12-02T14:00:00+00:00)  by ana" in sync
    assert "web1 is \\u{202e}old  by ana  2026-03-02 14:00 UTC  private" in web1

    assert main(["memory", "show", "the", "meeting"]) == 0
    before, after = capsys.readouterr().out.splitlines()
    assert before.endswith("superseded")
    assert after == sync
    assert main(["memory", "show", "the moon"]) == 1
    assert "moon" not in capsys.readouterr().out

    assert main(["memory", "export"]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [one["state"] for one in found] == ["superseded", "live", "live", "forgotten"]
    assert found[1]["supersedes"] == found[0]["id"]
    assert (found[1]["about"], found[1]["source"]) == ("project sync", "user_explicit")
    assert (found[3]["about"], found[3]["object"], found[3]["said"]) == (None, None, None)
    assert main(["memory", "list", "--json"]) == 0
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == found[1:3]
