"""The loader reads the package's files and the operator's, and names the file that is wrong."""

from pathlib import Path

import pytest

from bot.loading.rules import load_rules
from gate.domain import Risk
from gate.errors import RuleError
from gate.shell.classify import classify


def test_built_in_rules_load_the_same_each_time() -> None:
    assert load_rules().revision == load_rules().revision
    assert len(load_rules().revision) == 64


def test_an_operator_file_adds_a_program(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text(
        '[[program]]\nname = "deployctl"\nclass = "read_only"\nreason = "shows deployments"\nargs = "0"\n'
    )
    rules = load_rules([file])
    assert classify("deployctl", rules=rules).auto_run
    assert classify("deployctl x", rules=rules).risk is Risk.CONFIG_MUTATION
    assert rules.revision != load_rules().revision


@pytest.mark.parametrize("content", [b"not toml", b"\xff\xfe", b'[[program]]\nname = "x"\n', None])
def test_a_bad_file_is_named(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "bad.toml"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(RuleError, match=r"bad\.toml"):
        load_rules([file])
