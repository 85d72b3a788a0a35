"""The import contracts hold, and each fails on a deliberate violation; gate/ calls nothing impure."""

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("bot", "adapters", "gate", "ledger")


def lint(folder: Path) -> tuple[bool, str]:
    """Run import-linter in a folder; return whether every contract was kept, and what it said."""
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--cache-dir", folder / ".cache"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
        env={
            "PATH": "/usr/bin:/bin",
            "PYTHONPATH": str(folder),
            "COLUMNS": "200",
            "PYTHONIOENCODING": "utf-8",
        },
    )
    return done.returncode == 0, " ".join((done.stdout + done.stderr).split())


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the source that may be spoilt."""
    copy = tmp_path_factory.mktemp("tree")
    for package in PACKAGES:
        shutil.copytree(ROOT / package, copy / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", copy)
    return copy


def test_the_contracts_are_kept(tree: Path) -> None:
    kept, said = lint(tree)
    assert kept, said


VIOLATIONS = [
    ("gate/domain.py", "import ledger.kinds", "gate knows nobody BROKEN"),
    ("gate/domain.py", "import bot.text", "gate knows nobody BROKEN"),
    ("gate/domain.py", "import asyncio", "gate is pure"),
    ("gate/shell/__init__.py", "import time", "gate is pure"),
    ("gate/domain.py", "from os import environ", "gate is pure"),
    ("gate/supervise/run.py", "import bot.execution.run", "gate knows nobody BROKEN"),
    ("gate/supervise/run.py", "import ledger.kinds", "gate knows nobody BROKEN"),
    ("gate/supervise/state.py", "import subprocess", "gate is pure"),
    ("bot/execution/door.py", "import gate.supervise.proposal", "execution never rules on what a run may do"),
    ("ledger/kinds.py", "import bot.ports", "ledger knows the gate only BROKEN"),
    ("bot/ports.py", "import ledger.kinds", "ports know the gate only BROKEN"),
    ("bot/text.py", "import bot.execution", "ports know the gate only BROKEN"),
    ("bot/settings/paths.py", "import bot.cli.options", "nothing imports the command line BROKEN"),
    ("bot/settings/paths.py", "import bot.app", "only the command line imports the composition root BROKEN"),
    (
        "bot/settings/paths.py",
        "import adapters.console",
        "only the composition root and the command line import",
    ),
    ("adapters/console/board.py", "import bot.settings.config", "adapters know the ports only BROKEN"),
    ("adapters/console/board.py", "import ledger.store", "adapters know the ports only BROKEN"),
    ("adapters/other.py", "import adapters.console", "adapters do not know each other BROKEN"),
    ("bot/settings/paths.py", "import sqlite3", "SQL stays in the ledger"),
    ("bot/settings/paths.py", "import discord", "SQL stays in the ledger"),
]


@pytest.mark.parametrize(("file", "line", "contract"), VIOLATIONS)
def test_a_violation_is_caught(tree: Path, file: str, line: str, contract: str) -> None:
    spoilt = tree / file
    before = spoilt.read_text() if spoilt.exists() else None
    spoilt.write_text(f"{before or ''}\n{line}\n")
    try:
        kept, said = lint(tree)
    finally:
        if before is None:
            spoilt.unlink()
        else:
            spoilt.write_text(before)
    assert not kept
    assert contract.removesuffix(" BROKEN") in said
    assert f"{contract.removesuffix(' BROKEN')}" in said.partition("Broken contracts")[2], said


# ---------------------------------------------------------------- what imports cannot show

IMPURE_NAMES = {
    "open",
    "print",
    "input",
    "eval",
    "exec",
    "compile",
    "__import__",
    "breakpoint",
    "globals",
}
#: Reading a clock; a value's own field may be called `now`, so these count when called, or of a class.
CLOCKS = {"now", "utcnow", "today"}
IMPURE_ATTRIBUTES = {
    "environ",
    "getenv",
    "urandom",
    "read_text",
    "write_text",
    "read_bytes",
}
ALLOWED_IMPORTS = {
    "__future__", "abc", "ast", "bisect", "collections", "dataclasses", "datetime", "decimal", "difflib",
    "enum", "fnmatch", "fractions", "functools", "gate", "hashlib", "heapq", "itertools", "json", "math",
    "operator", "posixpath", "rapidfuzz", "re", "re2", "shlex", "string", "struct", "textwrap", "tree_sitter",
    "tree_sitter_bash", "types", "typing", "unicodedata",
}  # fmt: skip


def impurities(source: str) -> list[str]:
    """Return what in `source` reaches out of a pure function, or carries state from call to call."""
    found = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in IMPURE_NAMES:
                found.append(f"line {node.lineno}: {name}()")
            case (
                ast.Call(func=ast.Attribute(attr=name))
                | ast.Attribute(value=ast.Name(id="datetime" | "date" | "time"), attr=name)
            ) if name in CLOCKS:
                found.append(f"line {node.lineno}: .{name}")
            case ast.Attribute(attr=name) if name in IMPURE_ATTRIBUTES:
                found.append(f"line {node.lineno}: .{name}")
            case ast.Global() | ast.AsyncFunctionDef() | ast.Await():
                found.append(f"line {node.lineno}: {type(node).__name__}")
            case ast.Import(names=names):
                found += [f"line {node.lineno}: import {n.name}" for n in names if _outside(n.name)]
            case ast.ImportFrom(module=module, level=level) if level or _outside(module or ""):
                found.append(f"line {node.lineno}: from {module}")
    return found


def _outside(module: str) -> bool:
    return module.partition(".")[0] not in ALLOWED_IMPORTS


@pytest.mark.parametrize(
    "file", sorted((ROOT / "gate").rglob("*.py")), ids=lambda file: str(file.relative_to(ROOT))
)
def test_gate_is_pure(file: Path) -> None:
    assert impurities(file.read_text()) == []


@pytest.mark.parametrize(
    "source",
    [
        "from datetime import datetime\nnow = datetime.now()",
        "import datetime\nx = datetime.date.today()",
        "from datetime import datetime\nread = datetime.now",
        "def f(clock):\n    return clock.now()",
        "x = open('/etc/passwd')",
        "import random",
        "from os import environ",
        "def f():\n    import secrets",
        "async def f(): ...",
        "count = 0\ndef f():\n    global count",
        "x = print('hello')",
        "from . import domain",
        "from pathlib import Path",
    ],
)
def test_impurity_is_seen(source: str) -> None:
    assert impurities(source)


PORTS = {"bot.ports": {"bot.text", "gate"}, "bot.text": {"gate"}, "bot.local_socket": set()}


@pytest.mark.parametrize(("module", "allowed"), PORTS.items())
def test_ports_import_nothing_of_ours_but_the_gate(module: str, allowed: set[str]) -> None:
    tree = ast.parse((ROOT / f"{module.replace('.', '/')}.py").read_text())
    named = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    named |= {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    ours = {name for name in named if name.partition(".")[0] in PACKAGES}
    assert all(name in allowed or name.partition(".")[0] in allowed for name in ours), ours


def test_relative_imports_are_nowhere() -> None:
    for package in PACKAGES:
        for file in (ROOT / package).rglob("*.py"):
            nodes = ast.walk(ast.parse(file.read_text()))
            assert not [n for n in nodes if isinstance(n, ast.ImportFrom) and n.level], file
