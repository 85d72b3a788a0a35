"""Assent: what holds for every message."""

from hypothesis import example, given
from hypothesis import strategies as st

from gate.assent import read
from gate.assent.normalise import MAX_CHARS, read_message
from gate.domain import AssentVerdict
from tests.gate.assent_cases import GRANTS, LEXICONS, TWO, heard

_STRANGE = st.text(alphabet="qxzjvw", min_size=5, max_size=9)


@given(grant=st.sampled_from(GRANTS), word=_STRANGE, before=st.booleans())
def test_an_unknown_word_beside_a_yes_never_stays_a_grant(grant: str, word: str, *, before: bool) -> None:
    text = f"{word} {grant}" if before and ">" not in grant and ";" not in grant else f"{grant} {word}"
    assert heard(text).verdict is not AssentVerdict.GRANT


@given(st.text(max_size=300), st.lists(st.text(max_size=40), max_size=4), st.text(max_size=40))
@example("1" * 500, ["1"], "")
@example("²-³ ①", ["x", "y"], "")
@example("٣-١", ["x", "y", "z"], "")
@example("\u0648", ["x"], "")
@example("' - ' `` \"\" <@> :: ~~", ["", " "], "?")
def test_any_text_has_one_reading_and_the_same_every_time(
    text: str, pending: list[str], context: str
) -> None:
    first = read(text, pending=pending, context=context, lexicons=LEXICONS)
    assert first == read(text, pending=pending, context=context, lexicons=LEXICONS)
    assert first.because
    assert all(1 <= index <= len(pending) for index in first.selects)
    assert list(first.selects) == sorted(set(first.selects))
    assert bool(first.selects) <= (first.verdict is AssentVerdict.PARTIAL)


_WORDS = st.sampled_from(
    [
        "yes",
        "no",
        "not",
        "go",
        "ahead",
        "ok",
        "restart",
        "upgrade",
        "it",
        "both",
        "all",
        "web1",
        "web2",
        "1",
        "2",
        "caddy",
        "only",
        "but",
        "except",
        "if",
        "later",
        "the",
        "rest",
        ",",
        ".",
        "?",
        "and",
        "do",
        "skip",
        "👍",
        "👎",
        "please",
    ]
)


@given(st.lists(_WORDS, min_size=1, max_size=9))
def test_what_refuses_conditions_or_asks_is_never_in_a_grant(words: list[str]) -> None:
    found = heard(" ".join(words), TWO)
    if found.verdict is AssentVerdict.GRANT:
        assert not {"no", "not", "but", "except", "if", "later", "?", "skip", "👎", "rest"} & set(words)
        assert {"yes", "go", "do", "restart", "upgrade", "👍", "both", "all", "1", "2"} & set(words)


@given(st.integers(1, 60))
def test_a_message_is_read_up_to_a_limit_and_what_is_cut_is_no_yes(times: int) -> None:
    text = "please yes go ahead restart caddy on web1 " * times
    message = read_message(text)
    assert len(message.clean) <= MAX_CHARS
    assert (heard(text).verdict is AssentVerdict.GRANT) is (len(text) <= MAX_CHARS)
