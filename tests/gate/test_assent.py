"""Assent: a grant needs every word; anything else wins over a yes."""

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.loading.lexicon import load_lexicons
from gate.assent import build, read
from gate.domain import Assent, AssentVerdict

LEXICONS = load_lexicons()
ONE = ("systemctl restart caddy on web1",)
TWO = ("systemctl restart caddy on web1", "apt upgrade -y on web2")
THREE = ("restart nginx on web1", "restart nginx on web2", "restart postgresql on db1")


def heard(text: str, pending: tuple[str, ...] = ONE, *, lang: str = "", bare_ack: bool = False) -> Assent:
    return read(text, pending=pending, lang=lang, lexicons=LEXICONS, bare_ack_grants=bare_ack)


GRANTS = [
    "yes",
    "Yes!",
    "yes please",
    "go ahead",
    "do it",
    "proceed",
    "ship it",
    "approved ✅",
    "👍",
    ":+1: proceed",
    "*Yes*, please go ahead :rocket:",
    "no objections, go ahead",
    "restart it",
    "yep, bounce caddy on web1",
    "please restart caddy",
    "can't see why not, go ahead",
    "don't wait for me, just do it",
    "@opsbot yes",
    "<@U0SAYSO> go ahead",
    "> systemctl restart caddy on web1\nyes",
    "&gt; Restart caddy?\nyes, do it",
    "`systemctl restart caddy` yes",
    "checked the graph, it is stuck, so restart it",
    "sí, adelante",
    "oui, vas-y",
    "ja, mach das",
    "sim, pode reiniciar",
    "sì, procedi",
    "ja hoor, doe maar",
    "نعم، نفّذ",
    "да",
]


@pytest.mark.parametrize("text", GRANTS)
def test_a_plain_yes_grants(text: str) -> None:
    found = heard(text)
    assert found.verdict is AssentVerdict.GRANT, found.because
    assert found.because
    assert not found.selects


NEVER = [
    "",
    "   ",
    "\n",
    "?",
    "...",
    "> yes",
    "> yes\n> do it",
    "&gt; go ahead",
    '"yes"',
    "\u201cgo ahead\u201d",
    "```\nyes\n```",
    "`yes`",
    "~~yes~~",
    "~yes~",
    "yes?",
    "¿sí?",
    "نعم؟",
    "are you sure",
    "should we go ahead",
    "can we restart it",
    "is it safe to go ahead",
    "what happens if I say yes",
    "yes if the backup is done",
    "yes, provided nobody is on it",
    "go ahead once it is drained",
    "go ahead as soon as Maria is online",
    "yes unless it is in use",
    "yes at 18:00",
    "yes at 6pm",
    "do it tomorrow",
    "yes, after lunch",
    "sure, later",
    "approved for Sunday",
    "maybe",
    "I guess so",
    "probably yes",
    "hmm",
    "not opposed",
    "I wouldn't say no",
    "yes but wait",
    "hold on",
    "yesterday it worked",
    "yesman.service is missing",
    "proceeding was a mistake",
    "Tom said yes",
    "they are saying yes",
    "I heard it was approved",
    "I'll do it",
    "I'll restart it myself",
    "we have run it",
    "I restarted it",
    "restarted it",
    "please approve",
    "pls approve this",
    "approve it please",
    "yes no frobnicate",
    "frobnicate no, yes",
    "restarted caddy",
    "reiniciado",
    "riavviato",
    "procedo",
    "reapprove",
    "restart is done",
    "restart done",
    "web1 looks fine now",
    "caddy looks good",
    "it works now",
    "the cache is cleared",
    "obviously it is broken",
    "I need to approve it",
    "go team",
    "let's go out",
    "go ahead of me",
    "sure, what could possibly go wrong 🙄",
    "yes of course, restart prod at peak, genius",
    "go ahead and open a ticket",
    "yes, restart caddy on web2",
    "yes but on port 8081",
    "reboot it",
    "stop caddy on web1",
    "yes and stop caddy",
    "yes 2",
    "no problem",
    "no no go for it",
    "yes no",
    "no yes",
    "yes ❌",
    "👍 👎",
    "@dave yes",
    "<@U77KAREN> yes",
    "<#C042> yes",
    "yes @dave",
    "yes jjjjj",
    "y\u0435s",  # a Cyrillic letter
    "y\u0435s please",
    "yes 5 tomorrow",
    "never cancel",
    "do not cancel",
    "it sounds",
    "goa head",
    "tolid yes",
    "nothing cancel",
    "yes zzzz",
    "Yes.Wait",
    "yes..no",
    ".no yes",
    "yes.. later..",
    "وغدا نعم",
    "yes 881/882",
    "yes " * 600 + "no",
    "si la sauvegarde est faite, vas-y",
    "si no hay nadie, reinicia",
    "wenn keiner drauf ist, ja",
    "se nessuno è collegato, sì",
    "als er niemand op zit, ja",
    "نعم إذا انتهت النسخة",
    "ich starte es neu",
    "reinicio",
    "passt schon",
    "jein",
]


