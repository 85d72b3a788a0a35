"""Fan-outs as they run: who starts when, what stops them, and what the record says of it."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from bot.inventory import Inventory, TargetConfig, build
from bot.ports import Ended, EndKind, OutputSink
from gate.domain import Action, ProposalId, Target, TargetKind
from tests.bot.fanout.fleet import RELOAD, ends, fleet, ran
from tests.kit import Kit, ScriptedPort, conversation, person

pytestmark = pytest.mark.timeout(120)

FAIL = "failed"


def machines(count: int) -> Inventory:
    """Return this machine under `count` names, all of them tagged web."""
    names = [f"web{number}" for number in range(1, count + 1)]
    return build({name: TargetConfig(kind=TargetKind.LOCAL, tags=("web",)) for name in names}, {})


class Slowly:
    """An executor that remembers how many ran at once; the first wait until there are `together` of them."""

    failing: Mapping[str, int] = {}
    together = 1

    def __init__(self, _inventory: object) -> None:
        self.running: set[str] = set()
        self.most = 0
        self.ran: list[tuple[str, str]] = []

    async def identify(self, target: Target) -> Target:
        return target

    async def run(
        self, action: Action, *, on_output: OutputSink, cancel: asyncio.Event, reads: bool = False
    ) -> Ended:
        del on_output, cancel
        name = str(action.target.id)
        assert name not in self.running, "two at once on one target"
        self.ran.append((name, action.command))
        self.running.add(name)
        self.most = max(self.most, len(self.running))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(30):
                while self.most < self.together:  # noqa: ASYNC110 - another command counts up
                    await asyncio.sleep(0.001)
        await asyncio.sleep(0.01)
        self.running.remove(name)
        return Ended(kind=EndKind.EXITED, exit_code=self.failing.get(name, 0))

    async def close(self) -> None:
        return


def slowly(*, together: int = 1, **failing: int) -> type[Slowly]:
    return type("Failing", (Slowly,), {"failing": failing, "together": together})


def most(kit: Kit) -> int:
    return int(kit.core.executor.most)  # type: ignore[attr-defined] # Slowly


async def test_reading_goes_everywhere_at_once_and_asks_nobody(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=machines(12)) as kit:
        shown = await kit.say("on @web: echo hello")
        await kit.at_rest()
        assert kit.states() == ["succeeded"] * 12
        kinds = Counter(kit.kinds())
        assert (kinds["proposal:queued"], kinds["action:started"], kinds["action:succeeded"]) == (1, 12, 12)
        assert kinds["approval:opened"] == 0
        assert "12 hosts" in shown
        assert any("12 hosts agree" in one.text for one in kit.port.screen.values())


async def test_a_change_tries_one_first_and_goes_on_when_that_went_well(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(), executor=slowly()) as kit:
        await kit.say(f"on @web: {RELOAD}")
        assert set(kit.states()) == {"waiting"}
        await kit.say("go ahead")
        await kit.at_rest()
        assert kit.states() == ["succeeded"] * 12
        starts = [name for name, _ in kit.core.executor.ran]  # type: ignore[attr-defined] # Slowly
        assert starts[0] == "web1"
        assert sorted(starts) == sorted({*starts}), "each once"


@pytest.mark.parametrize("batch", [1, 3])
async def test_no_more_are_under_way_than_was_shown(tmp_path: Path, batch: int) -> None:
    async with conversation(tmp_path, inventory=fleet(), executor=slowly(together=batch)) as kit:
        await kit.say(f"on @web: `{RELOAD}`, no canary, {batch} at a time")
        await kit.say("go ahead")
        await kit.at_rest()
        assert kit.states() == ["succeeded"] * 12
        assert most(kit) == batch


async def test_a_canary_that_fails_stops_all_the_others(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(), executor=ends(web1=FAIL)) as kit:
        await kit.say(f"on @web: `{RELOAD}`, stop after 5 failures")
        await kit.say("go ahead")
        await kit.at_rest()
        assert ran(kit) == ["web1"]
        assert kit.states() == ["failed", *["waiting"] * 11]


def started_after(kit: Kit, failures: int) -> int:
    """Return how many starts stand in the record after the entry of that many failures."""
    kinds = kit.kinds()
    failed = [index for index, kind in enumerate(kinds) if kind == "action:failed"]
    return kinds[failed[failures - 1] :].count("action:started")


@pytest.mark.parametrize("at_once", [1, 4, 12])
async def test_nothing_starts_after_the_failure_at_which_the_brake_stops(
    tmp_path: Path, at_once: int
) -> None:
    failing = {f"web{number}": 1 for number in (2, 3, 5, 6, 7, 8, 9, 10)}
    async with conversation(tmp_path, inventory=fleet(), executor=slowly(**failing)) as kit:
        await kit.say(f"on @web: `{RELOAD}`, no canary, {at_once} at a time, stop after 3 failures")
        await kit.say("go ahead")
        await kit.at_rest()
        assert started_after(kit, 3) == 0
        states = Counter(kit.states())
        assert states["failed"] >= 3
        assert "queued" not in states
        assert states["waiting"] == 12 - states["failed"] - states["succeeded"]
        if at_once == 1:
            assert states == {"failed": 3, "succeeded": 2, "waiting": 7}


async def test_after_a_stop_the_rest_is_asked_about_and_goes_on_as_a_round_of_its_own(
    tmp_path: Path,
) -> None:
    async with conversation(tmp_path, inventory=fleet(), executor=ends(web2=FAIL, web5=FAIL)) as kit:
        await kit.say(f"on @web: `{RELOAD}`, one at a time")
        first = kit.newest_id()
        await kit.say("go ahead")
        await kit.at_rest()
        assert ran(kit) == ["web1", "web2"]
        assert "web2" in kit.card.text
        await kit.say("go ahead")
        await kit.at_rest()
        # web3 is tried first; that web2 failed before counts no more; web5 stops it once more.
        assert ran(kit) == ["web1", "web2", "web3", "web4", "web5"]
        await kit.say("go ahead")
        await kit.at_rest()
        assert kit.newest_id() == first, "all of it is the same proposal"
        assert Counter(kit.states()) == {"succeeded": 10, "failed": 2}


async def test_a_phrase_names_how_many_are_left(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(), executor=ends(web2=FAIL)) as kit:
        await kit.say("on @web: `rm -rf /srv/old`, one at a time")
        assert "delete /srv/old on 12 hosts" in kit.card.text
        await kit.say("go ahead")
        assert ran(kit) == []
        await kit.say("delete /srv/old on 12 hosts")
        await kit.at_rest()
        assert ran(kit) == ["web1", "web2"]
        assert "delete /srv/old on 10 hosts" in kit.card.text
        await kit.say("delete /srv/old on 12 hosts")
        assert len(ran(kit)) == 2
        await kit.say("delete /srv/old on 10 hosts")
        await kit.at_rest()
        assert len(ran(kit)) == 12


async def test_what_one_of_them_needs_all_of_them_wait_for(tmp_path: Path) -> None:
    names = [f"web{number}" for number in range(1, 7)]
    both = build(
        {
            name: TargetConfig(kind=TargetKind.LOCAL, tags=("web",), never_auto_act=name == "web6")
            for name in names
        },
        {},
    )
    async with conversation(tmp_path, inventory=both) as kit:
        await kit.say("on @web: uptime")
        assert kit.states() == ["waiting"] * 6
        await kit.say("go ahead")
        await kit.at_rest()
        assert kit.states() == ["succeeded"] * 6


async def test_a_check_that_does_not_hold_is_a_failure(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=machines(5)) as kit:
        request = f"on @web: `mkdir -p {tmp_path}/made`, one at a time then verify `test -e {tmp_path}/other`"
        await kit.say(request)
        await kit.say("go ahead")
        await kit.at_rest()
        assert kit.states() == ["succeeded", *["waiting"] * 4]
        assert kit.kinds().count("action:verified") == 1


async def test_cancel_drops_what_has_not_started_and_stops_what_runs(tmp_path: Path) -> None:
    hanging = {f"web{number}": "hangs" for number in range(1, 13)}
    async with conversation(tmp_path, inventory=fleet(), executor=ends(**hanging)) as kit:
        await kit.say(f"on @web: `{RELOAD}`, no canary, 3 at a time")
        await kit.say("go ahead", settle=False)
        async with asyncio.timeout(30):
            while len(ran(kit)) < 3:  # noqa: ASYNC110 - the executor has nothing to wait for
                await asyncio.sleep(0.01)
        await kit.say(f"cancel {kit.newest_id()}")
        await kit.at_rest()
        assert len(ran(kit)) == 3
        assert kit.states() == ["cancelled"] * 12


async def test_stop_lets_nothing_more_start_and_resume_goes_on(tmp_path: Path) -> None:
    hanging = {"web1": "hangs"}
    operators = (person("ana"), person("kim"))
    async with conversation(
        tmp_path, inventory=fleet(), executor=ends(**hanging), operators=operators
    ) as kit:
        await kit.say(f"on @web: `{RELOAD}`, no canary, one at a time, don't stop on failures")
        await kit.say("go ahead", settle=False)
        async with asyncio.timeout(30):
            while not ran(kit):  # noqa: ASYNC110 - the executor has nothing to wait for
                await asyncio.sleep(0.01)
        await kit.say("stop", settle=False)
        await kit.say(f"cancel {kit.newest_id()}.1")
        await kit.at_rest()
        assert ran(kit) == ["web1"]
        assert Counter(kit.states()) == {"cancelled": 1, "queued": 11}
        await kit.say("resume")
        await kit.say("resume sayso", by="kim")
        await kit.at_rest()
        assert Counter(kit.states()) == {"cancelled": 1, "succeeded": 11}


async def test_a_pause_is_kept_between_batches(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(4), executor=ends()) as kit:
        await kit.say(f"on @web: `{RELOAD}`, no canary, 2 at a time, 10s apart")
        await kit.say("go ahead")
        await kit.at_rest()
        assert ran(kit) == ["web1", "web2"]
        assert Counter(kit.states()) == {"succeeded": 2, "queued": 2}
        kit.clock.advance(10)
        await kit.app.conversation._work.move(ProposalId(kit.newest_id()))
        await kit.at_rest()
        assert Counter(kit.states()) == {"succeeded": 4}


async def test_a_lot_of_targets_are_listed_in_entries_that_hold_them(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(300), executor=ends(), port=ScriptedPort()) as kit:
        await kit.say(f"on @web: {RELOAD}")
        kinds = Counter(kit.kinds())
        assert kinds["proposal:made"] == 1
        assert kinds["proposal:listed"] > 1
        assert kinds["approval:opened"] == 300
        await kit.say("go ahead")
        await kit.at_rest()
        assert Counter(kit.states()) == {"succeeded": 300}


async def test_a_target_that_is_named_twice_is_one(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(4), executor=ends()) as kit:
        await kit.say("on web2, @web and web2: uptime")
        await kit.at_rest()
        assert ran(kit) == ["web2", "web1", "web3", "web4"]


async def test_more_than_one_request_may_reach_is_refused(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(1001), executor=ends()) as kit:
        shown = await kit.say("on @web: uptime")
        assert "1001 targets are more than one request may reach" in shown
        assert "proposal:made" not in kit.kinds()


@pytest.mark.parametrize("text", ["approve {}", "go ahead"])
async def test_a_yes_that_was_said_twice_is_none_to_the_rest(tmp_path: Path, text: str) -> None:
    operators = (person("ana"), person("kim"))
    failing = ends(web1=FAIL, web2=FAIL)
    async with conversation(tmp_path, inventory=fleet(6), executor=failing, operators=operators) as kit:
        await kit.say(f"on @web: {RELOAD}")
        said = text.format(kit.newest_id())
        both = [await kit.hand_over(kit.inbound(said, by=name)) for name in ("ana", "kim", "ana")]
        for one in both:
            await asyncio.wait_for(one.settled, timeout=60)
        assert ran(kit) == ["web1"], "nobody has seen yet that it failed there"
        assert kit.states() == ["failed", *["waiting"] * 5]
        await kit.say(f"approve {kit.newest_id()}", by="kim")
        assert ran(kit) == ["web1", "web2"]


async def test_a_reply_to_the_card_before_is_none_to_the_rest(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(6), executor=ends(web1=FAIL)) as kit:
        await kit.say(f"on @web: {RELOAD}")
        card = kit.card
        replies = [replace(kit.inbound("go ahead"), reply_to=card.ref) for _ in range(2)]
        for one in [await kit.hand_over(reply) for reply in replies]:
            await asyncio.wait_for(one.settled, timeout=60)
        assert ran(kit) == ["web1"]
        assert any("said before it was asked anew" in one.text for one in kit.port.screen.values())
        await kit.say("go ahead", reply_to=kit.card)
        assert kit.states() == ["failed", *["succeeded"] * 5]


class Trickling(Slowly):
    """Its commands end a little after one another, so that one end is recorded while the next ones come."""

    async def run(
        self, action: Action, *, on_output: OutputSink, cancel: asyncio.Event, reads: bool = False
    ) -> Ended:
        ended = await super().run(action, on_output=on_output, cancel=cancel)
        await asyncio.sleep(0.0 if action.index in (1, 2) else 0.002)
        return ended


@pytest.mark.parametrize("count", [4, 5, 9])
async def test_when_it_is_over_its_card_says_so(tmp_path: Path, count: int) -> None:
    async with conversation(tmp_path, inventory=fleet(count), executor=Trickling) as kit:
        await kit.say(f"on @web: {RELOAD}")
        await kit.say("go ahead")
        assert any(f"✓ all {count} ok" in one.text for one in kit.port.screen.values())
