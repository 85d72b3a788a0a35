"""Screens: what people see on each platform stands in tests/screens, to be read and reviewed as text.

`SAYSO_SCREENS=write` writes the files anew; look at what changed before it is committed.
"""

import difflib
import os
import tomllib
from pathlib import Path

import pytest

from tests.adapters.screens import screens
from tests.adapters.stage import adapter_names

FOLDER = Path(__file__).parent.parent / "screens"
SCENES = tomllib.loads((FOLDER / "scenes.toml").read_text("utf-8"))["scene"]


@pytest.mark.parametrize("platform", adapter_names())
async def test_people_see_what_was_reviewed(platform: str, tmp_path: Path) -> None:
    now = await screens(platform, SCENES, tmp_path)
    file = FOLDER / f"{platform}.txt"
    if os.environ.get("SAYSO_SCREENS") == "write":
        file.write_text(now, "utf-8")
    reviewed = file.read_text("utf-8")
    changes = difflib.unified_diff(
        reviewed.splitlines(), now.splitlines(), "reviewed", "now", n=6, lineterm=""
    )
    if now != reviewed:
        pytest.fail("\n".join([*changes, "Is it better? Then: SAYSO_SCREENS=write"]), pytrace=False)
