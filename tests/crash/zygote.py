"""A process that has everything imported and forks lives of the bot on request.

Started by the campaign with `python -m tests.crash.zygote FOLDER`; reads one order a line on stdin and
answers, when that life is over, with how it ended. Has one thread, so that its children start clean. Loading
the library, rules and lexicons is done once: they are constants of the package.
"""

import contextlib
import gc
import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import bot.app
from bot.loading.lexicon import load_lexicons
from bot.loading.library import load_library
from bot.loading.rules import load_rules
from tests.crash import alarms, life, members, outsiders, planned, procedures
from tests.crash.order import CONFIG, Order, open_ledger
from tests.crash.surface import LateClock
from tests.crash.trap import Trap

#: What a life does that is not named here is talk, by a script of that name.
LIVES = {
    "alarms": alarms.live,
    "outsiders": outsiders.live,
    "planned": planned.live,
    "procedures": procedures.live,
    **dict.fromkeys(members.STORIES, members.live),
}
ROOT = Path(__file__).parent.parent.parent


def prepare(folder: Path) -> None:
    """Make the state that every cycle starts from: a ledger with its tables and its key, one checkpoint."""
    template = folder / "template"
    ledger = open_ledger(template / "state", LateClock(0), Trap())
    ledger.close()
    (folder / "config.toml").write_text(CONFIG)


def serve(folder: Path) -> None:
    """Fork lives until stdin ends."""
    library, rules, lexicons = load_library(), load_rules(), load_lexicons()
    constants = {"load_library": library, "rules_of": rules, "load_lexicons": lexicons}
    for name, value in constants.items():
        getattr(bot.app, name)  # what has another name by now would be loaded in every life, unnoticed
        setattr(bot.app, name, lambda *_, value=value: value)
    gc.freeze()  # what is shared with the children stays shared
    for line in sys.stdin:
        print(json.dumps(_live_and_die(Order(**json.loads(line)), folder)), flush=True)


def _live_and_die(order: Order, folder: Path) -> dict[str, Any]:
    began = time.monotonic()
    pid = os.fork()
    if not pid:
        _be(order, folder / "config.toml")
    if order.kill_after_s:
        with contextlib.closing(_pidfd(pid)) as end:
            if not select.select([end], [], [], order.kill_after_s)[0]:
                os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    return {"ended": os.waitstatus_to_exitcode(status), "took_s": time.monotonic() - began}


class _pidfd:  # noqa: N801 - a file descriptor that closes
    def __init__(self, pid: int) -> None:
        self._fd = os.pidfd_open(pid)

    def fileno(self) -> int:
        return self._fd

    def close(self) -> None:
        os.close(self._fd)


def _be(order: Order, config: Path) -> None:
    """Live one life in this forked process, and never return."""
    code = 70
    try:
        with Path(order.folder, "stderr").open("a") as errors:
            os.dup2(errors.fileno(), 1)
            os.dup2(errors.fileno(), 2)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        code = LIVES.get(order.script, life.live)(order, config)
    except BaseException:  # noqa: BLE001 - told through stderr and the exit code; nothing else is above this
        import traceback  # noqa: PLC0415 - only here

        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


class Zygote:
    """The campaign's end of it: starts the process, sends orders."""

    def __init__(self, folder: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.crash.zygote", str(folder)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def live(self, order: Order) -> dict[str, Any]:
        """Have a life lived; return how it ended: a negative number is a signal."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        document = {name: getattr(order, name) for name in Order.__slots__}
        self._process.stdin.write(json.dumps(document) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError("the zygote ended")
        return dict(json.loads(answer))

    def close(self) -> None:
        with self._process:
            if self._process.stdin is not None:
                self._process.stdin.close()


if __name__ == "__main__":
    prepare(Path(sys.argv[1])) if "--prepare" in sys.argv else serve(Path(sys.argv[1]))
