"""Keeping what was done as a runbook: drafted, shown whole, kept by its phrase alone, and loaded at once."""

from pathlib import Path

import pytest
import yaml

from bot.acts import keeping
from bot.app import build
from bot.loading.library import load_library
from bot.loading.shelf import settle
from ledger.learning import CapabilityState
from tests.kit import Kit, conversation, person


async def did(kit: Kit, *commands: str, by: str = "ana") -> None:
    for command in commands:
        kit.clock.advance(30)
        said = await kit.say(f"run {command} on local", by=by)
        if "go ahead" in said:
            await kit.say("go ahead", by=by)


def phrase_in(said: str) -> str:
    return said.rpartition(":  ")[2].strip().splitlines()[0]


def kept_in(folder: Path) -> dict[str, object]:
    (file,) = (folder / "library").glob("*.yaml")
    made = yaml.safe_load(file.read_text())
    assert isinstance(made, dict)
    return made


async def test_what_was_done_is_shown_and_kept_by_its_phrase(tmp_path: Path) -> None:
    folder = tmp_path / "srv" / "blog"
    async with conversation(tmp_path) as kit:
        await did(kit, f"mkdir -p {folder}", f"touch {folder}/index", f"ls {folder}", "sync /")
        asked = await kit.say("save that as a runbook called deploy blog")
        assert "This makes deploy-blog a runbook: deploy blog, 4 steps." in asked
        assert "  1. mutating: mkdir -p {{ inputs.path }}" in asked
        assert "  3. read-only: ls {{ inputs.path }}" in asked
        assert f"  path: {folder} unless said" in asked
        assert phrase_in(asked) == "promote deploy-blog"
        assert not (tmp_path / "library").exists()  # nothing is kept yet
        assert "deploy-blog" not in kit.core.library.documents
        assert "runbook:kept" not in kit.kinds()
        assert "Kept: deploy-blog." in await kit.say("promote deploy-blog")
        document = kit.core.library.documents["deploy-blog"]  # loaded live
        assert (document.title, document.supervised) == ("deploy blog", True)
        (capability,) = kit.core.queries.capabilities()
        assert (capability.runbook, capability.digest) == ("deploy-blog", document.revision)
        assert capability.document == (tmp_path / "library" / "deploy-blog.yaml").read_text()
        assert len(capability.proposals) == 4
    made = kept_in(tmp_path)
    assert [step["kind"] for step in made["steps"]] == ["action", "action", "check", "action"]  # type: ignore[index, union-attr] # as read
    assert all(step["expect"] == {"exit_code": 0} for step in made["steps"])  # type: ignore[union-attr] # likewise
    assert load_library(tmp_path / "library").documents["deploy-blog"].revision == capability.digest


@pytest.mark.parametrize("said", ["yes", "go ahead", "ok", "promote deploy", "keep it"])
async def test_no_other_words_keep_it(tmp_path: Path, said: str) -> None:
    async with conversation(tmp_path) as kit:
        await did(kit, "sync /")
        await kit.say("save that as a runbook called deploy blog")
        await kit.say(said)
        assert "runbook:kept" not in kit.kinds()
        assert not (tmp_path / "library").exists()


async def test_a_second_person_types_it_where_there_is_one(tmp_path: Path) -> None:
    async with conversation(tmp_path, operators=(person("ana"), person("bo"))) as kit:
        await did(kit, "sync /")
        asked = await kit.say("save that as a runbook called flush disks")
        assert "Another person has to type it" in await kit.say(phrase_in(asked))
        assert "Kept: flush-disks." in await kit.say(phrase_in(asked), by="bo")
        (capability,) = kit.core.queries.capabilities()
        assert (capability.kept_by, capability.with_whom) == ("ana", "bo")


