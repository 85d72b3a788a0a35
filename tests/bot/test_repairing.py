"""What follows a failed command, level by level: from its error alone to a look that only reads."""

from dataclasses import replace
from pathlib import Path

import pytest

from bot.loading.library import load_library
from bot.planning.library import Library
from bot.settings.layers import Candidate, Layer
from tests.kit import Kit, conversation, local_inventory, person

FULL = "run sh -c 'echo no space left on device; exit 1' on local"
DENIED = "run sh -c 'echo permission denied; exit 1' on local"


def levels(repair: str, ceiling: str = "run") -> dict[Layer, dict[str, Candidate]]:
    said = {"repair.autonomy": repair, "autonomy.max": ceiling}
    return {
        Layer.FILE: {key: Candidate(layer=Layer.FILE, where="", value=value) for key, value in said.items()}
    }


async def failed(kit: Kit, request: str = FULL) -> str:
    await kit.say(request)
    return await kit.say("go ahead")


def proposals(kit: Kit) -> int:
    row = kit.core.ledger.reader().execute("SELECT count(*) FROM proposal").fetchone()
    return int(row[0])


async def test_off_shows_the_error_alone(tmp_path: Path) -> None:
    async with conversation(tmp_path, settings=levels("off")) as kit:
        shown = await failed(kit)
        assert "✗ exit 1" in shown
        assert "likely" not in shown


async def test_by_default_a_likely_reason_is_named_and_nothing_is_proposed(tmp_path: Path) -> None:
    async with conversation(tmp_path) as kit:
        shown = await failed(kit)
        assert "failed, likely because a filesystem of local is full" in shown
        assert "To look, say:  disk space on local" in shown
        assert proposals(kit) == 1


async def test_ask_asks_and_looks_once_it_is_told_to(tmp_path: Path) -> None:
    async with conversation(tmp_path, settings=levels("ask")) as kit:
        assert "Look at it?" in await failed(kit)
        assert proposals(kit) == 1
        assert "Filesystem" in await kit.say("1")
        assert kit.states() == ["succeeded"]


@pytest.mark.parametrize("level", ["propose", "apply"])
async def test_propose_shows_a_look_that_waits_for_a_yes(tmp_path: Path, level: str) -> None:
    async with conversation(tmp_path, settings=levels(level)) as kit:
        shown = await failed(kit)
        assert "waits because of: repair.autonomy propose" in shown
        assert kit.states() == ["waiting"]
        assert "Filesystem" in await kit.say("go ahead")


async def test_run_looks_at_once_through_the_ordinary_path(tmp_path: Path) -> None:
    async with conversation(tmp_path, settings=levels("run")) as kit:
        await failed(kit)
        await kit.at_rest()
        assert kit.states() == ["succeeded"]
        view = kit.core.queries.proposal(kit.newest_id())
        assert view is not None
        assert (view.source, view.actions[0].action.command) == ("repair", "df -h")


async def test_a_look_above_the_ceiling_is_lowered_and_says_so(tmp_path: Path) -> None:
    async with conversation(tmp_path, settings=levels("run", ceiling="propose")) as kit:
        shown = await failed(kit)
        assert "repair.autonomy: requested run, lowered to propose by autonomy.max (file)" in shown
        assert kit.states() == ["waiting"]
    for ceiling, told in (
        ("ask", "Look at it? (repair.autonomy: requested run"),
        ("advise", "To look, say:"),
    ):
        async with conversation(tmp_path / ceiling, settings=levels("run", ceiling=ceiling)) as kit:
            shown = await failed(kit)
            assert told in shown
            assert f"lowered to {ceiling} by autonomy.max (file)" in shown
            assert proposals(kit) == 1


async def test_nothing_runs_by_itself_while_auto_is_off(tmp_path: Path) -> None:
    async with conversation(tmp_path, settings=levels("run")) as kit:
        await kit.say("auto off")
        assert "waits because of: auto off" in await failed(kit)
        assert kit.states() == ["waiting"]


