"""A fan-out over SSH of which some refuse, hang, drop in mid-command or flood: each ends as it should.

One real run over logical hosts of a private sshd, looked at from all sides: states, order of ends, memory and
what the card says. The same at full size is `python -m benchmarks.fanout --faults`.
"""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from bot.execution.executor import FleetExecutor
from bot.execution.limits import Limits
from bot.inventory import build
from gate.lifecycle import ActionState
from ledger.views import ActionView
from tests.bot.fanout.fleet import view_of
from tests.kit import conversation
from tests.simulators.fleet import Fault, Fleet, fleet
from tests.sshd import SSHD

HOSTS = 60
FAULTS = {Fault.REFUSES: 3, Fault.HANGS: 2, Fault.DROPS: 1, Fault.FLOODS: 1}
FLOOD_BYTES = 200_000_000
#: Far longer than all the others take on a busy machine; what hangs does so until these are over.
LIMITS = Limits(connect_s=110.0)
#: What a card is read in; the smallest of the platforms' messages takes 2 000.
CARD_CHARS = 3_000
HELD_MB = 100.0

pytestmark = [
    pytest.mark.timeout(120),
    pytest.mark.skipif(not SSHD.exists(), reason="the fleet is made of OpenSSH's server"),
]


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What came of a run: hosts in the order of their ends, and by how much the process grew at most."""

    hosts: Fleet
    actions: dict[str, ActionView]
    order: tuple[str, ...]
    cards: tuple[str, ...]
    held_mb: float

    def having(self, fault: Fault | None) -> list[ActionView]:
        return [self.actions[name] for name in self.hosts.having(fault)]


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seen]:
    folder: Path = tmp_path_factory.mktemp("f")
    with fleet(folder / "f", count=HOSTS, faults=FAULTS, flood_bytes=FLOOD_BYTES) as hosts:
        yield asyncio.run(_run(folder / "state", hosts))


async def _run(folder: Path, hosts: Fleet) -> Seen:
    inventory = build(hosts.targets("all"), {}, ssh_config=hosts.config)
    executor = partial(FleetExecutor, limits=LIMITS)
    async with conversation(folder, inventory=inventory, executor=executor) as kit:
        before, _ = _memory_mb()
        receipt = await kit.hand_over(kit.inbound("on @all: uptime"))
        async with asyncio.timeout(90):
            while sum(map(kit.kinds().count, _ENDS)) < HOSTS - FAULTS[Fault.HANGS]:  # noqa: ASYNC110 - the record tells nobody
                await asyncio.sleep(0.1)
        hosts.hang_up()
        await receipt.settled
        await kit.at_rest()
        await kit.app.conversation._kick()
        _, most = _memory_mb()
        rows = kit.core.ledger.reader().execute("SELECT kind, body FROM entry ORDER BY seq").fetchall()
        ends = [json.loads(body)["action"] for kind, body in rows if kind in _ENDS]
        actions = {str(one.action.target.id): one for one in view_of(kit).actions}
        names = {one.action.id: name for name, one in actions.items()}
        return Seen(
            hosts=hosts,
            actions=actions,
            order=tuple(names[one] for one in ends),
            cards=tuple(one.text for one in kit.port.screen.values()),
            held_mb=most - before,
        )


_ENDS = ("action:succeeded", "action:failed", "action:cancelled", "action:lost")


def _memory_mb() -> tuple[float, float]:
    """Return what this process holds, and the most that it held since the last call of this."""
    status = Path("/proc/self/status").read_text()
    held, most = (int(status.partition(key)[2].split()[0]) / 1024 for key in ("VmRSS:", "VmHWM:"))
    Path("/proc/self/clear_refs").write_text("5")
    return held, most


@pytest.mark.parametrize(
    ("fault", "state", "ran"),
    [
        (None, ActionState.SUCCEEDED, True),
        (Fault.REFUSES, ActionState.FAILED, False),
        (Fault.HANGS, ActionState.FAILED, False),
        (Fault.DROPS, ActionState.LOST, True),
        (Fault.FLOODS, ActionState.SUCCEEDED, True),
    ],
)
def test_every_host_ends_as_it_should(
    seen: Seen, fault: Fault | None, state: ActionState, *, ran: bool
) -> None:
    found = seen.having(fault)
    assert len(found) == (HOSTS - sum(FAULTS.values()) if fault is None else FAULTS[fault])
    assert {one.state for one in found} == {state}
    assert {one.ending is not None and one.ending.ran for one in found} == {ran}


def test_each_has_one_end(seen: Seen) -> None:
    assert sorted(seen.order) == sorted(seen.hosts.names)


def test_what_hangs_holds_up_nobody_else(seen: Seen) -> None:
    assert set(seen.order[-FAULTS[Fault.HANGS] :]) == set(seen.hosts.having(Fault.HANGS))


async def test_what_hangs_is_given_up_after_the_time_to_connect(tmp_path: Path) -> None:
    with fleet(tmp_path / "f", count=3, faults={Fault.HANGS: 3}) as hosts:
        inventory = build(hosts.targets("all"), {}, ssh_config=hosts.config)
        executor = partial(FleetExecutor, limits=Limits(connect_s=1.0))
        async with conversation(tmp_path, inventory=inventory, executor=executor) as kit:
            card = await kit.say("on @all: uptime")
            assert set(kit.states()) == {ActionState.FAILED}
            assert "no answer" in card


def test_a_flood_is_counted_whole_and_kept_as_its_ends(seen: Seen) -> None:
    (flood,) = seen.having(Fault.FLOODS)
    assert flood.ending is not None
    assert flood.ending.total_bytes > FLOOD_BYTES
    assert flood.ending.dropped_bytes > 0
    assert len(flood.ending.output) < 2 * (LIMITS.head_bytes + LIMITS.tail_bytes)
    assert "load average" in flood.ending.output, "the end of it is what it came for"
    assert seen.held_mb < HELD_MB


def test_the_card_tells_how_it_went_and_can_be_read(seen: Seen) -> None:
    card = next(text for text in seen.cards if "@all" in text)
    assert len(card) < CARD_CHARS
    failed, lost = FAULTS[Fault.REFUSES] + FAULTS[Fault.HANGS], FAULTS[Fault.DROPS]
    assert f"{HOSTS - failed - lost} of {HOSTS} ok" in card
    assert f"{failed} failed" in card
    assert f"{lost} unknown" in card
    (dropped,) = seen.hosts.having(Fault.DROPS)
    assert dropped in card
