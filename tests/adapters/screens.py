"""What a person sees on a phone: scenes of tests/screens/scenes.toml played on a platform, as lines of text.

New messages, and the state that changed ones have now, stand below what was said or pressed; buttons are in
brackets, files are named, and what only one person sees says so. Lines are as narrow as on a phone.
"""

import asyncio
import re
import textwrap
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from bot.inventory import Inventory, ServiceConfig, TargetConfig, build
from bot.ports import Captured, Ended, EndKind, OutputSink
from gate.domain import Action, Target, TargetKind
from tests.adapters.play import Play, at
from tests.adapters.stage import OnScreen, Surface, surface_opener
from tests.transcript import known

#: Characters in a line of a phone held upright.
WIDTH = 44
#: The root of a ledger depends on chance, and an id on how much there was to do in between.
_ROOT = re.compile(r"root [0-9a-f]{4}…[0-9a-f]{4}")
_ID = re.compile(r"\bk\d{5}\b")


class Rehearsed:
    """An executor whose commands end as a scene says, on some hosts or all; what it holds runs on."""

    def __init__(self, ends: Sequence[Mapping[str, Any]]) -> None:
        self.ends = ends
        self.let_go = asyncio.Event()

    async def identify(self, target: Target) -> Target:
        return target

    async def run(
        self, action: Action, *, on_output: OutputSink, cancel: asyncio.Event, reads: bool = False
    ) -> Ended:
        end = self._end(action)
        output = end.get("output", "").encode() * end.get("times", 1)
        if end.get("holds"):
            on_output(output)
            await self.let_go.wait()
        kind = EndKind(end.get("end", "exited"))
        return Ended(
            kind=kind,
            exit_code=end.get("exit", 0) if kind is EndKind.EXITED else None,
            output=Captured(head=output, total=len(output)),
            note=end.get("note", ""),
            run_s=end.get("run_s", 0.2),
        )

    def _end(self, action: Action) -> Mapping[str, Any]:
        """Return the first that is of this command, and of this host where it names any."""
        ours = (one for one in self.ends if one["run"] == action.command)
        return next((one for one in ours if str(action.target.id) in one.get("on", [action.target.id])), {})

    async def close(self) -> None:
        return


def fleet() -> Inventory:
    """Return the machines of the scenes."""
    local = TargetKind.LOCAL
    targets = {
        "web1": TargetConfig(kind=local, tags=("web", "prod")),
        "web2": TargetConfig(kind=local, tags=("web", "prod")),
        "web3": TargetConfig(kind=local, tags=("web",)),
        "pve1": TargetConfig(kind=local),
        **{f"edge{number}": TargetConfig(kind=local, tags=("edge",)) for number in range(1, 13)},
    }
    on_caddy = ("blog", "wiki", "grafana", "vault-ui", "git", "mail-ui", "status", "shop")
    services = {
        "caddy": ServiceConfig(on=("web1",)),
        **{name: ServiceConfig(depends_on=("caddy",)) for name in on_caddy},
    }
    return build(targets, services)


async def screens(platform: str, scenes: Sequence[Mapping[str, Any]], folder: Path) -> str:
    """Play every scene on its own and return what is seen."""
    parts = []
    for number, scene in enumerate(scenes):
        where = folder / str(number)
        where.mkdir()
        async with _stage(platform, scene, where) as (play, executor):
            turns = [turn for one in scene["turn"] if (turn := _possible(play, one))]
            lines = [line for turn in turns for line in await _turn(play, executor, turn)]
        parts.append("\n".join([f"== {scene['title']}", "", *_numbered(lines)]))
    return "\n\n\n".join(parts) + "\n"


def _numbered(lines: Sequence[str]) -> list[str]:
    """Return `lines` with the ids numbered by the order in which they come up."""
    seen: dict[str, str] = {}
    return [_ID.sub(lambda one: seen.setdefault(one[0], f"k{len(seen) + 1:05d}"), line) for line in lines]


