"""Remembering and forgetting, resolved: whose word displaces whose, and what is asked instead of guessed."""

from dataclasses import replace
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from gate.domain import PersonId, ReasonCode
from gate.resolve.decision import Allow, Clarify, Deny, Slots
from gate.resolve.fact_words import Told
from gate.resolve.facts import AT, IS, Held, Known, forget, store, wording
from gate.trust import Source
from gate.when import Anchor, remember
from gate.when.naming import called

VIENNA = ZoneInfo("Europe/Vienna")
NOW = datetime(2026, 11, 30, 10, tzinfo=UTC)
RELEASE = Anchor(name="b9", at=datetime(2026, 12, 10, 9, tzinfo=UTC), aliases=called("release"))
WEEKDAYS = "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9;BYMINUTE=30;BYSECOND=0"
THURSDAY = "2026-12-03T14:00:00+01:00"
FRIDAY = "2026-12-04T14:00:00+01:00"
SYNC = Told(subject="project sync", time="on Friday at 14:00", definite=True)
HOST = Told(subject="db host", object="pve3", definite=True)
ANA, KIM = PersonId("ana"), PersonId("kim")


def held(  # one fact that counts
    *,
    id: str = "b1",  # noqa: A002 - the field's name
    object: str = THURSDAY,  # noqa: A002 - likewise
    predicate: str = AT,
    source: Source = Source.USER_EXPLICIT,
    person: PersonId = ANA,
    functional: bool = True,
) -> Held:
    return Held(
        id=id,
        about="project sync",
        predicate=predicate,
        object=object,
        said=f"project sync is {object}",
        source=source,
        person=person,
        functional=functional,
    )


def known(*facts: Held, source: Source = Source.USER_EXPLICIT, secret: bool = False) -> Known:
    return Known(
        person=ANA,
        source=source,
        held=facts,
        request_at=NOW,
        decided_at=NOW,
        zone=VIENNA,
        remembered=remember([RELEASE]),
        zones={},
        secret=secret,
    )


def bound(told: Told, what: Known, **slots: str) -> Slots:
    found = store({"text": "said so", **slots}, told, what)
    assert isinstance(found, Allow), found
    return found.slots


def asked(told: Told, what: Known, **slots: str) -> Clarify:
    found = store({"text": "said so", **slots}, told, what)
    assert isinstance(found, Clarify), found
    return found


def denied(told: Told, what: Known, **slots: str) -> Deny:
    found = store(slots, told, what)
    assert isinstance(found, Deny), found
    return found


# ---------------------------------------------------------------- what a fact is


def test_an_event_is_bound_to_its_instant() -> None:
    assert bound(SYNC, known(), time="", kept="as it is") == {
        "subject": "project sync",
        "kind": "",
        "predicate": AT,
        "object": FRIDAY,
        "said": "said so",
        "source": "user_explicit",
        "functional": "yes",
        "supersedes": "",
        "kept": "as it is",
    }


@pytest.mark.parametrize(
    ("time", "stands_for"),
    [
        ("on Friday", "2026-12-04"),
        ("every weekday at 9:30", f"2026-12-01T09:30:00+01:00[Europe/Vienna] {WEEKDAYS}"),
        ("2 days after the release", "2026-12-12"),
        # The past is remembered as it is; what is counted from it is denied when it is asked for.
        ("on 2026-02-01", "2026-02-01"),
        ("on 2026-02-01 at 9:00", "2026-02-01T09:00:00+01:00"),
    ],
)
def test_what_a_time_is_stored_as(time: str, stands_for: str) -> None:
    slots = bound(replace(SYNC, time=time), known())
    assert (slots["predicate"], slots["object"]) == (AT, stands_for)


def test_anything_else_is_kept_as_it_was_said() -> None:
    slots = bound(HOST, known())
    assert (slots["predicate"], slots["object"], slots["functional"]) == (IS, "pve3", "yes")


def test_what_could_not_be_taken_apart_stands_beside_everything() -> None:
    whole = Told(subject="caddy lives on web1", object="caddy lives on web1", whole=True)
    first = bound(whole, known())
    assert first["functional"] == ""
    other = held(predicate=IS, object="something else")
    assert bound(whole, known(other))["supersedes"] == ""


