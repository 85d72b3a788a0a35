"""Backup and restore of a folder with real tar, in folders of the test."""

from pathlib import Path
from typing import Any

import pytest

from gate.supervise.state import RunState
from tests.library.drive import Drive, asks_as_it_says, laid_open, play, refuse


def filled(folder: Path) -> Path:
    """Lay out something to back up, and where to."""
    for name in ("data/deep", "archives", "scratch"):
        (folder / name).mkdir(parents=True)
    (folder / "data/one").write_text("one\n")
    (folder / "data/deep/two words").write_text("two\n")
    (folder / "data/link").symlink_to("one")
    return folder


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    return filled(tmp_path)


def run(name: str, inputs: dict[str, Any], **more: Any) -> Drive:
    played = play(name, inputs, **more)
    assert asks_as_it_says(laid_open(name), played) == []
    return played


def back_up(folders: Path, **more: Any) -> Drive:
    inputs = {"source": str(folders / "data"), "folder": str(folders / "archives"), "name": "data"}
    return run("backup-folder", inputs, **more)


def restore(folders: Path, **more: Any) -> Drive:
    inputs = {
        "archives": str(folders / "archives"),
        "name": "data",
        "source": str(folders / "data"),
        "scratch": str(folders / "scratch"),
    }
    return run("restore-test", inputs, **more)


def test_what_is_backed_up_can_be_restored(folders: Path) -> None:
    made = back_up(folders)
    assert (made.outcome, made.asked) == ("completed", ["pack"])
    archive = folders / "archives" / f"data-{made.state.inputs['stamp']}.tar.gz"
    assert archive.is_file()
    tested = restore(folders)
    assert tested.outcome == "completed"
    assert tested.asked == ["make", "unpack", "changed", "clean"]
    assert tested.state.inputs["newest"] == str(archive)
    assert tested.output("changed") == ""
    assert list((folders / "scratch").iterdir()) == []


def test_what_changed_since_is_shown_and_is_no_failure(folders: Path) -> None:
    back_up(folders)
    (folders / "data/one").write_text("another\n")
    tested = restore(folders)
    assert (tested.outcome, "data/one" in tested.output("changed")) == ("completed", True)


def test_a_broken_archive_is_noticed(folders: Path) -> None:
    made = back_up(folders)
    archive = folders / "archives" / f"data-{made.state.inputs['stamp']}.tar.gz"
    archive.write_bytes(archive.read_bytes()[:-30])
    tested = restore(folders)
    assert (tested.outcome, list((folders / "scratch").iterdir())) == ("failed", [])
    assert tested.steps[-2:] == ["unpack", "remove"]


def test_without_an_archive_there_is_nothing_to_test(folders: Path) -> None:
    tested = restore(folders)
    assert (tested.outcome, tested.steps) == ("failed", ["find"])


def test_what_changes_while_it_is_packed_is_for_a_person(folders: Path) -> None:
    def write(state: RunState) -> None:
        if state.current == "compare":
            (folders / "data/one").write_text("meanwhile\n")

    made = back_up(folders, before=write)
    assert (made.outcome, len(list((folders / "archives").iterdir()))) == ("escalated", 1)
    assert "one: " in made.output("compare")


def test_an_archive_that_cannot_be_written_is_not_left_half(folders: Path) -> None:
    (folders / "archives").rmdir()
    assert back_up(folders).steps == ["room"], "it is noticed before anything is asked"


def test_a_restored_folder_stays_where_nobody_agrees_to_delete_it(folders: Path) -> None:
    back_up(folders)
    left = restore(folders, answer=refuse("clean"))
    assert left.outcome == "aborted"
    assert len(list((folders / "scratch").iterdir())) == 1
