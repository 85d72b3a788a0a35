"""Firing: reminders are said and commands proposed once, whatever the clock and the switches do."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.ports import PlaceRef
from bot.scheduling import firing
from bot.scheduling.firing import fire_due
from bot.settings.layers import Candidate, Layer
from gate.autonomy import Level
from ledger.kinds import Kind, LedgerUnwritableError, LostRaceError
from tests.bot.scheduling.making import OPS, make
from tests.kit import START, Kit, conversation, person

DF = "run df -h / on local"
RESTART = "run systemctl restart caddy on local"
DAY, HOUR, MINUTE = 86_400, 3_600, 60


@pytest.fixture
async def kit(tmp_path: Path) -> AsyncIterator[Kit]:
    async with conversation(tmp_path) as made:
        await made.say("help")
        yield made


def later(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


async def passes(kit: Kit, seconds: float) -> list[str]:
    """Let time pass, and return what is new on the screen when everything has come to rest."""
    before = set(kit.port.screen)
    kit.clock.advance(seconds)
    await kit.look()
    await kit.app.conversation._work.quiet(kit.core.queries.unfinished())
    await kit.app.conversation._delivery.flush()
    await kit.app.conversation._delivery.settled()
    return [one.text for key, one in kit.port.screen.items() if key not in before]


def entered(kit: Kit, job: str) -> list[tuple[str, str]]:
    return [(f"{one.fire_at:%d %H:%M}", one.state + one.why) for one in kit.core.queries.occurrences(job)]


# ---------------------------------------------------------------- reminders


async def test_a_reminder_is_said_once_where_it_was_made(kit: Kit) -> None:
    job = make(kit.core, "drink water", at=later(HOUR))
    assert await passes(kit, HOUR - 1) == []
    assert await passes(kit, 1) == ["Reminder for ana: drink water"]
    assert await passes(kit, DAY) == []
    view = kit.core.queries.job(job)
    assert view is not None
    assert (view.state, view.next_at) == ("ended", None)
    assert next(reversed(kit.port.screen.values())).ref.place == OPS


async def test_what_comes_late_says_how_late(kit: Kit) -> None:
    make(kit.core, "drink water", at=later(HOUR))
    shown = await passes(kit, 3 * HOUR)
    assert shown == ["Reminder for ana: drink water\nIt was due 15:00, 2 h 0 min ago."]


async def test_times_that_went_by_are_one_message(kit: Kit) -> None:
    job = make(kit.core, "stand up", at=later(HOUR), rrule="FREQ=DAILY")
    shown = await passes(kit, 3 * DAY + 2 * HOUR)
    assert len(shown) == 1
    assert (
        "stand up\nIt was due 15:00, 60 min ago.\nBefore that, 3 times since Mon 2 Mar 15:00 went by."
        in shown[0]
    )
    assert entered(kit, job) == [("05 15:00", "claimed"), ("02 15:00", "missedlate")]
    assert await passes(kit, DAY - 2 * HOUR) == []
    assert await passes(kit, HOUR) == ["Reminder for ana: stand up"]


async def test_one_that_may_be_skipped_is_reported_and_not_said(kit: Kit) -> None:
    job = make(kit.core, "stand up", at=later(HOUR), rrule="FREQ=DAILY;COUNT=3", missed="skip")
    assert await passes(kit, DAY + 2 * HOUR) == [
        'Missed: "stand up" was due 2 times, from Mon 2 Mar 15:00 to 15:00. It was not said then.'
    ]
    assert entered(kit, job) == [("02 15:00", "missedskip")]
    assert await passes(kit, DAY - HOUR) == ["Reminder for ana: stand up"]
    assert kit.core.queries.jobs() == ()


async def test_a_clock_that_is_set_back_says_nothing_twice(kit: Kit) -> None:
    job = make(kit.core, "stand up", at=later(HOUR), rrule="FREQ=HOURLY")
    assert len(await passes(kit, HOUR)) == 1
    assert await passes(kit, -HOUR) == []
    assert await passes(kit, HOUR) == []
    assert len(await passes(kit, HOUR)) == 1
    assert [state for _, state in entered(kit, job)] == ["claimed", "claimed"]


async def test_secrets_in_a_reminder_are_masked(tmp_path: Path) -> None:
    async with conversation(tmp_path, secrets=("hunter22",)) as kit:
        make(kit.core, "the word is hunter22", at=later(1))
        shown = await passes(kit, 1)
        assert "hunter22" not in shown[0]


async def test_a_post_is_said_in_the_name_of_who_scheduled_it(kit: Kit) -> None:
    make(kit.core, "deploy at 5\nbe there", at=later(1), act="send_outbound")
    assert await passes(kit, 1) == ["From ana, as scheduled: deploy at 5\nbe there"]


async def test_who_is_no_operator_any_more_reminds_nobody(kit: Kit) -> None:
    jobs = [
        make(kit.core, "go on", at=later(1), person="kim"),
        make(kit.core, DF, at=later(1), act="schedule", person="kim"),
    ]
    shown = await passes(kit, 1)
    assert len(shown) == 2
    assert all("kim is no operator any more" in one for one in shown)
    assert kit.core.queries.jobs() == ()
    assert [entered(kit, job) for job in jobs] == [[], []]
    assert Kind.PROPOSAL_MADE not in kit.kinds()


# ---------------------------------------------------------------- commands


async def test_what_only_reads_runs_when_it_is_due(kit: Kit) -> None:
    make(kit.core, DF, at=later(HOUR), act="schedule", rrule="FREQ=DAILY")
    shown = await passes(kit, HOUR)
    assert len(shown) == 1
    assert "✓ ok" in shown[0]
    assert f'scheduled by ana: "scheduled: {DF}"' in shown[0]
    assert kit.states() == ["succeeded"]
    await passes(kit, DAY)
    assert kit.kinds().count("proposal:made") == 2


async def test_what_changes_something_asks_where_it_was_made(kit: Kit) -> None:
    make(kit.core, RESTART, at=later(HOUR), act="schedule")
    shown = await passes(kit, HOUR)
    assert kit.states() == ["waiting"]
    assert f'Say "approve {kit.newest_id()}" or press a button.' in shown[0]
    # Nobody has just asked, so words that name nothing are about something else.
    await kit.say("go ahead")
    assert kit.states() == ["waiting"]
    await kit.say("go ahead", reply_to=kit.card)
    assert kit.states()[0] in ("succeeded", "failed")


async def test_what_destroys_asks_for_its_phrase(kit: Kit) -> None:
    make(kit.core, "run rm -rf /srv/old on local", at=later(HOUR), act="schedule")
    shown = await passes(kit, HOUR)
    assert "To run it, type:" in shown[0]
    assert kit.states() == ["waiting"]


async def test_what_is_never_done_is_denied_when_it_is_due(kit: Kit) -> None:
    make(kit.core, "run rm -rf / on local", at=later(HOUR), act="schedule")
    shown = await passes(kit, HOUR)
    assert shown[0].startswith("Never:")
    assert "request:denied" in kit.kinds()
    assert "proposal:made" not in kit.kinds()


async def test_a_target_that_is_gone_is_said(kit: Kit) -> None:
    for text in ("run uptime on web9", "make me a sandwich"):
        make(kit.core, text, at=later(HOUR), act="schedule")
    shown = await passes(kit, HOUR)
    assert "web9" in shown[0]
    assert "is nothing that can be done here now" in shown[1]
    assert kit.kinds().count("request:denied") == 2


async def test_a_missed_run_is_offered_and_not_made_up(kit: Kit) -> None:
    make(kit.core, RESTART, at=later(HOUR), act="schedule", rrule="FREQ=DAILY")
    shown = await passes(kit, DAY + 2 * HOUR)
    assert f'Missed: "{RESTART}" was due 2 times' in shown[0]
    assert "It did not run." in shown[0]
    assert "proposal:made" not in kit.kinds()
    await kit.press(kit.card, "Run it now")
    assert kit.states() == ["waiting"]
    await kit.say("go ahead")
    assert kit.states() != ["waiting"]


async def test_a_few_minutes_late_is_on_time(kit: Kit) -> None:
    make(kit.core, RESTART, at=later(HOUR), act="schedule")
    shown = await passes(kit, HOUR + 3 * MINUTE)
    assert shown[0] == f'"{RESTART}", as scheduled.\nIt was due 15:00, 3 min ago.'
    assert kit.states() == ["waiting"]


async def test_one_may_be_made_up_where_its_policy_says_so(kit: Kit) -> None:
    make(kit.core, RESTART, at=later(HOUR), act="schedule", missed="late")
    await passes(kit, DAY)
    assert kit.states() == ["waiting"]


# ---------------------------------------------------------------- switches and dials


async def test_stop_holds_commands_back_once_said_and_lets_reminders_through(kit: Kit) -> None:
    job = make(kit.core, DF, at=later(HOUR), act="schedule", rrule="FREQ=HOURLY")
    make(kit.core, "drink water", at=later(HOUR))
    await kit.say("stop")
    shown = await passes(kit, HOUR)
    assert "Reminder for ana: drink water" in shown
    assert any(f'sayso is stopped, so "{DF}", due 15:00, did not start.' in one for one in shown)
    assert await passes(kit, HOUR) == []
    assert [state for _, state in entered(kit, job)] == ["missedstopped"] * 2
    assert "proposal:made" not in kit.kinds()
    await kit.say("resume")
    await kit.say("resume sayso")
    assert len(await passes(kit, HOUR)) == 1
    await kit.say("stop")
    assert any("sayso is stopped" in one for one in await passes(kit, HOUR))


async def test_auto_off_makes_it_wait_for_a_yes(kit: Kit) -> None:
    make(kit.core, DF, at=later(HOUR), act="schedule")
    await kit.say("auto off")
    await passes(kit, HOUR)
    assert kit.states() == ["waiting"]


def dialled(**levels: Level) -> dict[Layer, dict[str, Candidate]]:
    return {
        Layer.FILE: {
            name.replace("_", "."): Candidate(layer=Layer.FILE, where="file", value=level)
            for name, level in levels.items()
        }
    }


@pytest.mark.parametrize(
    ("levels", "because"),
    [
        ({"schedule_autonomy": Level.PROPOSE}, "schedule.autonomy propose"),
        ({"schedule_autonomy": Level.APPLY}, "schedule.autonomy apply"),
        ({"autonomy_max": Level.PROPOSE}, "requested run, lowered to propose by autonomy.max (file)"),
    ],
)
async def test_below_run_even_reading_waits_for_a_yes(
    tmp_path: Path, levels: dict[str, Level], because: str
) -> None:
    async with conversation(tmp_path, settings=dialled(**levels)) as kit:
        make(kit.core, DF, at=later(HOUR), act="schedule")
        shown = await passes(kit, HOUR)
        assert f"waits because of: {because}" in shown[0]
        assert kit.states() == ["waiting"]
        await kit.say(f"approve {kit.newest_id()}")
        assert kit.states() == ["succeeded"]


@pytest.mark.parametrize("level", [Level.ASK, Level.ADVISE, Level.OFF])
async def test_below_propose_it_is_only_said(tmp_path: Path, level: Level) -> None:
    async with conversation(tmp_path, settings=dialled(schedule_autonomy=level)) as kit:
        make(kit.core, DF, at=later(HOUR), act="schedule")
        assert await passes(kit, HOUR) == [
            f'Due now: "{DF}". Nothing ran, because of schedule.autonomy {level}. Say it to run it.'
        ]
        assert "proposal:made" not in kit.kinds()


# ---------------------------------------------------------------- quiet hours

NIGHT = replace(person("ana"), quiet=(time(22), time(7)), timezone="UTC")  # START is 14:00


async def test_a_reminder_for_a_time_in_quiet_hours_comes_then(tmp_path: Path) -> None:
    async with conversation(tmp_path, operators=[NIGHT]) as kit:
        make(kit.core, "take the pill", at=later(9 * HOUR), rrule="FREQ=DAILY", zone="UTC")
        assert await passes(kit, 9 * HOUR) == ["Reminder for ana: take the pill"]


async def test_one_that_only_counts_hours_waits(tmp_path: Path) -> None:
    async with conversation(tmp_path, operators=[NIGHT]) as kit:
        make(kit.core, "drink water", at=later(4 * HOUR), rrule="FREQ=HOURLY;INTERVAL=4")
        assert len(await passes(kit, 4 * HOUR)) == 1
        assert await passes(kit, 4 * HOUR) == []
        assert await passes(kit, 4 * HOUR) == []
        assert fire_due(kit.core).next_at == datetime(2026, 3, 3, 7, tzinfo=UTC)
        shown = await passes(kit, 5 * HOUR)
        assert len(shown) == 1
        assert "Before that, 2 times since Mon 2 Mar 22:00 went by." in shown[0]


async def test_a_command_that_would_ask_waits_and_one_that_only_reads_does_not(tmp_path: Path) -> None:
    async with conversation(tmp_path, operators=[NIGHT]) as kit:
        for text in (RESTART, DF):
            make(kit.core, text, at=later(9 * HOUR), act="schedule", rrule="FREQ=DAILY;BYHOUR=23", zone="UTC")
        make(kit.core, "run systemctl restart nginx on local", at=later(9 * HOUR), act="schedule")
        shown = await passes(kit, 9 * HOUR)
        assert len(shown) == 2
        assert "✓ ok" in shown[0]
        assert "nginx" in shown[1]  # it was asked for at that time, once
        assert await passes(kit, 8 * HOUR - 1) == []
        shown = await passes(kit, 1)
        assert "It was due Mon 2 Mar 23:00, 8 h 0 min ago." in shown[0]
        assert "restart caddy" in shown[1]


# ---------------------------------------------------------------- faults


async def test_nothing_fires_while_the_ledger_cannot_be_written_and_nothing_is_lost(
    kit: Kit, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = make(kit.core, "drink water", at=later(HOUR))
    kit.clock.advance(HOUR)

    def full(_batch: object) -> object:
        raise LedgerUnwritableError("full")

    with monkeypatch.context() as broken:
        broken.setattr(type(kit.core.ledger), "append", lambda _self, batch: full(batch))
        with pytest.raises(LedgerUnwritableError):
            fire_due(kit.core)
    assert entered(kit, job) == []
    assert await passes(kit, 30) == ["Reminder for ana: drink water"]


async def test_a_job_that_fails_inside_is_said_and_holds_up_no_other(
    kit: Kit, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = make(kit.core, DF, at=later(HOUR), act="schedule", rrule="FREQ=DAILY")
    make(kit.core, "drink water", at=later(HOUR))
    broken = make(kit.core, "stand up", at=later(HOUR), rrule="FREQ=NEVER", zone="Mars/Phobos")

    def bug(*_: Any) -> Any:
        raise RuntimeError("a bug")

    monkeypatch.setattr(firing.asking, "planned", bug)
    shown = await passes(kit, HOUR)
    assert len(shown) == 3
    assert "failed inside sayso: RuntimeError: a bug. Nothing ran." in shown[0]
    assert shown[1] == "Reminder for ana: drink water"
    assert '"stand up"' in shown[2]
    assert entered(kit, job) == [("02 15:00", "missedfailed")]
    assert [one.id for one in kit.core.queries.jobs()] == [job]
    assert entered(kit, broken) == [("02 15:00", "missedfailed")]


async def test_a_stop_that_comes_in_between_wins(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    make(kit.core, DF, at=later(HOUR), act="schedule")
    composed: Callable[..., Any] = firing._composed
    raced: list[LostRaceError] = []

    def slow(*args: Any) -> Any:
        made = composed(*args)
        if not raced:
            raced.append(LostRaceError(made.expects[0]))
            asyncio.run_coroutine_threadsafe(kit.say("stop"), loop).result(timeout=30)
        return made

    loop = asyncio.get_running_loop()
    monkeypatch.setattr(firing, "_composed", slow)
    kit.clock.advance(HOUR)
    fired = await asyncio.to_thread(fire_due, kit.core)
    assert fired.outcomes == ()
    await passes(kit, 1)
    assert any('so "run df' in one.text for one in kit.port.screen.values())
    assert "proposal:made" not in kit.kinds()


async def test_a_private_place_stays_private(kit: Kit) -> None:
    place = PlaceRef(platform="script", channel="ana-dm")
    make(kit.core, "call mum", at=later(1), place=place)
    assert await passes(kit, 1) == ["Reminder for ana: call mum"]
    assert next(reversed(kit.port.screen.values())).ref.place == place
