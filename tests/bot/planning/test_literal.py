from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.planning.drafts import ActionDraft, Plan, PlanSource, Question
from bot.planning.grammar import request_text
from bot.planning.literal import parse
from gate.fanout import Pace
from tests.bot.planning.paces import PACES

TARGETS = ("local", "web1", "web2", "web11", "db1")
TAGS = ("web",)


def read(text: str, *, targets: tuple[str, ...] = TARGETS) -> Plan | Question | None:
    return parse(text, targets=targets, tags=TAGS)


def drafts(text: str, *, targets: tuple[str, ...] = TARGETS) -> tuple[ActionDraft, ...]:
    plan = read(text, targets=targets)
    assert isinstance(plan, Plan), plan
    assert plan.source is PlanSource.LITERAL
    assert plan.confidence == 1.0
    return plan.drafts


def only(text: str, *, targets: tuple[str, ...] = TARGETS) -> ActionDraft:
    (draft,) = drafts(text, targets=targets)
    return draft


def asked(text: str, *, targets: tuple[str, ...] = TARGETS) -> Question:
    question = read(text, targets=targets)
    assert isinstance(question, Question), question
    return question


@pytest.mark.parametrize(
    ("text", "command", "targets"),
    [
        ("run df -h on web1", "df -h", ("web1",)),
        ("Run df -h on WEB1", "df -h", ("web1",)),
        ("please run df -h on web1 please", "df -h", ("web1",)),
        ("can you run df -h on web1?", "df -h", ("web1",)),
        ("sayso, run df -h on web1", "df -h", ("web1",)),
        ("@sayso run df -h on web1", "df -h", ("web1",)),
        ("exec df -h on web1", "df -h", ("web1",)),
        ("run: df -h on web1", "df -h", ("web1",)),
        ("`df -h` on web1", "df -h", ("web1",)),
        ("run `df -h` on web1", "df -h", ("web1",)),
        ("``echo `date` `` on web1", "echo `date`", ("web1",)),
        ("on @web: uptime", "uptime", ("@web",)),
        ("on web1: `uptime`", "uptime", ("web1",)),
        ("on web1 run uptime", "uptime", ("web1",)),
        ("on web1, run uptime", "uptime", ("web1",)),
        ("on web1 `uptime`", "uptime", ("web1",)),
        ("web1: uptime", "uptime", ("web1",)),
        ("web1, web2: uptime", "uptime", ("web1", "web2")),
        ("run uptime on web1, web2 and @web", "uptime", ("web1", "web2", "@web")),
        ("run uptime on web1,web1", "uptime", ("web1",)),
        ("run echo hello on web1", "echo hello", ("web1",)),
        ("run echo hello on web1 on web2", "echo hello on web1", ("web2",)),
        ("run uptime on webb1", "uptime", ("webb1",)),
        ('run echo "on web1 because" on web2', 'echo "on web1 because"', ("web2",)),
        ("run echo 'it is on web1'", "echo 'it is on web1'", ("local",)),
        ("run echo carry on please", "echo carry on please", ("local",)),
        ("run df -h", "df -h", ("local",)),
        ("`df -h`", "df -h", ("local",)),
        ("run grep -c on /var/log/syslog on web1", "grep -c on /var/log/syslog", ("web1",)),
    ],
)
def test_request_gives_command_and_targets(text: str, command: str, targets: tuple[str, ...]) -> None:
    draft = only(text)
    assert (draft.command, draft.target_words) == (command, targets)


@pytest.mark.parametrize(
    "command",
    [
        "echo  two   spaces",
        "rm\u200b -rf /tmp/x",
        "echo caf\u0065\u0301",
        "printf 'a\tb'",
        "ls \\\\ | grep x && echo $HOME; true",
        "echo \u202eevil",
        "ls\rtouch x",
    ],
)
@pytest.mark.parametrize("form", ["run {} on web1", "`{}` on web1", "on web1: {}", "```\n{}\n```\non web1"])
def test_command_is_taken_byte_for_byte(command: str, form: str) -> None:
    assert only(form.format(command)).command == command


