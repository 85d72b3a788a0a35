"""Fan-outs and quiet hours: what would ask a person at night waits for the morning, other things do not."""

from collections import Counter
from dataclasses import replace
from datetime import time, timedelta
from pathlib import Path

import pytest

from tests.bot.fanout.fleet import RELOAD, ends, fleet, ran
from tests.bot.scheduling.making import make
from tests.kit import START, Kit, conversation, person

pytestmark = pytest.mark.timeout(120)

HOUR = 3600
NIGHT = replace(person("ana"), quiet=(time(22), time(7)), timezone="UTC")  # START is 14:00
NIGHTLY = "FREQ=DAILY;BYHOUR=23"


def nightly(kit: Kit, text: str) -> None:
    make(kit.core, text, at=START + timedelta(hours=9), act="schedule", rrule=NIGHTLY, zone="UTC")


async def passes(kit: Kit, hours: float) -> list[str]:
    """Let time pass; return what is new on the screen once everything has come to rest."""
    before = set(kit.port.screen)
    kit.clock.advance(hours * HOUR)
    await kit.look()
    await kit.app.conversation._work.quiet(kit.core.queries.unfinished())
    await kit.look()
    return [one.text for key, one in kit.port.screen.items() if key not in before]


async def test_a_change_to_many_waits_and_is_asked_about_when_the_night_is_over(tmp_path: Path) -> None:
    async with conversation(
        tmp_path, inventory=fleet(6), executor=ends(web1="failed"), operators=[NIGHT]
    ) as kit:
        await kit.say("help")
        nightly(kit, f"on @web: `{RELOAD}`, 2 at a time")
        assert await passes(kit, 9) == [], "nothing is shown that would expire unread"
        assert "proposal:made" not in kit.kinds()
        assert await passes(kit, 7.9) == []
        late, card = await passes(kit, 0.1)
        assert "It was due Mon 2 Mar 23:00, 8 h 0 min ago." in late
        assert "@web · 6 hosts · reload nginx" in card
        assert "web1 first; then 2 at a time" in card
        assert "until 07:15" in card
        assert kit.states() == ["waiting"] * 6
        await kit.say("go ahead")
        assert ran(kit) == [], "nobody has just asked"
        await kit.say(f"approve {kit.newest_id()}")
        await kit.at_rest()
        assert Counter(kit.states()) == {"failed": 1, "waiting": 5}


async def test_reading_many_asks_nobody_and_comes_at_its_time(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(6), executor=ends(), operators=[NIGHT]) as kit:
        await kit.say("help")
        nightly(kit, "uptime on every web server")
        shown = await passes(kit, 9)
        assert any("@web · 6 hosts" in text and "6 ok" in text for text in shown)
        assert kit.states() == ["succeeded"] * 6


async def test_what_waits_for_one_of_them_waits_for_all(tmp_path: Path) -> None:
    """One target that never acts by itself makes all of it wait for a yes, and so for the morning."""
    some = fleet(6)
    target = some.targets[next(iter(some.targets))]
    some = replace(some, targets={**some.targets, target.id: replace(target, never_auto_act=True)})
    async with conversation(tmp_path, inventory=some, executor=ends(), operators=[NIGHT]) as kit:
        await kit.say("help")
        nightly(kit, "on @web: uptime")
        assert await passes(kit, 9) == []
        assert ran(kit) == []
        shown = await passes(kit, 8)
        assert "6 hosts" in shown[-1]
        assert kit.states() == ["waiting"] * 6


async def test_who_asks_at_night_is_asked_at_night(tmp_path: Path) -> None:
    async with conversation(
        tmp_path, inventory=fleet(6), executor=ends(web2="failed"), operators=[NIGHT]
    ) as kit:
        kit.clock.advance(9 * HOUR)
        await kit.say(f"on @web: `{RELOAD}`, one at a time")
        assert kit.states() == ["waiting"] * 6
        await kit.say("go ahead")
        await kit.at_rest()
        await kit.look()
        assert Counter(kit.states()) == {"succeeded": 1, "failed": 1, "waiting": 4}
        assert "Stopped: web2 failed (exit 1). 4 have not run" in kit.card.text, "it is asked about at once"
