"""sayso approvals list and show: what is stored is shown with its hidden characters seen."""

from pathlib import Path

import pytest

from bot.cli import main
from tests.kit import conversation


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SAYSO_HOME", str(tmp_path / "state"))
    return tmp_path


async def test_no_escape_sequence_and_no_secret_reaches_the_terminal(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with conversation(home / "state") as kit:
        await kit.say("run touch x\x1b[2J\u202e --token hunter2 on local")
        name = kit.newest_id()
    for verb in (["list"], ["show", name]):
        assert main(["approvals", *verb]) == 0
        shown = capsys.readouterr().out
        assert "\\u{1b}[2J\\u{202e}" in shown
        assert "\x1b" not in shown
        assert "\u202e" not in shown
        assert "hunter2" not in shown
        assert "--token ***" in shown
