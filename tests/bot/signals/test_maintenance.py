"""Maintenance: what fires about a target that is worked on is held, and handled when that is over."""

from pathlib import Path

from tests.bot.signals.alerting import Sender, alert, alerting, at_rest, cards, executor, telling, texts
from tests.kit import person

TOLD = telling({"df -h": [(0, "x")]})


async def test_what_fires_meanwhile_is_recorded_and_handled_when_it_is_over(tmp_path: Path) -> None:
    async with alerting(tmp_path, level="run", executor=TOLD) as kit:
        sender = Sender(kit)
        shown = await kit.say("maintenance web1 for 2h")
        assert "Maintenance of web1 until 16:00" in shown
        await sender.send(alert())
        await sender.send(alert(instance="web2:9100", group="other"))
        await at_rest(kit)
        assert len(cards(kit)) == 1
        assert "web2" in cards(kit)[0]
        listed = await kit.say("signals")
        assert "held: maintenance" in listed
        assert "Maintenance of web1 until 16:00" in listed
        kit.clock.advance(7201)
        await at_rest(kit)
        assert len(cards(kit)) == 2
        assert executor(kit).ran == ["df -h", "df -h"]


async def test_what_is_over_by_then_is_never_shown(tmp_path: Path) -> None:
    async with alerting(tmp_path, level="run", executor=TOLD) as kit:
        sender = Sender(kit)
        await kit.say("maintenance web1 for 30 minutes")
        before = len(texts(kit))
        await sender.send(alert())
        await sender.send(alert(status="resolved"))
        kit.clock.advance(1801)
        await at_rest(kit)
        assert len(texts(kit)) == before
        assert executor(kit).ran == []


async def test_what_fires_in_a_group_that_has_a_card_is_shown_there_and_not_acted_on(tmp_path: Path) -> None:
    async with alerting(tmp_path, level="run", executor=TOLD) as kit:
        sender = Sender(kit)
        await sender.send(alert(instance="web2:9100"))
        await at_rest(kit)
        await kit.say("maintenance web1 for 2h")
        await sender.send(alert())
        await at_rest(kit)
        assert executor(kit).ran == ["df -h"]


async def test_a_longer_time_stays_and_names_are_checked(tmp_path: Path) -> None:
    async with alerting(tmp_path) as kit:
        await kit.say("maintenance web1 for 2h")
        assert "until 16:00" in await kit.say("maintenance @web for 1h")
        assert "No target web9" in await kit.say("maintenance web9 for 1h")
        assert "until Mon 9 Mar 14:00" in await kit.say("maintenance web1 for 400 days")


async def test_ending_it_sooner_takes_a_phrase_of_a_second_person(tmp_path: Path) -> None:
    async with alerting(tmp_path, level="run", executor=TOLD, operators=(person("ana"), person("bo"))) as kit:
        await kit.say("maintenance web1 for 2h")
        await Sender(kit).send(alert())
        assert "There is no maintenance of web2" in await kit.say("end maintenance web2")
        assert "No target web9" in await kit.say("end maintenance web9")
        assert "bo types:  end maintenance of web1" in await kit.say("end maintenance web1")
        await kit.say("end maintenance of web1")
        await at_rest(kit)
        assert executor(kit).ran == []
        await kit.say("end maintenance of web1", by="bo")
        await at_rest(kit)
        assert executor(kit).ran == ["df -h"]