def test_without_a_sentence_it_says_what_it_keeps() -> None:
    assert store({}, HOST, known()) == Allow(
        slots={
            "subject": "db host",
            "kind": "",
            "predicate": IS,
            "object": "pve3",
            "said": "db host: pve3",
            "source": "user_explicit",
            "functional": "yes",
            "supersedes": "",
        },
        because="new",
    )


@pytest.mark.parametrize(
    "told", [Told(subject=""), Told(subject="project sync"), Told(subject="", object="x")]
)
def test_a_fact_without_its_parts_is_asked_for(told: Told) -> None:
    question = asked(told, known())
    assert (question.free, question.because) == ("text", "missing slot")


def test_a_secret_is_not_remembered() -> None:
    refused = denied(HOST, known(secret=True))
    assert refused.reason.code is ReasonCode.UNFIT
    assert "secret" in refused.reason.text


# ---------------------------------------------------------------- a time that is not certain


def test_two_readings_are_two_options() -> None:
    question = asked(replace(SYNC, time="next Tuesday"), known())
    assert [(one.label, one.patch) for one in question.options] == [
        ("Tue 1 Dec", {"dated": "2026-12-01"}),
        ("Tue 8 Dec", {"dated": "2026-12-08"}),
        ("No date, keep the words", {"how": "words", "time": "next Tuesday"}),
    ]
    assert question.free == "time"
    picked = bound(replace(SYNC, time="next Tuesday"), known(), dated="2026-12-08")
    assert (picked["object"], "dated" in picked) == ("2026-12-08", False)


@pytest.mark.parametrize("time", ["on Friday or Monday", "when Bo is back"])
def test_no_reading_is_asked_in_words(time: str) -> None:
    question = asked(replace(SYNC, time=time), known())
    assert [one.id for one in question.options] == ["words"]
    answered = bound(replace(SYNC, time=time), known(), time="Friday at 14:00")
    assert answered["object"] == FRIDAY
    kept = bound(replace(SYNC, time=time), known(), time=time, how="words")
    assert (kept["predicate"], kept["object"]) == (IS, time)


def test_a_time_that_cannot_be_is_denied() -> None:
    refused = denied(
        replace(SYNC, time="on 29 March 2027 at 2:30 in 40 years"), known(), time="2027-03-28 02:30"
    )
    assert refused.reason.code is ReasonCode.IMPOSSIBLE_TIME


# ---------------------------------------------------------------- what it displaces


def test_a_persons_own_newer_word_displaces() -> None:
    assert bound(SYNC, known(held()))["supersedes"] == "b1"
    assert bound(HOST, known(held(predicate=IS, object="pve2")))["supersedes"] == "b1"


def test_the_same_again_changes_nothing() -> None:
    assert bound(SYNC, known(held(object=FRIDAY)))["held"] == "b1"


def test_another_predicate_is_no_rival() -> None:
    assert bound(SYNC, known(held(predicate=IS, object="in room 4")))["supersedes"] == ""
    assert bound(SYNC, known(held(functional=False)))["supersedes"] == ""


def test_somebody_elses_word_is_asked_about() -> None:
    question = asked(SYNC, known(held(person=KIM)))
    assert question.question == (
        "Remembered so far: project sync, Thu 3 Dec 14:00 CET (told by kim). And now?"
    )
    assert [(one.label, one.patch) for one in question.options] == [
        ("Replace it: Fri 4 Dec 14:00 CET", {"how": "replace"}),
        ("Keep both", {"how": "both"}),
    ]
    # The time that was read is the one that counts when the answer comes, whatever day that is.
    assert question.slots["dated"] == FRIDAY
    assert bound(SYNC, known(held(person=KIM)), how="replace")["supersedes"] == "b1"
    both = bound(SYNC, known(held(person=KIM)), how="both")
    assert (both["supersedes"], both["functional"]) == ("", "")


def test_of_what_there_may_be_many_it_is_asked() -> None:
    web1 = Told(subject="web1", object="a Dell " + "x" * 80)
    question = asked(web1, known(held(predicate=IS, object="in rack 4")))
    assert question.question == "Remembered so far: project sync is in rack 4. And now?"
    assert question.options[0].label.endswith("…")
    assert "dated" not in question.slots


