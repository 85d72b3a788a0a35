"""Many targets in plain words, in sentences and beside commands: what is clear, and what is asked about."""

import pytest

from bot.loading.library import load_library
from bot.planning.drafts import Outcome, Plan, Question, RunbookPlan, Unplaced
from bot.planning.plan import plan
from gate.fanout import Pace

LIBRARY = load_library()
TARGETS = ("web1", "web2", "web3", "db1")
TAGS = ("web", "db", "prod", "dns")
SERVICES = {"caddy": ("web1",), "nginx": ("web1", "web2")}
EVERYTHING = ("all",)


def read(text: str, *, targets: tuple[str, ...] = TARGETS, tags: tuple[str, ...] = TAGS) -> Outcome:
    return plan(text, targets=targets, tags=tags, services=SERVICES, library=LIBRARY)


def commands(text: str) -> list[tuple[str, tuple[str, ...]]]:
    outcome = read(text)
    assert isinstance(outcome, Plan), outcome
    assert outcome.confidence == 1
    return [(draft.command, draft.target_words) for draft in outcome.drafts]


def options(text: str, *, targets: tuple[str, ...] = TARGETS) -> list[str]:
    outcome = read(text, targets=targets)
    assert isinstance(outcome, Question), outcome
    return [option.request for option in outcome.options]


@pytest.mark.parametrize(
    ("where", "target"),
    [
        ("everywhere", "all"),
        ("on all", "all"),
        ("on all servers", "all"),
        ("on all the servers", "all"),
        ("on all of the servers", "all"),
        ("on every host", "all"),
        ("on each machine", "all"),
        ("across all our boxes", "all"),
        ("on all nodes, please", "all"),
        ("on every web server", "@web"),
        ("on all WEB servers", "@web"),
        ("on all the web servers", "@web"),
        ("on all of our web servers", "@web"),
        ("on each @web host", "@web"),
        ("on all @web", "@web"),
        ("on every db", "@db"),
        ("across all prod machines", "@prod"),
        ("on every mail server", "@mail"),  # refused by name
    ],
)
@pytest.mark.parametrize(
    ("form", "command"),
    [
        ("uptime {}", "uptime"),
        ("disk space {}", "df -h"),
        ("df -h {}", "df -h"),
        ("how much memory is left {}?", "free -h"),
        ("reload nginx {}", "systemctl reload nginx"),
        ("run df -h {}", "df -h"),
        ("run systemctl reload nginx {}", "systemctl reload nginx"),
        ("please run uptime {}", "uptime"),
        ("`cat /etc/hosts | head` {}", "cat /etc/hosts | head"),
        ("run `echo a` {}", "echo a"),
    ],
)
def test_many_in_plain_words_are_targets(form: str, command: str, where: str, target: str) -> None:
    assert commands(form.format(where)) == [(command, (target,))]


@pytest.mark.parametrize(
    ("text", "command", "target"),
    [
        ("on all servers: uptime", "uptime", "all"),
        ("on every web server: disk space", "df -h", "@web"),
        ("on every web server: `uptime -p`", "uptime -p", "@web"),
        ("on all web servers run systemctl reload nginx", "systemctl reload nginx", "@web"),
        ("on all web servers, run systemctl reload nginx", "systemctl reload nginx", "@web"),
        ("on all web servers, canary first: systemctl reload nginx", "systemctl reload nginx", "@web"),
        ("everywhere: uptime", "uptime", "all"),
        ("```\nset -e\nuptime\n```\non all web servers", "set -e\nuptime", "@web"),
        ("run this everywhere:\n```\nuptime -p\n```", "uptime -p", "all"),
        ("logs of caddy from all web servers", "journalctl -u caddy -n 50 --no-pager", "@web"),
        ("is nginx running on every web server?", "systemctl status nginx --no-pager", "@web"),
        ("df -h on web1", "df -h", "web1"),
        ("run echo I am everywhere on web1", "echo I am everywhere", "web1"),
        ("run grep everywhere on web1", "grep everywhere", "web1"),
        ("run echo 'on all servers' on web1", "echo 'on all servers'", "web1"),
        ("show all dns servers on web1", "cat /etc/resolv.conf", "web1"),
        ("list all open ports on web1", "ss -tlnp", "web1"),
    ],
)
def test_where_it_stands_tells_what_it_means(text: str, command: str, target: str) -> None:
    assert commands(text) == [(command, (target,))]


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("everywhere: `free -m`", "all"),
        ("everywhere `free -m`", "all"),
        ("Everywhere, run free -m", "all"),
        ("all servers: `free -m`", "all"),
        ("every @web host: run free -m", "@web"),
    ],
)
def test_many_may_be_named_in_front_without_on(text: str, target: str) -> None:
    assert commands(text) == [("free -m", (target,))]


