"""What a sentence says about what, and whether it gives a secret away."""

import pytest

from gate.resolve.fact_words import Told, split, tells_secret
from gate.when import Anchor, remember
from gate.when.naming import called
from tests.gate.when.when_cases import REQUEST

NOTHING = remember(())
RELEASE = remember([Anchor(name="b1", at=REQUEST, aliases=called("release"))])


def told(sentence: str) -> Told:
    return split(sentence, remembered=RELEASE, zones={})


@pytest.mark.parametrize(
    ("sentence", "subject", "time"),
    [
        ("the project sync is on 2026-12-01 at 14:00", "project sync", "on 2026-12-01 at 14:00"),
        ("Project sync is Friday at 14:00.", "Project sync", "Friday at 14:00"),
        ("the meeting with Bo is on Friday", "meeting with Bo", "on Friday"),
        ("the deploy window is scheduled for tomorrow at 22:00", "deploy window", "tomorrow at 22:00"),
        ("the sync has been moved to Friday at 15:00", "sync", "Friday at 15:00"),
        ("standup is every weekday at 9:30", "standup", "every weekday at 9:30"),
        ("the backup runs every night at 2", "backup", "every night at 2"),
        ("the SSL certificate expires on 2027-01-03", "SSL certificate expiry", "on 2027-01-03"),
        ("the trial end ends on Friday", "trial end", "on Friday"),
        ("Bo's birthday is on 5 May", "Bo's birthday", "on 5 May"),
        ("the demo is 2 days after the release", "demo", "2 days after the release"),
        ("the meeting that is new is on Friday", "meeting that is new", "on Friday"),
        ("the meeting is on Friday at 14:00 in room 4", "meeting", "on Friday at 14:00"),
        # More about time than its beginning: all of it, so that it is asked about.
        ("the launch is on Friday or Monday", "launch", "on Friday or Monday"),
        # Without a verb, by what is named.
        ("we have a meeting with Bo on Friday at 10", "meeting with Bo", "on Friday at 10"),
        ("there is a party on Friday", "party", "on Friday"),
        ("the project sync on Friday at 14:00", "project sync", "on Friday at 14:00"),
        ("اجتماع المشروع يوم الجمعة الساعة 14:00", "اجتماع المشروع", "يوم الجمعة الساعة 14:00"),
    ],
)
def test_an_event_and_the_words_of_its_time(sentence: str, subject: str, time: str) -> None:
    assert told(sentence) == Told(subject=subject, time=time, definite=True)


def test_an_event_of_a_kind() -> None:
    found = told("the 1:1 with Bo is a meeting on Wed at 10:00")
    assert found == Told(subject="1:1 with Bo", kind="meeting", time="on Wed at 10:00", definite=True)


@pytest.mark.parametrize(
    ("sentence", "subject", "said", "definite"),
    [
        ("the db host is pve2", "db host", "pve2", True),
        ("Kim's phone is 0123 456", "Kim's phone", "0123 456", True),
        ("Bo is on holiday", "Bo", "on holiday", False),
        ("db host = pve2", "db host", "pve2", False),
        ("db host: pve2", "db host", "pve2", False),
        ("the office is in Berlin", "office", "in Berlin", True),
        # A length is no time, and the past is nothing to count from.
        ("the timeout is 5 minutes", "timeout", "5 minutes", True),
        ("the incident was on 2026-11-01", "incident", "was on 2026-11-01", False),
        ("الخادم هو pve2", "الخادم", "pve2", False),
    ],
)
def test_a_thing_and_what_it_is(sentence: str, subject: str, said: str, *, definite: bool) -> None:
    assert told(sentence) == Told(subject=subject, object=said, definite=definite)


@pytest.mark.parametrize(
    "sentence",
    [
        "caddy lives on web1",
        "we changed the disk on Friday",
        "in 5 minutes",
        "5 minutes",
        "is",
        "= 4",
        "x: ",
        "",
        "a meeting lasts 5 minutes",
    ],
)
def test_what_cannot_be_taken_apart_is_kept_whole(sentence: str) -> None:
    kept = sentence.strip()
    assert told(sentence) == Told(subject=kept, object=kept, whole=True)


@pytest.mark.parametrize(
    "sentence",
    [
        "the wifi password is hunter2",
        "the password for the router is correct horse battery staple",
        "my PIN is 4711",
        "the door code: 1234",
        "api key = abcdef",
        "password hunter2",
        "the token is x9$aaaa and Bo has it",
        "كلمة السر هي hunter2",
    ],
)
def test_what_a_secret_is_is_seen(sentence: str) -> None:
    assert tells_secret(told(sentence), sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "the root password is in the vault",
        "the password policy is strict",
        "the api token expires on Friday",
        "the token is kept by Bo",
        "the password was changed by Kim",
        "the project sync is on Friday",
        "pinned versions are good",
    ],
)
def test_what_is_said_beside_a_secret_is_none(sentence: str) -> None:
    assert not tells_secret(told(sentence), sentence)
