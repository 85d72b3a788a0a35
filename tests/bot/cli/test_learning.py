"""sayso learning: the same as in chat, from outside, and a picture where one is asked for."""

import json
from pathlib import Path

import pytest

from bot.cli import main
from tests.kit import conversation


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SAYSO_HOME", str(tmp_path / "state"))
    return tmp_path


def test_without_a_ledger_nothing_was_learned(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["learning", "--png", str(home / "trend.png")]) == 0
    assert capsys.readouterr().out.startswith("Nothing yet.")
    assert not (home / "trend.png").exists()
    assert main(["learning", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["skills"] == []


async def test_it_tells_what_ran_and_draws_it(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async with conversation(home / "state") as kit:
        for _ in range(4):
            await kit.say("uptime of local")
    assert main(["learning", "--json", "--png", str(home / "trend.png")]) == 0
    (skill,) = json.loads(capsys.readouterr().out)["skills"]
    assert (skill["id"], skill["good"], skill["total"], skill["supervised"]) == ("uptime", 4, 4, False)
    assert (skill["low"], skill["high"], skill["trend"], skill["drift"]) == (0.5101, 1.0, "steady", None)
    assert (home / "trend.png").read_bytes().startswith(b"\x89PNG")
    assert main(["learning"]) == 0
    assert "  uptime · 4 of 4 (51%-100%)" in capsys.readouterr().out
