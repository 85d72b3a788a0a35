"""What a run needs is asked for until nothing is missing, and nothing is run before."""

from pathlib import Path

import pytest

from bot import asking
from bot.answering import Speaker
from bot.core import Core
from bot.outcome import Outcome
from bot.planning import runbooks
from bot.planning.drafts import RunbookPlan
from tests.kit import Kit, conversation, person
from tests.runbooks import DISK, FIND, PROVISION, ROTATE, library_of

LIBRARY = library_of(PROVISION, ROTATE, FIND, DISK)
ASK = "provision a container with nginx on web1"
Begun = list[tuple[str, str]]


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> Begun:
    """Runs that were begun: the whole request of each, and what it was asked for in."""
    runs: Begun = []

    def start(_core: Core, _outcome: Outcome, _speaker: Speaker, plan: RunbookPlan, *, said: str) -> None:
        runs.append((runbooks.request(plan), said))

    monkeypatch.setattr(asking.runner, "start", start)
    return runs


def labels(kit: Kit) -> list[str]:
    return [button.label for button in kit.card.message.buttons]


async def test_inputs_are_asked_one_at_a_time_and_the_whole_is_begun(tmp_path: Path, begun: Begun) -> None:
    async with conversation(tmp_path, library=LIBRARY) as kit:
        said = await kit.say(ASK)
        assert "hostname: name of the new machine, a host name or an address" in said
        assert "vmid: a whole number from 100 to 999999999" in said
        assert "first hostname" in said
        assert "vmid=…" in said
        assert "Which vmid" not in said
        said = await kit.say("web7")
        assert "first vmid" in said
        said = await kit.say("120")
        assert "Which size? One of small, large." in said
        assert labels(kit) == ["small", "large", "Cancel"]
        assert begun == []
        await kit.press(kit.card, "large")
    whole = "run runbook provision on web1 with package=nginx, hostname=web7, vmid=120, size=large"
    assert begun == [(whole, ASK)]


async def test_inputs_may_be_said_by_name_in_one_message(tmp_path: Path, begun: Begun) -> None:
    async with conversation(tmp_path, library=LIBRARY) as kit:
        await kit.say(ASK)
        await kit.say("vmid=120, hostname=web7, size=small")
    (run,) = begun
    assert run[0].endswith("with package=nginx, vmid=120, hostname=web7, size=small")


async def test_inputs_are_asked_in_one_form(tmp_path: Path, begun: Begun) -> None:
    async with conversation(tmp_path, library=LIBRARY) as kit:
        await kit.say(ASK)
        question = kit.card
        form = await kit.form(question, "Fill in")
        assert form is not None
        assert form.initial == "hostname: \nvmid: \nsize: "
        assert form.lines
        assert len(form.title) <= 24
        assert len(form.token) <= 32
        await kit.fill(form, "hostname: web7\nvmid: 120\nsize: small\n")
        assert "answered" in question.text
        assert question.message.buttons == ()
        assert await kit.fill(form, "hostname: web8") != ""
        assert "not open any more" in kit.port.notes[-1][1]
    (run,) = begun
    assert run == (
        "run runbook provision on web1 with package=nginx, hostname=web7, vmid=120, size=small",
        ASK,
    )


async def test_an_answer_that_does_not_fit_is_asked_again_with_what_it_has_to_be(
    tmp_path: Path, begun: Begun
) -> None:
    async with conversation(tmp_path, library=LIBRARY) as kit:
        await kit.say(ASK + " with hostname=web7, size=small")
        said = await kit.say("99")
        assert "vmid does not fit. It has to be a whole number from 100 to 999999999." in said
        assert "Which vmid?" in said
        said = await kit.say("$(reboot)")
        assert "vmid does not fit" in said
        assert begun == []
        await kit.say("100")
    assert begun[0][0].endswith("with package=nginx, hostname=web7, size=small, vmid=100")


async def test_an_optional_value_that_does_not_fit_never_becomes_its_default(
    tmp_path: Path, begun: Begun
) -> None:
    async with conversation(tmp_path, library=LIBRARY) as kit:
        said = await kit.say(ASK + " with hostname=web7, size=small, vmid=120, start=maybe")
        assert "start does not fit. It has to be true or false. Nothing ran." in said
    assert begun == []


async def test_no_answer_is_a_yes_and_cancel_drops_it(tmp_path: Path, begun: Begun) -> None:
    async with conversation(tmp_path, library=LIBRARY) as kit:
        await kit.say(ASK)
        assert "Nothing was done" in await kit.say("yes")
        assert "Dropped" in await kit.say("cancel")
        await kit.say("web7")
    assert begun == []


async def test_another_request_takes_the_place_of_the_question(tmp_path: Path, begun: Begun) -> None:
    async with conversation(tmp_path, library=LIBRARY) as kit:
        await kit.say(ASK)
        question = kit.card
        said = await kit.say("find a free vmid")
        assert "something else was asked" in question.text
        assert said
    assert [request for request, _ in begun] == ["run runbook free-vmid"]


