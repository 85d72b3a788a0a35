"""Assent under random words of every lexicon: no exception, and no yes out of nothing."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from bot.loading.lexicon import load_lexicons
from gate.assent import read
from gate.assent.lexicon import ALONE
from gate.assent.senses import RESTRAINING, Sense
from gate.domain import AssentVerdict

LEXICONS = load_lexicons()
PENDING = ("systemctl restart caddy on web1", "apt upgrade -y on web2", "dropdb shop on db1")
CONSENTING = {
    Sense.YES, Sense.ORDER, Sense.YES_ALONE, Sense.SUITS, Sense.SEEMS, Sense.FINE, Sense.ACK, Sense.DO,
    Sense.ALL,
}  # fmt: skip
ASSENT_WORDS = {
    word
    for lexicon in LEXICONS.languages
    for words in (
        *(phrase for phrase, sense in lexicon.phrases.items() if sense in CONSENTING or phrase[-1] == ALONE),
        *lexicon.verbs,
        *((short,) for short in lexicon.spelling),
    )
    for word in words
}
VOCABULARY = sorted(LEXICONS.vocabulary - {ALONE})
IDLE = sorted(LEXICONS.vocabulary - ASSENT_WORDS - {ALONE})
#: Words whose only meaning in every language that has them is to restrain.
STOPPERS = sorted(
    word
    for word in LEXICONS.restraining
    if all(
        lexicon.phrases.get((word,)) in RESTRAINING
        for lexicon in LEXICONS.languages
        if word in lexicon.vocabulary
    )
)
GLUE = st.sampled_from([" ", ", ", ". ", "\n", " - ", "; ", "... "])
MARKS = st.sampled_from(["", "?", "!", "…", " 👍", " 🤔", " > ", "`", '"', "~~", "*", " @bot", " @kim"])


def _verdict(text: str, pending: tuple[str, ...] = PENDING[:1]) -> AssentVerdict:
    return read(text, pending=pending, lexicons=LEXICONS).verdict


@settings(max_examples=150)
@given(
    st.lists(st.tuples(st.sampled_from(VOCABULARY), GLUE, MARKS), max_size=14),
    st.integers(0, 3),
    st.sampled_from(["", "Restart web1, then upgrade web2?", "Plan: 1) stop a, 2) start b. Go?"]),
)
def test_random_words_of_the_lexicons_have_a_verdict(
    words: list[tuple[str, str, str]], count: int, context: str
) -> None:
    text = "".join(word + mark + glue for word, glue, mark in words)
    found = read(text, pending=PENDING[:count], context=context, lexicons=LEXICONS)
    assert found.because
    assert all(1 <= index <= count for index in found.selects)


@settings(max_examples=150)
@given(
    st.lists(
        st.tuples(
            st.one_of(
                st.sampled_from(IDLE),
                st.text("abcdefghij", min_size=3, max_size=8),
                st.sampled_from(["web1", "on"]),
            ),
            GLUE,
        ),
        max_size=9,
    )
)
def test_without_a_word_of_assent_there_is_no_grant(words: list[tuple[str, str]]) -> None:
    kept = [(word, glue) for word, glue in words if word not in ASSENT_WORDS]
    assert _verdict("".join(word + glue for word, glue in kept)) is not AssentVerdict.GRANT


@settings(max_examples=200)
@example("dale", " ", "", "rest")  # no short form of the restart that waits
@given(
    st.sampled_from(
        ["go ahead", "restart it", "yes", "dale", "vas-y", "mach das", "pode ir", "procedi", "doe maar"]
    ),
    GLUE,
    st.sampled_from(["", "the box has ", "it is ", "I told kim ", "der hat ", "el equipo ha "]),
    st.sampled_from(STOPPERS),
)
def test_a_word_that_restrains_in_any_language_restrains_every_yes(
    grant: str, glue: str, lead: str, stopper: str
) -> None:
    assert _verdict(f"{grant}{glue}{lead}{stopper}") is not AssentVerdict.GRANT


@settings(max_examples=100)
@given(st.sampled_from(["go ahead", "restart it", "do it", "run it"]), st.sampled_from(VOCABULARY), MARKS)
def test_a_question_mark_keeps_every_order_open(grant: str, word: str, mark: str) -> None:
    assert _verdict(f"{grant}, {word}{mark}?") is not AssentVerdict.GRANT
