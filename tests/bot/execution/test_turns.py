"""How many at once, and that nobody waits for who does not answer."""

import asyncio
import contextlib
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from bot.execution.limits import Limits
from bot.execution.pool import Pool
from bot.execution.turns import Handshakes, Place
from bot.execution.unreached import StoppedError
from bot.execution.wire import look_up
from bot.inventory import TargetConfig, build
from bot.ports import EndKind
from tests import needs
from tests.bot.execution.conftest import QUICK, MakeFleet
from tests.bot.execution.names import alias, deaf, log_of, silent
from tests.bot.execution.processes import pids_in, together
from tests.bot.execution.relay import Relay
from tests.bot.execution.shells import until
from tests.sshd import running


async def test_commands_under_way_are_bounded_over_all_targets(make_fleet: MakeFleet, tmp_path: Path) -> None:
    with running(tmp_path / "own") as server:
        tables = alias(server, "a", "b", "c") | {"here": TargetConfig(kind="local")}
        fleet = make_fleet(config=server.config, limits=replace(QUICK, commands=3), **tables)
        command = together(tmp_path, 3)
        ended = await asyncio.gather(*(fleet.run(name, command) for name in [*tables] * 4))
        assert [one.exit_code for one in ended] == [0] * 16
        assert max(int(one.output.head) for one in ended) == 3


async def test_who_waits_for_a_place_can_be_stopped(make_fleet: MakeFleet, tmp_path: Path) -> None:
    fleet = make_fleet(limits=replace(QUICK, commands=1))
    command = f"echo $$ >> {tmp_path}/pids; sleep 60"
    holding = asyncio.create_task(fleet.run("box", command, cancel=(stop := asyncio.Event())))
    await pids_in(tmp_path / "pids", 1)
    cancel = asyncio.Event()
    waiting = asyncio.create_task(fleet.run("box", "true", cancel=cancel))
    await asyncio.sleep(0.1)
    cancel.set()
    ended = await asyncio.wait_for(waiting, timeout=30)
    assert not holding.done()
    assert (ended.kind, ended.note) == (EndKind.CANCELLED, "stopped before it was sent; nothing ran")
    stop.set()
    assert (await holding).kind is EndKind.CANCELLED


@needs.openssh
async def test_many_names_of_one_server_log_in_few_at_a_time(make_fleet: MakeFleet, tmp_path: Path) -> None:
    """A server counts who has not logged in over all of its addresses, and a moment beyond that."""
    options = "LogLevel DEBUG1\nListenAddress 127.0.0.2\nListenAddress 127.0.0.3\nMaxStartups 12:100:12\n"
    with running(tmp_path / "own", options=options) as server:
        tables: dict[str, TargetConfig] = {}
        for number in range(60):
            tables |= alias(server, f"n{number}", address=f"127.0.0.{1 + number % 3}")
        fleet = make_fleet(config=server.config, **tables)
        ended = await asyncio.gather(*(fleet.run(name, "true") for name in tables))
        assert {(one.kind, one.exit_code) for one in ended} == {(EndKind.EXITED, 0)}
        assert "MaxStartups" not in log_of(server).replace("MaxStartups 12", "")
        assert "drop connection" not in log_of(server)


@needs.openssh
async def test_a_server_that_is_full_for_a_moment_is_tried_again(
    make_fleet: MakeFleet, tmp_path: Path
) -> None:
    with running(tmp_path / "own", options="LogLevel DEBUG1\nMaxStartups 1:100:1\n") as server:
        fleet = make_fleet(config=server.config)
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        await reader.readline()  # the server counts it
        coming = asyncio.create_task(fleet.run("box", "true"))
        await until(lambda: "drop connection" in log_of(server))
        writer.close()
        ended = await coming
        assert (ended.kind, ended.exit_code) == (EndKind.EXITED, 0)
        await writer.wait_closed()


@pytest.mark.parametrize("kind", [silent, deaf])
async def test_hosts_that_hang_hold_up_nobody_else(
    make_fleet: MakeFleet, tmp_path: Path, kind: "type[contextlib.AbstractContextManager[int]]"
) -> None:
    with running(tmp_path / "own") as server, contextlib.ExitStack() as stack:
        dead: dict[str, TargetConfig] = {}
        for number in range(10):
            dead |= alias(server, f"dead{number}", port=stack.enter_context(kind()))
        live = alias(server, *(f"live{number}" for number in range(20)))
        limits = replace(QUICK, handshakes=4, commands=2, silence_s=0.2, connect_s=60.0)
        fleet = make_fleet(config=server.config, limits=limits, **dead, **live)
        cancel = asyncio.Event()
        hanging = [asyncio.create_task(fleet.run(name, "true", cancel=cancel)) for name in dead]
        ended = await asyncio.gather(*(fleet.run(name, "true") for name in live))
        assert {one.exit_code for one in ended} == {0}
        assert not any(one.done() for one in hanging)
        cancel.set()
        assert {one.kind for one in await asyncio.gather(*hanging)} == {EndKind.CANCELLED}


