import asyncio
from dataclasses import dataclass, field
from pathlib import Path

from bot.execution.settle import boot_id, settle_reboot, settle_verify
from bot.inventory import TargetConfig
from bot.ports import Captured, Ended, EndKind, OutputSink
from gate.domain import Action, Target, TargetId, TargetKind
from tests.bot.execution.conftest import MakeFleet
from tests.sshd import prepare, started

BOOT_ID = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
HOST = Target(id=TargetId("host"), kind=TargetKind.SSH, address="host")
AWAY = Ended(kind=EndKind.NOT_STARTED, cause="refused", note="refused")


def _answer(text: str, code: int = 0) -> Ended:
    return Ended(kind=EndKind.EXITED, exit_code=code, output=Captured(head=text.encode(), total=len(text)))


@dataclass
class Scripted:
    """An executor that gives prepared ends, the last one for ever."""

    ends: list[Ended]
    asked: list[str] = field(default_factory=list)

    async def identify(self, target: Target) -> Target:
        return target

    async def run(
        self, action: Action, *, on_output: OutputSink, cancel: asyncio.Event, reads: bool = False
    ) -> Ended:
        self.asked.append(action.command)
        return self.ends.pop(0) if len(self.ends) > 1 else self.ends[0]

    async def close(self) -> None:
        self.ends.clear()


async def _at_once(seconds: float) -> None:
    assert seconds > 0


async def test_a_new_boot_id_is_success_however_long_it_was_away() -> None:
    executor = Scripted([_answer("old"), AWAY, AWAY, _answer("new\n")])
    ended = await settle_reboot(executor, HOST, before="old", sleep=_at_once)
    assert ended is not None
    assert (ended.kind, ended.exit_code) == (EndKind.EXITED, 0)
    assert set(executor.asked) == {"cat /proc/sys/kernel/random/boot_id"}


async def test_the_same_boot_id_to_the_end_is_failure() -> None:
    ended = await settle_reboot(Scripted([AWAY, _answer("old")]), HOST, before="old", sleep=_at_once)
    assert ended is not None
    assert ended.exit_code == 1


async def test_what_stays_away_cannot_be_told() -> None:
    assert await settle_reboot(Scripted([AWAY]), HOST, before="old", sleep=_at_once) is None


async def test_an_answer_that_was_the_last_before_it_went_away_tells_nothing() -> None:
    assert await settle_reboot(Scripted([_answer("old"), AWAY]), HOST, before="old", sleep=_at_once) is None


async def test_without_the_boot_id_from_before_nothing_can_be_told() -> None:
    executor = Scripted([_answer("new")])
    assert await settle_reboot(executor, HOST, before=None, sleep=_at_once) is None
    assert executor.asked == []


async def test_a_failed_or_empty_answer_is_no_boot_id() -> None:
    assert await boot_id(Scripted([_answer("oops", 1)]), HOST) is None
    assert await boot_id(Scripted([_answer("")]), HOST) is None


async def test_the_verify_command_settles_after_reconnecting() -> None:
    executor = Scripted([AWAY, _answer("inactive", 3)])
    ended = await settle_verify(executor, HOST, verify="systemctl is-active x", sleep=_at_once)
    assert ended is not None
    assert (ended.exit_code, ended.output.head) == (3, b"inactive")


async def test_a_refused_connection_is_the_success_of_stopping_ssh_only() -> None:
    ended = await settle_verify(Scripted([AWAY]), HOST, verify="x", refused_is_success=True, sleep=_at_once)
    assert ended is not None
    assert ended.exit_code == 0
    assert await settle_verify(Scripted([AWAY]), HOST, verify="x", sleep=_at_once) is None


async def test_a_real_server_that_restarted_under_the_same_boot_is_no_reboot(
    make_fleet: MakeFleet, tmp_path: Path
) -> None:
    server = prepare(tmp_path / "own")
    fleet = make_fleet(config=server.config, box=TargetConfig())
    target = fleet.inventory.targets[TargetId("box")]
    with started(server):
        before = await boot_id(fleet.executor, target)
    assert before == BOOT_ID
    assert await settle_reboot(fleet.executor, target, before=before, wait_s=0) is None
    with started(server):
        ended = await settle_reboot(fleet.executor, target, before=before, wait_s=0)
        assert ended is not None
        assert ended.exit_code == 1
        other = await settle_reboot(fleet.executor, target, before="another boot", wait_s=0)
        assert other is not None
        assert other.exit_code == 0
