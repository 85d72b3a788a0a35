"""What an agent asks for becomes an ordinary proposal, or is denied (N5 to N8, C4, D20)."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from bot.delegates import limits
from bot.delegates.delegate import Quota
from bot.ports import Ended, EndKind, OutputSink
from gate.domain import Action, ActionId, Risk, Target, TargetId
from gate.resolve.decision import Act
from tests.bot.delegates.asking import ANA, asking, delegate
from tests.kit import START

MUTATION = "touch /tmp/sayso-agent-was-here"


async def test_certain_reading_runs_at_once_and_is_shown(tmp_path: Path) -> None:
    async with asking(tmp_path) as it:
        answer = await it.run("echo hello")
        assert answer.data["state"] == "succeeded"
        assert answer.data["actions"][0]["untrusted_output"] == "hello\n"
        assert 'asked by agent claude: "to look"' in await it.seen()
        assert it.kit.states() == ["succeeded"]


async def test_everything_else_waits_and_is_approved_by_a_person(tmp_path: Path) -> None:
    async with asking(tmp_path) as it:
        answer = await it.run(f"touch {tmp_path}/there", purpose="mark it", task="issue 7")
        assert answer.data["state"] == "pending"
        assert not answer.is_refusal
        assert 'asked by agent claude: "mark it (task: issue 7)"' in await it.seen()
        assert not (tmp_path / "there").exists()
        await it.kit.say(f"approve {answer.data['id']}")
        done = await it.result(answer.data["id"])
        assert done.data["state"] == "succeeded"
        assert done.data["decision"] == {"by": "ana", "how": "granted"}
        assert (tmp_path / "there").exists()


async def test_bare_words_are_no_answer_to_what_an_agent_asked(tmp_path: Path) -> None:
    async with asking(tmp_path) as it:
        answer = await it.run(MUTATION)
        said = await it.kit.say("go ahead")
        assert "Nothing ran" in said
        assert (await it.result(answer.data["id"])).data["state"] == "pending"


async def test_a_no_tells_the_agent_who_and_why(tmp_path: Path) -> None:
    async with asking(tmp_path) as it:
        answer = await it.run(MUTATION)
        await it.kit.say(f"deny {answer.data['id']} because the backup runs")
        told = await it.result(answer.data["id"])
        assert told.data["state"] == "refused"
        assert told.data["decision"] == {"by": "ana", "how": "refused", "reason": "the backup runs"}
        assert told.is_over


async def test_what_nobody_answers_expires(tmp_path: Path) -> None:
    async with asking(tmp_path) as it:
        answer = await it.run(MUTATION)
        it.kit.clock.advance(3600)
        await it.kit.look()
        assert (await it.result(answer.data["id"])).data["state"] == "expired"


async def test_an_agent_takes_back_its_own_only(tmp_path: Path) -> None:
    async with asking(tmp_path, delegate(), delegate("other")) as it:
        answer = await it.run(MUTATION)
        name = answer.data["id"]
        others = await it.desk.cancel("other", name)
        assert others.is_refusal
        assert others.text == (await it.desk.cancel("other", "zzzzzz")).text.replace("zzzzzz", name)
        assert (await it.desk.cancel("claude", f"#{name}")).data["state"] == "cancelled"
        assert it.kit.states(name) == ["cancelled"]
        assert (await it.desk.cancel("claude", name)).is_refusal


@pytest.mark.parametrize(
    ("changes", "command", "target"),
    [
        ({"targets": frozenset({TargetId("web2")})}, "uptime", "web1"),
        ({"max_risk": Risk.READ_ONLY}, MUTATION, "web1"),
        ({"denied": frozenset({Act.EXEC})}, "uptime", "web1"),
        ({"expires_at": START - timedelta(seconds=1)}, "uptime", "web1"),
    ],
)
async def test_out_of_scope_is_denied_recorded_and_shown_to_nobody(
    tmp_path: Path, changes: dict[str, object], command: str, target: str
) -> None:
    async with asking(tmp_path, delegate(**changes)) as it:
        answer = await it.run(command, target=target)
        assert answer.is_refusal
        assert answer.data["code"] == "out_of_scope"
        assert it.kit.kinds()[-2:] == ["request:denied", "delegate:asked"]
        assert await it.seen() == ""


async def test_unknown_targets_and_those_of_others_sound_alike(tmp_path: Path) -> None:
    async with asking(tmp_path, delegate(targets=frozenset({TargetId("web2")}))) as it:
        known, unknown = await it.run("uptime"), await it.run("uptime", target="web9")
        assert known.text.replace("web1", "web9") == unknown.text
        assert known.data == unknown.data


@pytest.mark.parametrize(("spoken", "named"), [("@web", "@web"), ("all", "all"), ("web2, @web", "@web")])
async def test_a_group_tells_no_names_of_what_is_not_the_agents(
    tmp_path: Path, spoken: str, named: str
) -> None:
    async with asking(tmp_path, delegate(targets=frozenset({TargetId("web2")}))) as it:
        answer = await it.run("uptime", target=spoken)
        assert answer.is_refusal
        assert answer.text == f"Not asked for: {named} is no target of yours. targets lists them."
        assert answer.data["code"] == "out_of_scope"


@pytest.mark.parametrize("purpose", ["", "  \n"])
async def test_no_purpose_is_denied(tmp_path: Path, purpose: str) -> None:
    async with asking(tmp_path) as it:
        answer = await it.run("uptime", purpose=purpose)
        assert answer.data["code"] == "empty_purpose"


@pytest.mark.parametrize("declared", ["config_mutation", "whatever"])
async def test_a_declared_risk_can_only_make_it_stricter(tmp_path: Path, declared: str) -> None:
    async with asking(tmp_path) as it:
        assert (await it.run("uptime", declared_risk=declared)).data["state"] == "pending"


async def test_a_declared_risk_makes_nothing_harmless(tmp_path: Path) -> None:
    async with asking(tmp_path) as it:
        assert (await it.run(MUTATION, declared_risk="read_only")).data["state"] == "pending"


async def test_the_never_list_is_denied_before_any_card(tmp_path: Path) -> None:
    async with asking(tmp_path, delegate(max_risk=Risk.DESTRUCTIVE)) as it:
        answer = await it.run("rm -rf /")
        assert answer.data["code"] == "never_list"
        assert await it.seen() == ""


async def test_destruction_for_somebody_needs_somebody_else(tmp_path: Path) -> None:
    agent = delegate(max_risk=Risk.DESTRUCTIVE, on_behalf=ANA.id)
    async with asking(tmp_path, agent) as it:
        answer = await it.run("rm -rf /srv/old")
        assert "asked by agent claude (for ana)" in await it.seen()
        phrase = "delete /srv/old on web1"
        assert phrase in await it.seen()
        await it.kit.say(phrase)
        assert (await it.result(answer.data["id"])).data["state"] == "pending"
        await it.kit.say(phrase, by="kim")
        assert (await it.result(answer.data["id"])).data["state"] != "pending"


async def test_requests_of_an_hour_are_counted_over_restarts(tmp_path: Path) -> None:
    agent = delegate(quota=Quota(per_hour=2, pending=5))
    async with asking(tmp_path, agent) as it:
        await it.run("uptime")
        clock = it.kit.clock
    async with asking(tmp_path, agent, clock=clock) as it:
        assert (await it.run("uptime", target="web9")).is_refusal  # what is denied counts too
        answer = await it.run("uptime")
        assert answer.data["code"] == "over_quota"
        before = len(it.kit.kinds())
        assert (await it.run("uptime")).data["code"] == "over_quota"
        assert len(it.kit.kinds()) == before  # one too many is recorded once
        clock.advance(3601)
        assert not (await it.run("uptime")).is_refusal


async def test_only_so_much_waits_at_a_time(tmp_path: Path) -> None:
    agent = delegate(quota=Quota(per_hour=50, pending=1))
    async with asking(tmp_path, agent) as it:
        first = await it.run(MUTATION)
        second = await it.run(f"{MUTATION}-2")
        assert second.data["code"] == "over_quota"
        assert f"#{first.data['id']}" in second.text
        assert (await it.run("uptime")).data["state"] == "succeeded"  # reading waits for nobody
        await it.desk.cancel("claude", first.data["id"])
        assert (await it.run(f"{MUTATION}-2")).data["state"] == "pending"


async def test_the_same_said_twice_is_asked_once(tmp_path: Path) -> None:
    async with asking(tmp_path) as it:
        first, second = await it.run(MUTATION), await it.run(MUTATION)
        assert first.data["id"] == second.data["id"]
        assert it.kit.kinds().count("proposal:made") == 1


async def test_what_was_approved_for_an_agent_that_is_gone_does_not_start(tmp_path: Path) -> None:
    async with asking(tmp_path) as it:
        answer = await it.run(f"touch {tmp_path}/there")
        clock = it.kit.clock
    async with asking(tmp_path, delegate("other"), clock=clock) as it:
        await it.kit.say(f"approve {answer.data['id']}")
        await it.kit.at_rest()
        ending = it.kit.core.queries.action(ActionId(f"{answer.data['id']}.1")).ending
        assert ending is not None
        assert "not in the config any more" in ending.note
        assert not (tmp_path / "there").exists()


async def test_a_switch_holds_back_agents_too(tmp_path: Path) -> None:
    async with asking(tmp_path) as it:
        await it.kit.say("auto off")
        assert (await it.run("uptime")).data["state"] == "pending"
        await it.kit.say("stop")
        assert "stopped" in (await it.desk.status("claude", "")).text


async def test_nobody_asks_under_a_name_that_the_config_does_not_know(tmp_path: Path) -> None:
    async with asking(tmp_path) as it:
        answer = await it.run("uptime", agent="ana")
        assert answer.is_refusal
        assert "delegate:asked" not in it.kit.kinds()


async def test_several_targets_are_one_card(tmp_path: Path) -> None:
    async with asking(tmp_path) as it:
        answer = await it.run("uptime", target="@web")
        assert [one["target"] for one in answer.data["actions"]] == ["web1", "web2"]
        assert answer.data["state"] == "succeeded"


async def test_a_quiet_agent_shows_what_waits_only(tmp_path: Path) -> None:
    async with asking(tmp_path, replace(delegate(), quiet=True)) as it:
        await it.run("uptime")
        assert await it.seen() == ""
        await it.run(MUTATION)
        assert "asked by agent claude" in await it.seen()


async def test_only_so_much_runs_at_a_time(tmp_path: Path) -> None:
    held = Held()
    async with asking(tmp_path, executor=lambda _inventory: held) as it:
        names = [f"echo {number}" for number in range(limits.MOST_RUNNING)]
        running = [asyncio.ensure_future(it.run(name)) for name in names]
        while len(held.ran) < limits.MOST_RUNNING:  # noqa: ASYNC110  # threads are part of it
            await asyncio.sleep(0.01)
        over = await it.run("echo more")
        assert over.data["code"] == "over_quota"
        held.go.set()
        answers = [one.data["state"] for one in await asyncio.gather(*running)]
        assert answers == ["succeeded"] * limits.MOST_RUNNING
        assert (await it.run("echo more")).data["state"] == "succeeded"


async def test_a_name_that_there_is_not_is_cut_and_shown_whole_nowhere(tmp_path: Path) -> None:
    async with asking(tmp_path) as it:
        answer = await it.run("uptime", target="password=hunter2\u202e" * 50)
        assert len(answer.text) < 200
        assert "\u202e" not in answer.text


class Held:
    """An executor whose commands end when they are let."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.go = asyncio.Event()

    async def identify(self, target: Target) -> Target:
        return target

    async def run(
        self, action: Action, *, on_output: OutputSink, cancel: asyncio.Event, reads: bool = False
    ) -> Ended:
        self.ran.append(action.command)
        await self.go.wait()
        return Ended(kind=EndKind.EXITED, exit_code=0)

    async def close(self) -> None:
        return
