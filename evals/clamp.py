"""The autonomy dial against labelled rows: `python -m evals.clamp FOLDER [--list]`.

Clamp and schema rows are put to `gate.autonomy`. Rows about surfaces and consent are played, each as a
conversation of its own on throwaway state: what follows a failed command stands in for the features that the
rows name, a file that its look writes for their side effect. Real commands run on this machine. Where sayso
says the same in other words, or has no such feature, that is argued by name. Exit 1 when a row is wrong.
"""

import argparse
import asyncio
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from bot.execution.executor import FleetExecutor
from bot.ports import Ended, OutputSink
from bot.settings.layers import Candidate, Layer, Resolved
from bot.settings.live import Settings
from bot.settings.registry import BY_KEY
from bot.settings.strings import StringError
from evals.rows import Row, line, read, share
from gate.autonomy import LEVELS, Dial, Level, UnknownLevelError, clamp, objections
from gate.domain import Action, Risk
from gate.effects import Hints, risk_of_hints
from tests.kit import Kit, conversation

Found = dict[str, Any]

#: The words of the rows, and ours that stand for them.
OURS = {
    "hooks.autonomy requested run, clamped to propose": "repair.autonomy: requested run, lowered to propose",
    "does not permit returning a script": "lowered to advise by autonomy.max",
    "destructive": "destroys",
}
ARGUED = {
    "mx_063": "sayso has no hooks (D23), so a look after a failure stands in; it says lowered, not clamped",
    "mx_067": "sayso hands out commands, not scripts: it says what it was lowered to, and hands out none",
    "mx_071": 'sayso says "destroys" for destructive',
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--list", action="store_true", help="name the rows that are argued")
    args = parser.parse_args()
    rows = read(args.folder, "clamp")
    marks = [(row, found := judged(row), wrong_of(row, found)) for row in rows]
    print("clamp")
    for kind, count in Counter(row["kind"] for row in rows).items():
        good = share(not wrong for row, _, wrong in marks if row["kind"] == kind)
        line(kind, good, aim=f"{count}", met=good.hits == good.of)
    wrongs = [(row, found, wrong) for row, found, wrong in marks if wrong]
    line("wrong", len(wrongs), aim="0", met=not wrongs)
    line("right in words of our own, argued", sum(row["id"] in ARGUED for row in rows))
    for row, found, wrong in wrongs:
        print(f"      {row['id']} {row['given']}: {wrong}; found {found}")
    if args.list:
        for name, why in ARGUED.items():
            print(f"      {name}: {why}")
    return 1 if wrongs or not rows else 0


def judged(row: Row) -> Found:
    """Return what sayso makes of a row."""
    match row["kind"]:
        case "clamp":
            return _clamp(row["given"])
        case "schema_refused":
            return {"refused": bool(objections(*_schema(row["given"]["case"])))}
        case "consent":
            return asyncio.run(_consent(row["given"]))
        case _:
            return asyncio.run(_surface(row["given"]))


def wrong_of(row: Row, found: Found) -> str:
    """Return what of a row is not as it should be; "" where all of it is."""
    wrong = []
    for key, wanted in row["expected"].items():
        if key.endswith("_contains"):
            if _in_our_words(wanted) not in found["text"]:
                wrong.append(f"{key} {wanted!r}")
        elif key == "clampedBy_prefix":
            if not found["clampedBy"].startswith(wanted):
                wrong.append(key)
        elif found.get(key) != wanted:
            wrong.append(f"{key} {wanted!r}")
    return ", ".join(wrong)


def _in_our_words(text: str) -> str:
    for theirs, ours in OURS.items():
        text = text.replace(theirs, ours)
    return text


# ---------------------------------------------------------------- the dial itself


def _clamp(given: Mapping[str, Any]) -> Found:
    try:
        found = clamp(
            Level(given["ceiling"]),
            given["requested"],
            own=given.get("own_value", ""),
            dial=given.get("enum", LEVELS),
        )
    except UnknownLevelError:
        return {"error": True}
    return {"value": found.value, "requested": found.requested, "lowered": bool(found.by)}


def _schema(case: str) -> tuple[Dial, dict[str, Dial]]:
    """Return a dial that is refused for one reason, with its ceiling."""
    ceiling = Dial(key="autonomy.max", levels=LEVELS, default="run", per_call=False)
    dial = Dial(key="x.autonomy", levels=LEVELS, default="run", per_call=True, clamped_by="autonomy.max")
    if objections(dial, {"autonomy.max": ceiling}):
        raise AssertionError("the dial that the cases change is refused itself")
    match case:
        case "daemon-scoped dial":
            dial = replace(dial, per_call=False)
        case "unordered values":
            dial = replace(dial, levels=tuple(reversed(LEVELS)))
        case "foreign value":
            dial = replace(dial, levels=(*LEVELS, "plan"))
        case "default above":
            ceiling = replace(ceiling, default="propose")
        case "ceiling has a ceiling":
            ceiling = replace(ceiling, clamped_by="other.max")
        case _:
            raise AssertionError(f"unknown case {case}")
    return dial, {"autonomy.max": ceiling}


# ---------------------------------------------------------------- played

FAILS = "run sh -c 'echo no space left on device; exit 1' on local"


class Marking(FleetExecutor):
    """Runs like the real one, and writes a file when a look is run: the side effect of a governed feature."""

    marker = Path()

    async def run(  # noqa: D102  # as the one that it wraps
        self, action: Action, *, on_output: OutputSink, cancel: asyncio.Event, reads: bool = False
    ) -> Ended:
        if action.command == "df -h":
            self.marker.touch()
        return await super().run(action, on_output=on_output, cancel=cancel, reads=reads)


@asynccontextmanager
async def _bot(layers: Mapping[Layer, Mapping[str, str]]) -> AsyncIterator[Kit]:
    said = {
        layer: {
            key: Candidate(layer=layer, where=BY_KEY[key].variable, value=word) for key, word in keys.items()
        }
        for layer, keys in layers.items()
    }
    with tempfile.TemporaryDirectory() as folder:
        Marking.marker = Path(folder) / "side-effect"
        async with conversation(Path(folder), settings=said, executor=Marking) as kit:
            yield kit


#: How run is asked for on each surface of the rows: by which layer, for one request, or not at all.
ASKED: dict[str, tuple[Layer | None, str]] = {
    "intent body run": (Layer.RUNTIME, ""),
    "recipe run, empty autonomy (default run)": (Layer.FILE, ""),
    "recipe run": (Layer.FILE, ""),
    "intent via caller header with autonomy.max:run in the header": (None, "run"),
    "CLI --run": (Layer.FLAG, ""),
    "CLI recipes run": (Layer.ENVIRONMENT, ""),
    "CLI recipes run --autonomy run": (Layer.FLAG, ""),
}


async def _surface(given: Mapping[str, Any]) -> Found:
    if word := given.get("body.autonomy"):
        return _body(word, given.get("route", ""))
    ceiling = given["autonomy.max"]
    if "op" in given:
        return await _put(ceiling)
    if given.get("hook") == "flag on the command itself":
        async with _bot({Layer.FILE: {"autonomy.max": ceiling}}) as kit:
            return {"hook_ran": "load average" in await kit.say("run uptime on local")}
    layer, call = ASKED[given.get("surface", "recipe run")]
    layers: dict[Layer, dict[str, str]] = {Layer.FILE: {"autonomy.max": ceiling}}
    layers.setdefault(layer or Layer.FLAG, {})["repair.autonomy"] = "run"
    async with _bot({key: one for key, one in layers.items() if key is not Layer.RUNTIME}) as kit:
        if layer is Layer.RUNTIME:
            await kit.say("set repair.autonomy to run")
            await kit.say("raise repair.autonomy to run")
        return await _repaired(kit, call)


async def _repaired(kit: Kit, call: str) -> Found:
    """Let a command fail, and return what followed."""
    settings = kit.core.settings
    if call and settings.level("autonomy.max", call) is not settings.level("autonomy.max"):
        raise AssertionError("a request carried a ceiling (M6)")
    dial: Resolved = settings.value("repair.autonomy", call)
    await kit.say(FAILS)
    text = await kit.say("go ahead")
    await kit.at_rest()
    ran = Marking.marker.exists()
    return {
        "status": 200,
        "autonomy": dial.value,
        "requested": dial.requested,
        "clampedBy": dial.clamped_by,
        "result": "ran" if ran else None,
        "source_returned": "df -h" in text,
        "source": "df -h" if "df -h" in text else None,
        "side_effect": ran,
        "hook_ran": ran,
        "body_ran": "✗ exit 1" in text,
        "text": text,
    }


def _body(word: str, route: str) -> Found:
    """Return what becomes of a level that a request names; the route of the rows knows two of them only."""
    try:
        if route == "intent":
            clamp(Level.RUN, word, dial=("propose", "run"))
        else:
            Settings().value("repair.autonomy", word)
    except (UnknownLevelError, StringError):
        return {"status": 400}
    return {"status": 200}


async def _put(ceiling: str) -> Found:
    async with _bot({Layer.FILE: {"autonomy.max": ceiling}}) as kit:
        said = await kit.say("set autonomy.max to run")
        applied = kit.core.settings.level("autonomy.max").value != ceiling
        return {
            "applied": applied,
            "restartRequired": "in the config file and restart" in said,
            "later_requests_still": kit.core.settings.level("repair.autonomy", "run").value,
        }


# ---------------------------------------------------------------- consent

_HINTS = {
    "destructiveHint:true": Hints(read_only=False, destructive=True),
    "readOnlyHint:true": Hints(read_only=True, destructive=False),
    "unannotated": None,
}
#: A command of the risk that a tool's hints amount to.
_COMMANDS = {Risk.DESTRUCTIVE: "rm -rf {0}/victim", Risk.READ_ONLY: "ls {0}"}


async def _consent(given: Mapping[str, Any]) -> Found:
    risk = risk_of_hints(_HINTS[given["tool"]])
    async with _bot({}) as kit:
        folder = Marking.marker.parent
        (folder / "victim").mkdir()
        text = await kit.say(f"run {_COMMANDS[risk].format(folder)} on local")
        asked = kit.states() == ["waiting"]
        if given.get("answer"):
            phrase = kit.core.queries.pending()[0].phrase or "go ahead"
            await kit.say(phrase)
        elif asked:
            kit.clock.advance(2 * kit.core.policy.approval_s)
            await kit.look()
        gone = not (folder / "victim").exists()
        return {"asked": asked, "ran": gone, "refused": asked and not gone, "text": text}


if __name__ == "__main__":
    raise SystemExit(main())
