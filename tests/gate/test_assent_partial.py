"""Assent: part of what waits, a change of it, or something else."""

import pytest

from gate.domain import AssentVerdict
from tests.gate.assent_cases import THREE, TWO, heard


@pytest.mark.parametrize(
    ("text", "pending", "selects"),
    [
        ("only the restart", TWO, (1,)),
        ("not the upgrade", TWO, (1,)),
        ("skip 2", TWO, (1,)),
        ("1 but not 2", TWO, (1,)),
        ("last two", THREE, (2, 3)),
        ("number two", THREE, (2,)),
        ("one and three", THREE, (1, 3)),
        ("1\ufe0f\u20e3 and 3\ufe0f\u20e3", THREE, (1, 3)),
        ("web1 to web2", THREE, (1, 2)),
        ("los dos primeros", THREE, (1, 2)),
        ("die ersten beiden", THREE, (1, 2)),
        ("yes to the upgrade, no to the restart", TWO, (2,)),
        ("do 2", TWO, (2,)),
        ("#1 yes", TWO, (1,)),
        ("1", TWO, (1,)),
        ("the last one only", TWO, (2,)),
        ("restart it but do not upgrade", TWO, (1,)),
        ("web1 and web2 yes, db1 no", THREE, (1, 2)),
        ("web1, web2 yes, db1 no", THREE, (1, 2)),
        ("all but web1", THREE, (2, 3)),
        ("everything except the database", THREE, (1, 2)),
        ("yes, minus 3", THREE, (1, 2)),
        ("first two", THREE, (1, 2)),
        ("first 2", THREE, (1, 2)),
        ("1 to 2 only", THREE, (1, 2)),
        ("web1-web2 only", THREE, (1, 2)),
        ("web one and db one, not web two", THREE, (1, 3)),
        ("both web servers yes, the database no", THREE, (1, 2)),
        ("skip web2, do the others", THREE, (1, 3)),
        ("y n y", THREE, (1, 3)),
        ("✅ ❌ ❌", THREE, (1,)),
        ("web1 👍 web2 👎 db1 👎", THREE, (1,)),
        ("`restart nginx on web1` only", THREE, (1,)),
        ("> restart nginx on web2\nthis one yes, the rest no", THREE, (2,)),
        ("solo web2", THREE, (2,)),
        ("nur web2", THREE, (2,)),
        ("só no web2", THREE, (2,)),
        ("112 و113", ("destroy 112", "destroy 113", "destroy 118"), (1, 2)),
    ],
)
def test_part_of_it_selects_what_was_meant(
    text: str, pending: tuple[str, ...], selects: tuple[int, ...]
) -> None:
    found = heard(text, pending)
    assert found.verdict is AssentVerdict.PARTIAL, found.because
    assert found.selects == selects


@pytest.mark.parametrize(
    "text", ["yes", "all of them", "both", "restart and upgrade", "1-2 yes", "all", "yes to both"]
)
def test_a_yes_to_everything_that_waits_is_a_grant(text: str) -> None:
    assert heard(text, TWO).verdict is AssentVerdict.GRANT


@pytest.mark.parametrize(
    "text",
    [
        "the other one",
        "restart the old one",
        "one of the two",
        "yes to 3",
        "7-9 yes",
        "2-1 yes",
        "1 yes, 1 no",
        "yes for 1 if it is idle",
        "maybe the first",
        "which one?",
        "web7-web9 yes",
        "yes this one please",
        "restart the old caddy, yes",
        "the new ones yes",
    ],
)
def test_a_reference_that_cannot_be_resolved_is_neither_part_nor_whole(text: str) -> None:
    assert heard(text, TWO).verdict not in {AssentVerdict.GRANT, AssentVerdict.PARTIAL}


@pytest.mark.parametrize("text", ["none of them", "no to all", "neither", "no", "1 no, 2 no", "cancel both"])
def test_a_no_to_everything_is_no_partial(text: str) -> None:
    assert heard(text, TWO).verdict not in {AssentVerdict.GRANT, AssentVerdict.PARTIAL}


@pytest.mark.parametrize(
    "text",
    [
        "yes but on web2",
        "yes, with --no-block",
        "same but on web2",
        "use reload instead",
        "go ahead but only with 5",
        "on web2, not web1",
    ],
)
def test_a_changed_request_is_a_change(text: str) -> None:
    found = heard(text)
    assert found.verdict is AssentVerdict.CHANGE, found.because


@pytest.mark.parametrize(
    "text",
    [
        "run df -h on web1",
        "restart postgres on db1",
        "add Karim to the rota",
        "/help",
        "tail the log of nginx",
    ],
)
def test_a_new_request_is_something_else(text: str) -> None:
    assert heard(text).verdict is AssentVerdict.OTHER


def test_actions_are_named_by_plurals_and_by_words_in_code() -> None:
    pending = ("restart `nginx` on web1", "purge package on web2")
    assert heard("only nginx", pending).selects == (1,)
    assert heard("only the packages", pending).selects == (2,)


def test_numbers_joined_by_a_slash_are_several() -> None:
    jobs = ("kill 881", "kill 882", "kill 890")
    assert heard("go for 881/882, keep 890", jobs).selects == (1, 2)


@pytest.mark.parametrize("text", ["restart it and upgrade web2", "restart caddy and upgrade web2, thanks"])
def test_naming_each_deed_with_its_object_names_all(text: str) -> None:
    assert heard(text, TWO).verdict is AssentVerdict.GRANT