@pytest.mark.parametrize("source", [Source.LLM_INFERRED, Source.SYSTEM_TOOL])
def test_a_persons_word_displaces_what_no_person_said(source: Source) -> None:
    assert bound(SYNC, known(held(source=source, person=KIM)))["supersedes"] == "b1"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (Source.USER_EXPLICIT, Source.LLM_INFERRED),
        (Source.USER_EXPLICIT, Source.SYSTEM_TOOL),
        (Source.SYSTEM_TOOL, Source.LLM_INFERRED),
        # By trust alone this one would do; but a claim of a model displaces nothing (K29).
        (Source.LLM_INFERRED, Source.LLM_INFERRED),
    ],
)
@pytest.mark.parametrize("how", ["", "replace", "both"])
def test_a_weaker_word_never_displaces(old: Source, new: Source, how: str) -> None:
    refused = denied(SYNC, known(held(source=old), source=new), how=how)
    assert refused.because == "blocked_supersede lower_trust_source"
    assert refused.slots["supersedes"] == "b1"


def test_what_nobody_said_yet_may_be_inferred() -> None:
    assert bound(SYNC, known(source=Source.LLM_INFERRED))["source"] == "llm_inferred"


def test_what_a_tool_read_again_displaces_what_it_read() -> None:
    tool = known(held(source=Source.SYSTEM_TOOL, person=KIM), source=Source.SYSTEM_TOOL)
    assert bound(SYNC, tool)["supersedes"] == "b1"


def test_the_copilot_incident() -> None:
    """A date made up from "the reset in 2 days" does not take the place of the remembered one (F1)."""
    reset = held(object="2026-12-24")
    made_up = Told(subject="project sync", time="2026-12-02T10:00:00+00:00", definite=True)
    assert isinstance(store({}, made_up, known(reset, source=Source.LLM_INFERRED)), Deny)


# ---------------------------------------------------------------- forgetting


def test_ones_own_word_is_forgotten_at_once() -> None:
    assert forget({"subject": "the sync"}, known(held())) == Allow(slots={"belief": "b1"}, because="forget")


def test_somebody_elses_word_is_asked_about_first() -> None:
    found = forget({"subject": "the sync"}, known(held(person=KIM)))
    assert isinstance(found, Clarify)
    assert found.question == "project sync, Thu 3 Dec 14:00 CET (told by kim). Forget it?"
    (option,) = found.options
    assert option.patch is not None
    assert forget({"subject": "the sync", **option.patch}, known(held(person=KIM))) == Allow(
        slots={"belief": "b1"}, because="forget"
    )


def test_one_of_several_is_picked() -> None:
    both = known(held(), held(id="b2", source=Source.SYSTEM_TOOL, object=FRIDAY))
    found = forget({"subject": "the meeting"}, both)
    assert isinstance(found, Clarify)
    assert [one.label for one in found.options] == [
        "project sync, Thu 3 Dec 14:00 CET",
        "project sync, Fri 4 Dec 14:00 CET (system tool)",
    ]
    patch = found.options[1].patch
    assert patch is not None
    assert forget({"subject": "the meeting", **patch}, both) == Allow(
        slots={"belief": "b2"}, because="forget"
    )
    # What was picked is gone meanwhile.
    assert isinstance(forget({"subject": "the meeting", **patch}, known(held())), Deny)


@pytest.mark.parametrize("slots", [{"subject": "the moon"}, {"belief": "b7"}])
def test_what_is_not_remembered_is_not_forgotten(slots: Slots) -> None:
    found = forget(slots, known())
    assert isinstance(found, Deny)
    assert found.reason.code is ReasonCode.UNKNOWN_ID


def test_what_to_forget_is_asked_for() -> None:
    found = forget({"subject": " "}, known(held()))
    assert isinstance(found, Clarify)
    assert found.free == "subject"


@pytest.mark.parametrize("source", [Source.LLM_INFERRED, Source.SYSTEM_TOOL])
def test_only_a_person_has_something_forgotten(source: Source) -> None:
    assert isinstance(forget({"subject": "the sync"}, known(held(), source=source)), Deny)


def test_a_fact_in_words() -> None:
    day = wording("sync", AT, "2026-12-04", "the sync is on Friday.", now=NOW, zone=VIENNA)
    assert day == "sync, Fri 4 Dec"
    assert wording("web1", IS, "old", "web1  is\nold.", now=NOW, zone=VIENNA) == "web1 is old"
