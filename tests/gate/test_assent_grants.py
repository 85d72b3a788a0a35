"""Assent: what is a yes to all that waits."""

import pytest

from gate.assent import build, read
from gate.domain import Assent, AssentVerdict
from tests.gate.assent_cases import GRANTS, LEXICONS, ONE, heard


@pytest.mark.parametrize("text", GRANTS)
def test_a_plain_yes_grants(text: str) -> None:
    found = heard(text)
    assert found.verdict is AssentVerdict.GRANT, found.because
    assert found.because
    assert not found.selects


@pytest.mark.parametrize("text", ["ok", "OK.", "k", "kk", "👌", "👀", "roger", "okay bot", "ok thanks"])
def test_a_bare_acknowledgement_grants_only_where_the_owner_says_so(text: str) -> None:
    assert heard(text).verdict is AssentVerdict.AMBIGUOUS
    assert heard(text, bare_ack=True).verdict is AssentVerdict.GRANT


@pytest.mark.parametrize("text", ["cool", "great", "thanks", "ok but wait", "ok?", "perfect"])
def test_praise_and_thanks_are_no_acknowledgement_of_an_order(text: str) -> None:
    assert heard(text, bare_ack=True).verdict is not AssentVerdict.GRANT


@pytest.mark.parametrize(
    "text",
    [
        "prcoeed",
        "aproved",
        "go ahaed",
        "go ahed",
        "gpo ahead",
        "restrat it",
        "looks godo",
        "yesss",
        "approvd",
        "approvee",
        "proceedd",
    ],
)
def test_a_typo_in_a_long_word_is_forgiven(text: str) -> None:
    assert heard(text).verdict is AssentVerdict.GRANT


@pytest.mark.parametrize(
    "text",
    [
        "nto approved",
        "tes",
        "ey",
        "unapproved",
        "disapproved",
        "no ahead",
        "go behead",
        "aprovedd nott",
        "reloads xx",
    ],
)
def test_no_typo_is_mended_out_of_or_into_a_negation(text: str) -> None:
    assert heard(text).verdict is not AssentVerdict.GRANT


def test_arabic_and_is_split_from_the_word_it_is_written_with() -> None:
    assert heard("نعم وموافق").verdict is AssentVerdict.GRANT


def test_dots_without_spaces_end_a_clause() -> None:
    for text in ("Yes.Please", "ok..do it..", "..yes", "Yes...go ahead"):
        assert heard(text).verdict is AssentVerdict.GRANT, text


def test_a_number_word_may_repeat_a_number_of_the_action() -> None:
    assert heard("yes reload all twelve hosts", ("reload nginx on 12 hosts",)).verdict is AssentVerdict.GRANT
    assert (
        heard("yes reload all eleven hosts", ("reload nginx on 12 hosts",)).verdict is not AssentVerdict.GRANT
    )


def test_the_question_in_the_plural_is_answered_in_the_singular_and_back() -> None:
    found = read("yes, restart the workers", context="Restart worker 4?", lexicons=LEXICONS)
    assert found.verdict is AssentVerdict.GRANT


def test_the_question_as_shown_may_be_answered_in_its_own_words() -> None:
    def answered(text: str) -> Assent:
        return read(text, context="Restart checkout-api on prod and reload nginx?", lexicons=LEXICONS)

    assert answered("yes, restart checkout-api").verdict is AssentVerdict.GRANT
    assert answered("yes to the restart, not the reload").verdict is AssentVerdict.PARTIAL
    assert answered("`restart checkout-api` yes").verdict is AssentVerdict.GRANT
    assert answered("`restart billing` yes").verdict is not AssentVerdict.GRANT


def test_words_of_the_question_do_not_count_beside_a_list_of_actions() -> None:
    found = read("yes, restart wiki", pending=ONE, context="blog and wiki depend on it", lexicons=LEXICONS)
    assert found.verdict is not AssentVerdict.GRANT


def test_a_word_that_means_two_things_grants_nothing_until_the_language_is_known() -> None:
    assert heard("certo").verdict is AssentVerdict.AMBIGUOUS
    assert heard("certo", lang="it").verdict is AssentVerdict.GRANT


def test_a_refusal_in_any_language_that_knows_every_word_keeps_a_yes_from_granting() -> None:
    def lexicon(language: str, **words: list[str]) -> dict[str, object]:
        return {"language": language, "words": words}

    first, second = lexicon("xx", yes=["da"], filler=["nu"]), lexicon("yy", no=["nu"])
    common = lexicon("common", yes=["da"])
    alone = build({"common": common, "xx": first})
    both = build({"common": common, "xx": first, "yy": second})
    assert read("da nu", lexicons=alone).verdict is AssentVerdict.GRANT
    assert read("da nu", lexicons=both).verdict is AssentVerdict.AMBIGUOUS
    assert read("da nu", lexicons=both, lang="xx").verdict is AssentVerdict.AMBIGUOUS
