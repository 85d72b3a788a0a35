"""kill -9 in the middle of appends, many times over: what was acknowledged is there, and the chain holds."""

import os
import random
import signal
import threading
import time
import traceback
from contextlib import closing
from pathlib import Path

from ledger.engine import open_reader
from ledger.kinds import Batch
from ledger.reading import read_entries
from ledger.verify import verify_live
from tests.ledger.support import START, batch, card, draft, ledger_in, open_ledger

KILLS = 30


def append_until_killed(folder: Path, acknowledged: int, *, turn: int) -> None:
    """Append from four threads, telling each number once it is durable."""
    ledger = open_ledger(folder, checkpoint_every=10, seed=turn * 1_000_000)

    def work(name: str) -> None:
        for number in range(100_000):
            key = f"{turn}.{name}.{number}"
            ledger.inbox.commit(key, "here", "{}", START)
            done = ledger.append(
                Batch(
                    at=START,
                    drafts=(draft(name, words=key.encode()), draft(name)),
                    effects=(card(nonce=key),),
                    inbox=key,
                )
            )
            os.write(acknowledged, f"{done.first_seq} {key}\n".encode())

    threads = [threading.Thread(target=work, args=(f"t{number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def run_and_kill(folder: Path, *, turn: int, after_s: float) -> list[tuple[int, str]]:
    """Start a writer, kill it some time after its first acknowledgement, and return all of them."""
    receive, send = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(receive)
            append_until_killed(folder, send, turn=turn)
        except BaseException:  # noqa: BLE001  shown, and the parent sees the wrong end
            traceback.print_exc()
        finally:
            os._exit(1)
    os.close(send)
    with os.fdopen(receive, "rb") as pipe:
        first = pipe.readline()
        time.sleep(after_s)
        os.kill(pid, signal.SIGKILL)
        rest = pipe.read()
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL
    lines = (first + rest).decode().splitlines()
    return [(int(seq), key) for seq, key in (line.split() for line in lines)]


def test_kill_9_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        ledger.append(batch())
    chance = random.Random(7)
    told: dict[int, str] = {}
    for turn in range(1, KILLS + 1):
        told.update(run_and_kill(tmp_path, turn=turn, after_s=chance.uniform(0, 0.03)))
        report = verify_live(tmp_path / "ledger.db", keys=[ledger.verifier], held={})
        assert report.ok, (turn, report.findings)
    assert len(told) >= KILLS
    with closing(open_reader(tmp_path / "ledger.db")) as connection:
        by_seq = {entry.seq: entry for entry in read_entries(connection)}
        words = dict(connection.execute("SELECT seq, content FROM payload"))
        done = {key for (key,) in connection.execute("SELECT key FROM inbox WHERE done_at IS NOT NULL")}
        nonces = dict(connection.execute("SELECT nonce, seq FROM outbox"))
    for seq, key in told.items():
        assert words[seq] == key.encode()
        assert by_seq[seq + 1].correlation_id == by_seq[seq].correlation_id
        assert key in done
    # All or nothing: each payload has its second entry, its effect and its inbox mark, told or not.
    assert len(by_seq) == 1 + 2 * len(words)
    assert nonces == {content.decode(): seq + 1 for seq, content in words.items()}
    assert done == set(nonces)
    with ledger_in(tmp_path, seed=999_000_000) as again:
        assert again.append(batch()).first_seq == len(by_seq) + 1
