from collections.abc import Mapping, Sequence
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.loading.library import load_library
from bot.planning.drafts import Outcome, Plan, PlanSource, Question, RunbookPlan, Unplaced
from bot.planning.library import Document, Library, Step
from bot.planning.plan import plan
from gate.supervise.domain import StepRisk

TARGETS = ("local", "web1", "web2", "web11", "pve1", "db1")
SERVICES = {"caddy": ("web1",), "nginx": ("web1", "web2"), "git": ("db1",)}
LIBRARY = load_library()
EXAMPLES = [
    (doc.id, example.say, example.command)
    for doc in LIBRARY.documents.values()
    for example in doc.examples
    if not doc.supervised
]


def read(
    text: str,
    *,
    targets: Sequence[str] = TARGETS,
    services: Mapping[str, Sequence[str]] = SERVICES,
    library: Library = LIBRARY,
) -> Outcome:
    return plan(text, targets=targets, tags=("web",), services=services, library=library)


def commands(text: str) -> list[tuple[str, tuple[str, ...]]]:
    outcome = read(text)
    assert isinstance(outcome, Plan), outcome
    return [(draft.command, draft.target_words) for draft in outcome.drafts]


def options(text: str) -> list[str]:
    outcome = read(text)
    assert isinstance(outcome, Question), outcome
    return [option.request for option in outcome.options]


@pytest.mark.parametrize(
    ("document", "say", "inputs"),
    [
        (doc.id, example.say, dict(example.inputs))
        for doc in LIBRARY.documents.values()
        for example in doc.examples
        if doc.supervised
    ],
)
def test_every_example_finds_its_runbook(document: str, say: str, inputs: dict[str, str]) -> None:
    outcome = read(say)
    assert isinstance(outcome, RunbookPlan), outcome
    assert outcome.document.id == document
    assert outcome.confidence == 1
    assert outcome.inputs | inputs == outcome.inputs


def test_library_is_large_enough_to_be_useful() -> None:
    assert len([doc for doc in LIBRARY.documents.values() if doc.is_read_only]) >= 50
    assert all(doc.examples for doc in LIBRARY.documents.values())


@pytest.mark.parametrize("text", ["is it reversible?", "is it dangerous?", "can it be undone?"])
def test_a_pronoun_and_a_value_say_nothing(text: str) -> None:
    outcome = read(text, targets=["local"])
    assert isinstance(outcome, Question | Unplaced)
    assert not isinstance(outcome, Question) or not any("ping" in one.request for one in outcome.options)


@pytest.mark.parametrize(("document", "say", "command"), EXAMPLES)
def test_every_example_gives_its_command(document: str, say: str, command: str) -> None:
    outcome = read(say)
    assert isinstance(outcome, Plan), outcome
    assert outcome.source is PlanSource.DIAGNOSTIC
    assert outcome.drafts[0].command == command
    step = LIBRARY.documents[document].steps[0]
    assert outcome.drafts[0].runbook == f"{LIBRARY.documents[document].revision}#{step.id}"
    assert outcome.drafts[0].purpose == say


@pytest.mark.parametrize(
    ("text", "command", "targets"),
    [
        ("disk space?", "df -h", ("local",)),
        ("web1 disk", "df -h", ("web1",)),
        ("what is web1's disk usage", "df -h", ("web1",)),
        ("uptime on web1, web2 and @web", "uptime", ("web1", "web2", "@web")),
        ("uptime everywhere", "uptime", ("all",)),
        ("load on all hosts", "uptime", ("all",)),
        ("load on this machine", "uptime", ("local",)),
        ("uptime on webb1", "uptime", ("webb1",)),
        ("run the disk check on WEB1", "df -h", ("web1",)),
        ("logs of caddy", "journalctl -u caddy -n 50 --no-pager", ("web1",)),
        ("restart caddy", "systemctl restart caddy", ("web1",)),
        ("restart Caddy.service on web1", "systemctl restart caddy", ("web1",)),
        ("can you restart caddy on web1 please?", "systemctl restart caddy", ("web1",)),
        ("reload nginx on @web", "systemctl reload nginx", ("@web",)),
        ("restart git on db1", "systemctl restart git", ("db1",)),
        ("is git running", "systemctl status git --no-pager", ("db1",)),
        ("restart foobar on web1", "systemctl restart foobar", ("web1",)),
        ("run docker ps on web1", "docker ps", ("web1",)),
    ],
)
def test_targets_and_services_are_found(text: str, command: str, targets: tuple[str, ...]) -> None:
    assert commands(text) == [(command, targets)]


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("disk spcae on web1", "df -h"),
        ("dsik space web1", "df -h"),
        ("mmeory on web1", "free -h"),
        ("uptiem on web1", "uptime"),
        ("faield services on web1", "systemctl --failed --no-pager"),
        ("lgos of caddy on web1", "journalctl -u caddy -n 50 --no-pager"),
        ("opne ports on web1", "ss -tlnp"),
        ("dsk space on web1", "df -h"),
        ("how umch memory is left on web1", "free -h"),
        ("waht is listening on web1", "ss -tlnp"),
        ("does example.org reslove on web1", "getent hosts example.org"),
    ],
)
def test_typo_in_a_read_only_title_still_matches_with_less_confidence(text: str, command: str) -> None:
    outcome = read(text)
    assert isinstance(outcome, Plan), outcome
    assert outcome.drafts[0].command == command
    assert 0.75 < outcome.confidence < 1


