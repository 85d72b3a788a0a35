"""A typed phrase counts for what was shown before it was said; the words of a request are often the same."""

from pathlib import Path

from tests.bot.test_digest import Ends
from tests.kit import ScriptedPort, conversation, person


async def test_the_request_for_it_sent_twice_is_no_phrase(tmp_path: Path) -> None:
    port = ScriptedPort(ordered=True)
    async with conversation(tmp_path, executor=Ends, port=port) as kit:
        port.position = 10
        await kit.say("reboot web1", position=5)
        told = await kit.say("reboot web1", position=6)
        assert "Nothing ran: that was said before its card was shown." in told
        assert "To run it, type  reboot web1." in told
        assert kit.states() == ["waiting"]
        await kit.say("reboot web1", position=20)
        assert kit.states() == ["succeeded"]


async def test_a_phrase_that_was_sent_too_soon_by_who_may_not_type_it_is_theirs_no_more(
    tmp_path: Path,
) -> None:
    port = ScriptedPort(ordered=True)
    async with conversation(
        tmp_path, executor=Ends, port=port, operators=(person("ana"), person("kim"))
    ) as kit:
        port.position = 10
        await kit.say("reboot web1", position=5)
        assert "another person decides: kim" in await kit.say("reboot web1", position=6)
        assert kit.states() == ["waiting"]


async def test_a_request_of_somebody_who_saw_no_card_is_a_request(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends, operators=(person("ana"), person("kim"))) as kit:
        await kit.say("reboot web1")
        first = kit.newest_id()
        told = await kit.say("reboot web1", by="kim", place="other")
        assert "asked by kim" in told
        assert kit.newest_id() != first
        assert (kit.states(first), kit.states()) == (["waiting"], ["waiting"])
        await kit.say("reboot web1", by="kim")
        assert (kit.states(first), kit.states()) == (["succeeded"], ["waiting"])


async def test_the_word_that_loosens_sent_twice_is_no_phrase(tmp_path: Path) -> None:
    port = ScriptedPort(ordered=True)
    async with conversation(tmp_path, executor=Ends, port=port) as kit:
        port.position = 10
        await kit.say("auto off", position=1)
        await kit.say("turn auto on", position=11)
        assert "This loosens the gate. Type:  turn auto on" in await kit.say("turn auto on", position=11)
        assert kit.core.switches().auto_off
        await kit.say("turn auto on", position=30)
        assert not kit.core.switches().auto_off
