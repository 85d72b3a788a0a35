"""The operator's own rule files: found beside the config, tightening, and named when they are wrong."""

from pathlib import Path

import pytest

from bot.cli import main
from bot.settings.config import Config, load
from bot.settings.paths import Paths
from bot.settings.rules import rule_files, rules_of
from gate.domain import Risk
from gate.errors import RuleError
from gate.shell.classify import classify

TIGHTER = """
[[program]]
name = "uptime"
asks = "the operator wants to know"

[[program]]
name = "deployctl"
class = "config_mutation"
reason = "changes deployments"
"""


def config(folder: Path, *, rules: str, text: str | None) -> Config:
    file = folder / "config.toml"
    file.write_text(f"[policy]\nrules = {rules}\n")
    if text is not None:
        (folder / "risk.toml").write_text(text)
    return load(file=file, environ={}, flags=[], login="ana", paths=Paths(folder))


def test_none_by_default(tmp_path: Path) -> None:
    plain = config(tmp_path, rules="[]", text=None)
    assert rule_files(plain) == ()
    assert classify("uptime", rules=rules_of(plain)).auto_run


def test_files_count_from_the_folder_of_the_config(tmp_path: Path) -> None:
    rules = rules_of(config(tmp_path, rules='["risk.toml"]', text=TIGHTER))
    assert not classify("uptime", rules=rules).auto_run
    assert classify("deployctl x", rules=rules).reasons == ("changes deployments",)
    assert classify("df -h", rules=rules).risk is Risk.READ_ONLY


def test_their_content_is_part_of_the_revision(tmp_path: Path) -> None:
    plain = rules_of(config(tmp_path, rules="[]", text=None))
    own = rules_of(config(tmp_path, rules='["risk.toml"]', text=TIGHTER))
    assert plain.revision != own.revision


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (None, "risk.toml"),
        ("[[program]]\nname = 1\n", "name"),
        ("[[program]]\nname = 'x'\n", "class is missing"),
        ("[[program]]\nname = 'x'\nclass = 'harmless'\n", "class"),
        ("[[program]]\nname = 'x'\nclas = 'read_only'\n", "clas"),
        ("= =", "risk.toml"),
    ],
)
def test_a_broken_file_is_named_with_its_key(tmp_path: Path, text: str | None, what: str) -> None:
    with pytest.raises(RuleError, match=what) as caught:
        rules_of(config(tmp_path, rules='["risk.toml"]', text=text))
    assert "risk.toml" in str(caught.value)


def test_config_check_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = config(tmp_path, rules='["risk.toml"]', text="[[program]]\nname = 'x'\n")
    assert main(["config", "check", "--config", str(broken.file)]) != 0
    assert "class is missing" in capsys.readouterr().err
    sound = config(tmp_path, rules='["risk.toml"]', text=TIGHTER)
    assert main(["config", "check", "--config", str(sound.file)]) == 0
    assert "risk.toml" in capsys.readouterr().out