SHOWN = ("NRestarts", "ActiveState", "SubState", "Result", "ExecMainStartTimestamp")
SHOW_RESTARTS = f"systemctl show caddy {' '.join(f'-p {name}' for name in SHOWN)} --no-pager"
VERBS = ("restart", "reload", "start", "stop", "enable", "disable")
DOUBTFUL = (
    "don't {} caddy on web1",
    "do not {} caddy on web1",
    "how do i {} caddy on web1",
    "should we {} caddy on web1?",
)
DOUBTFUL += (
    "why did you {} caddy on web1",
    "{} caddy on web1 tomorrow",
    "{} caddy on web1 unless it is fine",
)
DOUBTFUL += ("did you {} caddy on web1", "never {} caddy on web1", "{} caddy on web1 if it is down")


@pytest.mark.parametrize(("form", "verb"), list(product(DOUBTFUL, VERBS)))
def test_doubtful_request_for_a_change_is_never_a_plan(form: str, verb: str) -> None:
    outcome = read(form.format(verb))
    assert not isinstance(outcome, Plan) or all(
        draft.declared_risk == "read_only" for draft in outcome.drafts
    )


@pytest.mark.parametrize(
    "text",
    [
        "restrat caddy on web1",
        "rebot web1",
        "delete disk space on web1",
        "erase disk space on web1",
        "install drivers on web1",
        "upgrade web1",
        "clear logs of caddy on web1",
        "delete the logs of caddy on web1",
        "disable caddy logs on web1",
        "kill caddy on web1",
        "restart everything",
        "restart it",
        "restart caddy and make coffee",
        "logs of caddy; rm -rf / on web1",
        "logs of $(reboot) on web1",
        "logs of -f on web1",
        "biggest folders in ../etc on web1",
    ],
)
def test_what_is_not_certain_is_asked_or_not_placed(text: str) -> None:
    assert isinstance(read(text), Question | Unplaced)


@pytest.mark.parametrize(
    "text", ["", "thanks", "good morning everyone", "ok cool", "yes", "how are you", "👍", "..."]
)
def test_small_talk_is_no_request(text: str) -> None:
    assert read(text) is None


@pytest.mark.parametrize(
    "text", ["make me a sandwich", "what's the weather like", "create a backup of git", "what did you eat"]
)
def test_unrelated_sentence_is_not_placed_and_names_what_works(text: str) -> None:
    outcome = read(text)
    assert isinstance(outcome, Unplaced)
    assert len(outcome.nearest) == 3
    assert all(
        isinstance(read(near.replace("<service>", "caddy")), Plan | RunbookPlan) for near in outcome.nearest
    )


def test_service_on_several_hosts_is_asked_about() -> None:
    assert options("restart nginx") == ["restart nginx on web1", "restart nginx on web2"]
    assert options("logs of nginx") == ["logs of nginx on web1", "logs of nginx on web2"]


def test_change_without_a_target_is_not_sent_to_a_default() -> None:
    assert options("restart foobar")[:2] == ["restart foobar on local", "restart foobar on web1"]


def test_only_target_is_the_default() -> None:
    outcome = read("restart foobar", targets=("web7",), services={})
    assert isinstance(outcome, Plan)
    assert outcome.drafts[0].target_words == ("web7",)


def test_missing_service_is_asked_for_among_those_on_the_target() -> None:
    assert options("restart on web1") == ["restart caddy on web1", "restart nginx on web1"]
    assert options("restart web2") == ["restart nginx on web2"]


def test_misspelt_service_is_asked_about_with_the_typed_one_as_a_choice() -> None:
    assert options("restart cady on web1") == ["restart caddy on web1", "`systemctl restart cady` on web1"]


def test_misspelt_title_is_not_taken_for_a_value() -> None:
    assert options("ip adress of web1") == ["ip addresses on web1", "`getent hosts adress` on web1"]
    assert options("which cnotainers are running on web1")[0] == "containers on web1"


def test_no_target_known_says_where_to_add_one() -> None:
    outcome = read("disk space", targets=(), services={})
    assert isinstance(outcome, Question)
    assert "[targets]" in outcome.text


