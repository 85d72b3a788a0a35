"""`runbooks` and `runbook <id>` in chat."""

from pathlib import Path

from tests.kit import conversation
from tests.runbooks import DISK, FIND, PROVISION, ROTATE, library_of


async def test_runbooks_are_listed_with_how_to_ask_for_them(tmp_path: Path) -> None:
    async with conversation(tmp_path, library=library_of(PROVISION, FIND, DISK)) as kit:
        said = await kit.say("runbooks")
        assert said.splitlines() == [
            "  free-vmid: find a free vmid  (read-only)",
            "  provision: provision a container with <package> on <target>  (mutating)",
            "runbook <id> tells what one does.",
        ]


async def test_without_one_it_says_how_to_begin(tmp_path: Path) -> None:
    async with conversation(tmp_path, library=library_of(DISK)) as kit:
        assert "There is no runbook. sayso runbook new" in await kit.say("runbooks")


async def test_a_runbook_tells_what_it_needs_and_does(tmp_path: Path) -> None:
    async with conversation(tmp_path, library=library_of(PROVISION, ROTATE)) as kit:
        said = await kit.say("runbook provision")
        assert "  hostname: name of the new machine, a host name or an address" in said
        assert "  size: one of small, large" in said
        assert "  note: words that do not begin with -, else none" in said
        assert "  1. create: Create it (mutating)" in said
        assert "pct create" not in said
        assert "It never ran to an end." in said
        assert "run runbook provision on <target> with package=…, hostname=…, vmid=…, size=…" in said
        said = await kit.say("runbook rotate")
        assert "password: words that do not begin with -, secret" in said
        assert said.endswith("run runbook rotate on <target>")


async def test_an_id_that_is_none_names_the_nearest(tmp_path: Path) -> None:
    async with conversation(tmp_path, library=library_of(PROVISION)) as kit:
        assert "Nearest: provision." in await kit.say("runbook provisoin")


async def test_a_runbook_is_not_scheduled(tmp_path: Path) -> None:
    async with conversation(tmp_path, library=library_of(FIND)) as kit:
        said = await kit.say("every day at 9: run runbook free-vmid")
        assert "cannot be scheduled" in said
