"""What is said about the pace of a fan-out: what is read, what is asked, and what is refused in words."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.loading.library import load_library
from bot.planning import pacing
from bot.planning.drafts import ActionDraft, Outcome, Plan, Question
from bot.planning.plan import plan
from gate.fanout import Pace
from tests.bot.planning.paces import PACES

TARGETS = ("local", "web1", "web2", "web3", "web4", "db1")
LIBRARY = load_library()
RELOAD = "systemctl reload nginx"


def read(text: str) -> Outcome:
    return plan(
        text, targets=TARGETS, tags=("web", "db"), services={"caddy": ("web1", "web2")}, library=LIBRARY
    )


def only(text: str) -> ActionDraft:
    found = read(text)
    assert isinstance(found, Plan), found
    (draft,) = found.drafts
    return draft


def asked(text: str) -> Question:
    found = read(text)
    assert isinstance(found, Question), found
    return found


# ---------------------------------------------------------------- what is read


@pytest.mark.parametrize(
    ("words", "pace"),
    [
        ("canary first", Pace(canary=1)),
        ("a canary first", Pace(canary=1)),
        ("canary 2", Pace(canary=2)),
        ("2 canaries first", Pace(canary=2)),
        ("two canaries first", Pace(canary=2)),
        ("no canary", Pace(canary=0)),
        ("one by one", Pace(batch=1)),
        ("one at a time", Pace(batch=1)),
        ("5 at a time", Pace(batch=5)),
        ("in batches of 5", Pace(batch=5)),
        ("batch 5", Pace(batch=5)),
        ("all at once", Pace(batch=0)),
        ("stop after 3 failures", Pace(stop_after=3)),
        ("stop when 3 hosts fail", Pace(stop_after=3)),
        ("stop at the first failure", Pace(stop_after=1)),
        ("stop at 10 % failures", Pace(stop_percent=10)),
        ("stop at 10%", Pace(stop_percent=10)),
        ("keep going", Pace(stop_after=0)),
        ("don't stop on failures", Pace(stop_after=0)),
        ("don\u2019t stop on failures", Pace(stop_after=0)),
        ("pause 30s between", Pace(pause_s=30)),
        ("wait 1 min between batches", Pace(pause_s=60)),
        ("30s apart", Pace(pause_s=30)),
        ("with 30s between batches", Pace(pause_s=30)),
        ("pause 1h", Pace(pause_s=3600)),
        ("canary first, then 5 at a time and stop after 2 failures", Pace(canary=1, batch=5, stop_after=2)),
        ("canary 1000, 1000 at a time, please", Pace(canary=1000, batch=1000)),
    ],
)
@pytest.mark.parametrize(
    "form",
    [
        "`{command}` on @web {words}",
        "`{command}` on @web, {words}",
        "run {command} on @web, {words}",
        "on @web: `{command}`, {words}",
        "on @web: {command}, {words}",
        "on @web, {words}: {command}",
        "on @web: {command}\n{words}",
        "```\n{command}\n```\non @web, {words}",
        "`{command}` on @web because it is time, {words}",
    ],
)
def test_pace_is_read_in_every_form_of_a_request(form: str, words: str, pace: Pace) -> None:
    draft = only(form.format(command=RELOAD, words=words))
    assert (draft.command, draft.target_words, draft.pace) == (RELOAD, ("@web",), pace)


def test_pace_may_stand_before_the_target() -> None:
    draft = only(f"run {RELOAD}, canary 2, one by one on @web")
    assert (draft.command, draft.target_words, draft.pace) == (RELOAD, ("@web",), Pace(canary=2, batch=1))


def test_pace_stands_beside_the_other_clauses() -> None:
    draft = only("`a` on @web in /srv with 2h timeout, canary 2 and 30s apart, then verify `b`")
    assert (draft.workdir, draft.timeout_s, draft.verify) == ("/srv", 7200, "b")
    assert draft.pace == Pace(canary=2, pause_s=30)


@pytest.mark.parametrize(
    "text",
    [
        f"on @web: {RELOAD} with 2h timeout, canary first",
        f"on @web: {RELOAD}, canary first, with 2h timeout",
        f"on @web: {RELOAD} with 2h timeout, canary first, then verify `true`",
    ],
)
def test_timeout_and_pace_come_in_any_order(text: str) -> None:
    draft = only(text)
    assert (draft.command, draft.timeout_s, draft.pace) == (RELOAD, 7200, Pace(canary=1))


def test_nothing_said_is_an_open_pace() -> None:
    assert only("run uptime on @web").pace == Pace()


@pytest.mark.parametrize(
    ("text", "pace"),
    [
        ("disk space on @web, 2 at a time", Pace(batch=2)),
        ("uptime everywhere, one by one, keep going?", Pace(batch=1, stop_after=0)),
        ("restart caddy on @web, canary first", Pace(canary=1)),
    ],
)
def test_words_of_the_library_take_a_pace(text: str, pace: Pace) -> None:
    assert only(text).pace == pace


def test_pace_goes_on_with_a_question_about_words_of_the_library() -> None:
    question = asked("restart caddy, canary first")
    assert question.options
    assert all(only(one.request).pace == Pace(canary=1) for one in question.options)


# ---------------------------------------------------------------- who goes first


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("`a` on web1,web2,web3, web3 first", ("web3", "web1", "web2")),
        ("`a` on web1, web2 and web3, WEB2 goes first", ("web2", "web1", "web3")),
        ("`a` on web1,web2,web3,web4, web4 and web3 first", ("web4", "web3", "web1", "web2")),
        ("`a` on @web,@db, @db first, one by one", ("@db", "@web")),
        ("`a` on web1,web2, start with web2", ("web2", "web1")),
        ("disk space on web1,web2, web2 first", ("web2", "web1")),
    ],
)
def test_target_that_goes_first_is_moved_to_the_front(text: str, targets: tuple[str, ...]) -> None:
    assert only(text).target_words == targets


@pytest.mark.parametrize(
    "text", ["`a` on @web, web3 first", "`a` on web1 and web2 first", "`a` on web1, db1 first"]
)
def test_who_goes_first_and_is_not_named_is_never_one_more_target(text: str) -> None:
    assert "goes first only where it is named" in asked(text).text


# ---------------------------------------------------------------- what is asked


@pytest.mark.parametrize(
    "command",
    [
        "echo foo",
        "logger deploy",
        "wall bye",
        "docker exec x echo foo",
        "sudo -u x echo foo",
        "uptime && echo b",
    ],
)
@pytest.mark.parametrize("form", ["on @web: {}, canary first", "run {}, canary first on @web"])
def test_words_that_may_belong_to_the_command_are_asked_about(command: str, form: str) -> None:
    question = asked(form.format(command))
    paced, whole = (only(one.request) for one in question.options)
    assert (paced.command, paced.pace) == (command, Pace(canary=1))
    assert (whole.command, whole.pace) == (f"{command}, canary first", Pace())


@pytest.mark.parametrize(
    "text",
    [
        "on @web: echo 'a, canary first'",
        "on @web: `echo a, canary first`",
        "on @web: echo a,canary first",
        "on @web: echo a, canary first thing",
        "on @web: echo a canary first",
    ],
)
def test_what_is_no_clause_at_the_end_stays_in_the_command(text: str) -> None:
    draft = only(text)
    assert draft.pace == Pace()
    assert "canary first" in draft.command


def test_verify_in_plain_words_keeps_none_of_the_pace_by_itself() -> None:
    text = f"on @web: {RELOAD} then verify {{}}, canary first"
    sure = only(text.format("systemctl is-active nginx"))
    assert (sure.verify, sure.pace) == ("systemctl is-active nginx", Pace(canary=1))
    assert (
        "Write that in backticks: then verify `curl localhost`" in asked(text.format("curl localhost")).text
    )


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("canary 1001", "between 0 and 1000"),
        ("1001 at a time", "between 1 and 1000"),
        ("in batches of 0", "all at once"),
        ("stop after 0 failures", "between 1 and 1000"),
        ("stop at 0 %", "between 1 and 100"),
        ("stop at 101 % failures", "between 1 and 100"),
        ("pause 3601s between", "between 0s and 1h"),
        ("wait 2h between batches", "between 0s and 1h"),
        ("one by one, 5 at a time", "two things about the pace"),
        ("keep going, stop after 3 failures", "two things about the pace"),
        ("stop after 3 failures and stop at 10 %", "two things about the pace"),
        ("canary 2, no canary", "two things about the pace"),
    ],
)
@pytest.mark.parametrize(
    "form",
    [
        "`a` on @web, {}",
        "on @web: echo a, {}",
        "run b on @web, {}",
        "disk space on @web, {}",
        "on @web: `a`\n{}",
    ],
)
def test_what_cannot_be_followed_is_refused_in_words(form: str, words: str, why: str) -> None:
    question = asked(form.format(words))
    assert question.text.startswith("Nothing ran.")
    assert why in question.text
    assert question.options == ()


@pytest.mark.parametrize("text", ["thanks, keep going", "see you tomorrow, pause 2h", "lol, all at once"])
def test_small_talk_is_no_request(text: str) -> None:
    assert not isinstance(read(text), Plan | Question)


# ---------------------------------------------------------------- properties


@given(PACES)
def test_words_of_a_pace_read_back(pace: Pace) -> None:
    said = pacing.whole(pacing.words(pace))
    assert (Pace() if said is None else said.pace) == pace


_PIECES = st.sampled_from(
    ["canary", "first", ",", " and ", "5 at a time", "stop after", "3", "%", "web1", "30s", "apart", " ", "é"]
)


@given(st.lists(_PIECES, max_size=12).map(" ".join))
def test_any_words_are_read_or_refused(text: str) -> None:
    for form in (f"`a` on @web, {text}", f"on @web: echo a, {text}", text):
        read(form)


@pytest.mark.parametrize(
    "text",
    [
        "on " + "web1," * 4000 + " web2: uptime",
        "`a` on " + "web1, canary first, " * 900,
        "on @web: echo " + "a, " * 6000,
        "on @web: echo a" + ", canary first" * 1400,
        "`a` on @web, " + "a" * 19_000,
    ],
)
def test_hostile_lengths_cost_little(text: str) -> None:
    begun = time.thread_time()  # what others do on this machine does not count
    read(text[:20_000])
    assert time.thread_time() - begun < 2.0
