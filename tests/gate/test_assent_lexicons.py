"""Every example in a lexicon is a test; the schema is strict."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.loading.lexicon import load_lexicons
from gate.assent import Lexicons, build, read
from gate.assent.lexicon import Example
from gate.assent.normalise import words_of
from gate.assent.senses import Sense
from gate.domain import AssentVerdict
from gate.errors import RuleError

LEXICONS = load_lexicons()
EXAMPLES = list(LEXICONS.examples())


@pytest.mark.parametrize(("lang", "example"), EXAMPLES, ids=[f"{lang}:{one.text}" for lang, one in EXAMPLES])
def test_an_example_of_a_lexicon_is_read_as_it_says(lang: str, example: Example) -> None:
    found = read(example.text, pending=example.pending, lexicons=LEXICONS)
    assert found.verdict is example.verdict, found.because
    assert found.selects == example.selects
    if example.question is not None:
        assert found.question is example.question
    if example.reason is not None:
        assert found.reason == example.reason


def test_every_language_has_a_grant_a_refusal_and_an_open_answer_among_its_examples() -> None:
    for lexicon in LEXICONS.languages:
        if lexicon.language == "more":
            continue  # single words of further languages
        said = {example.verdict.value for example in lexicon.examples}
        assert {"grant", "refuse", "ambiguous", "partial"} <= said, lexicon.language


def test_the_languages_are_there() -> None:
    assert [lexicon.language for lexicon in LEXICONS.languages] == [
        "ar",
        "de",
        "en",
        "es",
        "fr",
        "it",
        "more",
        "nl",
        "pt",
    ]


def test_what_is_a_but_in_one_language_joins_nothing_in_another() -> None:
    senses = [(phrase, sense) for one in LEXICONS.languages for phrase, sense in one.phrases.items()]
    buts = {phrase for phrase, sense in senses if sense is Sense.BUT}
    assert {(phrase, sense) for phrase, sense in senses if phrase in buts and sense is not Sense.BUT} == set()


@pytest.mark.parametrize(
    "text", ["yes yes, mais on web1", "si, mas on web1", "ja, ma on web1", "نعم اما on web1"]
)
def test_a_yes_that_goes_on_with_a_but_is_none(text: str) -> None:
    found = read(text, pending=("systemctl restart caddy on web1",), lexicons=LEXICONS)
    assert found.verdict is not AssentVerdict.GRANT


def small(**more: object) -> dict[str, dict[str, object]]:
    return {
        "common": {"language": "common", "stands_for": {"restart": ["restart"]}},
        "xx": {"language": "xx", "words": {"yes": ["da"]}, **more},
    }


def test_a_small_lexicon_is_enough() -> None:
    lexicons = build(small())
    assert isinstance(lexicons, Lexicons)
    assert read("da", lexicons=lexicons).verdict.value == "grant"


@pytest.mark.parametrize(
    ("files", "complaint"),
    [
        ({}, "common.toml is missing"),
        ({"common": {"language": "common"}}, "no lexicon of any language"),
        (small(word={}), "unknown key 'word'"),
        (small(language="yy"), "language must be 'xx'"),
        (small(typos="yes"), "typos must be true or false"),
        (small(words=[]), "words must be a table"),
        (small(words={"maybe": ["x"]}), "unknown sense 'maybe'"),
        (small(words={"yes": "da"}), "yes must be a list of texts"),
        (small(words={"yes": [""]}), "yes must be a list of texts"),
        (small(words={"yes": ["..."]}), "is no phrase"),
        (small(words={"yes": ["`da`"]}), "is no phrase"),
        (small(words={"yes": ["da (`da`|net)"]}), "is no phrase"),
        (small(words={"yes": ["(da|)"]}), "is no phrase"),
        (small(words={"yes": ["da"], "no": ["da"]}), "'da' is both yes and no"),
        (small(verbs={"explode": ["boom"]}), "'explode' is not in stands_for"),
        (small(nouns={"bomb": ["boom"]}), "'bomb' is not in stands_for"),
        (small(ordinals={"first": "1"}), "first must be a whole number"),
        (small(ordinals={"the first": 1}), "must be one word"),
        (small(spelling={"pls": 1}), "is no phrase"),
        (small(examples={}), "examples must be"),
        (small(examples=[1]), "examples must be"),
        (small(examples=[{"text": "da", "verdict": "grant", "why": ""}]), "unknown key 'why'"),
        (small(examples=[{"text": "da", "verdict": "perhaps"}]), "needs text and verdict"),
        (small(examples=[{"verdict": "grant"}]), "needs text and verdict"),
        (small(examples=[{"text": "da", "verdict": "grant", "selects": ["1"]}]), "selects of 'da'"),
        (small(examples=[{"text": "da", "verdict": "grant", "question": 1}]), "wrong type"),
        (small(examples=[{"text": "da", "verdict": "grant", "pending": "x"}]), "pending must be a list"),
    ],
)
def test_a_malformed_lexicon_is_an_error_that_names_what_is_wrong(
    files: dict[str, dict[str, object]], complaint: str
) -> None:
    with pytest.raises(RuleError, match=complaint):
        build(files)


def test_the_same_phrase_twice_in_one_sense_is_no_error() -> None:
    assert build(small(words={"yes": ["da", "da"]})).vocabulary == {"da"}


@given(st.lists(st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=12), max_size=5))
def test_plain_parts_of_a_phrase_read_as_themselves(words: list[str]) -> None:
    assert tuple(token.text for token in words_of(" ".join(words))) == tuple(words)


@given(st.lists(st.text("abczàéüßñçıİøåאבأإىةعمбыї是好", min_size=1, max_size=8), min_size=1, max_size=4))
def test_a_phrase_is_stored_as_a_message_is_read(words: list[str]) -> None:
    phrase = " ".join(words)
    lexicons = build(small(words={"yes": [phrase]}))
    assert tuple(token.text for token in words_of(phrase)) in lexicons.languages[0].phrases
