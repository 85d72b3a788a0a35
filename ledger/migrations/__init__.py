"""Migrations of the ledger's schema: Alembic, run by the writer when a database is older than this code.

Additive for the tables of the record, free for projections (D9); a released revision is never edited. Its
files are `versions/rNNNN_noun.py` and their revision id is "NNNN", so that whether anything must be done is
answered by plain SQL and file names. Alembic is imported only when something must.
"""

import sqlite3
from pathlib import Path

from ledger.kinds import LedgerError

_HERE = Path(__file__).parent


class SchemaError(LedgerError):
    """This ledger was written by a newer sayso. Update sayso, nothing was changed."""


def newest() -> str:
    """Return the newest revision that this code knows."""
    return max(file.name[1:5] for file in (_HERE / "versions").glob("r[0-9]*.py"))


def revision_of(connection: sqlite3.Connection) -> str:
    """Return the revision that a database stands at; "" for one without any tables of ours."""
    known = connection.execute(
        "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'alembic_version'"
    ).fetchone()
    if known is None:
        return ""
    row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    return str(row[0]) if row else ""


def bring_up(path: Path, connection: sqlite3.Connection) -> None:
    """Bring the database at `path` to the newest revision, in one transaction; nothing if it stands there.

    Args:
        path: the database file.
        connection: an idle connection to it, only read.

    Raises:
        SchemaError: the database is newer than this code.
        sqlite3.Error: it cannot be written.
    """
    found, wanted = revision_of(connection), newest()
    if found > wanted:
        raise SchemaError(f"{SchemaError.__doc__} Found {found}, this one knows {wanted}.")
    if found < wanted:
        _upgrade(path)


def _upgrade(path: Path) -> None:
    # Imported here: Alembic and SQLAlchemy cost 0.3 s, and only a new or an old database needs them.
    from alembic import command  # noqa: PLC0415  see above
    from alembic.config import Config  # noqa: PLC0415  see above
    from sqlalchemy import create_engine  # noqa: PLC0415  see above
    from sqlalchemy.exc import DBAPIError  # noqa: PLC0415  see above
    from sqlalchemy.pool import NullPool  # noqa: PLC0415  see above

    config = Config()
    config.set_main_option("script_location", str(_HERE).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    engine = create_engine(
        "sqlite://",
        creator=lambda: sqlite3.connect(
            path, isolation_level=None
        ),  # None: we say BEGIN, so DDL is covered too
        poolclass=NullPool,
    )
    try:
        with engine.connect() as connection:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
            connection.commit()
    except DBAPIError as error:
        if isinstance(error.orig, sqlite3.Error):
            raise error.orig from error
        raise
    finally:
        engine.dispose()
