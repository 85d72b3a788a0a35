"""Shells that wait: which commands they get, and that these end as they would without them."""

import asyncio
import shlex
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.execution.executor import FleetExecutor
from bot.execution.wrap import BASH_OWN, handed, is_plain
from bot.inventory import TargetConfig, build
from bot.ports import Ended, EndKind
from tests import needs
from tests.bot.execution.conftest import Fleet, MakeFleet
from tests.bot.execution.shells import ALONE, SOON, WAITED, WHOSE, ready, until
from tests.sshd import Server

pytestmark = needs.openssh


async def test_the_next_command_that_reads_is_run_by_the_shell_that_waits(make_fleet: MakeFleet) -> None:
    fleet = make_fleet(limits=SOON, waiting=9)
    first = await fleet.run("box", WHOSE, reads=True)
    assert first.output.head.startswith(ALONE)
    for _ in range(3):
        await until(lambda: fleet.executor.waiting_shells == 1)
        ended = await fleet.run("box", WHOSE, reads=True)
        assert (ended.kind, ended.exit_code) == (EndKind.EXITED, 0)
        assert ended.output.head.startswith(WAITED)


async def test_none_waits_where_none_may(make_fleet: MakeFleet) -> None:
    fleet = make_fleet(limits=SOON, waiting=0)
    for _ in range(2):
        assert (await fleet.run("box", WHOSE, reads=True)).output.head.startswith(ALONE)
        await asyncio.sleep(0.2)
        assert fleet.executor.waiting_shells == 0


async def test_only_so_many_wait_as_may(make_fleet: MakeFleet, server: Server) -> None:
    config = server.folder / "three"
    config.write_text(server.config.read_text().replace("Host box", "Host box box0 box1 box2"))
    config.chmod(0o600)
    fleet = make_fleet(
        config=config, limits=SOON, waiting=2, box0=TargetConfig(), box1=TargetConfig(), box2=TargetConfig()
    )
    await asyncio.gather(*(fleet.run(f"box{number}", "true", reads=True) for number in range(3)))
    await until(lambda: fleet.executor.waiting_shells == 2)
    await asyncio.sleep(0.2)
    assert fleet.executor.waiting_shells == 2
    again = await asyncio.gather(*(fleet.run(f"box{number}", WHOSE, reads=True) for number in range(3)))
    assert sum(one.output.head.startswith(WAITED) for one in again) == 2


UNHURRIED = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
SAME = [
    "echo out; echo err >&2; exit 3",
    "printf '%s' \"it's\" 'a\"b' 'back\\slash' '$HOME' '`id`' '!!' 'tab\there'",
    "printf '%s\\n' a\\ b 'ünïcödé 😀' $'new\\nline' \"two\nlines\"",
    "\n  echo  spaced  \n\n",
    "echo $0 $# $- $SHLVL; pwd; umask; ulimit -a; shopt; set -o",
    "env | grep -vE '^(_|SAYSO_RUN)=' | sort",
    "cat; echo nothing to read",
    "read -r line; echo $?",
    "tty",
    "echo unfinished '",
    "if then",
    "nosuchcommand",
    "kill -KILL $$",
    "kill -USR1 $$",
    "exit 124",
    "exec true",
    "c=1; echo $c",
    "echo $c",
    "ls /proc/self/fd",
    "head -c 300000 /dev/zero | tr '\\0' x",
    "cat <<'E'\n$HOME `id`\nE",
    # one program and its words, which no second bash is started for
    "uname -s",
    "ls /nowhere/at/all",
    "nosuchcommand -a b",
    "cat",
    "env --unset=_ --unset=SAYSO_RUN",
    "false",
    "head -c 10 /dev/zero",
    "seq 1 3",
    "id -u",
    "timeout 1 sleep 5",
    "sh -c exit",
    "ls  -d   /",
    "ls -d /; ls -d /",
    "pwd -P",
    "type ls",
    "2 x",
    "A=1 printenv A",
    "ls -d ~ *",
    "/usr/bin/env true",
    "./nosuch",
]


def test_what_bash_runs_itself_is_known() -> None:
    said = subprocess.run(["bash", "-c", "compgen -bk"], capture_output=True, text=True, check=True).stdout
    names = {one for one in said.split() if one.isidentifier() or one in {".", ":"}}
    assert names <= BASH_OWN


@pytest.mark.parametrize(
    ("command", "how"),
    [
        ("uptime", b"p"),
        ("df -h /srv --output=source,pcent", b"p"),
        ("apt-get -s upgrade", b"p"),
        *(
            (one, b"c")
            for one in ("echo a", "kill -0 1", "time ls", "ls ~", "ls *", "ls 'a'", "A=b ls", "ls;id")
        ),
        *(
            (one, b"c")
            for one in (" ls", "ls ", "ls  -a", "ls\n", "ls\tid", "./ls", "/bin/ls", "-x", "ls \\a", "ls é")
        ),
    ],
)
def test_only_one_program_with_plain_words_needs_no_bash(command: str, how: bytes) -> None:
    assert handed(command, apart=False) == how + b"t" + command.encode() + b"\0"
    assert handed(command, apart=True) == how + b"a" + command.encode() + b"\0"


