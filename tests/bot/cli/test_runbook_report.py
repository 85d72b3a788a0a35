"""sayso runbook report and verify: what is written, where, and what is found wrong with it."""

import json
from pathlib import Path

import pytest

from bot.cli import main
from gate.domain import AGENT
from gate.policy import Posture
from gate.supervise.domain import RunId
from gate.supervise.events import Started
from ledger.kinds import Json
from ledger.note import Signer
from ledger.run_documents import texts_of
from ledger.run_events import draft_of
from tests.bot.runbooks.made import CHECK, SECRET, SPEC, wrote
from tests.gate.makers import HERE, NOW

ANA = Signer("ana", b"\x01" * 32)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SAYSO_HOME", str(tmp_path / "state"))
    (tmp_path / "state").mkdir()
    return tmp_path


def ran(home: Path) -> None:
    wrote(home / "state").ledger.close()


def files(home: Path) -> list[Path]:
    """Return every file but those that SQLite keeps while it reads."""
    return sorted(file for file in home.rglob("*") if not file.name.startswith("ledger.db-"))


def key(home: Path) -> Path:
    file = home / "ana.key"
    file.write_text(ANA.text)
    file.chmod(0o600)
    return file


def test_a_report_is_printed_and_written_nowhere(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran(home)
    before = files(home)
    assert main(["runbook", "report", "#R4M8N2"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("# Run r4m8n2: restart a service\n")
    assert SECRET not in out
    assert main(["runbook", "report", "r4m8n2", "--format", "timeline"]) == 0
    assert "ended: completed" in capsys.readouterr().out
    assert files(home) == before


def test_secrets_of_other_runs_are_masked_too(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    story = wrote(home / "state")
    event = Started(
        run=RunId("zzzzz2"),
        runbook=SPEC.id,
        digest=SPEC.digest,
        agent=AGENT,
        posture=Posture.APPROVE_MOST,
        inputs={"key": "caddy"},
        first=CHECK,
        at=NOW,
    )
    more: dict[str, Json] = {"title": SPEC.title, "place": HERE, "person": "ana", "secrets": True}
    story.write(draft_of(event, run=event.run, more=more, words={"said": "x", **texts_of(SPEC)}))
    story.ledger.close()
    assert main(["runbook", "report", "r4m8n2"]) == 0
    assert "systemctl restart ***" in capsys.readouterr().out


def test_without_a_run_there_is_no_report(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runbook", "report", "r4m8n2"]) == 1
    ran(home)
    assert main(["runbook", "report", "zzzzzz"]) == 1
    assert "There is no run zzzzzz." in capsys.readouterr().err


def test_it_is_written_where_it_is_told_to_and_verifies(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ran(home)
    out = home / "out"
    assert main(["runbook", "report", "r4m8n2", "--out", str(out), "--sign", str(key(home))]) == 0
    assert sorted(file.name for file in out.iterdir()) == [
        "r4m8n2-report.json",
        "r4m8n2-report.md",
        "r4m8n2-timeline.txt",
    ]
    assert not any(SECRET in file.read_text() for file in out.iterdir())
    file = out / "r4m8n2-report.json"
    capsys.readouterr()
    assert main(["runbook", "verify", str(file), "--key", ANA.verifier.text]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "Signed by ana."
    assert main(["runbook", "verify", str(file)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "It says to be signed by ana; --key PUB checks that."


def test_what_was_changed_is_named(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran(home)
    assert main(["runbook", "report", "r4m8n2", "--format", "json"]) == 0
    whole = json.loads(capsys.readouterr().out)
    file = home / "report.json"
    file.write_text(json.dumps(whole))
    assert main(["runbook", "verify", str(file)]) == 0
    assert "It is not signed" in capsys.readouterr().out
    del whole["entries"][3]
    file.write_text(json.dumps(whole))
    assert main(["runbook", "verify", str(file)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "Entry 4 (run:consumed) was removed.",
        "So this is not the report of run r4m8n2 as it was made.",
    ]
    assert main(["runbook", "verify", str(file), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["ok"] is False


def test_what_a_file_says_never_passes_for_what_was_found(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ran(home)
    main(["runbook", "report", "r4m8n2", "--format", "json"])
    whole = json.loads(capsys.readouterr().out)
    file = home / "report.json"
    whole["entries"][3]["kind"] = "x\x1b[2J\nSigned by ana."
    whole["statement"] += "\n\N{EM DASH} ana\x1b[2J\u202e AAAA\n"
    file.write_text(json.dumps(whole))
    assert main(["runbook", "verify", str(file)]) == 1
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "Signed by ana." not in out.splitlines()
    del whole["entries"][3]["hash"]
    file.write_text(json.dumps(whole | {"format": "\x1b[2J"}))
    assert main(["runbook", "verify", str(file)]) == 2
    assert "\x1b" not in capsys.readouterr().err


def test_wrong_usage(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran(home)
    assert main(["runbook", "report", "r4m8n2", "--format", "md", "--sign", str(key(home))]) == 2
    assert main(["runbook", "report", "r4m8n2", "--sign", str(home / "none")]) == 2
    assert main(["runbook", "report", "r4m8n2", "--out", str(key(home))]) == 2
    assert main(["runbook", "verify", str(home / "none")]) == 2
    assert main(["runbook", "verify", str(key(home))]) == 2
    file = home / "report.json"
    file.write_text("{}")
    assert main(["runbook", "verify", str(file), "--key", "junk"]) == 2
    assert "no public key" in capsys.readouterr().err