EXACT = ["echo ‘smart’ “quotes”", "echo a\u00a0b", "apt list \u2014upgradable", "echo it\u2019s"]


@pytest.mark.parametrize("command", EXACT)
@pytest.mark.parametrize(
    "form",
    [
        "run `{}` on web1",
        "`{}` on web1",
        "on web1: `{}`",
        "```\n{}\n```\non web1",
        "run on web1\n```sh\n{}\n```",
    ],
)
def test_what_stands_in_code_is_exact_to_the_byte(command: str, form: str) -> None:
    assert only(form.format(command)).command == command


@pytest.mark.parametrize("form", ["run {} on web1", "on web1: {}", "web1: {}", "on web1 run {}"])
@pytest.mark.parametrize(
    ("typed", "command"),
    [
        ("grep \u201cfoo bar\u201d /etc/hosts", 'grep "foo bar" /etc/hosts'),
        ("grep \u201efoo bar\u201c /etc/hosts", 'grep "foo bar" /etc/hosts'),
        ("grep \u2018foo bar\u2019 /etc/hosts", "grep 'foo bar' /etc/hosts"),
        ("apt list \u2014upgradable", "apt list --upgradable"),
        ("apt list \u2013upgradable", "apt list --upgradable"),
        ("git log \u2014since=2.days \u2014oneline", "git log --since=2.days --oneline"),
        ("git checkout \u2014 file", "git checkout -- file"),
        ("git checkout \u2013 file", "git checkout -- file"),
        ("ls \u2013l /tmp", "ls -l /tmp"),
        ("df\u00a0-h", "df -h"),
        ("echo 2026\u201303 a\u2014b 5 \u20135", "echo 2026\u201303 a\u2014b 5 \u20135"),
        ("grep \u201cfoo \u2014 bar \u2014x\u201d a", 'grep "foo \u2014 bar \u2014x" a'),
        ("echo \u2026 \u00ab\u00bb caf\u00e9", "echo \u2026 \u00ab\u00bb caf\u00e9"),
    ],
)
def test_what_phones_make_of_a_command_is_folded_back(typed: str, command: str, form: str) -> None:
    draft = only(form.format(typed))
    assert (draft.command, draft.target_words) == (command, ("web1",))
    assert draft.purpose == form.format(typed)


def test_a_code_span_in_a_folded_line_stays_exact() -> None:
    line = "run echo \u201ca\u201d `b \u201cc\u201d \u2014d it's` \u2014end on web1"
    assert only(line).command == 'echo "a" `b \u201cc\u201d \u2014d it\'s` --end'


def test_blanks_of_a_phone_separate_words() -> None:
    draft = only("run\u00a0df -h\u00a0on\u00a0web1 with\u00a02h timeout")
    assert (draft.command, draft.target_words, draft.timeout_s) == ("df -h", ("web1",), 7200)


def test_a_quoted_target_is_no_target_once_it_is_folded() -> None:
    draft = only("run echo \u201cit is on web1\u201d on web2")
    assert (draft.command, draft.target_words) == ('echo "it is on web1"', ("web2",))


def test_what_was_folded_reads_back_the_same() -> None:
    draft = only("run grep \u201cfoo\u201d a on web1, then verify `test \u201c\u2014x\u201d`")
    assert draft.verify == "test \u201c\u2014x\u201d"
    again = only(request_text(draft))
    assert (again.command, again.verify) == (draft.command, draft.verify)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  \n ",
        "make me a sandwich",
        "note: uptime",
        "yes",
        "rune on web1",
        "df -h on web1",
        "run it",
        "run them.",
        "on web1",
    ],
)
def test_other_text_is_no_literal_request(text: str) -> None:
    assert read(text) is None