@asynccontextmanager
async def _stage(
    platform: str, scene: Mapping[str, Any], folder: Path
) -> AsyncIterator[tuple[Play, Rehearsed]]:
    executor = Rehearsed(scene.get("command", ()))
    more = {"inventory": fleet(), "executor": lambda _inventory: executor}
    async with surface_opener(platform)(folder) as surface, at(surface, scene, folder, more=more) as play:
        try:
            yield play, executor
        finally:
            executor.let_go.set()


def _possible(play: Play, turn: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return how people do that here: where nothing can be filled in, it is simply said."""
    able = play.surface.port.capabilities
    if able.forms or able.replies:
        return turn
    if "fill" in turn:
        return {"say" if key == "fill" else key: value for key, value in turn.items()}
    return {} if turn.get("press") == "Type phrase" else turn


async def _turn(play: Play, executor: Rehearsed, turn: Mapping[str, Any]) -> list[str]:
    by, place = turn.get("by", "ana"), turn.get("place", "ops")
    known(turn, str(turn), more=frozenset({"goes_on", "holds", "look"}))
    play.kit.clock.advance(turn.get("advance_s", 60))
    before = _seen(play.surface, by, place)
    if turn.get("goes_on"):
        executor.let_go.set()
    elif turn.get("holds"):
        await _while_it_runs(play, turn)
    elif "look" in turn:
        await play.kit.look()
    else:
        await play.turn(turn)
    if turn.get("goes_on"):
        await play.kit.app.conversation._work.quiet([play.kit.newest_id()])
    await play.kit.app.conversation._delivery.flush()
    await play.kit.app.conversation._delivery.settled()
    if "name" in turn:
        play.remember(turn)
    lines = _said(play, turn, by)
    for key, one in _seen(play.surface, by, place).items():
        if before.get(key) != one:
            lines += _message(one, changed=key in before)
    return [*lines, ""]


async def _while_it_runs(play: Play, turn: Mapping[str, Any]) -> None:
    """Say something and wait only until the card shows what runs."""
    by, place = turn.get("by", "ana"), turn.get("place", "ops")
    await play.act(turn, by=by, place=place)
    async with asyncio.timeout(30):
        while turn["holds"] not in str(play.surface.screen(by=by, place=place)):  # noqa: ASYNC110 - screens tell nobody
            await asyncio.sleep(0.02)


def _seen(surface: Surface, by: str, place: str) -> dict[str, OnScreen]:
    return {f"{one.id}{one.private}": one for one in surface.screen(by=by, place=place)}


def _said(play: Play, turn: Mapping[str, Any], by: str) -> list[str]:
    if "say" in turn:
        return [f"{by}> {line}" for line in play.filled(turn["say"]).strip().splitlines()]
    if "press" in turn:
        return [f"{by} presses [{play.filled(turn['press'])}]"]
    if "fill" in turn:
        where = "types into the form" if play.surface.port.capabilities.forms else "replies"
        return [f"{by} {where}: {play.filled(turn['fill'])}"]
    return [f"({turn.get('look') or 'it goes on'})"]


def _message(one: OnScreen, *, changed: bool) -> list[str]:
    head = "changed" if changed else "sayso"
    if one.private:
        head = f"only {one.private} sees this"
    text = _ROOT.sub("root 9c41…e70d", one.text)
    for name, content in one.files:  # a file is a name to tap, not its content
        text = text.replace(f"{name}\n{content.decode()}", "").replace(f"[{name}]", "")
    lines = [part for line in text.rstrip("\n").splitlines() for part in _wrapped(line)]
    lines += [f"<file {name}, {len(content.splitlines())} lines>" for name, content in one.files]
    return [f"{head:-<{WIDTH}}", *lines, *_rows([f"[{label}]" for label in one.labels])]


def _rows(buttons: Sequence[str]) -> list[str]:
    rows: list[str] = []
    for button in buttons:
        if rows and len(rows[-1]) + 1 + len(button) <= WIDTH:
            rows[-1] += f" {button}"
        else:
            rows.append(button)
    return rows


def _wrapped(line: str) -> list[str]:
    indent = line[: len(line) - len(line.lstrip())]
    return textwrap.wrap(line, WIDTH, subsequent_indent=indent) or [""]