async def test_without_a_name_it_is_asked_for_and_that_stays_that(tmp_path: Path) -> None:
    async with conversation(tmp_path) as kit:
        await did(kit, "sync /")
        assert "Which id shall the runbook have?" in await kit.say("save that as a runbook")
        await did(kit, "sync -f /")  # done meanwhile, and no part of it
        asked = await kit.say("Flush Disks")
        if "This makes" not in asked:
            asked = await kit.say("save that as a runbook called flush disks")
        assert "This makes flush-disks a runbook: flush disks" in asked


async def test_nothing_of_a_secret_is_kept(tmp_path: Path) -> None:
    secret = "hunter2-hunter2"
    async with conversation(tmp_path) as kit:
        await did(kit, f"echo --password={secret}")
        asked = await kit.say("save that as a runbook called say it")
        assert secret not in asked
        assert "  secret: a secret, asked for each time" in asked
        await kit.say(phrase_in(asked))
        assert secret not in kit.core.queries.capabilities()[0].document
    assert secret not in (tmp_path / "library" / "say-it.yaml").read_text()
    assert kept_in(tmp_path)["inputs"] == {"secret": {"type": "text", "secret": True}}


@pytest.mark.parametrize("command", ["echo {}", "echo 'https://ana:{}@example.org/x'"])
async def test_a_secret_that_is_known_here_is_in_no_title(tmp_path: Path, command: str) -> None:
    secret = "zebra-crossing"
    async with conversation(tmp_path) as kit:
        kit.core.secrets.learn([secret])
        await did(kit, command.format(secret))
        asked = await kit.say("save that as a runbook called say it")
        assert secret not in asked
        assert "promote say-it" in asked
        await kit.say("promote say-it")
        assert secret not in kit.core.queries.capabilities()[0].document
    (step,) = kept_in(tmp_path)["steps"]  # type: ignore[misc] # as read
    assert step["title"].startswith("echo ")


async def test_a_secret_becomes_no_title_of_a_runbook(tmp_path: Path) -> None:
    async with conversation(tmp_path) as kit:
        kit.core.secrets.learn(["zebra-crossing"])
        await did(kit, "sync /")
        asked = await kit.say("save that as a runbook called open zebra-crossing")
        assert "zebra-crossing" not in asked
        assert "holds a secret" in asked
    assert not (tmp_path / "library").exists()


async def test_only_what_went_well_here_and_was_mine_is_that(tmp_path: Path) -> None:
    async with conversation(tmp_path, operators=(person("ana"), person("bo"))) as kit:
        await did(kit, "sync -f /")
        kit.clock.advance(31 * 60)  # so long ago that it was something else
        await did(kit, "false", "sync /", "sync /")
        await did(kit, "sync /tmp", by="bo")
        asked = await kit.say("save that as a runbook called flush disks")
        assert "flush disks, 1 step." in asked
        assert "  1. reversible: sync /" in asked


async def test_with_nothing_done_there_is_nothing_to_save(tmp_path: Path) -> None:
    async with conversation(tmp_path) as kit:
        said = await kit.say("save that as a runbook called flush disks")
        assert "there is nothing to save" in said
        assert "commitment:made" in kit.kinds()


async def test_a_title_that_another_of_ones_own_claims_is_denied(tmp_path: Path) -> None:
    async with conversation(tmp_path) as kit:
        await did(kit, "sync /")
        await kit.say(phrase_in(await kit.say("save that as a runbook called flush disks")))
        (tmp_path / "library" / "flush-disks.yaml").rename(tmp_path / "library" / "mine.yaml")
        said = await kit.say("save that as a runbook called flush disks")
        assert "mine.yaml holds a runbook flush-disks already." in said
        said = await kit.say("save that as a runbook called flush the disks")
        assert "That makes no sound runbook:" in said
        assert "claim the words" in said
        assert len(kit.core.queries.capabilities()) == 1


