"""sayso jobs: what is to come, with secrets masked and hidden characters seen."""

import json
from datetime import timedelta
from pathlib import Path

import pytest

from bot.cli import main
from tests.bot.scheduling.making import make
from tests.kit import START, conversation


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SAYSO_HOME", str(tmp_path / "state"))
    return tmp_path


def test_without_a_ledger_nothing_is_scheduled(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["jobs"]) == 0
    assert capsys.readouterr().out == "Nothing is scheduled.\n"
    assert main(["jobs", "--json"]) == 0
    assert capsys.readouterr().out == ""


async def test_what_is_to_come_is_listed(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async with conversation(home / "state") as kit:
        later = make(kit.core, "drink\nwater\x1b[2J", at=START + timedelta(hours=2))
        first = make(
            kit.core,
            "run x --token hunter22 on local",
            at=START + timedelta(hours=1),
            act="schedule",
            rrule="FREQ=DAILY",
            zone="",
        )
        make(kit.core, "over", at=START)
        await kit.look()
    assert main(["jobs"]) == 0
    one, two = capsys.readouterr().out.splitlines()
    assert one.startswith(f"{first}  2026-03-02 15:00 ")
    assert one.endswith("  FREQ=DAILY  schedule  run x --token *** on local  by ana")
    assert two == f"{later}  2026-03-02 17:00 CET  remind  drink water\\u{{1b}}[2J  by ana"
    assert main(["jobs", "--json"]) == 0
    documents = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [one["id"] for one in documents] == [first, later]
    assert documents[0]["next_at"] == "2026-03-02T15:00:00+00:00"
    assert "hunter22" not in json.dumps(documents)
