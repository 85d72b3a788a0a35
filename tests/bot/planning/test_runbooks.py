"""A request finds a runbook by its title, its alias or its id, and fills its inputs from the words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.planning import runbooks
from bot.planning.drafts import Outcome, Plan, Question, RunbookPlan
from bot.planning.grammar import Known
from bot.planning.plan import plan
from tests.runbooks import DISK, FIND, PROVISION, ROTATE, library_of

LIBRARY = library_of(PROVISION, ROTATE, FIND, DISK)
TARGETS = ("web1", "pve1", "pve2")


def read(text: str, *, targets: tuple[str, ...] = TARGETS) -> Outcome:
    return plan(text, targets=targets, tags=("pve",), services={}, library=LIBRARY)


def found(text: str) -> RunbookPlan:
    outcome = read(text)
    assert isinstance(outcome, RunbookPlan), outcome
    return outcome


@pytest.mark.parametrize(
    "text",
    [
        "provision a container with nginx on pve1",
        "Please provision a container with nginx on pve1!",
        "sayso, provision container with nginx on PVE1",
        "new container with nginx on pve1",
        "run runbook provision on pve1 with package=nginx",
        "please run the runbook provision with package=nginx on pve1.",
    ],
)
def test_words_find_the_runbook_and_fill_what_they_hold(text: str) -> None:
    plan_ = found(text)
    assert plan_.document.id == "provision"
    assert dict(plan_.inputs) == {"package": "nginx"}
    assert plan_.target_words == ("pve1",)
    assert plan_.missing == ("hostname", "vmid", "size")
    assert plan_.confidence == 1


def test_values_may_be_said_by_name_behind_a_sentence() -> None:
    plan_ = found('provision a container with nginx on pve1 with vmid=120, hostname=web7 and note="one two"')
    assert dict(plan_.inputs) == {"package": "nginx", "vmid": "120", "hostname": "web7", "note": "one two"}
    assert plan_.missing == ("size",)
    assert found("new container with nginx with vmid=7120 on pve2").target_words == ("pve2",)


def test_a_title_without_its_value_still_names_the_runbook() -> None:
    plan_ = found("provision a container on pve1")
    assert dict(plan_.inputs) == {}
    assert "package" in plan_.missing


def test_a_value_that_does_not_fit_is_told_apart() -> None:
    plan_ = found("run runbook provision on pve1 with vmid=99, package=nginx")
    assert plan_.wrong == ("vmid",)
    assert "vmid" in plan_.missing
    assert dict(plan_.inputs) == {"package": "nginx"}


def test_what_a_step_finds_out_is_not_missing() -> None:
    assert found("find a free vmid").missing == ()


@pytest.mark.parametrize(
    "text",
    [
        "how do I provision a container with nginx on pve1?",
        "don't provision a container with nginx on pve1",
        "provision no container with nginx on pve1",
        "should we provision a container with nginx on pve1",
        "provison a contaner with nginx on pve1",
        "container nginx",
    ],
)
def test_what_is_only_like_it_is_no_run(text: str) -> None:
    assert not isinstance(read(text), RunbookPlan)


def test_something_like_it_is_asked_about() -> None:
    outcome = read("provison a contaner with nginx on pve1")
    assert isinstance(outcome, Question)
    option = outcome.options[0]
    assert option.request == "run runbook provision on pve1 with package=nginx"
    assert option.label == "provision a container with nginx on pve1 (runbook provision)"


def test_a_plain_document_keeps_going_its_way() -> None:
    assert isinstance(read("disk space on web1"), Plan)
    outcome = read("run runbook disk on web1")
    assert isinstance(outcome, Plan)
    assert [(draft.command, draft.target_words) for draft in outcome.drafts] == [("df -hT", ("web1",))]
    assert isinstance(read("run runbook disk with ghost=1"), Question)
    where = read("run runbook disk", targets=("web1", "web2"))
    assert isinstance(where, Question)
    assert [option.request for option in where.options] == [
        "run runbook disk on web1",
        "run runbook disk on web2",
    ]


@pytest.mark.parametrize("text", ["run provision on pve1", "run provision a container with nginx on pve1"])
def test_what_could_be_a_command_too_is_asked(text: str) -> None:
    outcome = read(text)
    assert isinstance(outcome, Question)
    assert [option.request.split(" with ")[0] for option in outcome.options] == [
        "run runbook provision on pve1",
        "`provision` on pve1" if text == "run provision on pve1" else "`provision a container",
    ]


def test_several_requests_with_a_runbook_among_them_are_asked_one_by_one() -> None:
    outcome = read("disk space on web1 and rotate the database password on web1")
    assert isinstance(outcome, Question)
    assert [option.request for option in outcome.options] == [
        "disk space on web1",
        "run runbook rotate on web1",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("run runbook provisoin", "no runbook provisoin"),
        ("run runbook provision on pve1 with ghost=1", "no input ghost"),
        ("run runbook provision on pve1 with a=", "unclear"),
        ("run runbook provision on pve1 and reboot it", "unclear"),
        ("run runbook provision on pve1 with vmid=1, vmid=2", "unclear"),
        ('run runbook provision with note="never closed', "unclear"),
    ],
)
def test_what_is_written_wrongly_runs_nothing(text: str, said: str) -> None:
    outcome = read(text)
    assert isinstance(outcome, Question)
    assert said in outcome.text


def test_a_misspelt_id_offers_the_nearest() -> None:
    outcome = read("run runbook provisoin")
    assert isinstance(outcome, Question)
    assert outcome.options[0].request == "run runbook provision"


values = st.dictionaries(
    st.sampled_from(["package", "hostname", "vmid", "size", "note"]),
    st.text(min_size=1, max_size=60),
    max_size=5,
)


@given(values)
def test_a_written_request_reads_back_as_the_same(said: dict[str, str]) -> None:
    text = runbooks.written(LIBRARY.documents["provision"], said, targets=("pve1",))
    outcome = runbooks.parse(text, library=LIBRARY, known=Known(targets=TARGETS))
    assert isinstance(outcome, RunbookPlan)
    assert outcome.target_words == ("pve1",)
    inputs = outcome.document.inputs
    assert dict(outcome.inputs) == {
        name: value for name, value in said.items() if inputs[name].accepts(value)
    }
    assert set(outcome.wrong) == set(said) - set(outcome.inputs)


def test_secrets_are_masked_where_a_request_is_shown() -> None:
    plan_ = found('run runbook rotate on web1 with password="tr0ub4dor & 3"')
    assert plan_.inputs["password"] == "tr0ub4dor & 3"
    assert runbooks.shown(plan_) == 'run runbook rotate on web1 with password="***"'


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("vmid=120, hostname=web7", {"vmid": "120", "hostname": "web7"}),
        ("vmid: 120\nnote: some words here\nhostname:\n", {"vmid": "120", "note": "some words here"}),
        ('note="a\nb"', {"note": "a\nb"}),
        ("note=\u201ctwo words\u201d", {"note": "two words"}),
        ("note='it is'", {"note": "it is"}),
        ("web7", {}),
        ("call it web7", {}),
        ("https://example.org/x", {"https": "//example.org/x"}),
    ],
)
def test_values_by_name(text: str, named: dict[str, str]) -> None:
    assert dict(runbooks.said_by_name(text)) == named
