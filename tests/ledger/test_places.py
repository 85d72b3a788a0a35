"""Places: which ids lead there, where they go on, and what stands on the screen there."""

import json

from gate.domain import PersonId, PlaceId
from ledger.kinds import Draft, Effect, EffectKind, Json, Kind
from tests.gate.makers import HERE, P1, THERE
from tests.ledger.entries.proposals import made, opened, planned
from tests.ledger.entries.turns import answered, moved, received
from tests.ledger.story import Story

ANA = PersonId("ana")
ONE = planned()


def heard(
    place: str, *, channel: str, thread: str = "", tenant: str = "", platform: str = "console"
) -> Draft:
    """Somebody spoke in `place`, which these ids lead to."""
    ref: dict[str, Json] = {"platform": platform, "tenant": tenant, "channel": channel, "thread": thread}
    body: dict[str, Json] = {
        "turn": f"turn in {place}",
        "place": place,
        "place_ref": ref,
        "person": "ana",
        "consumes_window": False,
    }
    return Draft(kind=Kind.TURN_RECEIVED, body=body)


def shown(tale: Story, body: dict[str, Json], *, message: str, kind: EffectKind = EffectKind.SAY) -> None:
    (row,) = tale.write(effects=(Effect(kind=kind, place=HERE, body=body, nonce=message),)).outbox
    tale.ledger.outbox.done(row, json.dumps(["console", "", "here", "", message]))


def test_a_place_is_found_by_all_of_its_ids(tale: Story) -> None:
    tale.write(
        heard("p1", channel="c"),
        heard("p2", channel="c", thread="t"),
        heard("p3", channel="c", tenant="x"),
        heard("p4", channel="c", platform="chat"),
    )
    assert tale.queries.place(PlaceId("p2")) == ("console", "", "c", "t")
    assert tale.queries.place(PlaceId("p9")) is None
    assert tale.queries.place_at("console", "", "c", "") == "p1"
    assert tale.queries.place_at("console", "", "c", "t") == "p2"
    assert tale.queries.place_at("console", "x", "c", "") == "p3"
    assert tale.queries.place_at("chat", "", "c", "") == "p4"
    assert tale.queries.place_at("chat", "", "c", "t") is None
    assert tale.queries.places_at("console", "", "c") == ("p1", "p2")
    assert tale.queries.places_on("chat") == {"p4": tale.queries.place(PlaceId("p4"))}
    assert tale.queries.places_on("mail") == {}


def test_a_moved_place_keeps_its_own_id_and_its_window(tale: Story) -> None:
    tale.write(received(place=HERE), made(ONE), opened(ONE), answered(shows=[P1], window=("ana", P1)))
    tale.write(moved(HERE, "bigger"))
    assert tale.queries.place(HERE) == ("console", "", "bigger", "")
    assert tale.queries.place_at("console", "", "bigger", "") == HERE
    assert tale.queries.place_at("console", "", HERE, "") is None
    assert tale.queries.facts(HERE, ANA).window is not None


def test_every_thread_moves_with_its_channel_and_nothing_else_does(tale: Story) -> None:
    tale.write(
        heard("p1", channel="old"),
        heard("p2", channel="old", thread="t"),
        heard("p3", channel="old", tenant="x"),
        heard("p4", channel="old", platform="chat"),
        heard("p5", channel="other"),
        moved("old", "new", tenant="y"),
    )
    assert tale.queries.place(PlaceId("p1")) == ("console", "y", "new", "")
    assert tale.queries.place(PlaceId("p2")) == ("console", "y", "new", "t")
    assert tale.queries.place(PlaceId("p3")) == ("console", "x", "old", "")
    assert tale.queries.place(PlaceId("p4")) == ("chat", "", "old", "")
    assert tale.queries.place(PlaceId("p5")) == ("console", "", "other", "")


def test_of_two_places_under_the_same_ids_the_older_goes_on(tale: Story) -> None:
    """Somebody may speak under the new ids before it is told that the place moved."""
    tale.write(heard("p1", channel="old"), heard("p2", channel="new"), moved("old", "new"))
    assert tale.queries.place_at("console", "", "new", "") == "p1"