@pytest.mark.parametrize("command", SAME)
async def test_it_ends_as_it_would_without_one(make_fleet: MakeFleet, command: str) -> None:
    fleet = make_fleet(limits=SOON, waiting=9)
    alone = await fleet.run("box", command)
    await ready(fleet)
    waited = await fleet.run("box", command, reads=True)
    assert fleet.executor.waiting_shells == 0, "it was not taken"
    assert _told(waited) == _told(alone)


def _told(ended: Ended) -> tuple[object, ...]:
    return (ended.kind, ended.exit_code, ended.output.head, ended.output.sha256, ended.note)


@settings(max_examples=25, deadline=None, suppress_health_check=UNHURRIED)
@given(
    texts=st.lists(st.text(alphabet=st.characters(exclude_categories=("Cs", "Cc")), max_size=80), max_size=3)
)
def test_any_words_arrive_as_they_were(server: Server, texts: list[str]) -> None:
    async def there_and_back() -> bytes:
        inventory = build({"box": TargetConfig()}, {}, ssh_config=server.config)
        fleet = Fleet(inventory, FleetExecutor(inventory, limits=SOON, waiting=lambda: 1))
        try:
            await ready(fleet)
            ended = await fleet.run("box", shlex.join(["printf", "%s.", "", *texts]), reads=True)
            assert fleet.executor.waiting_shells == 0
        finally:
            await fleet.executor.close()
        return ended.output.head

    assert asyncio.run(there_and_back()) == "".join(f"{one}." for one in ["", *texts]).encode()


@pytest.mark.parametrize(
    ("command", "fields"),
    [
        ("echo \x01", {}),
        ("echo \x7f", {}),
        ("echo a\rb", {}),
        ("echo " + 4096 * "x", {}),
        ("true", {"workdir": "/usr"}),
        ("true", {"env": (("A", "b"),)}),
    ],
)
async def test_what_is_special_gets_a_channel_of_its_own(
    make_fleet: MakeFleet, command: str, fields: dict[str, object]
) -> None:
    action = await make_fleet().action("box", command, **fields)
    assert not is_plain(action, password=None)
    assert not is_plain(await make_fleet().action("box", "true"), password="secret")
    assert is_plain(await make_fleet().action("box", "true"), password=None)


async def test_whatever_may_change_something_drops_it(make_fleet: MakeFleet, tmp_path: Path) -> None:
    fleet = make_fleet(limits=SOON, waiting=9)
    await ready(fleet)
    ended = await fleet.run("box", WHOSE)
    assert ended.output.head.startswith(ALONE)
    await asyncio.sleep(0.2)
    assert fleet.executor.waiting_shells == 0


async def test_a_limit_that_is_longer_than_its_own_gets_a_channel_of_its_own(make_fleet: MakeFleet) -> None:
    fleet = make_fleet(limits=SOON, waiting=9)
    await ready(fleet)
    ended = await fleet.run("box", WHOSE, reads=True, timeout_s=30)
    assert ended.output.head.startswith(WAITED)
    await until(lambda: fleet.executor.waiting_shells == 1)
    ended = await fleet.run("box", WHOSE, reads=True, timeout_s=601)
    assert ended.output.head.startswith(ALONE.replace(b"600", b"601"))


@pytest.mark.parametrize(
    "command", ["echo out; echo err >&2; exit 3", "ls -d / /nowhere", "if then", "nosuchcommand"]
)
async def test_a_step_of_a_runbook_tells_its_streams_apart(make_fleet: MakeFleet, command: str) -> None:
    fleet = make_fleet(limits=SOON, waiting=9)
    alone = await fleet.run("box", command, runbook="r#s")
    assert (await fleet.run("box", "true", reads=True, runbook="r#s")).exit_code == 0
    await until(lambda: fleet.executor.waiting_shells == 1)
    waited = await fleet.run("box", command, reads=True, runbook="r#s")
    assert fleet.executor.waiting_shells == 0, "it was not taken"
    assert (waited.exit_code, waited.output.streams) == (alone.exit_code, alone.output.streams)
    assert waited.output.streams is not None


async def test_one_command_gets_it_and_the_others_go_on_without(make_fleet: MakeFleet) -> None:
    fleet = make_fleet(limits=SOON, waiting=9)
    await ready(fleet)
    ended = await asyncio.gather(*(fleet.run("box", WHOSE, reads=True) for _ in range(5)))
    assert sorted(one.output.head.startswith(WAITED) for one in ended) == [False, False, False, False, True]
