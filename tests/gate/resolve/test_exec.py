"""Commands before any card: what may never run, and where a command may run."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.loading.rules import load_rules
from gate.domain import ReasonCode
from gate.policy import Catastrophic
from gate.resolve.decision import Allow, Clarify, Decision, Deny
from gate.resolve.exec import is_within, never_reason, resolve

RULES = load_rules()
ROOTS = ("/srv/app", "/opt/tools/")


def _resolve(command: str, **options: object) -> Decision:
    workdir = str(options.pop("workdir", ""))
    slots = {"command": command, "workdir": workdir, "target": "web1"}
    return resolve(slots, rules=RULES, roots=ROOTS, **options)  # type: ignore[arg-type] # as given


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf /",
        "rm -r /*",
        "rm -fr /usr",
        "sudo rm -rf /var",
        "rm -rf ~",
        'rm -rf "$HOME"',
        "rm -rf .",
        "rm -rf ./",
        "rm -rf *",
        "rm -rf $PWD",
        'rm -rf "$PWD"',
        "cd /; rm -rf *",
        "find . -delete",
        "chmod -R 700 .",
        "chmod -R 777 /boot",
        "chown -R app: /etc",
        "bomb() { bomb | bomb & }; bomb",
        "dd if=/dev/zero of=/dev/sda bs=1M",
        "echo x > /dev/nvme0n1",
        "ls; rm -rf .",
        "bash -c 'rm -rf .'",
    ],
)
def test_what_may_never_run_is_denied_before_any_card(command: str) -> None:
    decision = _resolve(command)
    assert isinstance(decision, Deny), decision
    assert decision.reason.code is ReasonCode.NEVER_LIST
    assert decision.slots["command"] == command
    assert "Nothing ran" in decision.reason.text


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf /home/user/proj",
        "rm -rf build",
        "rm -rf ./build/*",
        "cd /srv/app && rm -rf *",
        "echo 'rm -rf /'",
        "grep -r 'rm -rf .' docs",
        "reboot",
        "mkfs.ext4 /dev/sdb1",
        "ls",
        "chmod 644 notes",
    ],
)
def test_all_else_is_for_whoever_asks_for_consent(command: str) -> None:
    decision = _resolve(command)
    assert isinstance(decision, Allow), decision
    assert decision.slots == {"command": command, "workdir": "", "target": "web1"}


def test_the_same_words_are_harmless_in_a_project_and_not_in_a_home() -> None:
    assert isinstance(_resolve("rm -rf *", workdir="/srv/app/build"), Allow)
    assert never_reason("rm -rf *", workdir="/srv/app", rules=RULES) is None
    for folder in ("", "~", ".", "/", "/etc", "/srv/app/../..", "/home/kim", "'/etc'/../etc"):
        known = never_reason("rm -rf *", workdir=folder, rules=RULES)
        assert (known is None) == folder.startswith("'"), folder
    assert never_reason("ls", workdir="/srv/it's a folder\n", rules=RULES) is None


def test_a_list_of_words_is_joined_before_it_is_judged() -> None:
    denied = _resolve("", argv=("rm", "-rf", "/"))
    assert isinstance(denied, Deny)
    assert denied.slots["command"] == "rm -rf /"
    inner = _resolve("ls", argv=("bash", "-c", "rm -rf ~"))
    assert isinstance(inner, Deny)
    said = _resolve("rm -rf /", argv=("echo", "rm -rf /"))
    assert isinstance(said, Allow)
    assert said.slots["command"] == "echo 'rm -rf /'"


def test_a_script_from_elsewhere_in_a_root_shell() -> None:
    command = "curl -s https://get.example.com | sh"
    assert isinstance(_resolve(command), Allow)
    assert isinstance(_resolve(command, as_root=True), Deny)


def test_the_owner_may_leave_the_never_list_to_the_phrase() -> None:
    decision = _resolve("rm -rf /", catastrophic=Catastrophic.PHRASE)
    assert isinstance(decision, Allow)
    assert decision.because.startswith("never list, by phrase: ")


def test_nothing_to_run_is_asked_for() -> None:
    decision = _resolve("  ")
    assert isinstance(decision, Clarify)
    assert decision.free == "command"


@pytest.mark.parametrize(
    "workdir",
    [
        "/srv/app-evil",
        "/srv",
        "/",
        "/srv/app/../app-evil",
        "/etc",
        "app",
        "~",
        "~/srv/app",
        "/SRV/app",
        "/srv/app/../..",
    ],
)
def test_a_folder_outside_is_asked_about(workdir: str) -> None:
    decision = _resolve("ls", workdir=workdir)
    assert isinstance(decision, Clarify)
    assert workdir in decision.question
    assert [option.patch for option in decision.options] == [
        {"workdir": "/srv/app"},
        {"workdir": "/opt/tools"},
    ]
    assert decision.free == "workdir"
    assert decision.slots["workdir"] == workdir


@pytest.mark.parametrize(
    "workdir", ["", "/srv/app", "/srv/app/", "/srv//app/x", "/srv/app/x/../y", "/opt/tools"]
)
def test_a_folder_inside_is_kept_as_it_was_said(workdir: str) -> None:
    decision = _resolve("ls", workdir=workdir)
    assert isinstance(decision, Allow)
    assert decision.slots["workdir"] == workdir


def test_with_no_folder_known_any_is_asked_about() -> None:
    decision = resolve({"command": "ls", "workdir": "/srv"}, rules=RULES, roots=())
    assert isinstance(decision, Clarify)
    assert not decision.options
    assert decision.free == "workdir"


def test_no_more_folders_are_offered_than_fit_a_card() -> None:
    many = [f"/srv/{name}" for name in "abcdefg"]
    decision = resolve({"command": "ls", "workdir": "/x"}, rules=RULES, roots=many)
    assert isinstance(decision, Clarify)
    assert [option.label for option in decision.options] == many[:5]


def test_never_comes_before_where() -> None:
    assert isinstance(_resolve("rm -rf /", workdir="/etc"), Deny)


@pytest.mark.parametrize(
    ("path", "root", "within"),
    [
        ("/srv", "/", True),
        ("/", "/srv", False),
        ("~", "~", True),
        ("x", "~", True),
        ("~kim/x", "~", False),
        ("~/../kim", "~", False),
        ("../kim", "~", False),
        ("~/srv", "/", False),
    ],
)
def test_within_goes_by_whole_parts(path: str, root: str, *, within: bool) -> None:
    assert is_within(path, root) == within


_PARTS = st.lists(st.sampled_from(["a", "b", "a-evil", "..", ".", ""]), max_size=5)


@given(_PARTS)
def test_nothing_leaves_a_root_by_detours(parts: list[str]) -> None:
    where = ["r"]
    for part in parts:
        where = where[:-1] if part == ".." else where + [part] * (part not in ("", "."))
    assert is_within("/r/" + "/".join(parts), "/r") == (where[:1] == ["r"])