def test_parts_of_a_sentence_have_groups_of_their_own() -> None:
    assert commands("disk and memory on all web servers") == [("df -h", ("@web",)), ("free -h", ("@web",))]
    assert commands("disk space on all web servers and memory on every db") == [
        ("df -h", ("@web",)),
        ("free -h", ("@db",)),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "uptime on all, 2 at a time",
        "uptime everywhere, 2 at a time",
        "run uptime on all servers, 2 at a time",
        "run uptime everywhere, 2 at a time",
        "`uptime` on every web server, 2 at a time",
        "df -h on all web servers, 2 at a time",
    ],
)
def test_the_pace_may_follow(text: str) -> None:
    outcome = read(text)
    assert isinstance(outcome, Plan)
    assert [draft.pace for draft in outcome.drafts] == [Pace(batch=2)]


@pytest.mark.parametrize("local", [(), ("local",)])
@pytest.mark.parametrize(
    "text",
    [
        "uptime on all we",
        "uptime on all of them",
        "uptime on everything",
        "uptime all",
        "uptime on all prod web servers",
        "uptime on all other servers",
        "uptime on all dbs",
    ],
)
def test_unclear_many_are_asked_about_and_go_to_no_default(text: str, local: tuple[str, ...]) -> None:
    assert options(text, targets=(*local, *TARGETS))[:2] == ["uptime on all", "uptime on @web"]


@pytest.mark.parametrize(
    "text",
    [
        "uptime on all but db1",
        "uptime on all servers except db1",
        "uptime on @web but web1",
        "uptime everywhere but db1",
        "df -h on every web server, not on web1",
        "run uptime on all but db1",
        "run systemctl reload nginx on all web servers except web1",
    ],
)
def test_who_leaves_some_out_is_asked_for_names_and_offered_nothing(text: str) -> None:
    outcome = read(text)
    assert isinstance(outcome, Question)
    assert outcome.text.startswith("Nothing ran. Leaving targets out")
    assert not outcome.options


@pytest.mark.parametrize("command", ["echo I am", "rm -rf /tmp/x", "wall going down", "logger seen"])
def test_everywhere_behind_a_command_that_may_take_it_is_asked_about(command: str) -> None:
    assert options(f"run {command} everywhere", targets=("local", "web1")) == [
        f"`{command}` on all",
        f"`{command} everywhere` on local",
    ]
    assert options(f"run {command} everywhere") == [
        f"`{command}` on all",
        *(f"`{command} everywhere` on {name}" for name in TARGETS),
    ]


PROSE = [
    "the disks on all servers are new",
    "we rebooted every web server yesterday",
    "on all servers: nginx is slow since noon",
    "on every web server: reboot takes long",
    "on all web servers: systemctl hangs",
    "everywhere: people are happy",
    "all: the server is back",
    "all: uptime is fine",
    "everyone: uptime matters",
    "it is on all day",
    "we saw errors on all web servers",
    "the same errors on all servers",
    "new errors everywhere",
    "all good on all servers",
    "nothing works on all web servers, who did that",
    "last night all servers were slow",
    "free beer on all floors",
]


@pytest.mark.parametrize("text", PROSE)
@pytest.mark.parametrize("local", [(), ("local",)])
def test_prose_about_many_is_no_request(text: str, local: tuple[str, ...]) -> None:
    outcome = read(text, targets=(*local, *TARGETS))
    assert not isinstance(outcome, Plan | RunbookPlan), outcome


@pytest.mark.parametrize(
    "text", ["restart all web servers", "reboot every web server", "upgrade on all web servers"]
)
def test_a_change_to_many_that_is_not_certain_is_no_plan(text: str) -> None:
    assert isinstance(read(text), Question | Unplaced)


@pytest.mark.parametrize(
    "text", ["run rm -rf /tmp/x on all web", "run reboot everywhere", "reboot everywhere"]
)
def test_a_change_to_many_that_is_certain_is_a_plan_of_them(text: str) -> None:
    outcome = read(text)
    assert isinstance(outcome, Plan)
    assert outcome.drafts[0].target_words in {("all",), ("@web",)}


def test_a_tag_named_like_a_thing_takes_no_title_away() -> None:
    outcome = read("list all containers on web1", tags=("containers",))
    assert isinstance(outcome, Plan)
    assert [(one.command, one.target_words) for one in outcome.drafts] == [("docker ps", ("web1",))]


def test_every_option_reads_back_to_what_it_says() -> None:
    for text in ("uptime on all of them", "run echo I am everywhere", "restart with check everywhere"):
        for request in options(text):
            assert isinstance(read(request), Plan | RunbookPlan), request