async def test_connections_that_died_unseen_hold_up_nobody_else(
    make_fleet: MakeFleet, tmp_path: Path
) -> None:
    with Relay() as relay, running(tmp_path / "own") as server:
        await relay.start(server.port)
        tables = alias(server, "live") | alias(server, "dead", port=relay.port)
        limits = replace(QUICK, commands=1, silence_s=0.2)
        fleet = make_fleet(config=server.config, limits=limits, **tables)
        for name in tables:
            assert (await fleet.run(name, "true")).exit_code == 0
        relay.freeze()
        dead = asyncio.create_task(fleet.run("dead", "true"))
        await asyncio.sleep(0.05)
        live = asyncio.create_task(fleet.run("live", "true"))
        await asyncio.wait({dead, live}, return_when=asyncio.FIRST_COMPLETED)
        assert not dead.done()
        assert (await live).exit_code == 0
        relay.cut()
        assert (await dead).exit_code == 0  # over a new connection


async def test_names_that_are_not_answered_hold_up_no_thread_of_others(tmp_path: Path) -> None:
    answer = threading.Event()

    def lookup(name: str) -> list[str]:
        """As a name server that does not answer for one zone."""
        if name.endswith(".dead.example"):
            answer.wait(timeout=100)
        return look_up(name)

    with running(tmp_path / "own") as server:
        alias(server, "live", address="localhost")
        alias(server, *(f"d{number}" for number in range(40)), address="x.dead.example")
        inventory = build({"live": TargetConfig()}, {}, ssh_config=server.config)
        pool = Pool(identifier=inventory.identifier, limits=replace(QUICK, connect_s=100.0), lookup=lookup)
        cancel = asyncio.Event()

        async def reach(name: str) -> None:
            async with pool.lease(pool.endpoint(name, name=name), cancel=cancel):
                pass

        dead = [asyncio.create_task(reach(f"d{number}")) for number in range(40)]
        await asyncio.sleep(0.1)
        await asyncio.wait_for(asyncio.to_thread(lambda: None), timeout=30)
        await asyncio.wait_for(reach("live"), timeout=30)
        cancel.set()
        outcomes = await asyncio.gather(*dead, return_exceptions=True)
        assert {type(one) for one in outcomes} == {StoppedError}
        answer.set()
        await pool.close()


async def test_a_place_is_given_back_once() -> None:
    bound = asyncio.Semaphore(1)
    first, second = Place(bound), Place(bound)
    await first.take()
    first.give_back()
    first.give_back()
    await second.take()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(first.take(), timeout=0.05)


async def test_an_address_that_took_the_connection_counts_it_until_its_end() -> None:
    handshakes = Handshakes(Limits(handshakes=1, handshakes_each=1, silence_s=0.05))

    async def second(address: str) -> None:
        async with handshakes.turn(address, keys=()):
            pass

    async with handshakes.turn("web1", keys=("k",)) as turn:
        turn.heard()
        await asyncio.wait_for(second("web2"), timeout=30)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(second("web1"), timeout=0.2)
    await asyncio.wait_for(second("web1"), timeout=30)


async def test_who_speaks_keeps_the_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    handshakes = Handshakes(Limits(handshakes=1, handshakes_each=1, silence_s=600.0))
    loop, entered, later_s = asyncio.get_running_loop(), asyncio.Event(), 0.0
    monkeypatch.setattr(loop, "time", lambda: time.monotonic() + later_s)

    async def second() -> None:
        async with handshakes.turn("web2", keys=()):
            entered.set()

    async def pass_s(seconds: float) -> None:
        nonlocal later_s
        later_s += seconds
        for _ in range(5):
            await asyncio.sleep(0)

    async with handshakes.turn("web1", keys=()) as turn:
        waiting = asyncio.create_task(second())
        for _ in range(10):
            turn.heard()
            await pass_s(400.0)
        assert not entered.is_set()
        await pass_s(400.0)
        assert entered.is_set()
    await waiting
