"""What is sent to another place: what stands there, what it closes, and what is told where it was asked."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from bot import delivery as delivering
from bot.ports import Message, MessageRef, PlaceRef, RejectedError, UncertainError
from bot.settings.layers import Candidate, Layer
from bot.text import Text
from gate.resolve.times import Width
from ledger.kinds import LedgerUnwritableError
from tests.kit import Kit, ScriptedPort, Shown, conversation, person

TWO = (person("ana"), person("kim"))
PLACES = {"ops": "script::ops", "security": "script::security", "moon": "chat::moon"}


def sent(kit: Kit, place: str = "security") -> list[str]:
    """Return what stands in a place."""
    return [one.text for one in kit.port.screen.values() if one.ref.place.channel == place]


def shown(kit: Kit, words: str) -> Shown:
    """Return the newest message with these words in it."""
    return [one for one in kit.port.screen.values() if words in one.text][-1]


def entries(kit: Kit, kind: str) -> list[Mapping[str, object]]:
    rows = kit.core.ledger.reader().execute("SELECT body FROM entry WHERE kind=? ORDER BY seq", (kind,))
    return [json.loads(row[0]) for row in rows]


async def test_words_stand_there_with_who_sent_them_from_where(tmp_path: Path) -> None:
    async with conversation(tmp_path, operators=TWO, places=PLACES) as kit:
        await kit.say('send "deploy\nat 10" to #security')
        assert sent(kit) == ["ana, from #ops:\ndeploy\nat 10"]
        await kit.say("tell #security that it is over", by="kim", place="kim-dm")
        assert sent(kit)[-1] == "kim, from a direct message:\nit is over"
        await kit.say("tell #security that it is over", by="kim", place="elsewhere")
        assert sent(kit)[-1] == "kim, from another place on script:\nit is over"
        await kit.say("tell #security that it is over", by="kim", place="elsewhere")
        assert sent(kit)[-1] == "kim, from elsewhere on script:\nit is over"


async def test_secrets_are_masked_there_and_here(tmp_path: Path) -> None:
    async with conversation(tmp_path, places=PLACES, secrets=("open-sesame",)) as kit:
        told = await kit.say('send "the word is open-sesame, token=abcdef0123456789" to #security')
        assert "open-sesame" not in told
        assert "abcdef0123456789" not in told
        await kit.say("run echo open-sesame")
        await kit.say("send this to #security")
        assert "open-sesame" not in "\n".join(sent(kit))
        assert "echo ***" in sent(kit)[-1]


async def test_a_result_stands_there_as_its_card_shows_it(tmp_path: Path) -> None:
    async with conversation(tmp_path, places=PLACES) as kit:
        await kit.say("run seq 100 on local")
        told = await kit.say("send this to #security")
        (text,) = sent(kit)
        head, outcome, command, *printed = text.splitlines()
        assert head == "ana, from #ops:"
        assert outcome.startswith(f"✓ #{kit.newest_id()}, seq 100 on local: ok in ")
        assert command == "local: seq 100"
        assert printed[0] == "1"
        assert printed[-1] == "100"
        assert len(printed) == 41
        assert any("60 lines left out here" in line for line in printed)
        assert "with 42 lines of command and output" in told


async def test_what_did_not_run_has_a_result_too(tmp_path: Path) -> None:
    async with conversation(tmp_path, places=PLACES) as kit:
        await kit.say("run touch /tmp/never on local")
        await kit.say("no, not today")
        await kit.say(f"send #{kit.newest_id()} to #security")
        assert "dropped, nothing ran" in sent(kit)[-1] or "nothing ran" in sent(kit)[-1]


async def test_a_reply_says_which_is_meant(tmp_path: Path) -> None:
    async with conversation(tmp_path, places=PLACES) as kit:
        await kit.say("run echo first on local")
        first = shown(kit, "first")
        await kit.say("run echo second on local")
        await kit.say("send this to #security", reply_to=first)
        assert "echo first" in sent(kit)[-1]


async def test_a_reply_to_another_message_of_ours_means_its_words(tmp_path: Path) -> None:
    async with conversation(tmp_path, places=PLACES) as kit:
        await kit.say("run echo first on local")
        await kit.say("targets")
        await kit.say("send this to #security", reply_to=shown(kit, "web1"))
        assert "web1" in sent(kit)[-1]
        assert "echo first" not in sent(kit)[-1]


async def test_a_reply_to_what_is_not_ours_means_nothing_on_record(tmp_path: Path) -> None:
    async with conversation(tmp_path, places=PLACES) as kit:
        await kit.say("run echo first on local")
        theirs = Shown(
            MessageRef(place=PlaceRef(platform="script", channel="ops"), message="theirs"),
            Message(body=Text.of("theirs")),
        )
        told = await kit.say("send this to #security", reply_to=theirs)
        assert told == "Nothing was sent. that message is not on record here."
        assert sent(kit) == []


async def test_no_answer_in_words_reaches_what_was_said_elsewhere(tmp_path: Path) -> None:
    """A number of the outbox is no name that people may use for what stands in other places."""
    async with conversation(tmp_path, operators=TWO, places=PLACES) as kit:
        await kit.say("targets", by="kim", place="kim-dm")
        await kit.say("run echo of-ana on local")
        await kit.say("run echo of-kim on local", by="kim")
        assert "Send which one?" in await kit.say("send this to #security")
        row = kit.core.ledger.reader().execute("SELECT min(id) FROM outbox").fetchone()
        told = await kit.say(f"message {row[0]}")
        assert "not on record here" in told
        assert sent(kit) == []


async def test_after_it_no_bare_word_there_answers_an_older_card(tmp_path: Path) -> None:
    async with conversation(tmp_path, operators=TWO, places=PLACES) as kit:
        target = tmp_path / "x"
        await kit.say(f"run touch {target} on local", by="kim", place="security")
        await kit.say("tell #security that lunch is at 12, all right?")
        await kit.say("yes, go ahead", by="kim", place="security")
        assert kit.states() == ["waiting"]
        await kit.say(f"approve {kit.newest_id()}", by="kim", place="security")
        assert kit.states() == ["succeeded"]


async def test_only_what_is_allowed_is_sent_to_and_the_rest_is_asked(tmp_path: Path) -> None:
    only = Candidate(layer=Layer.FILE, where="", value=("security",))
    settings = {Layer.FILE: {"outbound.allowed": only}}
    async with conversation(tmp_path, places=PLACES, settings=settings) as kit:
        told = await kit.say('send "hello" to #moon')
        assert "#moon is no place that anything may be sent to" in told
        assert "1  #security" in told
        assert "Goes to #security:" in await kit.say("1")
        assert sent(kit) == ["ana, from #ops:\nhello"]


async def test_strict_asks_once_about_a_place_that_no_list_allows(tmp_path: Path) -> None:
    width = Candidate(layer=Layer.FILE, where="", value=Width.STRICT)
    settings = {Layer.FILE: {"clarify.width": width}}
    async with conversation(tmp_path, places=PLACES, settings=settings) as kit:
        told = await kit.say('send "hello" to #security')
        assert "Send it to #security?" in told
        assert sent(kit) == []
        assert "Goes to #security:" in await kit.press(shown(kit, "Send it to"), "#security")
        assert sent(kit) == ["ana, from #ops:\nhello"]


async def test_with_no_names_nothing_can_be_sent(tmp_path: Path) -> None:
    async with conversation(tmp_path) as kit:
        told = await kit.say('send "hello" to #security')
        assert (
            told
            == "Nothing was sent. No place has a name here. Give one a name in the config, under [places]."
        )


async def test_words_that_are_pruned_are_not_sent(tmp_path: Path) -> None:
    async with conversation(tmp_path, places=PLACES) as kit:
        await kit.say("run echo first on local")
        kit.core.ledger.prune(before=kit.clock.now().replace(year=2030))
        told = await kit.say("send this to #security")
        assert "cannot be read" in told
        assert sent(kit) == []


# ---------------------------------------------------------------- what does not arrive


class Fails(ScriptedPort):
    """A surface that takes nothing in one place."""

    def __init__(self, place: str, error: Exception) -> None:
        super().__init__()
        self.place, self.error = place, error

    async def post(self, place: PlaceRef, message: Message, *, nonce: str) -> MessageRef:
        if place.channel == self.place:
            raise self.error
        return await super().post(place, message, nonce=nonce)


@pytest.mark.parametrize(
    ("error", "how", "told"),
    [
        (RejectedError("channel_not_found"), "failed", "✗ Not sent to #security: channel_not_found."),
        (UncertainError("timed out"), "uncertain", "? It is unknown whether that arrived in #security."),
        (OSError("gone"), "uncertain", "? It is unknown whether that arrived in #security."),
    ],
)
async def test_what_does_not_arrive_is_told_where_it_was_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, how: str, told: str
) -> None:
    monkeypatch.setattr(delivering, "LOOK_AGAIN_S", 0.0)
    async with conversation(tmp_path, places=PLACES, port=Fails("security", error)) as kit:
        await kit.say('send "hello" to #security')
        await kit.look()
        assert told in "\n".join(sent(kit, "ops"))
        (entry,) = entries(kit, "post:undelivered")
        assert (entry["name"], entry["how"]) == ("security", how)
        (made,) = entries(kit, "commitment:committed")
        assert entry["commitment"] == made["commitment"]


async def test_a_platform_that_is_not_there_is_told_too(tmp_path: Path) -> None:
    async with conversation(tmp_path, places=PLACES) as kit:
        await kit.say('send "hello" to #moon')
        await kit.look()
        assert "✗ Not sent to #moon: no adapter for that place is on." in "\n".join(sent(kit, "ops"))


async def test_what_was_told_is_not_told_again_when_only_that_was_recorded(tmp_path: Path) -> None:
    async with conversation(tmp_path, places=PLACES, port=Fails("security", RejectedError("no"))) as kit:
        outbox, left = kit.core.ledger.outbox, [1]
        failed = outbox.failed

        def once(effect: int, why: str) -> None:
            if left:
                left.pop()
                raise LedgerUnwritableError
            failed(effect, why)

        outbox.failed = once  # type: ignore[method-assign] # the disk is full at just this moment
        await kit.say('send "hello" to #security')
        await kit.look()
        await kit.look()
        assert len(entries(kit, "post:undelivered")) == 1
        assert not outbox.pending()
