"""What each level of signals.autonomy does about the same alert, and what lowers it."""

from datetime import timedelta
from pathlib import Path

import pytest

from bot.signals.cards import OVER
from tests.bot.signals.alerting import Sender, alert, alerting, at_rest, cards, executor, telling, texts

FULL = "Filesystem Size Used Avail Use% Mounted on\n/dev/sda1 10G 9.3G 0.7G 93% /var"
TOLD = telling({"df -h": [(0, FULL)]})


async def test_off_records_and_shows_nothing(tmp_path: Path) -> None:
    async with alerting(tmp_path, level="off") as kit:
        await Sender(kit).send(alert())
        await Sender(kit).send(alert(status="resolved"), event="r")
        assert texts(kit) == []
        assert {"signal:received", "signal:grouped", "signal:handled", "signal:resolved"} <= set(kit.kinds())


async def test_advise_is_a_note_that_says_what_may_be_asked_for(tmp_path: Path) -> None:
    async with alerting(tmp_path, level="advise", executor=TOLD) as kit:
        await Sender(kit).send(alert())
        (card,) = texts(kit)
        assert 'alert of am: "DiskFull" · "web1:9100"   critical' in card
        assert 'am says: "/var is 93 % full"' in card
        assert 'matched: instance "web1:9100" → web1, certain; alert "DiskFull" → disk, certain' in card
        assert "Nothing runs by itself (signals.autonomy advise)." in card
        assert "To do it, say:  run runbook disk on web1" in card
        assert executor(kit).ran == []
        assert FULL.splitlines()[1] in await kit.say("run runbook disk on web1")


async def test_ask_is_a_question_that_whoever_reads_it_may_press(tmp_path: Path) -> None:
    async with alerting(tmp_path, level="ask", executor=TOLD) as kit:
        await Sender(kit).send(alert())
        assert "Asked what to do, see the question." in cards(kit)[0]
        question = kit.card
        assert question.text.startswith('am reports "DiskFull": "/var is 93 % full". Do something about it?')
        assert executor(kit).ran == []
        shown = await kit.press(question, "disk space on web1", place="alerts")
        assert "93%" in shown
        view = kit.core.queries.proposal(kit.newest_id())  # type: ignore[arg-type] # an id
        assert view is not None
        assert (view.requester, view.purpose) == ("ana", "DiskFull: /var is 93 % full")
        assert "that question is over" in cards(kit)[0] or "Asked what to do" in cards(kit)[0]


async def test_words_said_there_answer_no_machine(tmp_path: Path) -> None:
    async with alerting(tmp_path, level="ask", executor=TOLD) as kit:
        await Sender(kit).send(alert())
        for said in ("1", "yes", "go ahead", "disk space on web1?"):
            await kit.say(said, place="alerts")
        assert executor(kit).ran == ["df -h"]  # which was asked for in whole words


async def test_propose_is_an_ordinary_card_that_waits(tmp_path: Path) -> None:
    async with alerting(tmp_path, level="propose", executor=TOLD) as kit:
        await Sender(kit).send(alert())
        proposed = kit.card
        assert "web1 · df -h" in proposed.text
        assert "waits because of: signals.autonomy propose" in proposed.text
        assert 'asked by alert am: "DiskFull: /var is 93 % full"' in proposed.text
        assert executor(kit).ran == []
        for bare in ("yes", "go ahead", "ok do it"):  # nobody had just asked for it (D2)
            await kit.say(bare, place="alerts")
        assert executor(kit).ran == []
        await kit.say("go ahead", place="alerts", reply_to=proposed)
        await at_rest(kit)
        assert executor(kit).ran == ["df -h"]
        assert "ok in" in cards(kit)[0]


async def test_run_lets_run_what_only_reads_and_tells_how_it_went(tmp_path: Path) -> None:
    async with alerting(tmp_path, level="run", executor=TOLD) as kit:
        await Sender(kit).send(alert())
        await at_rest(kit)
        assert executor(kit).ran == ["df -h"]
        assert "✓ #" in cards(kit)[0]
        assert "ok in" in cards(kit)[0]
        assert any("93%" in text and "asked by alert am" in text for text in texts(kit))
        assert "1 at once" in await kit.say("what did you do today?")
        assert "asked by alert am" in await kit.say("history") or "alert:am" in await kit.say("history")


@pytest.mark.parametrize("said", ["autonomy.max", "signals.autonomy"])
async def test_a_ceiling_or_a_word_lowers_it_at_once(tmp_path: Path, said: str) -> None:
    async with alerting(tmp_path, level="run", executor=TOLD) as kit:
        await kit.say(f"set {said} to advise")
        await Sender(kit).send(alert())
        await at_rest(kit)
        assert executor(kit).ran == []
        why = "lowered to advise by autonomy.max" if said == "autonomy.max" else "signals.autonomy advise"
        assert why in cards(kit)[0]


async def test_what_is_over_closes_its_card_and_withdraws_what_nobody_answered(tmp_path: Path) -> None:
    async with alerting(tmp_path, level="propose", executor=TOLD) as kit:
        sender = Sender(kit)
        await sender.send(alert())
        proposal = kit.newest_id()
        kit.clock.advance(60)
        await sender.send(alert(status="resolved"))
        assert cards(kit) == []
        assert "over since 14:01, began 14:00" in cards(kit, OVER)[0]
        assert "withdrawn: the alert is over, nothing ran" in cards(kit, OVER)[0]
        assert kit.states(proposal) == ["cancelled"]
        assert "approval:withdrawn" in kit.kinds()
        await kit.say(f"approve {proposal}")
        assert executor(kit).ran == []


async def test_what_is_over_withdraws_its_question(tmp_path: Path) -> None:
    async with alerting(tmp_path, level="ask", executor=TOLD) as kit:
        sender = Sender(kit)
        await sender.send(alert())
        question = kit.card
        await sender.send(alert(status="resolved"))
        assert "the alert is over, nothing ran" in texts(kit)[1]
        assert "clarification:cancelled" in kit.kinds()
        assert question.message.buttons == ()


async def test_what_somebody_said_yes_to_goes_on_when_it_is_over(tmp_path: Path) -> None:
    async with alerting(tmp_path, level="propose", executor=TOLD) as kit:
        sender = Sender(kit)
        await sender.send(alert())
        await kit.say(f"approve {kit.newest_id()}", place="alerts")
        await at_rest(kit)
        await sender.send(alert(status="resolved"))
        assert kit.states() == ["succeeded"]
        assert "ok in" in cards(kit, OVER)[0]


async def test_what_was_read_too_late_is_only_told(tmp_path: Path) -> None:
    async with alerting(tmp_path, level="run", executor=TOLD) as kit:
        old = kit.clock.now() - timedelta(seconds=901)
        await Sender(kit).send(alert(), sent_at=old)
        assert executor(kit).ran == []
        assert "read too late to act on" in cards(kit)[0]


async def test_an_hour_holds_so_many_acts_and_no_more(tmp_path: Path) -> None:
    async with alerting(tmp_path, level="run", more={"signals__acts_per_hour": 1}, executor=TOLD) as kit:
        sender = Sender(kit)
        await sender.send(alert())
        await sender.send(alert(instance="web2:9100", group="other"))
        await at_rest(kit)
        assert executor(kit).ran == ["df -h"]
        assert "signals.acts_per_hour is used up" in cards(kit)[1]
        kit.clock.advance(3601)
        await sender.send(alert(instance="local", group="third"))
        await at_rest(kit)
        assert executor(kit).ran == ["df -h", "df -h"]