def test_whole_message_is_the_purpose_unless_one_is_given() -> None:
    assert only("run df -h on web1").purpose == "run df -h on web1"
    assert only("run df -h on web1 because /var filled up").purpose == "/var filled up"
    assert only("run df -h on web1 to see what filled up").purpose == "see what filled up"


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        ("with 2h timeout", 7200),
        ("with a 2h timeout", 7200),
        ("timeout 30s", 30),
        ("with timeout 5 minutes", 300),
        ("timeout=90s", 90),
        (", with 1 day timeout", 86_400),
    ],
)
def test_timeout_is_read_after_the_target(words: str, seconds: int) -> None:
    draft = only(f"run apt upgrade -y on web1 {words}")
    assert (draft.command, draft.timeout_s) == ("apt upgrade -y", seconds)


def test_timeout_without_a_target_needs_its_full_form() -> None:
    assert only("run apt upgrade -y with 2h timeout").timeout_s == 7200
    assert only("run curl --timeout 30s x").command == "curl --timeout 30s x"
    assert only("run foo timeout 30s").command == "foo timeout 30s"


@pytest.mark.parametrize("words", ["timeout 0s", "with 25h timeout", "with 2 days timeout"])
def test_timeout_out_of_range_is_asked_about(words: str) -> None:
    assert "between 1s and 24h" in asked(f"run true on web1 {words}").text


@pytest.mark.parametrize(
    "words",
    [
        "then verify `systemctl is-active caddy`",
        ", then verify: `systemctl is-active caddy`",
        "and verify with `systemctl is-active caddy` because it hangs",
        "verify: systemctl is-active caddy",
        "because it hangs, then verify systemctl is-active caddy",
        "\nverify: systemctl is-active caddy",
        "\nthen verify `systemctl is-active caddy`",
    ],
)
def test_verify_command_is_read(words: str) -> None:
    draft = only(f"run systemctl restart caddy on web1 {words}")
    assert (draft.command, draft.verify) == ("systemctl restart caddy", "systemctl is-active caddy")


def test_verify_without_a_target() -> None:
    draft = only("run systemctl restart caddy then verify `systemctl is-active caddy`")
    assert (draft.command, draft.verify, draft.target_words) == (
        "systemctl restart caddy",
        "systemctl is-active caddy",
        ("local",),
    )


def test_working_directory_is_read() -> None:
    draft = only("run git log -1 on web1 in /srv/app with timeout 30s")
    assert (draft.workdir, draft.timeout_s, draft.command) == ("/srv/app", 30, "git log -1")


def test_lines_addressed_to_targets_are_ordered_actions() -> None:
    first, second, third = drafts("run a on web1\nrun b on web2\n\n`c` on @web")
    assert [first.command, second.command, third.command] == ["a", "b", "c"]
    assert [first.target_words, third.target_words] == [("web1",), ("@web",)]


def test_note_line_belongs_to_the_command_above_it() -> None:
    first, second = drafts("run a on web1\nwith 2h timeout\nrun b on web2\nverify: true\nbecause it helps")
    assert (first.timeout_s, first.verify) == (7200, None)
    assert (second.timeout_s, second.verify, second.purpose) == (None, "true", "it helps")


def test_line_that_is_no_request_stops_all_of_them() -> None:
    question = asked("run a on web1\nand something else")
    assert "and something else" in question.text
    assert question.options[0].request == "`a` on web1"


def test_code_spans_may_be_chained() -> None:
    assert [
        (d.command, d.target_words)
        for d in drafts("`df -h` on web1 and `uptime` on web2, then run `w` on db1")
    ] == [
        ("df -h", ("web1",)),
        ("uptime", ("web2",)),
        ("w", ("db1",)),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "```\nset -e\nuptime\n```\non web1",
        "```bash\nset -e\nuptime\n```\non web1",
        "on web1:\n```sh\nset -e\nuptime\n```",
        "run on web1\n```\nset -e\nuptime\n```",
        "please run this on web1:\n```set -e\nuptime```",
        "run\n```\nset -e\nuptime\n``` on web1",
    ],
)
def test_fenced_block_is_one_command(text: str) -> None:
    draft = only(text)
    assert (draft.command, draft.target_words) == ("set -e\nuptime", ("web1",))


