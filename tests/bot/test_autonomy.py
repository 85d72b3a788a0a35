"""The ceiling over a feature that would write a file: below run it hands out its proposal, and nothing more.

A scheduled command that the gate lets run at once does so when it is due, and writes its file; with the
ceiling at propose the same command is shown and waits. Without the clamp both would write it.
"""

import asyncio
import functools
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from bot.execution.executor import FleetExecutor
from bot.inventory import Inventory
from bot.ports import Ended, EndKind, OutputSink
from bot.settings.config import load
from bot.settings.layers import Candidate, Layer
from bot.settings.live import Settings
from bot.settings.paths import Paths
from gate.autonomy import Level
from gate.domain import Action
from gate.policy import Policy, Posture
from tests.bot.scheduling.making import make
from tests.bot.scheduling.test_firing import HOUR, later, passes
from tests.kit import Kit, conversation


def said(layer: Layer, **levels: str) -> dict[Layer, dict[str, Candidate]]:
    keys = {"ceiling": "autonomy.max", "schedule": "schedule.autonomy", "repair": "repair.autonomy"}
    return {
        layer: {
            keys[name]: Candidate(layer=layer, where="SAYSO_X", value=value) for name, value in levels.items()
        }
    }


RESTART = "systemctl restart caddy"


class Writing(FleetExecutor):
    """Runs everything but RESTART, which stands for a program that writes a file."""

    def __init__(self, inventory: Inventory, *, file: Path) -> None:
        super().__init__(inventory)
        self.file = file

    async def run(
        self, action: Action, *, on_output: OutputSink, cancel: asyncio.Event, reads: bool = False
    ) -> Ended:
        if action.command != RESTART:
            return await super().run(action, on_output=on_output, cancel=cancel)
        self.file.touch()
        return Ended(kind=EndKind.EXITED, exit_code=0)


def playing(tmp_path: Path, layers: dict[Layer, dict[str, Candidate]]) -> AbstractAsyncContextManager[Kit]:
    """Return a conversation in which the gate would let RESTART run at once."""
    return conversation(
        tmp_path,
        settings=layers,
        policy=Policy(revision="r" * 64, posture=Posture.APPROVE_CONFIG),
        executor=functools.partial(Writing, file=tmp_path / "written"),
    )


async def fires(tmp_path: Path, layers: dict[Layer, dict[str, Candidate]], *said: str) -> str:
    """Schedule what writes a file, let it become due, and return what is shown."""
    async with playing(tmp_path, layers) as kit:
        make(kit.core, f"run {RESTART} on local", at=later(HOUR), act="schedule")
        for words in said:
            await kit.say(words)
        return "\n".join(await passes(kit, HOUR))


async def test_with_the_ceiling_at_propose_it_is_shown_and_the_file_is_not_written(tmp_path: Path) -> None:
    shown = await fires(tmp_path, said(Layer.FILE, ceiling="propose"))
    assert RESTART in shown
    assert "waits because of: requested run, lowered to propose by autonomy.max (file)" in shown
    assert not (tmp_path / "written").exists()


@pytest.mark.parametrize(
    "layers",
    [
        {},
        said(Layer.FILE, ceiling="run"),
        said(Layer.ENVIRONMENT, schedule="run"),
        said(Layer.FLAG, schedule="run"),
        {**said(Layer.FILE, schedule="off"), **said(Layer.ENVIRONMENT, schedule="run")},
    ],
    ids=["default", "ceiling run", "environment", "flag", "environment over file"],
)
async def test_without_it_the_same_command_writes_the_file(
    tmp_path: Path, layers: dict[Layer, dict[str, Candidate]]
) -> None:
    await fires(tmp_path, layers)
    assert (tmp_path / "written").exists()


async def test_below_propose_no_command_is_handed_out_as_a_proposal(tmp_path: Path) -> None:
    shown = await fires(tmp_path, said(Layer.FILE, ceiling="advise"))
    assert "Nothing ran, because of requested run, lowered to advise by autonomy.max (file)." in shown
    assert "#" not in shown
    assert not (tmp_path / "written").exists()


async def test_the_ceiling_counts_from_the_moment_it_is_lowered(tmp_path: Path) -> None:
    shown = await fires(tmp_path, {}, "set autonomy.max to propose")
    assert "lowered to propose by autonomy.max (runtime)" in shown
    assert not (tmp_path / "written").exists()


async def test_what_a_person_types_is_under_no_dial(tmp_path: Path) -> None:
    async with conversation(tmp_path, settings=said(Layer.FILE, ceiling="off")) as kit:
        assert "load average" in await kit.say("run uptime on local")


# ---------------------------------------------------------------- from the outside


def settings(
    tmp_path: Path, text: str = "", *, environ: dict[str, str] | None = None, flag: str = ""
) -> Settings:
    file = tmp_path / "config.toml"
    file.write_text(text)
    flags = [flag] if flag else []
    config = load(file=file, environ=environ or {}, flags=flags, login="ana", paths=Paths(tmp_path))
    return Settings(start=config.layers)


@pytest.mark.parametrize("key", ["schedule.autonomy", "repair.autonomy"])
def test_environment_and_flag_both_reach_run_by_default(tmp_path: Path, key: str) -> None:
    variable = "SAYSO_" + key.replace(".", "_").upper()
    for found in (settings(tmp_path, environ={variable: "run"}), settings(tmp_path, flag=f"{key}=run")):
        assert found.value(key).value is Level.RUN
        assert found.value(key).lowered == ""
        assert found.value(key, "run").lowered == ""


def test_each_layer_above_the_ceiling_reads_as_the_ceiling(tmp_path: Path) -> None:
    ceiling = '[autonomy]\nmax = "propose"\n'
    file = str(tmp_path / "config.toml")
    for found in (
        settings(tmp_path, ceiling + '[repair]\nautonomy = "run"'),
        settings(tmp_path, ceiling, environ={"SAYSO_REPAIR_AUTONOMY": "run"}),
        settings(tmp_path, ceiling, flag="repair.autonomy=run"),
    ):
        read = found.value("repair.autonomy")
        assert (read.value, read.requested, read.clamped_by) == ("propose", "run", "autonomy.max (file)")
        assert found.all()["repair.autonomy"] == read
    assert found.value("autonomy.max").origin[0].where == file


@pytest.mark.parametrize(
    ("environ", "flag", "named"),
    [
        ({"SAYSO_AUTONOMY_MAX": "ask"}, "", "autonomy.max (env:SAYSO_AUTONOMY_MAX)"),
        ({}, "autonomy.max=ask", "autonomy.max (flag)"),
        ({"SAYSO_AUTONOMY_MAX": "ask"}, "autonomy.max=run", "autonomy.max (env:SAYSO_AUTONOMY_MAX)"),
    ],
)
def test_the_lowest_ceiling_of_all_layers_counts_and_is_named(
    tmp_path: Path, environ: dict[str, str], flag: str, named: str
) -> None:
    found = settings(tmp_path, '[autonomy]\nmax = "propose"', environ=environ, flag=flag)
    assert found.value("schedule.autonomy").lowered == f"requested run, lowered to ask by {named}"
