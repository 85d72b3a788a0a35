"""Runbooks for PostgreSQL, against real servers: a primary and a replica of it."""

import contextlib
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.library.drive import Answer, Drive, agree, asks_as_it_says, laid_open, play, refuse
from tests.library.postgres import Cluster, binaries, cluster

pytestmark = pytest.mark.skipif(binaries() is None, reason="PostgreSQL is not here; .ci/run installs it")


@pytest.fixture(scope="module")
def primary() -> Iterator[Cluster]:
    with cluster() as made:
        made.psql("CREATE TABLE account (id int PRIMARY KEY, balance int); INSERT INTO account VALUES (1, 5)")
        yield made


@pytest.fixture(scope="module")
def replica(primary: Cluster) -> Iterator[Cluster]:
    with cluster(replica_of=primary) as made:
        wait_until(primary, "SELECT count(*) = 1 FROM pg_stat_replication WHERE replay_lsn IS NOT NULL")
        yield made


def wait_until(server: Cluster, question: str) -> None:
    deadline = time.monotonic() + 60
    while server.psql(question) != "t":
        assert time.monotonic() < deadline, question
        time.sleep(0.05)


def run(name: str, server: Cluster, *, answer: Answer = agree, **inputs: Any) -> Drive:
    """Play a runbook and hold it to asking as its document says."""
    played = play(name, {**inputs, **server.inputs}, path=server.path, answer=answer)
    assert asks_as_it_says(laid_open(name), played) == []
    return played


# ---------------------------------------------------------------- lag


def test_a_replica_that_keeps_up(primary: Cluster, replica: Cluster) -> None:
    checked = run("postgres-lag", primary, replicas=1)
    assert (checked.outcome, checked.asked) == ("completed", ["behind"])
    assert "walreceiver|" in checked.output("behind")


def test_a_replica_that_stands_still_is_noticed_though_its_lag_does(
    primary: Cluster, replica: Cluster
) -> None:
    replica.psql("SELECT pg_wal_replay_pause()")
    try:
        primary.psql("UPDATE account SET balance = balance + 1")
        behind = run("postgres-lag", primary, megabytes=0)
        assert behind.outcome == "failed"
        assert "too far behind: 1" in behind.output("behind")
        assert run("postgres-lag", primary).outcome == "completed", "a few bytes are allowed"
    finally:
        replica.psql("SELECT pg_wal_replay_resume()")


def test_a_replica_that_is_missing_is_noticed(primary: Cluster, replica: Cluster) -> None:
    missing = run("postgres-lag", primary, replicas=2)
    assert (missing.outcome, "enough replicas: false" in missing.output("behind")) == ("failed", True)


def test_a_server_that_is_down_is_said_without_a_question(tmp_path: Path, primary: Cluster) -> None:
    nowhere = Cluster(folder=tmp_path, bin=primary.bin)
    for name in ("postgres-lag", "postgres-locks"):
        down = run(name, nowhere)
        assert (down.outcome, down.steps, down.asked) == ("failed", ["up"], [])
        assert "no response" in down.output("up")


# ---------------------------------------------------------------- locks


@contextlib.contextmanager
def blocking(primary: Cluster) -> "Iterator[tuple[subprocess.Popen[str], subprocess.Popen[str]]]":
    """One session that holds a row and idles, and another that waits for it."""
    holder = primary.session("BEGIN; UPDATE account SET balance = 0 WHERE id = 1;")
    wait_until(primary, "SELECT count(*) = 1 FROM pg_stat_activity WHERE state = 'idle in transaction'")
    waiter = primary.session("UPDATE account SET balance = 7 WHERE id = 1;")
    wait_until(primary, "SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
    yield holder, waiter
    for session in (holder, waiter):
        session.kill()
        session.communicate()
    wait_until(primary, "SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type = 'client backend'")


@pytest.fixture
def blocked(primary: Cluster) -> "Iterator[tuple[subprocess.Popen[str], subprocess.Popen[str]]]":
    with blocking(primary) as sessions:
        yield sessions


def test_nobody_waits(primary: Cluster) -> None:
    quiet = run("postgres-locks", primary)
    assert (quiet.outcome, quiet.steps, quiet.asked) == ("completed", ["up", "find"], ["find"])


def test_the_session_that_blocks_is_found_shown_and_ended(
    primary: Cluster, blocked: "tuple[subprocess.Popen[str], subprocess.Popen[str]]"
) -> None:
    holder = primary.psql("SELECT pid FROM pg_stat_activity WHERE state = 'idle in transaction'")
    freed = run("postgres-locks", primary)
    assert freed.outcome == "completed"
    assert freed.asked == ["find", "show", "end", "left"]
    assert (freed.state.inputs["blocker"], "idle in transaction" in freed.output("show")) == (holder, True)
    wait_until(primary, "SELECT balance = 7 FROM account WHERE id = 1")


def test_a_session_is_left_alone_where_nobody_agrees(
    primary: Cluster, blocked: "tuple[subprocess.Popen[str], subprocess.Popen[str]]"
) -> None:
    left = run("postgres-locks", primary, answer=refuse("end"))
    assert (left.outcome, left.steps[-1]) == ("aborted", "show")
    assert primary.psql("SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction'") == "1"


# ---------------------------------------------------------------- backups


@pytest.fixture
def dumps(primary: Cluster, tmp_path: Path) -> Path:
    for number in (1, 2):
        primary.dump("postgres", tmp_path / f"postgres-{number}.dump")
    os.utime(tmp_path / "postgres-1.dump", (1, 1))
    return tmp_path


def check(primary: Cluster, folder: Path, **inputs: Any) -> Drive:
    played = play("postgres-backup-check", {"folder": str(folder), **inputs}, path=primary.path)
    assert asks_as_it_says(laid_open("postgres-backup-check"), played) == []
    return played


def test_a_fresh_dump_can_be_read_to_its_end(primary: Cluster, dumps: Path) -> None:
    checked = check(primary, dumps)
    assert (checked.outcome, checked.asked) == ("completed", ["whole"])
    assert checked.state.inputs["newest"] == str(dumps / "postgres-2.dump")


def test_no_dump_an_old_one_a_small_one_or_a_broken_one_is_noticed(
    primary: Cluster, dumps: Path, tmp_path: Path
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    newest = dumps / "postgres-2.dump"
    assert (found := check(primary, empty)).steps == ["find"]
    assert found.outcome == "failed"
    assert check(primary, dumps, kilobytes=9999).steps[-1] == "size"
    whole = newest.read_bytes()
    newest.write_bytes(whole[:-10])
    assert (cut := check(primary, dumps)).steps[-1] == "whole"
    assert cut.outcome == "failed"
    newest.write_bytes(whole[:60])
    assert check(primary, dumps).steps[-1] == "readable"
    os.utime(newest, (2, 2))
    assert check(primary, dumps).steps[-1] == "fresh"
