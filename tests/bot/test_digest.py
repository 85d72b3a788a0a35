"""The digest: said by itself when a task of several actions is over, and what it counts."""

import asyncio
from pathlib import Path

from bot.ports import Ended, EndKind, OutputSink
from gate.domain import Action, Target
from tests.bot.fanout.fleet import ends, fleet
from tests.kit import Kit, conversation


class Ends:
    """An executor whose commands end as their last word says."""

    def __init__(self, _inventory: object) -> None:
        self.ran: list[str] = []

    async def identify(self, target: Target) -> Target:
        return target

    async def run(
        self, action: Action, *, on_output: OutputSink, cancel: asyncio.Event, reads: bool = False
    ) -> Ended:
        self.ran.append(action.command)
        match action.command.rpartition(" ")[2]:
            case "unreached":
                return Ended(kind=EndKind.NOT_STARTED, note="no route to host", cause="unreachable")
            case "lost":
                return Ended(kind=EndKind.LOST, note="the connection broke")
            case "broken":
                return Ended(kind=EndKind.EXITED, exit_code=1)
            case _:
                return Ended(kind=EndKind.EXITED, exit_code=0)

    async def close(self) -> None:
        return


def digests(kit: Kit) -> list[str]:
    return [one.text for one in kit.port.screen.values() if "changed: " in one.text]


async def test_a_task_of_two_actions_ends_with_its_digest(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        await kit.say("on web1: systemctl restart caddy\non web2: systemctl restart caddy")
        assert digests(kit) == []
        kit.clock.advance(60)
        await kit.say("go ahead")
        (said,) = digests(kit)
        assert said.startswith("14:00-14:01: 2 commands · 2 approved\nchanged: web1, web2 · open: none")
        assert "root " in said
        await kit.say("pending")
        assert len(digests(kit)) == 1


async def test_a_single_action_has_no_digest(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        await kit.say("run systemctl restart caddy on web1")
        await kit.say("go ahead")
        assert digests(kit) == []


async def test_the_digest_opens_and_closes_no_window(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        await kit.say("on web1: systemctl restart caddy\non web2: systemctl restart caddy")
        first = kit.newest_id()
        await kit.say("run systemctl restart nginx on web1")
        await kit.say(f"approve {first}", place="elsewhere")
        assert len(digests(kit)) == 1
        await kit.say("go ahead")
        assert kit.states() == ["succeeded"]


async def test_a_refusal_of_what_is_left_ends_the_task(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        await kit.say("on web1: systemctl restart broken\non web2: systemctl restart caddy")
        await kit.say("go ahead")
        assert kit.states() == ["failed", "waiting"]
        assert digests(kit) == []
        await kit.say("no")
        (said,) = digests(kit)
        assert "1 command · 1 approved, 1 refused · 1 failed" in said
        assert "changed: web1 ·" in said


async def test_an_expiry_of_what_is_left_ends_the_task(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        await kit.say("on web1: systemctl restart broken\non web2: systemctl restart caddy")
        await kit.say("go ahead")
        kit.clock.advance(1000)
        await kit.look()
        (said,) = digests(kit)
        assert "1 expired" in said


async def test_what_the_last_process_left_open_is_told_by_the_next(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        await kit.say("on web1: systemctl restart broken\non web2: systemctl restart caddy")
        await kit.say("go ahead")
    async with conversation(tmp_path, executor=Ends, clock=kit.clock) as kit:
        await kit.say(f"deny {kit.newest_id()}")
        assert len(digests(kit)) == 1


async def test_what_never_ran_changed_nothing(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        await kit.say("run systemctl restart unreached on web1")
        await kit.say("go ahead")
        assert kit.states() == ["failed"]
        assert "changed: nothing" in await kit.say("what did you do?")


async def test_what_is_settled_as_not_run_changed_nothing(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        await kit.say("run systemctl restart lost on web1")
        await kit.say("go ahead")
        ref = kit.newest_id()
        said = await kit.say("what did you do?")
        assert "1 lost" in said
        assert f"changed: web1 · open: none · unknown: #{ref}.1" in said
        await kit.say(f"settle {ref} did-not-run, because the log is empty")
        assert "changed: nothing · open: none · unknown: none" in await kit.say("what did you do?")


async def test_a_fan_out_has_one_digest_however_many_of_it_end_at_once(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(40), executor=ends(web7="failed")) as kit:
        await kit.say("on @web: uptime")
        await kit.at_rest()
        await kit.say("pending")
        (said,) = digests(kit)
        assert said.startswith("14:00: 40 commands · 40 at once · 1 failed")
