"""Deliveries: what is new, what shares a card, what comes twice, what flaps, and storms of a thousand."""

import asyncio
import contextlib
import time
from dataclasses import replace
from pathlib import Path

import pytest

from bot.ports import NotCommittedError
from bot.signals.cards import OVER
from ledger.kinds import LedgerUnwritableError
from ledger.projections import reset
from ledger.verify import verify_live
from tests.bot.signals.alerting import Sender, alert, alerting, at_rest, cards, executor, telling, texts
from tests.bot.test_brake import full

TOLD = telling({"df -h": [(0, "x")]})


async def test_a_redelivery_never_acts_twice(tmp_path: Path) -> None:
    async with alerting(tmp_path, level="run", executor=TOLD) as kit:
        sender = Sender(kit)
        assert await sender.send(alert(), event="d")
        assert not await sender.send(alert(), event="d")
        assert await sender.send(alert(), event="e")  # the same alert in another delivery
        await at_rest(kit)
        assert executor(kit).ran == ["df -h"]
        assert len(cards(kit)) == 1
        assert kit.kinds().count("signal:handled") == 1


async def test_after_a_restart_neither(tmp_path: Path) -> None:
    async with alerting(tmp_path, level="run", executor=TOLD) as kit:
        await Sender(kit).send(alert(), event="d")
        await at_rest(kit)
    async with alerting(tmp_path, level="run", executor=TOLD) as kit:
        sender = Sender(kit)
        assert not await sender.send(alert(), event="d")
        await sender.send(alert(), event="e")
        await at_rest(kit)
        assert executor(kit).ran == []
        assert texts(kit) == []
        await sender.send(alert(status="resolved"), event="f")
        assert "signal:resolved" in kit.kinds()


async def test_what_began_anew_is_news_and_what_is_older_is_none(tmp_path: Path) -> None:
    async with alerting(tmp_path) as kit:
        sender = Sender(kit)
        await sender.send(alert())
        await sender.send(alert(status="resolved"))
        await sender.send(alert())  # late, of a firing that is over
        assert len(cards(kit)) == 0
        kit.clock.advance(300)
        await sender.send(alert(minutes=5))
        assert len(cards(kit)) == 1
        assert len(cards(kit, OVER)) == 1
        await sender.send(alert(name="Never", status="resolved"))
        assert len(texts(kit)) == 2


async def test_alerts_of_one_group_share_a_card(tmp_path: Path) -> None:
    async with alerting(tmp_path, level="propose", executor=TOLD) as kit:
        sender = Sender(kit)
        await sender.send(alert(), alert(instance="web2:9100"))
        (card,) = cards(kit)
        assert '"DiskFull" x2 · "web1:9100", "web2:9100"' in card
        assert "2 of 2 firing" in card
        assert card.count("Proposed, and waits for a yes") == 2  # one for each target
        await sender.send(alert(instance="local"))
        (card,) = cards(kit)
        assert "3 of 3 firing" in card
        await sender.send(alert(status="resolved"))
        (card,) = cards(kit)
        assert "2 of 3 firing" in card
        assert card.count("Proposed, and waits for a yes") == 2
        assert card.count("withdrawn") == 1


async def test_the_same_match_is_acted_on_once_while_any_of_it_fires(tmp_path: Path) -> None:
    first = alert(labels={"device": "sda"}, fingerprint="sda")
    second = alert(labels={"device": "sdb"}, fingerprint="sdb", minutes=-1)
    async with alerting(tmp_path, level="run", executor=TOLD) as kit:
        sender = Sender(kit)
        await sender.send(first, alert("Unknown", "nowhere", group=first.group))
        await sender.send(second)
        await at_rest(kit)
        assert executor(kit).ran == ["df -h"]
        over = alert(status="resolved").status
        await sender.send(replace(first, status=over))
        kit.clock.advance(60)
        await sender.send(replace(first, starts_at=kit.clock.now()))
        await at_rest(kit)
        assert executor(kit).ran == ["df -h", "df -h"]  # what it was done about was over, and began anew
        await sender.send(replace(second, starts_at=kit.clock.now()))
        await at_rest(kit)
        assert executor(kit).ran == ["df -h", "df -h"]


async def test_of_one_group_only_so_many_matches_are_acted_on(tmp_path: Path) -> None:
    names = ("DiskFull", "Memory", "FailedServices", "Load", "Uptime", "Kernel", "Timers")
    async with alerting(tmp_path, level="propose") as kit:
        await Sender(kit).send(*(alert("x", labels={"alertname": name}, fingerprint=name) for name in names))
        (card,) = cards(kit)
        assert card.count("Proposed, and waits for a yes") == 5
        assert "of one group 5 are acted on" in card
        assert kit.kinds().count("proposal:made") == 5


async def test_what_flaps_is_held_and_said_once_and_handled_when_it_stays(tmp_path: Path) -> None:
    async with alerting(tmp_path, level="run", executor=TOLD) as kit:
        sender = Sender(kit)
        for minute in range(8):
            kit.clock.advance(60)
            status = "resolved" if minute % 2 else "firing"
            await sender.send(alert(status=status, minutes=minute + 1))
        await at_rest(kit)
        said = [text for text in texts(kit) if "flaps: 4 changes in 10 min" in text]
        assert len(said) == 1
        assert len(executor(kit).ran) == 2  # of the first two firings
        assert len(cards(kit)) == 0
        kit.clock.advance(60)
        await sender.send(alert(minutes=9))
        assert len(cards(kit)) == 0
        await kit.look()
        assert len(cards(kit)) == 0
        kit.clock.advance(600)
        await kit.look()
        await at_rest(kit)
        assert len(cards(kit)) == 1  # it stayed as it is, and it fires
        assert len(executor(kit).ran) == 3
        assert kit.kinds().count("signal:held") == 1
        assert kit.kinds().count("signal:released") == 1


