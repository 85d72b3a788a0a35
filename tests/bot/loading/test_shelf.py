"""The shelf: what is kept counts at once, and a process that dies in between leaves nothing undecided."""

from pathlib import Path

import pytest

from bot.loading.library import load_library
from bot.loading.shelf import Shelf, ShelfError, settle
from bot.planning.library import Library

BOOK = """\
version: 1
id: sync-disks
title: flush the disks
steps:
  - id: sync
    title: Flush
    risk: reversible
    command: sync /
"""


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(Library(), folder=tmp_path / "library")


def test_what_is_laid_counts_once_it_is_put(shelf: Shelf, tmp_path: Path) -> None:
    shelf.lay("sync-disks", "c1", BOOK)
    assert "sync-disks" not in shelf.library.documents
    assert "sync-disks" not in load_library(tmp_path / "library").documents
    shelf.put("sync-disks", "c1")
    assert shelf.library.documents["sync-disks"].title == "flush the disks"
    assert "disk" in shelf.library.documents  # those that come with sayso, too
    assert [file.name for file in (tmp_path / "library").iterdir()] == ["sync-disks.yaml"]
    assert shelf.holds("sync-disks")
    assert not shelf.holds("disk")


def test_keeping_again_replaces(shelf: Shelf) -> None:
    for number, title in enumerate(("flush the disks", "empty the caches of the disks")):
        shelf.lay("sync-disks", f"c{number}", BOOK.replace("flush the disks", title))
        shelf.put("sync-disks", f"c{number}")
    assert shelf.library.documents["sync-disks"].title == "empty the caches of the disks"


def test_a_faulty_document_is_never_written(shelf: Shelf, tmp_path: Path) -> None:
    with pytest.raises(ShelfError, match="risk"):
        shelf.lay("sync-disks", "c1", BOOK.replace("risk: reversible", "risk: some"))
    assert not (tmp_path / "library").exists()
    assert list(shelf.faults("sync-disks", BOOK)) == []


def test_words_that_another_own_document_claims_are_a_fault(shelf: Shelf) -> None:
    shelf.lay("sync-disks", "c1", BOOK)
    shelf.put("sync-disks", "c1")
    with pytest.raises(ShelfError, match="claim"):
        shelf.lay("other", "c2", BOOK.replace("sync-disks", "other"))


def test_a_folder_that_is_faulty_keeps_nothing_and_the_library_stays(shelf: Shelf, tmp_path: Path) -> None:
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "mine.yaml").write_text("version: 7\n")
    with pytest.raises(ShelfError, match=r"mine\.yaml"):
        shelf.lay("sync-disks", "c1", BOOK)
    before = shelf.library
    (tmp_path / "library" / ".sync-disks~c1").write_text(BOOK)
    with pytest.raises(ShelfError, match=r"mine\.yaml"):
        shelf.put("sync-disks", "c1")
    assert shelf.library is before


def test_what_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "library").write_text("a file")
    shelf = Shelf(Library(), folder=tmp_path / "library")
    with pytest.raises(ShelfError, match="cannot be written"):
        shelf.lay("sync-disks", "c1", BOOK)
    with pytest.raises(ShelfError, match="cannot be written"):
        shelf.put("sync-disks", "c1")
    with pytest.raises(ShelfError, match="no folder"):
        Shelf(Library()).lay("sync-disks", "c1", BOOK)
    assert not Shelf(Library()).holds("sync-disks")


def test_retiring_takes_it_away_and_keeps_the_file(shelf: Shelf, tmp_path: Path) -> None:
    shelf.lay("sync-disks", "c1", BOOK)
    shelf.put("sync-disks", "c1")
    shelf.retire("sync-disks")
    assert "sync-disks" not in shelf.library.documents
    assert [file.name for file in (tmp_path / "library").iterdir()] == ["sync-disks.yaml.retired"]
    with pytest.raises(ShelfError, match="cannot be moved"):
        shelf.retire("sync-disks")


def test_the_next_start_settles_by_what_the_ledger_knows(shelf: Shelf, tmp_path: Path) -> None:
    folder = tmp_path / "library"
    settle(folder, lambda _: True)  # there is none
    shelf.lay("sync-disks", "c1", BOOK)
    shelf.lay("other", "c2", BOOK.replace("sync-disks", "other").replace("flush the", "clear"))
    (folder / "notes.txt").write_text("mine")
    settle(folder, lambda token: token == "c1")
    assert sorted(file.name for file in folder.iterdir()) == ["notes.txt", "sync-disks.yaml"]
    assert "sync-disks" in load_library(folder).documents
