"""Assent: what may stand beside a yes, and what never does."""

import pytest

from bot.loading.lexicon import load_lexicons
from gate.assent import read
from gate.domain import Assent, AssentVerdict

LEXICONS = load_lexicons()
ONE = ("systemctl restart caddy on web1",)
THREE = ("restart nginx on web1", "restart nginx on web2", "restart nginx on web3")
PLAN = "Plan: 1) restart the replica, 2) upgrade it. Proceed?"


def heard(text: str, pending: tuple[str, ...] = ONE, *, context: str = "") -> Assent:
    return read(text, pending=pending, context=context, lexicons=LEXICONS)


@pytest.mark.parametrize(
    "text",
    [
        "yes, the backup is done",
        "yes, nobody is using it",
        "yes, I told kim",
        "yes I checked with the platform people",
        "yes, thanks for the swift warning",
        "sí, ya hicimos el backup",
        "sí, nadie lo está usando",
        "oui, j'ai prévenu l'équipe",
        "ja, das Backup ist fertig",
        "sim, o pessoal já sabe",
        "sì, il backup è pronto",
        "ja, het team weet ervan",
        "نعم، النسخة الاحتياطية جاهزة",
    ],
)
def test_a_known_remark_may_stand_beside_a_yes(text: str) -> None:
    found = heard(text)
    assert found.verdict is AssentVerdict.GRANT, found.because


@pytest.mark.parametrize(
    "text",
    [
        "go ahead, the customers have been warned",
        "restart it, it has been eating file handles",
        "the health probe has been red, please restart it",
        "do it, swap is at 97%",
        "restart it, my colleague has the pager",
        "I informed the crew yesterday, go ahead",
        "reviewed and approved",
        "yes restart caddy, it has been thrashing",
        "dale, el proceso lleva horas comiendo memoria",
    ],
)
def test_an_order_bears_a_statement_in_words_nobody_knows(text: str) -> None:
    found = heard(text)
    assert found.verdict is AssentVerdict.GRANT, found.because


@pytest.mark.parametrize(
    "text",
    [
        "yes, we won the cup",
        "yes, the sky has been blue",
        "yes, that is me",
        "yes I am here",
        "yes, I saw that",
        "yes, done",
        "yes, I broke it",
        "yes, users are still on it",
        "yes, the backup is running",
        "go ahead, the queue is still draining",
        "go ahead, the box has nein",
        "go ahead, the box has ninguno",
        "go ahead, the box has nobdoy",
        "go ahead, the box has web9",
        "go ahead, the box has `rm`",
        "go ahead, the box has one two brillig slithy toves gyre gimble wabe",
        "go ahead, defrag web1",
        "go ahead, have a beer",
        "approved yesterday",
        "yes yesterday",
        "I told kim",
        "checked with kim",
        "I told kim to restart it",
        "yes, I told kim about caddy",
        "yes, I told kim nein thrice zorg blurb fnord",
        "✅ checked",
        "yeah, right",
        "yeah right",
        "mach ich",
        "ja, mach ich",
        "doe ik",
        "starte ich neu",
        "dale neee",
        "caddy works for me",
        "web1 is good to go",
        "go ahead, it is only production",
        "[ ] yes",
        "plan: restart it",
        "restart approved by lena",
        "is my approval needed",
        "run it as postgres",
        "do it in the window",
        "!yes",
        "yes, from now on",
        "do it twice",
        "approved with changes",
        "hang on, go ahead",
        "hang on. checked. no",
    ],
)
def test_what_speaks_against_it_or_of_something_else_is_no_yes(text: str) -> None:
    assert heard(text).verdict is not AssentVerdict.GRANT


def test_a_wait_that_the_speaker_ended_is_over() -> None:
    assert heard("hang on. ok, checked it. go ahead").verdict is AssentVerdict.GRANT
    assert heard("go ahead. ok, checked it. hang on").verdict is AssentVerdict.AMBIGUOUS


@pytest.mark.parametrize(
    "text",
    [
        "restart all hosts",
        "yes, both",
        "restart everything",
        "yes, the new one",
        "restart the web servers",
        "restart web",
    ],
)
def test_a_yes_to_one_thing_never_widens(text: str) -> None:
    assert heard(text).verdict is not AssentVerdict.GRANT


def test_all_of_several_things_in_one_action_is_a_yes() -> None:
    assert heard("reload all of them", ("reload nginx on 12 hosts",)).verdict is AssentVerdict.GRANT
    assert heard("restart the web server").verdict is AssentVerdict.GRANT


def test_a_warning_word_that_is_part_of_the_action_warns_of_nothing() -> None:
    pending = ("kubectl rollout restart deploy/api -n production",)
    assert heard("yes, restart api in production", pending).verdict is AssentVerdict.GRANT


def test_a_remark_on_one_of_several_never_makes_the_yes_one_to_all() -> None:
    found = heard("restart web1 and web2, web3 is being debugged by lena", THREE)
    assert found.verdict is AssentVerdict.PARTIAL
    assert found.selects == (1, 2)
    found = heard("restart web1 and web2, web3 is slow", THREE)
    assert found.verdict is AssentVerdict.PARTIAL
    assert found.selects == (1, 2)


