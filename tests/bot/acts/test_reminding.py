"""Which messages ask for a reminder, a schedule or to cancel one, and what they say beside that."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.acts.cancelling import CancelActs, cancelled
from bot.acts.reminders import asked
from bot.answering import Speaker
from bot.dates import second_opinion
from bot.outcome import Outcome
from bot.zones import zones_in
from gate.domain import PersonId, PlaceId, TurnId
from gate.resolve.decision import Clarify
from ledger.jobs import JobView
from ledger.queries import Queries
from tests.kit import conversation, person

NOW = datetime(2026, 11, 30, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("remind me to call Bo at 5pm", "to call Bo at 5pm"),
        ("Please remind us on Friday", "on Friday"),
        ("hey sayso, can you please remind me in 20 minutes?", "in 20 minutes?"),
        ("I need you to remind me about the dentist", "about the dentist"),
        ("in 20 minutes, remind me to check the oven", "in 20 minutes, to check the oven"),
        ("tomorrow at 9 remind the team to deploy", "tomorrow at 9, to deploy"),
        ("set a reminder for the dentist", "for the dentist"),
        ("set me up a timer for 5 minutes", "for 5 minutes"),
        ("don't let me forget the standup", "the standup"),
        ("reminder: pay rent tomorrow", ": pay rent tomorrow"),
        ("remind me when I am back", "when I am back"),
        ("ذكرني بعد يومين", "بعد يومين"),
        ("ذكّرني غدا بالاجتماع", "غدا بالاجتماع"),
        ("من فضلك ذكرنا بالاجتماع", "بالاجتماع"),
        ("هل يمكنك ان تذكرني غدا", "غدا"),
        ("غدا الساعة ٩ ذكرني بالدواء", "غدا الساعة ٩, بالدواء"),
        ("اضف تذكير غدا", "غدا"),
        ("لا تنسني الموعد", "الموعد"),
    ],
)
def test_a_reminder_is_asked_for(text: str, about: str) -> None:
    assert asked(text) == about


@pytest.mark.parametrize(
    "text",
    [
        "you reminded me yesterday",
        "did you remind me?",
        "don't remind me tomorrow",
        "why didn't you remind me at 9",
        "you should remind me of that",
        "remind me what ran yesterday",
        "remind me of who did that",
        "reminders",
        "run remind me",
        "yes",
        "لا تذكرني غدا",
        "من ذكرني امس",
        "remind me " + "x" * 3000,
    ],
)
def test_talk_about_reminding_asks_for_none(text: str) -> None:
    assert asked(text) is None


@pytest.mark.parametrize(
    ("text", "slots"),
    [
        ("cancel my reminder", {"kind": "remind"}),
        ("please delete the reminder.", {"kind": "remind"}),
        ("cancel reminder #K00012", {"kind": "remind", "job": "k00012"}),
        ("cancel job k00012", {"job": "k00012"}),
        ("cancel the schedule k00012", {"kind": "schedule", "job": "k00012"}),
        ("drop the scheduled command about df", {"kind": "schedule", "about": "df"}),
        ("cancel the reminder to water the plants", {"kind": "remind", "about": "water plants"}),
        ("stop reminding me about the bill", {"kind": "remind", "about": "bill"}),
        ("don't remind me tomorrow", {"kind": "remind", "ask": "yes"}),
        ("do not remind me about the bill anymore", {"kind": "remind", "about": "bill"}),
        ("الغ التذكير", {"kind": "remind"}),
        ("احذف تذكيري k00012", {"kind": "remind", "job": "k00012"}),
        ("لا تذكرني", {"kind": "remind"}),
    ],
)
def test_a_cancel_says_which(text: str, slots: dict[str, str]) -> None:
    assert cancelled(text) == slots


@pytest.mark.parametrize(
    "text", ["cancel", "cancel k00012", "cancel the deploy", "stop", "reminder", "drop table jobs", "x" * 400]
)
def test_other_cancels_are_none_of_these(text: str) -> None:
    assert cancelled(text) is None


@pytest.mark.parametrize(
    ("text", "zones"),
    [
        ("at 9am Cairo time", {"cairo": "Africa/Cairo"}),
        ("at 9am New York time", {"new york": "America/New_York"}),
        ("الساعة ٩ بتوقيت القاهرة", {"القاهره": "Africa/Cairo"}),
        ("call Cairo at 9", {}),
        ("at 9am Springfield time", {}),
        ("this time tomorrow", {}),
    ],
)
def test_a_city_names_a_zone_where_its_time_is_meant(text: str, zones: dict[str, str]) -> None:
    assert {name: str(zone) for name, zone in zones_in(text).items()} == zones


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("remind me on 01/12/2026 to pay", ["2026-01-12", "2026-12-01"]),
        ("remind me on 24/12/2026 to pay", ["2026-12-24"]),
        ("pay by 24 dec 26 6pm", ["2026-12-24"]),
        ("at the end of the month", []),
        ("tomorrow", []),
        ("not on Friday", []),
        ("on 01/12/2026 or 02/12/2026", []),
        ("10.0.0.5 is down", []),
        ("99/99/2026", []),
    ],
)
def test_a_second_opinion_is_had_on_one_whole_date(text: str, read: list[str]) -> None:
    found = second_opinion(text, request_at=NOW, zone=UTC)
    assert [at.date().isoformat() for at in found] == read
    assert all(at.tzinfo is UTC for at in found)


async def test_a_date_that_can_be_read_either_way_is_offered_and_never_taken(tmp_path: Path) -> None:
    async with conversation(tmp_path) as kit:
        said = await kit.say("remind me on 05/06/2026 to pay")
        assert "1  Tue 5 May 00:00" not in said  # the fifth of June or the sixth of May, soonest first
        assert "1  Wed 6 May 00:00" in said
        assert "2  Fri 5 Jun 00:00" in said
        assert not kit.core.queries.jobs()


async def test_a_reminder_is_kept_with_where_it_was_made(tmp_path: Path) -> None:
    async with conversation(tmp_path) as kit:
        await kit.say("remind me tomorrow at 9 to call Bo", place="ops-dm")
        (job,) = kit.core.queries.jobs()
        place = kit.core.queries.place(job.place)
        assert place is not None
        assert place[2] == "ops-dm"
        assert (job.text, job.said) == ("call Bo", "remind me tomorrow at 9 to call Bo")
        assert job.first_at == job.next_at == datetime(2026, 3, 3, 9, tzinfo=UTC)
        assert (job.zone, job.rrule, job.missed) == ("UTC", "", "late")
        assert kit.kinds()[-4:] == ["commitment:made", "job:made", "commitment:committed", "turn:answered"]


async def test_a_scheduled_command_that_is_missed_is_asked_about(tmp_path: Path) -> None:
    async with conversation(tmp_path) as kit:
        await kit.say("run df  -h on web1 every day at 7")
        (job,) = kit.core.queries.jobs()
        assert (job.text, job.missed) == ("run df  -h on web1", "ask")


async def test_secrets_in_a_reminder_are_masked_where_people_look_and_kept(tmp_path: Path) -> None:
    async with conversation(tmp_path, secrets=("hunter2secret",)) as kit:
        shown = await kit.say("remind me tomorrow at 9 to rotate hunter2secret")
        shown += await kit.say("reminders")
        shown += await kit.say("cancel my reminder")
        assert "rotate" in shown
        assert "hunter2secret" not in shown


async def test_a_reminder_elsewhere_is_told_only_to_its_maker_alone(tmp_path: Path) -> None:
    people = (person("ana"), person("bo"))
    async with conversation(tmp_path, operators=people) as kit:
        await kit.say("remind me tomorrow at 9 to buy the ring", place="ana-dm")
        (job,) = kit.core.queries.jobs()
        listed = await kit.say("reminders")
        assert "ring" not in listed
        assert "1 of yours elsewhere" in listed
        assert "ring" not in await kit.say("schedules", by="bo")
        assert "No reminder or schedule" in await kit.say("schedules", by="bo", place="bo-dm")
        assert "in ana-dm on script" in await kit.say("reminders", place="other-dm")
        refused = await kit.say(f"cancel reminder {job.id}", by="bo")
        assert "ring" not in refused
        assert kit.core.queries.jobs() == (job,)
        assert "in ana-dm on script" in await kit.say(f"cancel {job.id}")
        assert kit.core.queries.jobs() == ()


async def test_how_readily_is_asked_is_a_setting_that_counts_at_once(tmp_path: Path) -> None:
    async with conversation(tmp_path) as kit:
        await kit.say("remember that the sync is tomorrow at 14:00")
        assert "is close to that" in await kit.say("remind me in 30 hours")
        await kit.say("cancel")
        await kit.say("set clarify.width to relaxed")
        assert "✓ Reminder" in await kit.say("remind me in 30 hours")


class _Broken(Queries):
    """A ledger whose jobs cannot be read."""

    def jobs(self, *, place: PlaceId | None = None, person: PersonId | None = None) -> tuple[JobView, ...]:
        raise OSError("disk")


async def test_while_jobs_cannot_be_read_nothing_is_cancelled(tmp_path: Path) -> None:
    async with conversation(tmp_path) as kit:
        await kit.say("remind me tomorrow at 9 to call Bo")
        speaker = Speaker(operator=person("ana"), said="cancel my reminder", event="e", zone=UTC)
        core = replace(kit.core, queries=_Broken(kit.core.ledger.reader))
        request = CancelActs().read(core, speaker, NOW)
        assert request is not None
        place = kit.core.queries.jobs()[0].place
        outcome = Outcome(at=NOW, place=place, turn=TurnId("t"), new_nonce=str)
        decision = CancelActs().resolve(core, outcome, speaker, request)
        assert isinstance(decision, Clarify)
        assert [one.id for one in decision.options] == ["again"]


async def test_a_request_that_is_not_clear_is_not_scheduled(tmp_path: Path) -> None:
    async with conversation(tmp_path) as kit:
        said = await kit.say("at 22:00 run `uptime`; then look at the rest on web1")
        assert "Not scheduled." in said
        assert not kit.core.queries.jobs()
