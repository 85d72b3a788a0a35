"""Typed phrases: derived from the action, exact, typeable on a phone."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.domain import Action, ActionId, Deed, ProposalId, Target, TargetId, TargetKind
from gate.phrases import MAX_CHARS, looks_like_phrase, matches, phrase_for, phrase_for_many


def an_action(target: str = "web1") -> Action:
    return Action(
        id=ActionId("k7f3a2.1"),
        index=1,
        target=Target(id=TargetId(target), kind=TargetKind.SSH, address=target),
        command="true",
        purpose="test",
    )


@pytest.mark.parametrize(
    ("target", "deed", "phrase"),
    [
        ("pve1", Deed(verb="destroy", object="ct-112"), "destroy ct-112 on pve1"),
        ("web1", Deed(verb="delete", object="/srv/x"), "delete /srv/x on web1"),
        ("web1", Deed(verb="reboot"), "reboot web1"),
        ("web1", Deed(verb="reboot", object="web1"), "reboot web1"),
        ("db1", Deed(verb="drop database", object="shop"), "drop database shop on db1"),
        ("web1", None, "run k7f3a2.1 on web1"),
        ("web1", Deed(verb="delete", object="/srv/my files"), "run k7f3a2.1 on web1"),
        ("web1", Deed(verb="delete", object="/srv/naïve"), "run k7f3a2.1 on web1"),
        ("web1", Deed(verb="delete", object="/srv/a\u200bb"), "run k7f3a2.1 on web1"),
        ("web1", Deed(verb="delete", object="/srv/a--b"), "run k7f3a2.1 on web1"),
        ("web1", Deed(verb="delete", object="/srv/*"), "run k7f3a2.1 on web1"),
        ("web1", Deed(verb="Delete", object="/srv/x"), "run k7f3a2.1 on web1"),
        ("web1", Deed(verb="delete", object="/" + "x" * 80), "run k7f3a2.1 on web1"),
    ],
)
def test_phrase_is_derived_from_the_action(target: str, deed: Deed | None, phrase: str) -> None:
    assert phrase_for(an_action(target), deed) == phrase


@given(st.text(), st.text())
def test_every_phrase_can_be_typed_and_matches_itself(verb: str, obj: str) -> None:
    phrase = phrase_for(an_action(), Deed(verb=verb, object=obj))
    assert phrase.isascii()
    assert phrase.isprintable()
    assert 0 < len(phrase) <= MAX_CHARS
    assert matches(phrase, phrase)


@pytest.mark.parametrize(
    ("deed", "phrase"),
    [
        (Deed(verb="reboot"), "reboot 12 hosts"),
        (Deed(verb="destroy", object="ct-112"), "destroy ct-112 on 12 hosts"),
        (Deed(verb="delete", object="/srv/my files"), "run k7f3a2 on 12 hosts"),
        (Deed(verb="delete", object="/" + "x" * 80), "run k7f3a2 on 12 hosts"),
        (Deed(verb="Delete", object="/srv/x"), "run k7f3a2 on 12 hosts"),
        (None, "run k7f3a2 on 12 hosts"),
    ],
)
def test_the_phrase_for_many_says_how_many_they_are(deed: Deed | None, phrase: str) -> None:
    assert phrase_for_many(ProposalId("k7f3a2"), deed, count=12, noun="hosts") == phrase


@given(st.sampled_from(("reboot", "drop database", "X")), st.text(), st.integers(4, 1000))
def test_every_phrase_for_many_can_be_typed_and_is_no_other_number(verb: str, obj: str, count: int) -> None:
    deed = Deed(verb=verb, object=obj)
    phrase, more = (
        phrase_for_many(ProposalId("k7f3a2"), deed, count=many, noun="targets") for many in (count, count + 1)
    )
    assert phrase.isascii()
    assert phrase.isprintable()
    assert 0 < len(phrase) <= MAX_CHARS
    assert matches(phrase, phrase)
    assert not matches(phrase, more)


PHRASE = "destroy ct-112 on pve1"


@pytest.mark.parametrize(
    "typed",
    [
        PHRASE,
        f"  {PHRASE}\n",
        f"`{PHRASE}`",
        f'"{PHRASE}"',
        f"\u201c{PHRASE}\u201d",
        f"\u2018{PHRASE}\u2019",
        f"\u00ab{PHRASE}\u00bb",
    ],
)
def test_the_phrase_matches_trimmed_and_with_folded_quotes(typed: str) -> None:
    assert matches(typed, PHRASE)
    assert not looks_like_phrase(typed, PHRASE)


@pytest.mark.parametrize(
    "typed",
    [
        "",
        '""',
        "yes",
        "Destroy ct-112 on pve1",
        "destroy ct-112 on pve2",
        "destroy ct-112 on pve1.",
        "destroy  ct-112 on pve1",
        "destroy ct-112",
        "I will not destroy ct-112 on pve1",
        "destroy ct\u2013112 on pve1",
        "d\u0435stroy ct-112 on pve1",
        f"`\u201c{PHRASE}\u201d`",
        f'"{PHRASE}',
    ],
)
def test_anything_else_does_not_match(typed: str) -> None:
    assert not matches(typed, PHRASE)


def test_an_empty_phrase_matches_nothing() -> None:
    assert not matches("", "")
    assert not matches(" ", " ")
    assert not looks_like_phrase("x", " ")


def test_composed_and_decomposed_letters_are_the_same() -> None:
    phrase = "delete caf\u00e9"
    assert matches(unicodedata.normalize("NFD", phrase), phrase)


@pytest.mark.parametrize(
    ("typed", "near"),
    [
        ("Destroy ct-112 on pve1", True),
        ("destroy ct-113 on pve1", True),
        ("destory ct-112 on pve1", True),
        ("destroy it", True),
        ("yes", False),
        ("", False),
        ("uptime on web1 please", False),
        ("destroy " * 40, False),
    ],
)
def test_a_near_miss_is_noticed(typed: str, *, near: bool) -> None:
    assert looks_like_phrase(typed, PHRASE) is near


@pytest.mark.parametrize(
    ("typed", "near"),
    [("run k7f3a3.1 on web1", True), ("run uptime on web1", False)],
)
def test_only_the_id_tells_a_mistyped_phrase_from_the_next_request(typed: str, *, near: bool) -> None:
    assert looks_like_phrase(typed, "run k7f3a2.1 on web1") is near


@given(st.text())
def test_a_near_miss_is_never_a_match(typed: str) -> None:
    assert not (matches(typed, PHRASE) and looks_like_phrase(typed, PHRASE))