async def test_what_flapped_and_stays_over_is_let_go_in_silence(tmp_path: Path) -> None:
    async with alerting(tmp_path) as kit:
        sender = Sender(kit)
        for minute in range(4):
            await sender.send(alert(status="resolved" if minute % 2 else "firing", minutes=minute / 10))
        before = len(texts(kit))
        kit.clock.advance(700)
        await kit.look()
        assert len(texts(kit)) == before
        assert kit.core.queries.flapping() == ()


async def test_a_thousand_alerts_at_once_become_a_readable_number_of_cards(tmp_path: Path) -> None:
    began = time.monotonic()
    async with alerting(tmp_path, level="run", executor=TOLD) as kit:
        sender = Sender(kit)
        for number in range(100):
            await sender.send(
                *(alert(f"Alert{number}", "web1:9100", fingerprint=f"{number}.{each}") for each in range(10))
            )
        await at_rest(kit)
        shown = texts(kit)
        took = f"{time.monotonic() - began:.1f} s"
        print(f"\n1,000 alerts in 100 groups: {len(shown)} messages, {took}\n\n{shown[-1]}\n")
        assert len(shown) == 11  # ten groups, and the storm
        storm = next(text for text in shown if "storm: " in text)
        assert "900 alerts in 90 groups, from am" in storm
        assert "Nothing is done about them by itself" in storm
        assert "900 of 900 firing still" in storm
        assert executor(kit).ran == []
        listed = await kit.say("signals")
        assert "and 85 older ones" in listed
        assert "A storm since 14:00" in listed
        assert kit.core.ledger.rebuild(reset) == kit.core.ledger.head().seq
        kit.clock.advance(121)
        await kit.look()
        assert any("storm over since 14:02" in text for text in texts(kit))
        await sender.send(alert("DiskFull", minutes=2))
        await at_rest(kit)
        assert executor(kit).ran == ["df -h"]  # what comes after it is handled as usual
        report = verify_live(kit.core.ledger.path, keys=[kit.core.ledger.verifier], held={})
        assert report.findings == ()
        print(f"the ledger verifies: {kit.core.ledger.head().seq} entries")


async def test_a_storm_holds_back_acts_in_groups_that_were_there(tmp_path: Path) -> None:
    more = {"signals__storm_groups": 1}
    async with alerting(tmp_path, level="run", more=more, executor=TOLD) as kit:
        sender = Sender(kit)
        await sender.send(alert("Unknown", "nowhere"))
        await sender.send(alert("Other", "nowhere"))
        await sender.send(alert("Unknown", "web1", labels={"alertname": "DiskFull"}))
        await at_rest(kit)
        assert executor(kit).ran == []
        assert "there are too many at once" in cards(kit)[0]


async def test_what_was_stored_and_cannot_be_recorded_is_taken_later(tmp_path: Path) -> None:
    async with alerting(tmp_path, level="run", executor=TOLD) as kit:
        sender = Sender(kit)

        def probe(moment: str) -> None:
            if moment == "inbox.committed":
                full(kit)

        object.__setattr__(kit.core, "probe", probe)
        await sender.send(alert())
        assert executor(kit).ran == []
        assert texts(kit) == []
        full(kit, is_full=False)
        object.__setattr__(kit.core, "probe", lambda _moment: None)
        await kit.look()
        await at_rest(kit)
        assert executor(kit).ran == ["df -h"]
        assert len(cards(kit)) == 1


@pytest.mark.parametrize("moment", ["inbox.committed", "signal.composed", "signal.recorded", "action.queued"])
async def test_killed_at_any_moment_it_acts_once(tmp_path: Path, moment: str) -> None:
    ran = []
    async with alerting(tmp_path, level="run", executor=TOLD) as kit:
        reached = asyncio.Event()
        loop = asyncio.get_running_loop()

        def probe(now: str) -> None:
            if now == moment:
                full(kit)  # nothing is written any more, as if the process were gone
                loop.call_soon_threadsafe(reached.set)

        object.__setattr__(kit.core, "probe", probe)
        sending = asyncio.create_task(Sender(kit).send(alert(), event="d"))
        await reached.wait()
        await asyncio.wait_for(asyncio.gather(sending, return_exceptions=True), timeout=60)
        object.__setattr__(kit.core, "probe", lambda _moment: None)
        with contextlib.suppress(LedgerUnwritableError):
            await kit.app.conversation._delivery.flush()
        full(kit, is_full=False)
    ran += executor(kit).ran
    async with alerting(tmp_path, level="run", executor=TOLD) as kit:
        await at_rest(kit)
        ran += executor(kit).ran
        assert not await Sender(kit).send(alert(), event="d")
        await at_rest(kit)
        assert ran == ["df -h"]
        assert kit.kinds().count("signal:handled") == 1


async def test_what_could_not_be_stored_was_not_taken(tmp_path: Path) -> None:
    async with alerting(tmp_path, level="run", executor=TOLD) as kit:
        full(kit)
        with pytest.raises(NotCommittedError):
            await Sender(kit).send(alert())
        full(kit, is_full=False)
        await kit.look()
        assert executor(kit).ran == []


async def test_a_fault_of_ours_is_said_and_runs_nothing(tmp_path: Path) -> None:
    async with alerting(tmp_path, level="run", executor=TOLD) as kit:
        object.__setattr__(kit.core.queries, "open_group", _fails)
        await Sender(kit).send(alert())
        assert executor(kit).ran == []
        assert any("An alert of am failed inside sayso" in text for text in texts(kit))
        assert "request:denied" in kit.kinds()


def _fails(*_: object) -> None:
    raise RuntimeError("open the bay doors")
