"""What machines reported, and what watches saw."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

_TABLES: dict[str, tuple[str, ...]] = {
    # the columns of each in their order: * is of the key, # holds a number, + has an index
    "signal": ("id*", "source", "state+", "grp+", "held+", "starts_at", "seq#+", "words", "doc"),
    "signal_change": ("signal*", "seq#*", "at+"),
    "signal_group": (
        *("id*", "key+", "source", "place", "state+", "held", "until_at", "storm+"),
        *("opened_at+", "closed_at", "seq#"),
    ),
    "signal_act": ("seq#*", "grp+", "how", "ref+", "at+", "doc"),
    "storm": ("id*", "place", "state+", "began_at", "ended_at", "seq#"),
    "watch": ("job*", "target*", "state", "at", "seq#", "doc"),
}


def upgrade() -> None:
    """Create their tables; no ledger from before has any."""
    for table, columns in _TABLES.items():
        op.create_table(table, *map(_column, columns))
        for column in columns:
            if "+" in column:
                name = column.rstrip("*#+")
                op.create_index(f"ix_{table}_{name}", table, [name])


def _column(words: str) -> sa.Column[object]:
    kind = sa.Integer() if "#" in words else sa.String()
    return sa.Column(words.rstrip("*#+"), kind, primary_key="*" in words, nullable=False)