async def test_the_question_is_only_its_askers(tmp_path: Path, begun: Begun) -> None:
    async with conversation(tmp_path, operators=(person("ana"), person("ben")), library=LIBRARY) as kit:
        await kit.say(ASK + " with vmid=120, size=small")
        await kit.say("web7", by="ben")
        assert begun == []
        await kit.say("rotate the database password on web1")
        question = kit.card
        assert await kit.form(question, "Fill in", by="ben") is None
        assert "ana's" in kit.port.notes[-1][1]
    assert begun == []


async def test_a_run_is_on_one_target(tmp_path: Path, begun: Begun) -> None:
    whole = " with vmid=120, hostname=web7, size=small"
    async with conversation(tmp_path, library=LIBRARY) as kit:
        assert "On which target?" in await kit.say("new container with nginx" + whole)
        assert labels(kit) == ["local", "web1", "web2", "Cancel"]
        await kit.say("web2")
        assert "A run is on one target." in await kit.say("new container with nginx on @web" + whole)
        assert labels(kit) == ["web1", "web2", "Cancel"]
        await kit.press(kit.card, "web1")
        said = await kit.say("new container with nginx on web9" + whole)
        assert "web9" in said
    assert [request.split(" with ")[0] for request, _ in begun] == [
        "run runbook provision on web2",
        "run runbook provision on web1",
    ]


async def test_a_target_may_be_said_in_words(tmp_path: Path, begun: Begun) -> None:
    async with conversation(tmp_path, library=LIBRARY) as kit:
        await kit.say("new container with nginx with vmid=120, hostname=web7, size=small")
        assert "web99" in await kit.say("web99")
        assert begun == []


async def test_a_run_whose_steps_name_their_targets_needs_none(tmp_path: Path, begun: Begun) -> None:
    async with conversation(tmp_path, library=LIBRARY) as kit:
        await kit.say("find a free vmid")
    assert begun == [("run runbook free-vmid", "find a free vmid")]


async def test_a_restart_keeps_what_was_said(tmp_path: Path, begun: Begun) -> None:
    async with conversation(tmp_path, library=LIBRARY) as kit:
        await kit.say(ASK + " with vmid=120, size=small")
    async with conversation(tmp_path, library=LIBRARY) as kit:
        await kit.say("web7")
    assert begun[0][0].endswith("with package=nginx, vmid=120, size=small, hostname=web7")


async def test_a_runbook_that_is_gone_is_not_run(tmp_path: Path, begun: Begun) -> None:
    async with conversation(tmp_path, library=LIBRARY) as kit:
        await kit.say(ASK + " with vmid=120, size=small")
    async with conversation(tmp_path, library=library_of(DISK)) as kit:
        assert "not open any more" in await kit.say("web7")
    assert begun == []


# ---------------------------------------------------------------- secrets

SECRET = "tr0ub4dor & 3"


async def test_a_secret_is_asked_for_in_a_form(tmp_path: Path, begun: Begun) -> None:
    async with conversation(tmp_path, library=LIBRARY) as kit:
        said = await kit.say("rotate the database password on web1")
        assert "secret" in said
        assert "direct message" in said
        assert labels(kit) == ["Fill in", "Cancel"]
        form = await kit.form(kit.card, "Fill in")
        said = await kit.fill(form, SECRET)
        assert SECRET not in said
        assert all(SECRET not in one.text for one in kit.port.screen.values())
    ((request, said),) = begun
    assert request == f'run runbook rotate on web1 with password="{SECRET}"'
    assert SECRET not in said


async def test_a_secret_that_was_said_in_the_open_is_not_used(tmp_path: Path, begun: Begun) -> None:
    async with conversation(tmp_path, library=LIBRARY) as kit:
        await kit.say("rotate the database password on web1")
        assert "was not used" in await kit.say(f'password="{SECRET}"')
        said = await kit.say(f'run runbook rotate on web1 with password="{SECRET}"')
        assert "was not used" in said
        assert SECRET not in said
    assert begun == []


@pytest.mark.parametrize("said", [r"pa\"ss word", r"pa\u0073s word", r"back\\slash"])
async def test_a_secret_in_the_open_is_known_however_it_was_written(
    tmp_path: Path, begun: Begun, said: str
) -> None:
    async with conversation(tmp_path, library=LIBRARY) as kit:
        for request in (
            f'run runbook rotate on web1 with password="{said}"',
            f'rotate the database password on web1 with password="{said}"',
        ):
            assert "was not used" in await kit.say(request)
    assert begun == []


async def test_a_secret_is_taken_where_nobody_else_listens(tmp_path: Path, begun: Begun) -> None:
    async with conversation(tmp_path, library=LIBRARY) as kit:
        assert "Which password?" in await kit.say("rotate the database password on web1", place="ana-dm")
        said = await kit.say(SECRET, place="ana-dm")
        assert SECRET not in said
        await kit.say(f'run runbook rotate on web1 with user=web, password="{SECRET}"', place="ana-dm")
    assert [request for request, _ in begun] == [
        f'run runbook rotate on web1 with password="{SECRET}"',
        f'run runbook rotate on web1 with user=web, password="{SECRET}"',
    ]
    assert all(SECRET not in said for _, said in begun)