def test_a_message_that_asks_leads_to_its_form_and_its_proposal(tale: Story) -> None:
    shown(tale, {"subject": P1, "form": "R.token", "asks": "why"}, message="m1")
    shown(tale, {"subject": P1, "form": "", "asks": "why"}, message="m2")
    shown(tale, {"subject": P1}, message="m3", kind=EffectKind.CARD)
    shown(tale, {"text": []}, message="m4")
    assert tale.queries.form_of("m1", HERE) == "R.token"
    assert [tale.queries.form_of(message, HERE) for message in ("m2", "m3", "m4", "m9")] == [None] * 4
    assert tale.queries.form_of("m1", THERE) is None
    assert [tale.queries.subject_of(message, HERE) for message in ("m1", "m2", "m3", "m4")] == [
        P1,
        P1,
        P1,
        None,
    ]


def test_a_card_was_shown_once_that_is_certain(tale: Story) -> None:
    assert tale.queries.was_shown(P1, HERE)
    (row,) = tale.write(
        effects=(Effect(kind=EffectKind.CARD, place=HERE, body={"subject": P1}, nonce="n"),)
    ).outbox
    assert not tale.queries.was_shown(P1, HERE)
    assert tale.queries.was_shown(P1, THERE)
    tale.ledger.outbox.uncertain(row)
    assert not tale.queries.was_shown(P1, HERE)
    tale.ledger.outbox.done(row, json.dumps(["console", "", "here", "", "m1"]))
    assert tale.queries.was_shown(P1, HERE)


def test_cards_of_a_proposal_are_told_by_their_places(tale: Story) -> None:
    def sent(place: PlaceId) -> int:
        card = Effect(kind=EffectKind.CARD, place=place, body={"subject": P1}, nonce=f"n {place}")
        (row,) = tale.write(received(place=place), effects=(card,)).outbox
        return row

    assert tale.queries.cards_shown(P1, by=9) == {}
    here, there = sent(HERE), sent(THERE)
    assert tale.queries.cards_shown(P1, by=9) == {HERE: False, THERE: False}
    tale.ledger.outbox.done(here, json.dumps(["console", "", "here", "", "m1"]))
    tale.ledger.outbox.done(there, json.dumps(["console", "", "there", "", "m2"]))
    assert tale.queries.cards_shown(P1, by=9) == {HERE: True, THERE: True}
    assert tale.queries.cards_shown(P1, by=1) == {HERE: True, THERE: False}


def test_a_message_that_asks_for_a_choice_is_found_by_it(tale: Story) -> None:
    shown(tale, {"text": [], "choice": "c1"}, message="m1")
    shown(tale, {"text": []}, message="m2")
    found = tale.ledger.outbox.asked(HERE, "c1")
    assert found is not None
    assert json.loads(found.ref)[-1] == "m1"
    assert tale.ledger.outbox.asked(HERE, "c2") is None
    assert tale.ledger.outbox.asked(THERE, "c1") is None


def test_what_was_said_is_found_by_its_message_and_read_in_its_place_only(tale: Story) -> None:
    shown(tale, {"text": [[["14 of 20", "plain"]]]}, message="m1")
    shown(tale, {"subject": P1}, message="m2", kind=EffectKind.CARD)
    shown(tale, {"text": [[["code 1234", "plain"]]], "fleeting": True}, message="m3")
    number = tale.queries.said("m1", HERE)
    assert number is not None
    assert tale.queries.said_as(number, HERE) == [[["14 of 20", "plain"]]]
    assert tale.queries.said("m1", HERE, channel="here") == number
    assert tale.queries.said("m1", HERE, channel="moved") is None
    assert tale.queries.said("m1", THERE) is None
    assert tale.queries.said_as(number, THERE) is None
    assert tale.queries.said("m2", HERE) is None
    forgotten = tale.queries.said("m3", HERE)
    assert forgotten is not None
    assert tale.queries.said_as(forgotten, HERE) is None
    assert tale.queries.said_as(9999, HERE) is None
