"""The documents hold together: links lead somewhere, fences close, examples parse, commands exist."""

import json
import re
import tomllib
from pathlib import Path

import pytest
import yaml

from bot.cli.commands import build_parser
from bot.settings.config import load
from bot.settings.document import parse
from bot.settings.inventory import inventory_of
from bot.settings.paths import Paths
from bot.surfaces import names, settings_of

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
NEEDED = (
    "README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "LICENSE",
    "docs/architecture.md", "docs/conventions.md", "docs/glossary.md", "docs/security.md",
    "docs/threat-model.md", "docs/operations.md",
)  # fmt: skip

PARSERS = {"toml": tomllib.loads, "json": json.loads, "yaml": yaml.safe_load}


def name(file: Path) -> str:
    return str(file.relative_to(ROOT))


@pytest.mark.parametrize("file", NEEDED)
def test_what_a_reader_looks_for_is_there(file: str) -> None:
    assert (ROOT / file).stat().st_size > 200


@pytest.mark.parametrize("file", DOCUMENTS, ids=name)
def test_links_lead_somewhere(file: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(file.read_text())):
        if target.startswith(("http://", "https://", "mailto:")):
            continue
        path, _, anchor = target.partition("#")
        linked = (file.parent / path).resolve() if path else file
        assert linked.exists(), target
        if anchor and linked.suffix == ".md":
            assert anchor in anchors(linked.read_text()), target


@pytest.mark.parametrize("file", DOCUMENTS, ids=name)
def test_fences_close_and_examples_parse(file: Path) -> None:
    text = file.read_text()
    assert len(re.findall(r"^\s*```", text, re.MULTILINE)) % 2 == 0
    for language, body in re.findall(r"^\s*```(\w+)\n(.*?)^\s*```", text, re.MULTILINE | re.DOTALL):
        if language in PARSERS:
            PARSERS[language](body)


def test_the_readme_shows_tables_that_sayso_takes() -> None:
    for body in re.findall(
        r"^\s*```toml\n(.*?)^\s*```", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL
    ):
        parse(body, file="README.md")


@pytest.mark.parametrize("file", DOCUMENTS, ids=name)
def test_commands_that_are_named_exist(file: Path) -> None:
    known = commands()
    for spoken in re.findall(r"`sayso ([a-z]+)", file.read_text()):
        assert spoken in known, spoken


def test_the_readme_names_every_command() -> None:
    text = (ROOT / "README.md").read_text()
    assert all(f"sayso {command}" in text for command in commands())


@pytest.mark.parametrize("file", DOCUMENTS, ids=name)
def test_make_targets_that_are_named_exist(file: Path) -> None:
    known = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    spoken = re.findall(r"(?:`|^)make ([a-z]+)", file.read_text(), re.MULTILINE)
    assert set(spoken) <= known


def test_the_example_config_loads(tmp_path: Path) -> None:
    example = ROOT / "config.example.toml"
    assert inventory_of(load(file=example, environ={}, flags=[], login="ana", paths=Paths(tmp_path))).targets


def test_the_example_config_shows_adapters_as_they_are() -> None:
    """Each table that is commented out there is one, with every key that there is."""
    example = (ROOT / "config.example.toml").read_text()
    start = example.index("# [adapters.")
    tables = tomllib.loads(
        re.sub(r"^# ", "", example[start : example.index("# ----", start)], flags=re.MULTILINE)
    )
    assert sorted(tables["adapters"]) == names()
    for platform, table in tables["adapters"].items():
        settings = settings_of(platform, table)
        assert set(table) == set(type(settings).model_fields), platform


def boundaries() -> list[tuple[str, str, str]]:
    """Return the rows of the table that says what is enforced: (what, how far, what shows it)."""
    text = (ROOT / "docs" / "security.md").read_text()
    table = text[text.index("## Enforced, and advisory") :].split("\n## ", maxsplit=1)[0]
    rows = re.findall(r"^\| (.+?) \| (\w+) \| (.+) \|$", table, re.MULTILINE)
    assert len(rows) == table.count("\n|") - 2, "a row that is none"
    return rows


@pytest.mark.parametrize(("what", "how_far", "shown_by"), boundaries())
def test_what_is_enforced_names_the_test_that_fails_without_it(
    what: str, how_far: str, shown_by: str
) -> None:
    assert how_far in ("enforced", "advisory"), what
    named = re.findall(r"`([\w/]+\.py)::(test_\w+)`", shown_by)
    assert bool(named) is (how_far == "enforced"), what
    for file, test in named:
        found = re.search(rf"^(?:async )?def {test}\(", (ROOT / "tests" / file).read_text(), re.MULTILINE)
        assert found, f"{what}: there is no {file}::{test}"


def test_the_lock_file_has_hashes_and_no_addresses() -> None:
    text = (ROOT / "requirements.lock").read_text()
    pins = re.findall(
        r"^[A-Za-z0-9_.-]+==[^\\\n]+ \\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", text, re.MULTILINE
    )
    assert len(pins) == len(re.findall(r"^[A-Za-z0-9]", text, re.MULTILINE))
    assert "://" not in text


def commands() -> set[str]:
    """Return the commands of the command line."""
    (subparsers,) = [action for action in build_parser()._actions if action.choices]
    return set(subparsers.choices or ())


def prose(text: str) -> str:
    """Return a document without its code."""
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^\s*```.*?^\s*```", "", text, flags=re.MULTILINE | re.DOTALL))


def anchors(text: str) -> set[str]:
    """Return the anchors that a page's headings make."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}
