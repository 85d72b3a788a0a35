"""Posting what is on record: the id beats the words, and without a record nothing is posted (K16)."""

from collections.abc import Mapping, Sequence

import pytest

from gate.domain import ReasonCode
from gate.resolve.decision import Allow, Clarify, Decision, Deny, Slots
from gate.resolve.post_artifact import Record, Unreadable, resolve

DISK = Record(label="#k00001 disk space on web1", text="✓ #k00001, disk space on web1: ok", output="/ 40%")
DIGEST = Record(label="digest", text="14:00-14:10: 3 commands")
RECORDS: Mapping[str, Record | Unreadable] = {
    "#k00001": DISK,
    "digest": DIGEST,
    "#k00002": Unreadable.UNFINISHED,
    "#k00003": Unreadable.BROKEN,
}


def post(slots: Slots, *, this: Sequence[str] = (), strict: bool = False) -> Decision:
    return resolve(slots, records=RECORDS, this=this, places=("ops", "web"), allowed=("ops",), strict=strict)


def test_the_text_is_what_is_stored() -> None:
    found = post({"artifact": "#k00001", "to": "#ops", "text": "all is well", "output": "none"})
    assert found == Allow(
        slots={"artifact": "#k00001", "to": "ops", "text": DISK.text, "output": "/ 40%"}, because="allowed"
    )


def test_what_has_no_output_keeps_none_that_came_along() -> None:
    found = post({"artifact": "digest", "to": "#ops", "output": "made up", "loose": "yes"})
    assert found == Allow(slots={"artifact": "digest", "to": "ops", "text": DIGEST.text}, because="allowed")


@pytest.mark.parametrize(
    ("name", "code", "told"),
    [
        ("#k09999", ReasonCode.UNKNOWN_ID, "#k09999 is not on record here."),
        ("#k00002", ReasonCode.CANNOT_PLACE, "#k00002 is not over"),
        ("#k00003", ReasonCode.UNHEALTHY, "cannot be read"),
    ],
)
def test_without_a_record_it_is_denied(name: str, code: ReasonCode, told: str) -> None:
    found = post({"artifact": name, "to": "#ops", "text": "all is well"})
    assert isinstance(found, Deny)
    assert found.reason.code is code
    assert told in found.reason.text
    assert found.reason.text.startswith("Nothing was sent.")


def test_this_is_the_only_one_that_can_be_meant() -> None:
    found = post({"to": "ops"}, this=["#k00001"])
    assert isinstance(found, Allow)
    assert (found.slots["artifact"], found.slots["text"]) == ("#k00001", DISK.text)
    assert isinstance(post({"to": "ops"}, this=["#k00001", "#k00001"]), Allow)


def test_of_several_a_person_says_which() -> None:
    found = post({"to": "ops"}, this=["#k00002", "#k00001", "#k09999"])
    assert isinstance(found, Clarify)
    labels = [one.label for one in found.options]
    assert labels == ["#k00002", "#k00001 disk space on web1", "#k09999"]
    assert found.free == "artifact"
    answered = post({**found.slots, **(found.options[1].patch or {})}, this=["#k00002", "#k00001"])
    assert isinstance(answered, Allow)


def test_with_nothing_that_can_be_meant_it_is_denied() -> None:
    found = post({"artifact": "", "to": "ops"})
    assert isinstance(found, Deny)
    assert "send #k7f3a2 to #ops" in found.reason.text


def test_where_to_is_asked_as_for_any_words() -> None:
    found = post({"artifact": "digest", "to": "#web"})
    assert isinstance(found, Clarify)
    assert found.slots["text"] == DIGEST.text
    assert [one.label for one in found.options] == ["#ops"]