async def test_saving_again_replaces_and_says_so(tmp_path: Path) -> None:
    async with conversation(tmp_path) as kit:
        await did(kit, "sync /")
        await kit.say(phrase_in(await kit.say("save that as a runbook called flush disks")))
        asked = await kit.say("save that as a runbook called flush disks")
        assert "It replaces the one of that id." in asked
        await kit.say(phrase_in(asked))
        states = [one.state for one in kit.core.queries.capabilities()]
        assert states == [CapabilityState.REPLACED, CapabilityState.KEPT]


async def test_a_folder_that_cannot_be_written_keeps_nothing(tmp_path: Path) -> None:
    async with conversation(tmp_path) as kit:
        await did(kit, "sync /")
        asked = await kit.say("save that as a runbook called flush disks")
        (tmp_path / "library").write_text("in the way")
        assert "Nothing was kept." in await kit.say(phrase_in(asked))
        assert kit.core.queries.capabilities() == ()


async def test_the_next_start_puts_what_the_ledger_knows(tmp_path: Path) -> None:
    async with conversation(tmp_path) as kit:
        await did(kit, "sync /")
        await kit.say(phrase_in(await kit.say("save that as a runbook called flush disks")))
        name = kit.core.queries.capabilities()[0].id
    folder = tmp_path / "library"
    (folder / "flush-disks.yaml").rename(folder / f".flush-disks~{name}")  # it died right before that
    async with conversation(tmp_path) as kit:
        queries = kit.core.queries
        settle(folder, lambda capability: queries.capability(capability) is not None)
    assert [file.name for file in folder.iterdir()] == ["flush-disks.yaml"]
    assert callable(build)


async def test_one_word_takes_it_back(tmp_path: Path) -> None:
    async with conversation(tmp_path, operators=(person("ana"), person("bo"))) as kit:
        await did(kit, "sync /")
        await kit.say(phrase_in(await kit.say("save that as a runbook called flush disks")), by="bo")
        assert "flush-disks is out of use." in await kit.say("retire runbook flush-disks", by="bo")
        assert "flush-disks" not in kit.core.library.documents
        assert kit.core.queries.capabilities()[0].state is CapabilityState.RETIRED
        assert "nothing was retired" in await kit.say("retire runbook flush-disks")
        assert "nothing was retired" in await kit.say("retire runbook disk")
        assert "disk" in kit.core.library.documents
    assert [file.name for file in (tmp_path / "library").iterdir()] == ["flush-disks.yaml.retired"]


async def test_what_was_learned_tells_since_when(tmp_path: Path) -> None:
    async with conversation(tmp_path) as kit:
        await did(kit, "sync /")
        await kit.say(phrase_in(await kit.say("save that as a runbook called flush disks")))
        assert "  flush-disks · since 14:00 · by ana from #" in await kit.say("what have you learned?")


@pytest.mark.parametrize(
    ("said", "slots"),
    [
        ("save that as a runbook", {}),
        ("sayso, save this as runbook deploy-blog.", {"id": "deploy-blog", "title": "deploy-blog"}),
        ('keep these steps as a runbook called "Deploy blog"', {"id": "deploy-blog", "title": "Deploy blog"}),
        ("turn that into a runbook: deploy the blog", {"id": "deploy-the-blog", "title": "deploy the blog"}),
    ],
)
async def test_words_that_ask_for_it(tmp_path: Path, said: str, slots: dict[str, str]) -> None:
    async with conversation(tmp_path) as kit:
        request = keeping.HANDLER.read(kit.core, speaker(said), kit.clock.now())
        assert request is not None
        assert request.slots == slots


@pytest.mark.parametrize(
    "said", ["save that", "save that file as runbook.txt on web1", "runbook", "that is a runbook"]
)
async def test_words_that_ask_for_something_else(tmp_path: Path, said: str) -> None:
    async with conversation(tmp_path) as kit:
        assert keeping.HANDLER.read(kit.core, speaker(said), kit.clock.now()) is None


def speaker(said: str) -> keeping.Speaker:
    from datetime import UTC  # noqa: PLC0415 - for this alone

    return keeping.Speaker(operator=person("ana"), said=said, event="e1", zone=UTC)
