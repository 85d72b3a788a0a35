import json
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from bot.cli import main
from ledger.keys import KeyMissingError
from ledger.kinds import LedgerBusyError
from tests.ledger.support import START, attacker, batch, draft, ledger_in, open_ledger

HEAVY = ("sqlmodel", "sqlalchemy", "alembic", "pydantic", "asyncio", "slack_bolt", "asyncssh")


@pytest.fixture
def state(tmp_path: Path) -> Path:
    folder = tmp_path / "state"
    with ledger_in(folder) as ledger:
        ledger.append(batch(draft("k7f3a2", words=b"go ahead\x1b[31m", output=b"line 1\nline 2\n")))
        ledger.append(batch(draft("b2c8d4", output=b"\xff\x00"), draft("")))
    return folder


def sayso(state: Path, *words: str) -> int:
    return main(["ledger", *words, "--state", str(state)])


def lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().out.splitlines()


def test_verify_says_that_all_is_well_and_what_it_cannot_know(
    state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sayso(state, "verify") == 0
    told = capsys.readouterr().out
    assert told.startswith("✓ 3 entries, unbroken from the first to the last\n")
    assert "1 checkpoint, the newest over 3 of 3" in told
    assert "Compared with no checkpoint kept elsewhere" in told


def test_verify_names_the_entry_that_was_changed(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with attacker(state) as thief:
        thief.execute("UPDATE entry SET kind = 'x' WHERE seq = 2")
    assert sayso(state, "verify") == 1
    assert lines(capsys) == [
        "✗ Entry 2 was changed: its bytes do not give its hash.",
        "  Entries 1 to 1 are intact.",
    ]
    assert sayso(state, "verify", "--json") == 1
    report = json.loads(capsys.readouterr().out)
    assert report["ok"] is False
    assert report["findings"] == [
        {
            "fault": "changed",
            "first": 2,
            "last": 2,
            "text": "Entry 2 was changed: its bytes do not give its hash.",
        }
    ]


def test_verify_says_when_nothing_is_known_to_be_intact(
    state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with attacker(state) as thief:
        thief.execute("UPDATE entry SET kind = 'x' WHERE seq = 1")
    assert sayso(state, "verify") == 1
    assert "No entry is known to be intact." in lines(capsys)[1]


def test_verify_counts_what_it_does_not_list(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with ledger_in(state, seed=500) as ledger:
        ledger.append(batch(*(draft(words=b"x") for _ in range(30))))
    with attacker(state) as thief:
        thief.execute("DELETE FROM payload")
    assert sayso(state, "verify") == 1
    assert "✗ and 13 more" in lines(capsys)


def test_an_export_is_verified_elsewhere_with_the_key_alone(
    state: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, kept = tmp_path / "export.jsonl", tmp_path / "kept.note"
    assert sayso(state, "export", str(file), "--with-payloads") == 0
    assert sayso(state, "checkpoint") == 0
    kept.write_text(capsys.readouterr().out.partition("\n")[2])
    assert sayso(state, "key") == 0
    key = capsys.readouterr().out.strip()
    assert file.stat().st_mode & 0o777 == 0o600
    nowhere = tmp_path / "nowhere"
    assert sayso(nowhere, "verify", str(file), "--key", key, "--checkpoint", str(kept)) == 0
    told = capsys.readouterr().out
    assert "words and output: 3 match, 0 pruned, 0 not in this export" in told
    assert "Compared with no checkpoint" not in told
    (tmp_path / "keys").write_text(f"{key}\n\n")
    assert sayso(nowhere, "verify", str(file), "--key", str(tmp_path / "keys")) == 0
    assert not nowhere.exists()
    file.write_text(file.read_text().replace("queued", "denied", 1))
    assert sayso(nowhere, "verify", str(file), "--key", key) == 1


def test_an_export_goes_to_standard_output_by_default(
    state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sayso(state, "export") == 0
    kinds = [json.loads(line)["type"] for line in lines(capsys)]
    assert kinds == ["header", "entry", "entry", "entry", "checkpoint"]


def test_an_export_without_a_key_is_refused_as_wrong_usage(
    state: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sayso(state, "verify", str(tmp_path / "export.jsonl")) == 2
    assert "--key VKEY" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        (
            "verify",
            "missing.jsonl",
            "--key",
            "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
        ),
        ("verify", "--key", "missing.pub"),
        ("verify", "--key", "not+a+key"),
        ("verify", "--checkpoint", "missing.note"),
        ("checkpoint", "--against", "missing.note"),
        ("export", "missing/export.jsonl"),
    ],
)
def test_what_cannot_be_read_or_written_is_said(
    state: Path, words: Sequence[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(state)
    assert sayso(state, *words) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.count("\n") == 1


@pytest.mark.parametrize("verb", ["verify", "export", "tail", "checkpoint"])
def test_a_ledger_that_is_not_there(tmp_path: Path, verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert sayso(tmp_path / "none", verb) == 2
    assert "There is no ledger here yet" in capsys.readouterr().err
    assert not (tmp_path / "none").exists()


def test_an_export_that_fails_leaves_no_file(
    state: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with attacker(state) as thief:
        thief.execute("UPDATE entry SET body = x'ff' WHERE seq = 2")
    assert sayso(state, "export", str(tmp_path / "export.jsonl")) == 2
    assert "Entry 2 is damaged" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == [state]


@pytest.mark.parametrize("body", ["x'ff'", "'nonsense'", "'[]'"])
def test_a_damaged_entry_is_told_in_words(state: Path, body: str, capsys: pytest.CaptureFixture[str]) -> None:
    with attacker(state) as thief:
        thief.execute(f"UPDATE entry SET body = {body} WHERE seq = 2")
    for verb in (("tail",), ("show", "2"), ("export", "--with-payloads")):
        assert sayso(state, *verb) == 2
        assert "Entry 2 is damaged" in capsys.readouterr().err


def test_an_export_by_somebody_without_the_key_has_no_fresh_checkpoint(
    state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (state / "ledger.key").write_text("nonsense")
    assert sayso(state, "export") == 0
    assert "without a fresh checkpoint" in capsys.readouterr().err


def test_tail_shows_the_newest_entries(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert sayso(state, "tail", "-n", "2") == 0
    second, third = lines(capsys)
    assert second.startswith("     2  2026-03-01T12:00:00Z  action:queued")
    assert "#b2c8d4" in second
    assert "output=(2 bytes)" in second
    assert " - " in third
    assert sayso(state, "tail", "-n", "1", "--jsonl") == 0
    (row,) = map(json.loads, lines(capsys))
    assert (row["seq"], row["body"]["by"]) == (3, "ana")
    assert sayso(state, "tail", "-n", "-5") == 0
    assert lines(capsys) == []


def test_tail_cuts_long_facts(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with ledger_in(state, seed=500) as ledger:
        ledger.append(batch(draft("x" * 90)))
    assert sayso(state, "tail", "-n", "1") == 0
    assert f"action={'x' * 60}… " in capsys.readouterr().out


def test_tail_follows(state: Path) -> None:
    ledger = open_ledger(state, seed=500)
    child = subprocess.Popen(
        [sys.executable, "-m", "bot.cli", "ledger", "tail", "-n", "1", "-f", "--json", "--state", str(state)]
        if Path("bot/cli/__main__.py").exists()
        else [
            sys.executable,
            "-c",
            "import sys; from bot.cli import main; sys.exit(main())",
            *("ledger", "tail", "-n", "1", "-f", "--json", "--state", str(state)),
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    with child:
        stop = threading.Timer(60, child.kill)
        stop.start()
        assert child.stdout is not None
        assert json.loads(child.stdout.readline())["seq"] == 3
        ledger.append(batch(draft("new")))
        assert json.loads(child.stdout.readline())["correlation_id"] == "new"
        child.kill()
        stop.cancel()
    ledger.close()


def test_show_gives_an_entry_with_its_words_made_visible(
    state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sayso(state, "show", "1") == 0
    told = lines(capsys)
    assert told[0] == "entry 1  action:queued  2026-03-01T12:00:00.000000Z"
    assert "  of #k7f3a2" in told
    assert "    go ahead\\u{1b}[31m" in told
    assert told[-3:-1] == ["  words:", "    go ahead\\u{1b}[31m"]
    assert "    line 2" in told


def test_an_entry_of_no_proposal_and_a_ledger_without_entries(
    state: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sayso(state, "show", "3") == 0
    assert not any(line.startswith("  of #") for line in lines(capsys))
    with ledger_in(tmp_path / "empty"):
        pass
    assert sayso(tmp_path / "empty", "verify") == 0
    assert "  no checkpoint yet" in lines(capsys)


def test_show_gives_all_of_a_proposal(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert sayso(state, "show", "#b2c8d4", "--json") == 0
    (row,) = map(json.loads, lines(capsys))
    assert row["words"] == {"output": {"base64": "/wA="}}
    assert sayso(state, "show", "k7f3a2", "--json") == 0
    (row,) = map(json.loads, lines(capsys))
    assert row["words"]["output"] == {"text": "line 1\nline 2\n"}


def test_show_says_what_was_pruned(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with ledger_in(state, seed=500) as ledger:
        ledger.prune(before=START.replace(year=2030))
    assert sayso(state, "show", "2") == 0
    assert "  output: pruned" in lines(capsys)
    assert sayso(state, "show", "2", "--json") == 0
    assert json.loads(capsys.readouterr().out)["words"] == {"output": {"pruned": True}}


@pytest.mark.parametrize("what", ["9", "#zzzzzz"])
def test_show_of_nothing(state: Path, what: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert sayso(state, "show", what) == 1
    assert f"No entry {what}." in capsys.readouterr().err


def test_checkpoint_makes_one_when_nobody_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ledger = open_ledger(tmp_path)
    ledger.append(batch())
    assert sayso(tmp_path, "checkpoint") == 1  # a daemon writes, and has made none so far
    assert "nothing to sign yet" in capsys.readouterr().err
    note = ledger.checkpoint()
    ledger.append(batch())
    assert sayso(tmp_path, "checkpoint") == 0
    assert capsys.readouterr().out == note
    ledger._lock.release()  # as if the process had died
    assert sayso(tmp_path, "checkpoint") == 0
    assert capsys.readouterr().out.splitlines()[1] == "2"
    ledger._connection.close()
    ledger._readers.close()


def test_checkpoint_of_an_empty_ledger(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with ledger_in(tmp_path):
        pass
    assert sayso(tmp_path, "checkpoint") == 1
    assert capsys.readouterr().out == ""


def test_a_kept_checkpoint_is_compared(
    state: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sayso(state, "checkpoint")
    kept = tmp_path / "kept.note"
    kept.write_text(capsys.readouterr().out)
    assert sayso(state, "checkpoint", "--against", str(kept)) == 0
    with attacker(state) as thief:
        thief.execute("DELETE FROM entry WHERE seq > 1")
        thief.execute("DELETE FROM payload WHERE seq > 1")
        thief.execute("DELETE FROM checkpoint")
    capsys.readouterr()
    assert sayso(state, "verify") == 0
    assert sayso(state, "checkpoint", "--against", str(kept)) == 1
    assert "Entries 2 to 3 are gone" in capsys.readouterr().out


def test_key_is_printed_and_renewed(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert sayso(state, "key") == 0
    old = capsys.readouterr().out
    (state / "ledger.key").unlink()
    with pytest.raises(KeyMissingError):
        open_ledger(state)
    assert sayso(state, "key", "--new") == 0
    new = capsys.readouterr().out
    assert new != old
    assert new.partition("+")[0] == old.partition("+")[0]
    with ledger_in(state, seed=500) as ledger:
        ledger.append(batch())
        assert sayso(state, "key", "--new") == 2
        assert str(LedgerBusyError.__doc__) in capsys.readouterr().err
    assert sayso(state, "verify") == 0
    assert (state / "ledger.pub").read_text() == old + new


def test_key_of_a_ledger_that_never_started(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert sayso(tmp_path, "key") == 1
    assert "no key yet" in capsys.readouterr().err


def test_the_ledger_is_found_by_option_and_environment(
    state: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["ledger", "tail", "--ledger", str(state / "ledger.db")]) == 0
    monkeypatch.setenv("SAYSO_HOME", str(state))
    assert main(["ledger", "tail"]) == 0
    assert len(lines(capsys)) == 6


@pytest.mark.parametrize("verb", ["verify", "tail", "show"])
def test_reading_loads_nothing_heavy(state: Path, verb: str) -> None:
    script = (
        "import sys\nfrom bot.cli import main\ncode = main(sys.argv[1:])\n"
        f"loaded = {HEAVY!r}\nsys.exit(code or [name for name in loaded if name in sys.modules] or 0)\n"
    )
    words = ["ledger", verb, *(["1"] if verb == "show" else []), "--state", str(state)]
    done = subprocess.run(
        [sys.executable, "-c", script, *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=os.environ,
    )
    assert (done.returncode, done.stderr) == (0, "")
