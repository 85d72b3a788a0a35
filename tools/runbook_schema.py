"""Writes bot/library/runbook.schema.json: `.venv/bin/python tools/runbook_schema.py`.

The models of bot.loading are what the loader takes, the schema is a picture of them for editors;
tests/tools/test_runbook_schema.py fails when it is stale.
"""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCHEMA = ROOT / "bot" / "library" / "runbook.schema.json"

if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from bot.loading.model import schema  # noqa: E402 - the path is set first, so that it runs from anywhere


def text() -> str:
    """Return the schema as it stands in the file."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    SCHEMA.write_text(text(), encoding="utf-8")
