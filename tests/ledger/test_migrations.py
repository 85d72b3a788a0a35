import importlib.util
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine
from sqlalchemy.exc import DBAPIError
from sqlmodel import SQLModel

from ledger import guards, migrations
from ledger.engine import open_writer
from ledger.migrations import SchemaError
from tests.ledger.support import batch, ledger_in, open_ledger


def test_the_models_are_what_the_migrations_make(tmp_path: Path) -> None:
    for name in ("ledger.tables", "ledger.projected"):
        if importlib.util.find_spec(name) is not None:
            importlib.import_module(name)
    path = tmp_path / "ledger.db"
    open_writer(path).close()
    engine = create_engine(f"sqlite:///{path}")
    try:
        with engine.connect() as connection:
            context = MigrationContext.configure(connection, opts={"compare_type": True})
            assert compare_metadata(context, SQLModel.metadata) == []
    finally:
        engine.dispose()


def test_a_new_database_stands_at_the_newest_revision_with_its_guards(tmp_path: Path) -> None:
    with closing(open_writer(tmp_path / "ledger.db")) as connection:
        assert migrations.revision_of(connection) == migrations.newest()
        assert guards.missing(connection) == ()


def test_a_database_that_is_up_to_date_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    open_writer(path).close()
    before = path.read_bytes()
    open_writer(path).close()
    assert path.read_bytes() == before


def test_a_database_of_a_newer_sayso_is_refused(tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        ledger.append(batch())
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.commit()
    with pytest.raises(SchemaError, match="Found 9999"):
        open_ledger(tmp_path)


def test_a_migration_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE checkpoint (something TEXT)")
    with closing(sqlite3.connect(path)) as connection:
        with pytest.raises(sqlite3.OperationalError, match="already exists"):
            migrations.bring_up(path, connection)
        names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master")]
    assert names == ["checkpoint"]


def test_a_version_table_without_a_row_counts_as_nothing_yet(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as connection:
        assert migrations.revision_of(connection) == ""
        connection.execute("CREATE TABLE alembic_version (version_num TEXT)")
        assert migrations.revision_of(connection) == ""


def test_faults_of_other_libraries_are_not_taken_for_the_file_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise DBAPIError("SELECT 1", None, RuntimeError("not sqlite"))

    monkeypatch.setattr(command, "upgrade", broken)
    with pytest.raises(DBAPIError, match="not sqlite"):
        open_writer(tmp_path / "ledger.db")
