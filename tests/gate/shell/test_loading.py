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


def test_the_examples_of_the_docs_load_and_hold(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "risk.md").read_text(encoding="utf-8")
    blocks = [part.split("```")[0] for part in page.split("```toml\n")[1:]]
    files = []
    for name, block in enumerate(block for block in blocks if "[[program]]" in block):
        files.append(tmp_path / f"{name}.toml")
        files[-1].write_text(block, encoding="utf-8")
    rules = load_rules(files)
    assert classify("deployctl list", rules=rules).auto_run
    assert classify("deployctl remove web", rules=rules).risk is Risk.DESTRUCTIVE
    assert classify("deployctl remove web --dry-run", rules=rules).auto_run
    assert not classify("kubectl get pods", rules=rules).auto_run
    assert classify("systemctl restart caddy", rules=rules).risk is Risk.CONFIG_MUTATION
    assert classify("systemctl status caddy", rules=rules).auto_run
