"""Which targets an answer leaves in: what is read, what is unclear, and what speaks of something else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.fanout.picking import Picked, Unclear, Waiting, read

WEB = [f"web{number}" for number in range(1, 13)]
WAITING = [*WEB, "db1", "mail"]
KNOWN = {"@web": WEB, "@db": ["db1", "db2"], "@cache": ["redis1"]} | {
    name: [name] for name in [*WAITING, "db2", "redis1", "web77"]
}
YES = {"yes", "go ahead", "ok", "run it"}


def pick(said: str, *, targets: list[str] = WAITING, canaries: int = 1) -> Picked | Unclear | None:
    waiting = Waiting(targets=targets, canaries=targets[:canaries], select=KNOWN.get)
    return read(said, waiting, agrees=lambda words: words.lower() in YES)


@pytest.mark.parametrize(
    ("said", "left_out"),
    [
        ("not web3", ["web3"]),
        ("yes, but not web3", ["web3"]),
        ("Yes but not on WEB3, please.", ["web3"]),
        ("without web3", ["web3"]),
        ("go ahead without web3 and mail", ["web3", "mail"]),
        ("all but web3 and web4", ["web3", "web4"]),
        ("everything except the hosts web3, web4, and web5", ["web3", "web4", "web5"]),
        ("run it everywhere but web3", ["web3"]),
        ("except @db", ["db1"]),
        ("skip web3", ["web3"]),
        ("leave out mail", ["mail"]),
        ("drop web3", ["web3"]),
        ("not web3 because it is being debugged", ["web3"]),
        ("not web2-web4", ["web2", "web3", "web4"]),
        ("not web2 to web4", ["web2", "web3", "web4"]),
        ("not web9 through web11 and mail", ["web9", "web10", "web11", "mail"]),
        ("ja, aber nicht web3", None),
        ("alle außer web3 und web4", ["web3", "web4"]),
        ("sans web3", ["web3"]),
        ("sin web3", ["web3"]),
        ("بدون web3", ["web3"]),
    ],
)
def test_what_is_named_is_left_out(said: str, left_out: list[str] | None) -> None:
    found = pick(said)
    if left_out is None:  # "ja" is no yes for this test
        assert found is None
        return
    assert isinstance(found, Picked)
    assert list(found.left_out) == left_out
    assert list(found.kept) == [one for one in WAITING if one not in left_out]


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("only web1 and web2", ["web1", "web2"]),
        ("yes, only web2", ["web2"]),
        ("just mail", ["mail"]),
        ("only @db", ["db1"]),
        ("only on @db and web1", ["web1", "db1"]),
        ("web1 only", ["web1"]),
        ("nur web2 und web1", ["web1", "web2"]),
        ("only web10 to web12", ["web10", "web11", "web12"]),
        ("just the canary", ["web1"]),
        ("yes, only the canary", ["web1"]),
        ("canary only", ["web1"]),
    ],
)
def test_only_what_is_named_is_kept_in_the_order_of_the_card(said: str, kept: list[str]) -> None:
    found = pick(said)
    assert isinstance(found, Picked)
    assert list(found.kept) == kept
    assert set(found.left_out) == set(WAITING) - set(kept)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("not web99", "web99 is not among the 14"),
        ("not web77", "web77 is not among the 14"),
        ("not web3 and web99", "web99 is not among the 14"),
        ("not web3 and sure", "sure is not among the 14"),
        ("only @cache", "Nothing of @cache is among the 14"),
        ("not @nowhere", "@nowhere is not among the 14"),
        ("only 1", "they have no numbers here"),
        ("not 3", "they have no numbers here"),
        ("yes, but not 1 and 2", "they have no numbers here"),
        ("not web10 to web14", "no row of them without a gap"),
        ("not web4 to web2", "no row of them without a gap"),
        ("not web10-web14", "web10-web14 is not among the 14"),
        ("all but @web, db1 and mail", "That leaves nothing to run"),
        ("only @web, db1 and mail", "That is all 14 of them"),
    ],
)
def test_what_cannot_be_told_is_said_and_picks_nothing(said: str, why: str) -> None:
    found = pick(said)
    assert isinstance(found, Unclear)
    assert why in found.why


def test_canary_that_is_none_or_all_picks_nothing() -> None:
    assert isinstance(pick("just the canary", canaries=0), Unclear)
    assert isinstance(pick("just the canary", canaries=len(WAITING)), Unclear)


def test_row_with_two_of_one_number_is_no_row() -> None:
    targets = ["web1", "web01", "web2", "web3", "db1"]
    assert isinstance(pick("not web1 to web3", targets=targets), Unclear)


def test_name_that_looks_like_a_row_is_a_name() -> None:
    targets = ["web1-web3", "web1", "web2", "web3"]
    found = pick("not web1-web3", targets=targets)
    assert isinstance(found, Picked)
    assert found.left_out == ("web1-web3",)


@pytest.mark.parametrize(
    "said",
    [
        "yes", "no", "not sure", "not now", "not yet", "just do it", "just go", "skip it", "drop it",
        "only if web1 is fine", "only after web1", "without delay", "no, not web3", "no, only web1",
        "not web3?", "only web1?", "not web3 but web4", "hm, not web3", "web3", "web1-web3", "not web",
        "run uptime on web3", "what about web3", "not web3x", "", "but", "only",
    ],
)  # fmt: skip
def test_other_words_are_none_of_its_business(said: str) -> None:
    found = pick(said)
    assert found is None or said == "not web3x"


def test_names_are_whole_words() -> None:
    found = pick("not web3x")
    assert isinstance(found, Unclear)
    assert "web3x" in found.why


@given(st.lists(st.sampled_from(WAITING), min_size=1, unique=True), st.sampled_from(["not", "only"]))
def test_what_is_kept_and_left_out_is_all_there_is(names: list[str], how: str) -> None:
    found = pick(f"{how} {', '.join(names)}")
    if isinstance(found, Unclear):
        assert len(names) == len(WAITING)
        return
    assert found is not None
    assert sorted([*found.kept, *found.left_out]) == sorted(WAITING)
    assert set(found.left_out if how == "not" else found.kept) == set(names)


@given(st.text(max_size=60))
def test_any_text_is_read_without_a_crash(text: str) -> None:
    for said in (text, f"not {text}", f"only web1, {text}", f"{text} but not web3"):
        pick(said)