def test_words_of_the_library_after_run_are_asked_about() -> None:
    assert options("run disk usage on web1") == ["disk space on web1", "`disk usage` on web1"]


def test_command_without_run_is_offered_never_run() -> None:
    assert options("apt upgrade -y on web1") == ["`apt upgrade -y` on web1"]
    assert options("df -hT on web1") == ["disk space on web1", "`df -hT` on web1"]
    assert options("cat /etc/hosts | head on web1")[-1] == "`cat /etc/hosts | head` on web1"


def test_several_requests_in_one_sentence_keep_their_order() -> None:
    assert commands("disk and memory on web1") == [("df -h", ("web1",)), ("free -h", ("web1",))]
    assert commands("disk space on web1 and memory on db1") == [("df -h", ("web1",)), ("free -h", ("db1",))]
    assert commands("tail the log of caddy on web1, then restart it") == [
        ("journalctl -u caddy -n 50 --no-pager", ("web1",)),
        ("systemctl restart caddy", ("web1",)),
    ]


def test_lines_may_mix_commands_and_titles() -> None:
    assert commands("disk space on web1\nrun uptime on web2") == [("df -h", ("web1",)), ("uptime", ("web2",))]


def test_condition_is_left_to_a_person() -> None:
    text = "tail the error log of caddy on web1 and restart it if it flaps"
    assert options(text) == [
        "error log of caddy on web1",
        "restart count of caddy on web1",
        "restart caddy on web1",
    ]
    assert [commands(request)[0][0] for request in options(text)] == [
        "journalctl -u caddy -p err -n 50 --no-pager",
        SHOW_RESTARTS,
        "systemctl restart caddy",
    ]


@pytest.mark.parametrize(("document", "say", "command"), EXAMPLES)
def test_every_option_offered_for_an_example_reads_back_to_a_plan(
    document: str, say: str, command: str
) -> None:
    outcome = read(f"{say} tomorrow")
    if isinstance(outcome, Question):
        for option in outcome.options:
            assert isinstance(read(option.request), Plan | RunbookPlan | Question), option


def test_same_text_gives_the_same_outcome() -> None:
    texts = [say for _, say, _ in EXAMPLES] + ["make me a sandwich", "restart nginx", "restrat caddy"]
    assert [read(text) for text in texts] == [read(text) for text in texts]


@settings(max_examples=60)
@given(st.text(max_size=60))
def test_any_text_is_read_without_a_crash(text: str) -> None:
    for form in (text, f"restart {text} on web1", f"logs of {text}", f"what changed in {text} on web1"):
        read(form)


def synthetic(size: int) -> Library:
    """Return `size` documents whose titles are three ordinary words each."""
    firsts = ("queue", "mail", "proxy", "cache", "tunnel", "backup", "cluster", "replica", "index", "session")
    seconds = ("depth", "latency", "errors", "status", "members", "lag", "size", "owners", "peers", "limits")
    thirds = ("north", "south", "east", "west", "alpha", "beta", "gamma", "delta", "omega", "sigma")
    step = Step(id="a", title="t", risk=StepRisk.READ_ONLY, command="true")
    names = [" ".join(words) for words in product(firsts, seconds, thirds)][:size]
    return Library.of(Document(id=f"d{i}", title=name, steps=(step,)) for i, name in enumerate(names))


@pytest.mark.parametrize(
    "text",
    [
        "quuee depth north on web1",
        "please show the mail latnecy beta on web1",
        "replica lag omeag on web2",
    ],
)
def test_a_slip_is_found_among_a_thousand_titles(text: str) -> None:
    assert isinstance(read(text, library=synthetic(1000)), Plan)


HOSTILE = [
    "run " + " on web1 because" * 1300,
    "run x" + " on web1" * 2400,
    "run " + "a" * 19_000,
    "run x on web1" + " " * 19_000 + "y",
    "run x on " + "a." * 9000 + "/",
    "run x on web1" + ", web1" * 3000,
    "run x on web1 because " + "then verify " * 1500,
    "restart " * 2400,
    "disk and " * 2200,
    "." * 19_000 + "x",
    "`" * 19_999,
    "'" * 10_001 + " on web1",
    "@a," * 6000,
    "a\n" * 9_000,
    "uptime on all " * 1400,
    "run x everywhere" * 1200,
    "run x on all" + " web" * 4500,
    "uptime on all servers" + " but web1" * 2000,
    "all " * 4900,
]


@pytest.mark.timeout(90)  # what backtracks takes minutes
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_is_read_to_its_end(text: str) -> None:
    read(text)


def test_longer_text_is_not_read_at_all() -> None:
    outcome = read("run " + "a" * 20_000)
    assert isinstance(outcome, Question)
