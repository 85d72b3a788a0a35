from pathlib import Path

import pytest

from bot.loading.library import load_library, parse
from bot.planning.library import LibraryError

GOOD = """\
version: 1
id: disk
title: disk space
aliases: [our disk]
steps:
  - {id: df, title: Show it, risk: read-only, command: df -hT, timeout: 30s}
"""


def overlay(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    return folder


def test_overlay_replaces_a_document_by_id_and_adds_new_ones(tmp_path: Path) -> None:
    added = (
        GOOD.replace("id: disk", "id: mine").replace("disk space", "my things").replace("our disk", "mine")
    )
    library = load_library(overlay(tmp_path, a=GOOD, b=added))
    assert library.documents["disk"].steps[0].command == "df -hT"
    assert library.documents["disk"].steps[0].timeout_s == 30
    assert "mine" in library.documents
    assert len(library.documents) == len(load_library().documents) + 1


def test_other_files_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("hello", encoding="utf-8")
    assert load_library(tmp_path).documents.keys() == load_library().documents.keys()


def test_revision_names_the_content(tmp_path: Path) -> None:
    first = load_library().documents["disk"].revision
    changed = load_library(overlay(tmp_path, a=GOOD)).documents["disk"].revision
    assert len(first) == 64
    assert first == load_library().documents["disk"].revision
    assert first != changed


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("version: 1", "version: 2", "version"),
        ("version: 1\n", "", "version"),
        ("title: disk space", "title: 5", "title"),
        ("title: disk space", "title: on", "title"),
        ("risk: read-only", "risk: harmless", "risk"),
        ("risk: read-only, ", "", "risk"),
        ("timeout: 30s", "timeout: soon", "timeout"),
        ("timeout: 30s", "timeout: 2d", "timeout"),
        ("timeout: 30s", "retry: 3", "retry"),
        ("timeout: 30s", "kind: wait", "kind"),
        ("aliases: [our disk]", "alias: [our disk]", "alias"),
        ("aliases: [our disk]", "aliases: ['disk of {ghost}']", "ghost"),
        ("aliases: [our disk]", "aliases: ['what is the']", "no word"),
        ("aliases: [our disk]", "aliases: [memory]", "both claim"),
        ("df -hT", '"df {{ inputs.ghost }}"', "ghost"),
        ("df -hT", "\"df '{{ inputs.ghost }}'\"", "plain"),
        ("id: disk", "id: Disk Space", "id"),
        ("id: disk", "id: disk\nid: other", "twice"),
        ("steps:", "inputs: {n: {type: number}}\nsteps:", "type"),
        ("steps:", "inputs: {n: {type: integer, default: x}}\nsteps:", "default"),
        ("steps:", "x: &a [*a]\nsteps:", ""),
        ("version: 1", "version: !!python/object/apply:os.getcwd []", ""),
        (GOOD, "", ""),
        (GOOD, "- a", ""),
        (GOOD, "{", ""),
    ],
)
def test_malformed_document_is_refused_by_file_and_field(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    assert old in GOOD
    with pytest.raises(LibraryError) as caught:
        load_library(overlay(tmp_path, bad=GOOD.replace(old, new)))
    assert said in str(caught.value)


def test_two_files_with_one_id_are_refused(tmp_path: Path) -> None:
    with pytest.raises(LibraryError, match="one id"):
        load_library(overlay(tmp_path, a=GOOD, b=GOOD))


def test_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(LibraryError, match=r"a\.yaml"):
        load_library(tmp_path)


def test_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LibraryError, match="nowhere"):
        load_library(tmp_path / "nowhere")


def test_two_steps_with_one_id_are_refused() -> None:
    step = {"id": "a", "title": "t", "risk": "read-only", "command": "true"}
    document = parse({"version": 1, "id": "x", "title": "some thing", "steps": [step, step]})
    with pytest.raises(LibraryError, match="two steps"):
        type(load_library()).of([document])


def test_optional_input_without_default_is_refused() -> None:
    step = {"id": "a", "title": "t", "risk": "read-only", "command": "echo {{ inputs.n }}"}
    document = parse(
        {
            "version": 1,
            "id": "x",
            "title": "some thing",
            "inputs": {"n": {"required": False}},
            "steps": [step],
        }
    )
    with pytest.raises(LibraryError, match="no default"):
        type(load_library()).of([document])
