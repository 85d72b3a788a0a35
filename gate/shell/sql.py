"""How much a piece of SQL may change, by its verbs; nothing here is ever a reason to run unasked.

Comments and quoted texts are taken out first, then every statement is judged by its first word and by the
words that change things wherever they stand. What is not known is config_mutation.
"""

import re

from gate.domain import Risk, strictest

_NOISE = re.compile(r"--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`|\$\$.*?\$\$", re.DOTALL)
_DESTROYS = re.compile(
    r"\b(?:drop|truncate|delete\s+from|delete\b(?=.*\breturning\b)|pg_drop_replication_slot|lo_unlink"
    r"|reset\s+(?:master|slave|replica)|purge\s+(?:binary|master)\s+logs|detach\s+partition|merge\s+into)\b",
    re.IGNORECASE | re.DOTALL,
)
_UPDATES_ALL = re.compile(
    r"\bupdate\s+(?:only\s+)?[\w.\"]*\s+set\b(?!.*\bwhere\b)", re.IGNORECASE | re.DOTALL
)
_CHANGES = re.compile(
    r"\b(?:insert|update|delete|create|alter|grant|revoke|copy|into|set|call|do|exec|execute|load|import|replace|merge"
    r"|lock|for\s+update|pg_terminate_backend|pg_read_file|lo_export|lo_import|dblink\w*|setval|nextval|system|source"
    r"|attach|pragma|kill|flush|shutdown)\b|\\",
    re.IGNORECASE,
)
_GENTLE = re.compile(
    r"\s*(?:select\s+pg_(?:cancel_backend|reload_conf|stat_reset\w*|rotate_logfile|switch_wal)\s*\([\w\s,]*\)"
    r"|vacuum(?!\s*\(?[^;]*\bfull\b)|analyze|reindex\b|checkpoint|(?:stop|start)\s+(?:replica|slave)"
    r"|system\s+(?:reload|flush)\s|optimize\s+table)",
    re.IGNORECASE,
)
#: What the clients of psql and sqlite ask with a command of their own.
_META = re.compile(
    r"\s*(?:\\(?:l|d[a-zA-Z]{0,3}|conninfo|z|sf|sv)\+?(?:\s+[\w.*]+)?"
    r"|\.(?:tables|schema|databases|indexes|indices)(?:\s+\w+)?)\s*"
)
_SHOWS = re.compile(r"\s*(?:select|show|describe|desc|explain|values|table|with)\b", re.IGNORECASE)
_INTO_FILE = re.compile(r"\binto\s+(?:out|dump)file\b", re.IGNORECASE)
_QUERY_ONLY = re.compile(r"\s*(?:show|describe|desc|explain(?!\s*\(?\s*analy[sz]e))\b", re.IGNORECASE)


def judge(text: str) -> tuple[Risk, str]:
    """Return the class of the strictest statement and the reason in words."""
    bare = _NOISE.sub("''", text.replace("\\G", " ").replace("\\g", " "))
    statements = [statement for statement in bare.split(";") if statement.strip()]
    verdicts = [_statement(statement) for statement in statements]
    risk = strictest(*(risk for risk, _ in verdicts))
    return next((verdict for verdict in verdicts if verdict[0] is risk), (risk, "runs SQL that is not known"))


def _statement(statement: str) -> tuple[Risk, str]:
    if _DESTROYS.search(statement):
        return Risk.DESTRUCTIVE, "deletes data in a database"
    if _UPDATES_ALL.search(statement):
        return Risk.DESTRUCTIVE, "updates every row of a table"
    if _GENTLE.match(statement):
        return Risk.REVERSIBLE_LOW, "asks a database for maintenance"
    reads = (
        _META.fullmatch(statement)
        or _QUERY_ONLY.match(statement)
        or (_SHOWS.match(statement) and not _CHANGES.search(statement))
    )
    if reads and not _INTO_FILE.search(statement):
        return Risk.READ_ONLY, "asks a database"
    return Risk.CONFIG_MUTATION, "changes a database"
