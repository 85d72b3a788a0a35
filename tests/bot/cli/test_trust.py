"""sayso trust and sayso guidance: read from the ledger, changed by the words of the user of this machine."""

import asyncio
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.cli import main
from tests.bot.test_digest import Ends
from tests.kit import ScriptedClock, conversation


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SAYSO_HOME", str(tmp_path / "state"))
    return tmp_path


def say(home: Path, *lines: str) -> None:
    """Let ana say something, now, and type whatever phrase that asks for."""

    async def talk() -> None:
        clock = ScriptedClock(datetime.now(UTC))
        async with conversation(home / "state", executor=Ends, clock=clock) as kit:
            for line in lines:
                asked = await kit.say(line)
                if "Type:  " in asked:
                    await kit.say(asked.rpartition("Type:  ")[2])

    asyncio.run(talk())


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = main(words)
    return code, capsys.readouterr().out


def one(capsys: pytest.CaptureFixture[str], words: Sequence[str]) -> dict[str, object]:
    found: dict[str, object] = json.loads(run(capsys, *words, "--json")[1])
    return found


def test_a_rule_is_listed_and_revoked(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "trust", "list") == (0, "No trust rule counts.\n")
    say(
        home, "trust systemctl restart caddy on web1, web2 for 30 days", "run systemctl restart caddy on web2"
    )
    listed = one(capsys, ["trust", "list"])
    assert {key: listed[key] for key in ("command", "targets", "risk", "used", "made_by")} == {
        "command": "systemctl restart caddy",
        "targets": ["web1", "web2"],
        "risk": "reversible_low",
        "used": 1,
        "made_by": ["ana"],
    }
    code, shown = run(capsys, "trust", "list")
    assert f"#{listed['id']}  systemctl restart caddy  on web1, web2  until " in shown
    assert shown.endswith("  used 1  by ana\n")
    code, shown = run(capsys, "trust", "revoke", f"#{listed['id']}")
    assert (code, "counts no more" in shown) == (0, True)
    assert run(capsys, "trust", "list", "--json") == (0, "")
    code, shown = run(capsys, "trust", "revoke", "zzzz99")
    assert (code, "No trust rule #zzzz99 counts" in shown) == (1, True)


def test_guidance_is_listed_and_rejected_and_its_phrase_is_typed_in_chat(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, "guidance", "list") == (0, "Nothing was taught.\n")
    say(home, "from now on, prefer podman")
    listed = one(capsys, ["guidance", "list"])
    name = str(listed["id"])
    assert (listed["text"], listed["state"], listed["confirmed_by"]) == ("prefer podman", "held", None)
    code, shown = run(capsys, "guidance", "confirm", name)
    assert code == 1
    assert f"teach guidance {name}" in shown
    assert shown.endswith("The phrase is typed in chat:  sayso chat\n")
    say(home, f"guidance reject {name}", "from now on, prefer podman")
    name = str(one(capsys, ["guidance", "list"])["id"])
    say(home, f"guidance confirm {name}")
    assert (
        run(capsys, "guidance", "list")[1] == f'#{name}  confirmed  by ana  "prefer podman"  taught by ana\n'
    )
    assert run(capsys, "guidance", "confirm", f"#{name}")[0] == 0
    code, shown = run(capsys, "guidance", "reject", name, "docker", "is", "back")
    assert (code, f"#{name} is gone" in shown) == (0, True)
    assert run(capsys, "guidance", "reject", "zzzz99")[0] == 1
    assert run(capsys, "guidance", "list", "--json") == (0, "")
