"""The recipe of docs/ledger-format.md: standard tools find the digest that the card of a fan-out shows."""

import re
import shutil
import sqlite3
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from bot.cli import main
from bot.inventory import TargetConfig, build
from gate.domain import TargetKind
from tests.bot.fanout.fleet import ends, fleet
from tests.kit import Kit, conversation

PAGE = Path(__file__).parent.parent / "docs" / "ledger-format.md"
TOOLS = ("bash", "sqlite3", "jq", "sha256sum", "cmp", "grep", "cut")
#: A command whose bytes a tool that rewrites JSON could get wrong.
COMMAND = """printf '%s\\t"%s"\\n' 'grüße <&> \\u0041 ☃' "$HOME" >> /tmp/x"""

pytestmark = pytest.mark.skipif(not all(map(shutil.which, TOOLS)), reason=f"needs {', '.join(TOOLS)}")


def recipe() -> str:
    """Return the lines that the page tells to paste, but for the first, which names what is looked at."""
    (script,) = re.findall(r"^```sh\n(db=.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    first, rest = str(script).split("\n", 1)
    assert re.fullmatch(r"db=ledger\.db id=\w{6} shown=[0-9a-f]{12}", first)
    return rest


def follow(folder: Path, *, ledger: Path, proposal: str, shown: str) -> list[str]:
    """Do what the page says in an empty folder; return the lines that it prints."""
    folder.mkdir()
    script = f"db='{ledger}' id={proposal} shown={shown}\n{recipe()}"
    done = subprocess.run(
        ["bash", "-c", script], cwd=folder, capture_output=True, text=True, check=False, timeout=500
    )
    return (done.stdout + done.stderr).splitlines()


def shown_on(kit: Kit) -> list[str]:
    """Return the digests that the newest card shows, the oldest yes first."""
    found = [re.findall(r"digest ([0-9a-f]{12}) ", one.text) for one in kit.port.screen.values()]
    return next(one for one in reversed(found) if one)


async def test_the_digests_of_a_card_are_found_by_hand_after_a_stop_too(tmp_path: Path) -> None:
    async with conversation(tmp_path / "s", inventory=fleet(), executor=ends(web2="failed")) as kit:
        await kit.say(f"on @web: `{COMMAND}`, one at a time then verify `uptime`")
        proposal = kit.newest_id()
        await kit.say("go ahead")
        await kit.at_rest()
        await kit.say("go ahead")
        await kit.at_rest()
        await kit.app.conversation._kick()
        first, second = shown_on(kit)
    file = tmp_path / "s" / "ledger.db"
    for shown, count in ((first, 12), (second, 10)):
        assert follow(tmp_path / shown, ledger=file, proposal=proposal, shown=shown) == [
            "12 actions are what they say",
            f"{count} of them were approved",
            shown,
            "12 of them started, and nothing else",
        ]


_REPLACE = "UPDATE entry SET body = replace(body, '{old}', '{new}') WHERE kind = '{kind}'"
#: What is changed, by what it is, and which line of the recipe does not come then.
CHANGES = {
    "the command": (
        "UPDATE payload SET content = CAST('rm -rf /srv' AS BLOB) WHERE CAST(content AS TEXT) LIKE 'printf%'",
        0,
    ),
    "a host": (_REPLACE.format(old='"address":""', new='"address":"x"', kind="proposal:listed"), 0),
    "the brake": (_REPLACE.format(old='"stop_after":1', new='"stop_after":9', kind="proposal:made"), 2),
    "the list": ("DELETE FROM entry WHERE kind = 'approval:opened' AND body LIKE '%.7/%'", 2),
    "what started": (_REPLACE.format(old='"digest":"', new='"digest":"0', kind="action:started"), 3),
}


@pytest.mark.parametrize(("change", "line"), CHANGES.values(), ids=CHANGES)
async def test_what_was_changed_is_seen(tmp_path: Path, change: str, line: int) -> None:
    async with conversation(tmp_path / "s", inventory=fleet(), executor=ends()) as kit:
        await kit.say(f"on @web: `{COMMAND}`")
        proposal = kit.newest_id()
        await kit.say("go ahead")
        await kit.at_rest()
        await kit.app.conversation._kick()
        (shown,) = shown_on(kit)
    file = tmp_path / "s" / "ledger.db"
    right = follow(tmp_path / "right", ledger=file, proposal=proposal, shown=shown)
    with sqlite3.connect(file) as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type='trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        assert connection.execute(change).rowcount
    connection.close()
    found = follow(tmp_path / "changed", ledger=file, proposal=proposal, shown=shown)
    assert right[2] == shown
    assert right[line] not in found


async def test_the_ledger_of_500_hosts_verifies_and_so_does_its_digest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [f"web{number}" for number in range(1, 501)]
    hosts = build({name: TargetConfig(kind=TargetKind.LOCAL, tags=("web",)) for name in names}, {})
    failing = dict.fromkeys(("web7", "web99", "web300"), "failed")
    async with conversation(tmp_path / "s", inventory=hosts, executor=ends(**failing)) as kit:
        await kit.say(f"on @web: `{COMMAND}`, 50 at a time, don't stop on failures")
        proposal = kit.newest_id()
        await kit.say("go ahead")
        await kit.at_rest()
        await kit.app.conversation._kick()
        assert Counter(kit.states()) == {"succeeded": 497, "failed": 3}
        (shown,) = shown_on(kit)
    file = tmp_path / "s" / "ledger.db"
    assert main(["ledger", "verify", "--state", str(file.parent)]) == 0
    assert re.match(r"✓ \d+ entries, unbroken from the first to the last", capsys.readouterr().out)
    assert follow(tmp_path / "by-hand", ledger=file, proposal=proposal, shown=shown) == [
        "500 actions are what they say",
        "500 of them were approved",
        shown,
        "500 of them started, and nothing else",
    ]
