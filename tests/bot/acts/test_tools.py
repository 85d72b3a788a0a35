"""Every tool that an act is asked for by has a profile, and one of that act (K9)."""

import ast
import importlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType

import pytest

import bot.acts
from bot.acts.registry import HANDLERS
from gate.effects import PROFILES
from gate.resolve.decision import Act

FOLDER = Path(bot.acts.__file__).parent
#: Reads the tool out of the record, where a module that is judged here wrote it.
READS_BACK = {"record"}
MODULES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem not in READS_BACK)


def _named(node: ast.expr, module: ModuleType) -> set[str]:
    """Return every name that an expression of the module can stand for."""
    match node:
        case ast.Constant(value=str(name)):
            return {name}
        case ast.IfExp(body=one, orelse=other):
            return _named(one, module) | _named(other, module)
        case ast.Name(id=name):
            found = vars(module)[name]
            return {found} if isinstance(found, str) else set(found.values())
        case ast.Subscript(value=table):
            return _named(table, module)
    raise AssertionError(f"name the tool where the request is made: {ast.unparse(node)}")


def _tools(name: str) -> Iterator[str]:
    module = importlib.import_module(f"bot.acts.{name}")
    for node in ast.walk(ast.parse((FOLDER / f"{name}.py").read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("ActRequest"):
            (tool,) = [one.value for one in node.keywords if one.arg == "tool"]
            yield from _named(tool, module)


def _all() -> Mapping[str, set[str]]:
    return {name: set(_tools(name)) for name in MODULES}


@pytest.mark.parametrize("name", MODULES)
def test_every_tool_of_a_module_has_a_profile(name: str) -> None:
    assert set(_tools(name)) <= set(PROFILES)


def test_every_act_that_is_handled_is_asked_for_by_a_tool_of_that_act() -> None:
    used = {PROFILES[tool].act for tools in _all().values() for tool in tools}
    assert {act for handler in HANDLERS for act in handler.acts} <= used
    assert used <= set(Act)