@pytest.mark.parametrize("text", ["1, 2 and 3", "1-3", "all 3", "1 2 3 please"])
def test_numbers_that_count_every_action_are_a_yes_to_all(text: str) -> None:
    assert heard(text, THREE).verdict is AssentVerdict.GRANT


@pytest.mark.parametrize(
    ("text", "selects"),
    [
        ("y/n/y", (1, 3)),
        ("all but the last two", (1,)),
        ("web1 and web2 but not web3", (1, 2)),
        ("leave web2", (1, 3)),
        ("web1 بس", (1,)),
        ("go for the last two", (2, 3)),
    ],
)
def test_more_ways_to_say_part_of_it(text: str, selects: tuple[int, ...]) -> None:
    found = heard(text, THREE)
    assert found.verdict is AssentVerdict.PARTIAL, found.because
    assert found.selects == selects


@pytest.mark.parametrize("text", ["just step 2", "skip the upgrade", "1 yes, 2 no", "step two only"])
def test_a_numbered_plan_in_the_question_is_answered_in_part_without_a_selection(text: str) -> None:
    found = heard(text, (), context=PLAN)
    assert found.verdict is AssentVerdict.PARTIAL, found.because
    assert found.selects == ()


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("skip the vacuum", "Drop the log tables, then vacuum and reindex?"),
        ("skip the third", "Delete pods api-1, api-2 and api-3?"),
        ("just the first two", "Delete pods api-1, api-2 and api-3?"),
        ("yes to 1 and 2 only", "Delete pods api-1, api-2 and api-3?"),
    ],
)
def test_part_of_a_question_that_asks_for_several_things(text: str, question: str) -> None:
    assert heard(text, (), context=question).verdict is AssentVerdict.PARTIAL


def test_one_step_of_a_plan_is_never_a_yes_to_the_plan() -> None:
    for text in ("yes to 1", "restart the replica", "do step 1"):
        assert heard(text, (), context=PLAN).verdict is not AssentVerdict.GRANT


@pytest.mark.parametrize(
    "text",
    [
        "on web2 please",
        "with --no-block please",
        "nginx, not caddy",
        "in staging instead",
        "only 3",
        "not web1, web2",
        "don't restart it, reload it",
    ],
)
def test_what_is_wanted_in_place_of_it_is_a_change(text: str) -> None:
    found = heard(text)
    assert found.verdict is AssentVerdict.CHANGE, found.because


@pytest.mark.parametrize(
    "text",
    [
        "don't go ahead",
        "please don't approve it",
        "leave caddy alone",
        "leave web1",
        "not needed anymore",
        "no need to restart it",
        "starte nicht neu",
        "non riavviare caddy",
        "ne le redémarre pas",
        "no lo reinicies",
        "não precisa",
        "hoeft niet",
        "لا داعي",
    ],
)
def test_more_ways_to_refuse(text: str) -> None:
    found = heard(text)
    assert found.verdict is AssentVerdict.REFUSE, found.because


def test_keeping_something_else_refuses_nothing() -> None:
    assert heard("we keep backups elsewhere").verdict is not AssentVerdict.REFUSE


def test_a_parted_verb_is_read_around_what_stands_between() -> None:
    assert heard("starte caddy bitte neu").verdict is AssentVerdict.GRANT
    assert heard("starte neu").verdict is AssentVerdict.GRANT
    assert heard("starte caddy nicht neu").verdict is not AssentVerdict.GRANT
    assert heard("werk maar bij", ("apt upgrade -y on web1",)).verdict is AssentVerdict.GRANT


def test_a_number_that_a_flag_sets_may_be_repeated() -> None:
    pending = ("kubectl scale deploy/api --replicas=5",)
    assert heard("yes, scale api to 5", pending).verdict is AssentVerdict.GRANT
    assert heard("yes, scale api to 6", pending).verdict is AssentVerdict.CHANGE


@pytest.mark.parametrize(
    "text", ["works for me", "that works for me", "this is good to go", "fine with me, yes"]
)
def test_what_suits_the_speaker_is_a_yes_when_it_is_said_of_the_proposal(text: str) -> None:
    assert heard(text).verdict is AssentVerdict.GRANT


def test_a_yes_behind_a_deed_for_some_is_no_yes_to_all() -> None:
    assert heard("restart web1 and web2, web3 is slow. yes", THREE).verdict is not AssentVerdict.GRANT
    assert heard("zorg first two", THREE).verdict is not AssentVerdict.GRANT


def test_a_smile_says_nothing() -> None:
    assert heard("yes :-)").verdict is AssentVerdict.GRANT
    assert heard(":)").verdict is AssentVerdict.OTHER


def test_the_thing_by_its_kind_is_the_thing() -> None:
    assert heard("renew the certificate", ("certbot renew on lb1",)).verdict is AssentVerdict.GRANT
    assert heard("delete the files", ("rm -rf /srv/old on nas1",)).verdict is AssentVerdict.GRANT


def test_a_small_word_of_another_language_keeps_no_yes_from_being_one() -> None:
    for text in ("los", "ja", "je confirme"):
        assert heard(text).verdict is AssentVerdict.GRANT
