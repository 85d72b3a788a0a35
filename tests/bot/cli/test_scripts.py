"""Commands for scripts: JSON Lines in and out, and the same for people."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bot.cli import jsonl, main
from bot.cli.jsonl import BadLineError

SAYSO = Path(sys.executable).with_name("sayso")


def piped(command: str, *lines: str | bytes) -> tuple[int, list[dict[str, object]]]:
    data = b"".join((line.encode() if isinstance(line, str) else line) + b"\n" for line in lines)
    done = subprocess.run(
        [SAYSO, command, "--jsonl"], input=data, capture_output=True, check=False, timeout=60
    )
    assert done.stderr == b""
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


def test_classify_gives_one_object_a_line() -> None:
    code, (first, second, third) = piped(
        "classify",
        '{"command": "uptime"}',
        '{"command": "rm -rf /"}',
        '{"command": "uptime", "declared_risk": "destructive", "id": 7}',
    )
    assert code == 0
    assert set(first) == {"command", "risk", "auto_run", "never", "reasons"}
    assert (first["command"], first["risk"], first["auto_run"], first["never"]) == (
        "uptime",
        "read_only",
        True,
        None,
    )
    assert (second["risk"], second["auto_run"]) == ("destructive", False)
    assert isinstance(second["never"], str)
    assert (third["risk"], third["auto_run"]) == ("destructive", False)


def test_assent_gives_one_object_a_line() -> None:
    pending = ["systemctl restart caddy on web1", "apt upgrade -y on web1"]
    code, answers = piped(
        "assent",
        json.dumps({"text": "go ahead", "pending": pending[:1], "context": "Restart caddy?", "lang": "en"}),
        json.dumps({"text": "the restart but not the upgrade", "pending": pending}),
        json.dumps({"text": "maybe later", "pending": pending[:1]}),
    )
    assert code == 0
    assert answers[0]["verdict"] == "grant"
    assert "selects" not in answers[0]
    assert (answers[1]["verdict"], answers[1]["selects"]) == ("partial", [1])
    assert answers[2]["verdict"] not in {"grant", "partial"}
    assert all(answer["because"] for answer in answers)


def test_a_bad_line_is_told_in_its_place_and_in_the_exit_code() -> None:
    code, answers = piped(
        "classify",
        '{"command": "uptime"}',
        "",
        "   ",
        "not json",
        "[1]",
        '{"command": 5}',
        "{}",
        b'{"command": "\xff"}',
        '{"command": "\\ud800"}',
        '{"command": "uptime", "declared_risk": 3}',
        '{"command": "uptime"}',
    )
    assert code == 1
    assert ["error" in answer for answer in answers] == [False, *[True] * 7, False]


def test_an_unknown_declared_risk_does_not_lower() -> None:
    _, (answer,) = piped("classify", '{"command": "uptime", "declared_risk": "totally fine"}')
    assert answer["auto_run"] is False


def test_an_empty_command_is_judged_and_never_runs() -> None:
    _, (answer,) = piped("classify", '{"command": ""}')
    assert answer["auto_run"] is False


def test_each_answer_comes_before_the_next_line_is_sent() -> None:
    with subprocess.Popen(
        [SAYSO, "classify", "--jsonl"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as talk:
        assert talk.stdin is not None
        assert talk.stdout is not None
        for _ in range(2):
            talk.stdin.write('{"command": "uptime"}\n')
            talk.stdin.flush()
            assert json.loads(talk.stdout.readline())["risk"] == "read_only"
        talk.stdin.close()
        assert talk.wait(60) == 0


def test_output_survives_any_locale() -> None:
    done = subprocess.run(
        [SAYSO, "classify", "--jsonl"],
        input='{"command": "echo الخادم ✓"}\n'.encode(),
        capture_output=True,
        check=True,
        timeout=60,
        env={**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"},
    )
    assert json.loads(done.stdout)["command"] == "echo الخادم ✓"


def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", f'yes \'{{"command": "uptime"}}\' | {SAYSO} classify --jsonl | head -1'],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert json.loads(done.stdout)["risk"] == "read_only"
    assert "Traceback" not in done.stderr


# ---------------------------------------------------------------- the frame itself


def test_fields_are_checked() -> None:
    assert jsonl.text({}, "a") is None
    assert jsonl.text({"a": None}, "a") is None
    assert jsonl.text({"a": "x"}, "a", needed=True) == "x"
    assert jsonl.texts({"a": ["x", "y"]}, "a") == ("x", "y")
    assert jsonl.texts({}, "a") == ()
    for fields in ({"a": None}, {"a": 1}, {"a": ["x"]}, {"a": "\udc80"}):
        with pytest.raises(BadLineError):
            jsonl.text(fields, "a", needed=True)
    for fields in ({"a": "x"}, {"a": [1]}, {"a": {"x": 1}}, {"a": ["\udc80"]}):
        with pytest.raises(BadLineError):
            jsonl.texts(fields, "a")


def test_a_deeply_nested_line_is_a_bad_line() -> None:
    out = io.StringIO()
    code = jsonl.stream(lambda _: {}, lines=io.StringIO("[" * 200_000 + "\n"), out=out)
    assert code == 1
    assert "error" in json.loads(out.getvalue())


# ---------------------------------------------------------------- for people


def test_classify_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["classify", "rm", "-rf", "/"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("destructive · is never run\nnever: ")


def test_classify_reads_a_line_from_stdin(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("uptime\n"))
    assert main(["classify"]) == 0
    assert capsys.readouterr().out.startswith("read_only · runs at once")


@pytest.mark.parametrize(
    ("command", "fate"),
    [
        ("rm -rf /", "destructive · is never run"),
        ("rm -rf /srv/old", "destructive · wants its typed phrase"),
        ("systemctl restart caddy", "reversible_low · waits for a yes"),
        ("uptime", "read_only · runs at once"),
    ],
)
def test_explain_says_what_its_class_comes_to(
    command: str, fate: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", command]) == 0
    assert capsys.readouterr().out.splitlines()[0] == fate


def test_explain_shows_the_parts_with_hidden_characters_seen(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "df -h | sort; systemctl restart ca\u200bddy"]) == 0
    shown = capsys.readouterr().out
    assert "df -h" in shown
    assert "read_only:" in shown
    assert "\u200b" not in shown


def test_rules_of_the_config_count(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "risk.toml").write_text('[[program]]\nname = "uptime"\nasks = "the board looks first"\n')
    config = tmp_path / "sayso.toml"
    config.write_text('[policy]\nrules = ["risk.toml"]\n')
    for command in ("classify", "explain"):
        assert main([command, "--config", str(config), "uptime"]) == 0
        shown = capsys.readouterr().out
        assert shown.startswith("read_only · waits for a yes")
        assert "the board looks first" in shown
    monkeypatch.setenv("SAYSO_CONFIG", str(config))
    assert piped("classify", '{"command": "uptime"}')[1][0]["auto_run"] is False


def test_a_mistake_in_the_rules_of_the_config_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "risk.toml").write_text('[[program]]\nname = "uptime"\nclas = "destructive"\n')
    config = tmp_path / "sayso.toml"
    config.write_text('[policy]\nrules = ["risk.toml"]\n')
    assert main(["classify", f"--config={config}", "uptime"]) == 2
    assert "clas" in capsys.readouterr().err


def test_assent_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["assent", "go", "ahead", "--pending", "systemctl restart caddy on web1"]) == 0
    assert capsys.readouterr().out.startswith("grant · ")
