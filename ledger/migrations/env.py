"""Alembic's entry: runs the revisions on the connection it was handed, inside the caller's transaction.

`ledger.migrations.bring_up` is its only caller; there is no alembic.ini and no offline mode.
"""

from alembic import context

context.configure(connection=context.config.attributes["connection"])
context.run_migrations()