def test_fenced_block_takes_options_on_either_side() -> None:
    draft = only("run on web1 with 2h timeout\n```\na\n```\nthen verify `true` because it helps")
    assert (draft.timeout_s, draft.verify, draft.purpose) == (7200, "true", "it helps")


@pytest.mark.parametrize(
    "text",
    [
        "```\na\n```\n```\nb\n```\non web1",
        "```\na\n",
        "```\n\n```\non web1",
        "hello there\n```\na\n```",
        "on web1\n```\na\n```\non web2",
    ],
)
def test_doubtful_block_runs_nothing(text: str) -> None:
    assert asked(text).text.startswith("Nothing ran.")


def test_without_target_the_only_one_is_meant() -> None:
    assert only("run df -h", targets=("web7",)).target_words == ("web7",)


def test_without_target_and_without_local_it_asks() -> None:
    question = asked("run df -h with 2h timeout", targets=("web1", "web2"))
    assert [option.request for option in question.options] == [
        "`df -h` on web1 with 7200s timeout",
        "`df -h` on web2 with 7200s timeout",
    ]
    assert only(question.options[1].request, targets=("web1", "web2")).target_words == ("web2",)


def test_no_target_at_all_says_where_to_add_one() -> None:
    assert "[targets]" in asked("run df -h", targets=()).text


def test_two_readings_are_asked_about() -> None:
    question = asked("run echo x on web1 because y is on web2")
    assert [only(option.request).command for option in question.options] == [
        "echo x on web1 because y is",
        "echo x",
    ]


def test_second_request_in_a_line_is_offered_as_lines() -> None:
    question = asked("run df -h on web1 then run uptime on web2")
    assert [draft.command for draft in drafts(question.options[1].request)] == ["df -h", "uptime"]


@pytest.mark.parametrize(
    "text", ["run df -h on web1 and restart caddy", "run rm -rf /x on web1/y", "run df on web1 quickly"]
)
def test_words_after_a_known_target_are_never_run_elsewhere(text: str) -> None:
    assert "unclear" in asked(text).text


@pytest.mark.parametrize(
    "text", ["run `which ls` -l on web1", "`df -h` on web1 | tee x", "run `df -h on web1"]
)
def test_unclear_code_span_runs_nothing(text: str) -> None:
    assert "unclear" in asked(text).text


COMMANDS = st.text(
    alphabet=st.characters(codec="utf-8", exclude_characters="`"), min_size=1, max_size=60
).filter(lambda text: text.strip(" \t\r\n") == text and "```" not in text)


@given(
    command=COMMANDS,
    targets=st.lists(st.sampled_from(TARGETS), min_size=1, max_size=3, unique=True),
    timeout_s=st.none() | st.integers(1, 86_400),
    workdir=st.sampled_from(["", "/srv/app"]),
    verify=st.sampled_from([None, "systemctl is-active caddy", "echo a, canary first"]),
    pace=PACES,
)
def test_request_text_reads_back_as_the_same_draft(
    *, command: str, targets: list[str], timeout_s: int | None, workdir: str, verify: str | None, pace: Pace
) -> None:
    draft = ActionDraft(
        target_words=tuple(targets),
        command=command,
        purpose="",
        timeout_s=timeout_s,
        workdir=workdir,
        verify=verify,
        pace=pace,
    )
    assert replace(only(request_text(draft)), purpose="") == draft


@given(st.text(max_size=80))
def test_any_text_is_read_without_a_crash(text: str) -> None:
    for form in (text, f"run {text}", f"`{text}", f"on web1: {text}", f"```{text}"):
        read(form)