@pytest.mark.parametrize("text", NEVER)
def test_anything_less_than_a_whole_yes_never_grants(text: str) -> None:
    assert heard(text).verdict is not AssentVerdict.GRANT


@pytest.mark.parametrize("text", ["ok", "OK.", "k", "kk", "👌", "👀", "roger", "okay bot", "ok thanks"])
def test_a_bare_acknowledgement_grants_only_where_the_owner_says_so(text: str) -> None:
    assert heard(text).verdict is AssentVerdict.AMBIGUOUS
    assert heard(text, bare_ack=True).verdict is AssentVerdict.GRANT


@pytest.mark.parametrize("text", ["cool", "great", "thanks", "ok but wait", "ok?", "perfect"])
def test_praise_and_thanks_are_no_acknowledgement_of_an_order(text: str) -> None:
    assert heard(text, bare_ack=True).verdict is not AssentVerdict.GRANT


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("no", ""),
        ("No!", ""),
        ("nope, thanks", ""),
        ("please don't", ""),
        ("do not restart it", ""),
        ("👎", ""),
        ("❌ not this one", ""),
        ("hands off", ""),
        ("not approved", ""),
        ("yes yes, but actually no", "yes yes"),
        ("I changed my mind", ""),
        ("no, backup is running", "backup is running"),
        ("No - Backup läuft", "Backup läuft"),
        ("cancel it, wrong host", "wrong host"),
        ("no because the backup is running", "the backup is running"),
        ("no, what are you doing?", "what are you doing?"),
        ("the backup is running, so no", "the backup is running"),
        ("noooo", ""),
        ("ship it? really? hmm cancel it", "ship it? really"),
        ("why? no", "why"),
        ("cancle it", ""),
        ("nein", ""),
        ("ni hablar", ""),
        ("laisse tomber", ""),
        ("لا", ""),
        ("нет", ""),
    ],
)
def test_a_refusal_is_one_and_keeps_its_reason(text: str, reason: str) -> None:
    found = heard(text)
    assert found.verdict is AssentVerdict.REFUSE, found.because
    assert found.reason == reason


@pytest.mark.parametrize("text", ["no?", "no puedo entrar a la VPN", "no internet here", "no, restart it"])
def test_a_no_that_is_not_a_refusal_refuses_nothing(text: str) -> None:
    assert heard(text).verdict in {AssentVerdict.AMBIGUOUS, AssentVerdict.OTHER}


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


def test_a_verb_that_refuses_is_the_deed_only_with_its_object() -> None:
    pending = ("systemctl stop nginx on web1",)
    assert heard("stop nginx", pending).verdict is AssentVerdict.GRANT
    assert heard("stop", pending).verdict is not AssentVerdict.GRANT
    assert heard("stop").verdict is AssentVerdict.REFUSE