async def test_what_cannot_be_looked_at_is_only_said(tmp_path: Path) -> None:
    async with conversation(tmp_path, settings=levels("run")) as kit:
        shown = await failed(kit, DENIED)
        assert "give local become = true in the config" in shown
        assert proposals(kit) == 1


def library_with(command: str) -> Library:
    """Return the library with another command for looking at the disk, which says that it only reads."""
    documents = load_library().documents
    disk = documents["disk"]
    changed = replace(disk, steps=(replace(disk.steps[0], command=command),))
    return Library.of([changed, *(one for one in documents.values() if one.id != "disk")])


async def test_a_library_of_ones_own_cannot_make_a_look_that_changes_something(tmp_path: Path) -> None:
    marker = tmp_path / "made"
    library = library_with(f"touch {marker}")
    async with conversation(tmp_path, settings=levels("run"), library=library) as kit:
        assert "likely because" in await failed(kit)
        assert proposals(kit) == 1
        assert not marker.exists()


async def test_nothing_follows_a_look_that_fails_nor_a_success(tmp_path: Path) -> None:
    library = library_with("df -h '/no space left on device'")
    async with conversation(tmp_path, settings=levels("run"), library=library) as kit:
        await failed(kit)
        await kit.at_rest()
        assert kit.states() == ["failed"]
        assert proposals(kit) == 2
        await kit.say("run echo no space left on device on local")
        assert kit.states() == ["succeeded"]
        assert proposals(kit) == 3


def told(kit: Kit) -> list[str]:
    return [one.text for one in kit.port.screen.values() if "likely because" in one.text]


async def test_of_a_list_the_first_failure_is_told(tmp_path: Path) -> None:
    async with conversation(tmp_path, settings=levels("advise")) as kit:
        await kit.say("on web1: df '/no space left on device'\non web2: df '/no space left on device'")
        await kit.look()
        assert len(told(kit)) == 1
        assert kit.states() == ["failed", "failed"]


async def test_of_many_at_once_the_first_failure_is_told_when_all_are_over(tmp_path: Path) -> None:
    async with conversation(tmp_path, settings=levels("advise"), inventory=local_inventory(webs=5)) as kit:
        await kit.say("on @web: df '/no space left on device'")
        await kit.at_rest()
        (said,) = told(kit)
        assert "a filesystem of web1 is full" in said
        assert kit.states() == ["failed"] * 5


async def test_a_canary_that_failed_is_told_of_once_whatever_comes_of_the_rest(tmp_path: Path) -> None:
    fails = f"touch {tmp_path}/made; echo no space left on device; false"
    async with conversation(tmp_path, settings=levels("advise"), inventory=local_inventory(webs=4)) as kit:
        await kit.say(f"on @web: {fails}")
        await kit.say("go ahead")
        await kit.at_rest()
        (said,) = told(kit)
        assert "a filesystem of web1 is full" in said
        assert kit.states() == ["failed", "waiting", "waiting", "waiting"]
        await kit.say("go ahead")
        await kit.at_rest()
        assert kit.states() == ["failed", "failed", "waiting", "waiting"]
        assert told(kit) == [said]


async def test_a_level_counts_from_the_moment_it_is_set(tmp_path: Path) -> None:
    async with conversation(tmp_path, operators=(person("ana"),)) as kit:
        await kit.say("set repair.autonomy to off")
        assert "likely" not in await failed(kit)
        await kit.say("unset repair.autonomy")
        assert "likely" in await failed(kit)


async def test_a_look_opens_no_window_beside_something_that_waits(tmp_path: Path) -> None:
    async with conversation(tmp_path, settings=levels("propose")) as kit:
        await kit.say(f"run touch {tmp_path}/other on local")
        await kit.say(FULL)
        first = kit.newest_id()
        await kit.say(f"approve {first}")
        assert kit.states() == ["waiting"]
        assert "Which one?" in await kit.say("go ahead") or kit.states() == ["waiting"]
        assert kit.states() == ["waiting"]
