"""The triggers that make rewriting impossible by accident, as they must stand in a database.

They deter; the hash chain detects (docs/ledger-format.md). An entry or checkpoint is only ever added at the
end: the INSERT guard is what stops INSERT OR REPLACE, which DELETE triggers do not see unless
recursive_triggers is on. A payload may be added and pruned, nothing else. Revision 0001 creates them, and
`missing` lets verify say when one was taken away or altered.
"""

import sqlite3

GUARDS: dict[str, str] = {
    "entry_follows": """
CREATE TRIGGER entry_follows BEFORE INSERT ON entry
WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM entry)
BEGIN SELECT RAISE(ABORT, 'an entry is only added at the end'); END""",
    "entry_stays": """
CREATE TRIGGER entry_stays BEFORE UPDATE ON entry
BEGIN SELECT RAISE(ABORT, 'an entry is never changed'); END""",
    "entry_remains": """
CREATE TRIGGER entry_remains BEFORE DELETE ON entry
BEGIN SELECT RAISE(ABORT, 'an entry is never removed'); END""",
    "checkpoint_follows": """
CREATE TRIGGER checkpoint_follows BEFORE INSERT ON checkpoint
WHEN NEW.size <= (SELECT coalesce(max(size), 0) FROM checkpoint)
  OR NEW.size IS NOT (SELECT max(seq) FROM entry)
BEGIN SELECT RAISE(ABORT, 'a checkpoint is only added at the end'); END""",
    "checkpoint_stays": """
CREATE TRIGGER checkpoint_stays BEFORE UPDATE ON checkpoint
BEGIN SELECT RAISE(ABORT, 'a checkpoint is never changed'); END""",
    "checkpoint_remains": """
CREATE TRIGGER checkpoint_remains BEFORE DELETE ON checkpoint
BEGIN SELECT RAISE(ABORT, 'a checkpoint is never removed'); END""",
    "payload_once": """
CREATE TRIGGER payload_once BEFORE INSERT ON payload
WHEN EXISTS (SELECT 1 FROM payload WHERE hash = NEW.hash)
BEGIN SELECT RAISE(ABORT, 'a payload is only added once'); END""",
    "payload_prunes": """
CREATE TRIGGER payload_prunes BEFORE UPDATE ON payload
WHEN OLD.pruned_at IS NOT NULL OR NEW.pruned_at IS NULL OR NEW.content IS NOT NULL OR NEW.salt IS NOT NULL
  OR NEW.hash IS NOT OLD.hash OR NEW.seq IS NOT OLD.seq OR NEW.size IS NOT OLD.size
BEGIN SELECT RAISE(ABORT, 'a payload is only pruned'); END""",
    "payload_remains": """
CREATE TRIGGER payload_remains BEFORE DELETE ON payload
BEGIN SELECT RAISE(ABORT, 'a payload is never removed'); END""",
}


def missing(connection: sqlite3.Connection) -> tuple[str, ...]:
    """Return the guards that do not stand in this database as they should, by name."""
    rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
    found = {_text(name): _text(sql) for name, sql in rows}
    return tuple(name for name, sql in GUARDS.items() if found.get(name) != sql.strip())


def _text(value: str | bytes) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
