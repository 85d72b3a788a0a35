"""How long the yes to a fan-out lasts: while it is being used, and 15 minutes beyond that (D6)."""

import asyncio
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from gate.domain import ProposalId
from tests.bot.fanout.fleet import RELOAD, ends, fleet, ran
from tests.bot.fanout.gated import Gated, begins, gates, until
from tests.kit import Kit, conversation

pytestmark = pytest.mark.timeout(120)

MINUTE = 60


async def goes_on(kit: Kit, proposal: str) -> None:
    """Do what the timers do after the clock was moved."""
    await kit.look()
    await kit.app.conversation._work.move(ProposalId(proposal))
    await kit.app.conversation._work.quiet([ProposalId(proposal)])


def succeeded(kit: Kit, proposal: str, count: int) -> Callable[[], bool]:
    return lambda: kit.states(proposal).count("succeeded") == count


async def test_a_slow_fan_out_goes_on_under_the_yes_to_its_pace(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(10), executor=ends()) as kit:
        proposal = await begins(kit, f"on @web: `{RELOAD}`, no canary, 2 at a time, 10m apart")
        for done in (2, 4, 6, 8, 10):
            await until(succeeded(kit, proposal, done))
            kit.clock.advance(10 * MINUTE)
            await goes_on(kit, proposal)
        assert len(ran(kit)) == 10


async def test_a_pause_may_be_longer_than_a_yes_lasts_otherwise(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(4), executor=ends()) as kit:
        proposal = await begins(kit, f"on @web: `{RELOAD}`, no canary, 2 at a time, 1h apart")
        await until(succeeded(kit, proposal, 2))
        kit.clock.advance(59 * MINUTE)
        await goes_on(kit, proposal)
        assert Counter(kit.states(proposal)) == {"succeeded": 2, "queued": 2}
        kit.clock.advance(2 * MINUTE)
        await goes_on(kit, proposal)
        assert kit.states(proposal) == ["succeeded"] * 4


async def test_a_yes_that_nobody_uses_any_more_lapses(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(4), executor=ends()) as kit:
        proposal = await begins(kit, f"on @web: `{RELOAD}`, no canary, 2 at a time, 10m apart")
        await until(succeeded(kit, proposal, 2))
        await kit.say("stop")
        kit.clock.advance(24 * MINUTE)
        await goes_on(kit, proposal)
        assert Counter(kit.states(proposal)) == {"succeeded": 2, "queued": 2}
        kit.clock.advance(2 * MINUTE)
        await goes_on(kit, proposal)
        assert Counter(kit.states(proposal)) == {"succeeded": 2, "cancelled": 2}


async def test_a_yes_that_was_never_used_lapses(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(4), executor=ends()) as kit:
        await kit.say("stop")
        proposal = await begins(kit, f"on @web: `{RELOAD}`, no canary, 2 at a time, 10m apart")
        await until(lambda: kit.states(proposal) == ["queued"] * 4)
        kit.clock.advance(16 * MINUTE)
        await goes_on(kit, proposal)
        assert kit.states(proposal) == ["cancelled"] * 4


async def test_what_waits_for_a_slow_one_lapses_15_minutes_after_that_at_the_earliest(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(4), executor=Gated) as kit:
        proposal = await begins(kit, f"on @web: {RELOAD}")
        await until(lambda: ran(kit) == ["web1"])
        kit.clock.advance(40 * MINUTE)
        await kit.look()
        assert kit.states(proposal) == ["started", *["queued"] * 3]
        for number in range(1, 5):
            gates(kit).gate(f"web{number}").set()
        await until(succeeded(kit, proposal, 4))


async def test_the_yes_to_the_rest_is_not_kept_alive_by_the_round_before(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(6), executor=ends(web2="failed")) as kit:
        proposal = await begins(kit, f"on @web: `{RELOAD}`, one at a time")
        await until(lambda: kit.states(proposal).count("waiting") == 4)
        await kit.look()  # its new card is there
        await kit.say("stop")
        await kit.say(f"approve {proposal}")
        kit.clock.advance(16 * MINUTE)
        await goes_on(kit, proposal)
        assert Counter(kit.states(proposal)) == {"succeeded": 1, "failed": 1, "cancelled": 4}


async def test_the_timer_does_not_spin_while_a_slow_fan_out_runs(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(4), executor=Gated) as kit:
        proposal = await begins(kit, f"on @web: {RELOAD}")
        await until(lambda: ran(kit) == ["web1"])
        kit.clock.advance(40 * MINUTE)
        looks = 0
        real = kit.app.conversation._look_now

        async def look() -> None:
            nonlocal looks
            looks += 1
            await real()

        kit.app.conversation._look_now = look  # type: ignore[method-assign] # counts
        timer = asyncio.ensure_future(kit.app.conversation._keep_deadlines())
        await asyncio.sleep(1)
        timer.cancel()
        await asyncio.gather(timer, return_exceptions=True)
        assert looks < 3
        assert kit.states(proposal)[0] == "started"
        gates(kit).gate("web1").set()
        for number in range(2, 5):
            gates(kit).gate(f"web{number}").set()
        await until(succeeded(kit, proposal, 4))