def test_actions_are_named_by_plurals_and_by_words_in_code() -> None:
    pending = ("restart `nginx` on web1", "purge package on web2")
    assert heard("only nginx", pending).selects == (1,)
    assert heard("only the packages", pending).selects == (2,)


def test_the_question_in_the_plural_is_answered_in_the_singular_and_back() -> None:
    found = read("yes, restart the workers", context="Restart worker 4?", lexicons=LEXICONS)
    assert found.verdict is AssentVerdict.GRANT


def test_arabic_and_is_split_from_the_word_it_is_written_with() -> None:
    assert heard("نعم وموافق").verdict is AssentVerdict.GRANT


def test_code_is_strange_where_nothing_is_pending() -> None:
    assert heard("`restart` yes", ()).verdict is not AssentVerdict.GRANT


def test_a_number_word_may_repeat_a_number_of_the_action() -> None:
    assert heard("yes reload all twelve hosts", ("reload nginx on 12 hosts",)).verdict is AssentVerdict.GRANT
    assert (
        heard("yes reload all eleven hosts", ("reload nginx on 12 hosts",)).verdict is not AssentVerdict.GRANT
    )


def test_dots_without_spaces_end_a_clause() -> None:
    for text in ("Yes.Please", "ok..do it..", "..yes", "Yes...go ahead"):
        assert heard(text).verdict is AssentVerdict.GRANT, text


def test_numbers_joined_by_a_slash_are_several() -> None:
    jobs = ("kill 881", "kill 882", "kill 890")
    assert heard("go for 881/882, keep 890", jobs).selects == (1, 2)


def test_a_question_keeps_it_open_and_says_that_it_asks() -> None:
    found = heard("what depends on it?")
    assert found.verdict is AssentVerdict.AMBIGUOUS
    assert found.question


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


SUFFIXES = [
    "no",
    "not",
    "but no",
    "don't",
    "never mind",
    "cancel",
    "stop",
    "wait",
    "if it is idle",
    "unless used",
    "when ready",
    "later",
    "tomorrow",
    "at 18:00",
    "after lunch",
    "maybe",
    "I think",
    "?",
    "right?",
    "on web9",
    "with --force",
    "5433",
    "except caddy",
    "but not web1",
    "instead",
    "👎",
    "❌",
    "🤔",
    "pero no",
    "nicht",
    "mais pas",
    "لا",
    "sauf si",
    "außer web1",
    "не",
]


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("glue", [" ", ", ", ". ", "\n", " - "])
def test_a_refusal_or_condition_behind_a_yes_wins(suffix: str, glue: str) -> None:
    for grant in GRANTS:
        assert heard(f"{grant}{glue}{suffix}").verdict is not AssentVerdict.GRANT, grant


_STRANGE = st.text(alphabet="qxzjvw", min_size=5, max_size=9)


@given(grant=st.sampled_from(GRANTS), word=_STRANGE, before=st.booleans())
def test_an_unknown_word_beside_a_yes_never_stays_a_grant(grant: str, word: str, *, before: bool) -> None:
    text = f"{word} {grant}" if before and ">" not in grant and ";" not in grant else f"{grant} {word}"
    assert heard(text).verdict is not AssentVerdict.GRANT


@given(st.sampled_from(GRANTS))
def test_quoting_a_yes_is_nothing(grant: str) -> None:
    own = grant.rsplit("\n", maxsplit=1)[-1]
    for quoted in (f"> {own}", f"&gt; {own}", f'"{own}"', f"```{own}```", f"\u00ab{own}\u00bb"):
        if "`" in own:
            continue
        assert heard(quoted).verdict is not AssentVerdict.GRANT


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


def test_a_long_message_is_read_fast() -> None:
    text = "please yes go ahead restart caddy on web1 " * 45
    start = time.process_time()
    heard(text)
    assert time.process_time() - start < 1
