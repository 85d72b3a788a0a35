"""A runbook that a real shell runs here: provision-like, with a file for a machine."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bot.runbooks import attest, report
from gate.supervise.domain import RunId
from ledger.runs import RunView
from tests.kit import Kit, Shown, conversation
from tests.runbooks import library_of

PROVISION = """\
version: 1
id: provision
title: provision {name}
inputs:
  name: {type: name}
  vmid: {type: integer, required: false}
steps:
  - id: free
    kind: check
    title: Find a free id
    risk: read-only
    command: ls FOLDER/ids
    capture: {input: vmid}
  - id: make
    title: Make {{ inputs.name }}
    risk: mutating
    command: mkdir FOLDER/{{ inputs.name }}
    expect: {file_exists: "FOLDER/{{ inputs.name }}"}
    rollback: remove
  - id: boot
    title: Start it
    risk: reversible
    command: test -e FOLDER/ready && touch FOLDER/{{ inputs.name }}/up
    retry: {max: 2, target: boot}
    on_fail: end:failure
    rollback: remove
  - {id: told, kind: note, title: It is up}
  - id: look
    kind: check
    title: Look at it
    risk: read-only
    command: echo careful >&2; ls FOLDER/{{ inputs.name }}
    expect:
      - stdout: {equals: up}
      - stderr: {contains: careful}
    next: end:success
  - id: remove
    title: Remove it
    risk: mutating
    command: rmdir FOLDER/{{ inputs.name }}
    rollback: none
"""
WAITING = """\
version: 1
id: patience
title: wait and see
inputs:
  count: {type: integer, default: 0}
steps:
  - id: agree
    kind: approval
    title: Is the backup done?
  - {id: pause, kind: wait, title: Let it settle, duration: 5m}
  - id: which
    kind: decision
    title: Whether to go on
    branches:
      - when: {input: count, at_least: 1}
        next: look
      - next: end:escalate
  - {id: look, kind: check, title: Look, risk: read-only, command: date}
"""
SECRET = """\
version: 1
id: rotate
title: rotate the password of {user}
inputs:
  user: {type: name}
  password: {type: text, secret: true}
steps:
  - id: set
    title: Set it
    risk: mutating
    command: printf '%s\\n' {{ inputs.password }} | tee FOLDER/{{ inputs.user }}
    rollback: none
  - id: wrong
    kind: check
    title: Look at it
    risk: read-only
    command: cat FOLDER/{{ inputs.user }} FOLDER/missing
"""


def prepared(folder: Path) -> Path:
    """Return a folder as PROVISION wants it."""
    (folder / "ids" / "112").mkdir(parents=True)
    return folder


@asynccontextmanager
async def supervised(tmp_path: Path, *documents: str, **options: object) -> AsyncIterator[Kit]:
    """Give a conversation that knows these runbooks; FOLDER in them is tmp_path/made.

    Whatever ran in it, its report has to agree with its entries in the end.
    """
    work = tmp_path / "made"
    if not work.exists():
        prepared(work)
    library = library_of(*(one.replace("FOLDER", str(work)) for one in documents))
    (tmp_path / "ledger").mkdir(exist_ok=True)
    async with conversation(tmp_path / "ledger", library=library, **options) as kit:  # type: ignore[arg-type] # by name
        yield kit
        asked = kit.core.queries
        for view in asked.runs():
            told = report.tell(asked, view.id, secrets=kit.core.secrets)
            assert told is not None
            assert attest.verify(attest.attested(told, asked.run_entries(view.id))).problems == ()


def run_of(kit: Kit) -> RunView:
    """Return the newest run."""
    found = kit.core.queries.run(newest(kit))
    assert found is not None
    return found


def newest(kit: Kit) -> RunId:
    """Return the id of the newest run."""
    return kit.core.queries.runs(limit=1)[0].id


def run_card(kit: Kit, run: RunId | None = None) -> Shown:
    """Return the card of a run, the newest by default."""
    name = run or newest(kit)
    return next(one for one in kit.port.screen.values() if f"#{name} · asked by" in one.text)


def events(kit: Kit, run: RunId | None = None) -> list[str]:
    """Return the names of what happened to a run, in order."""
    return [type(one).__name__ for one in kit.core.queries.run_events(run or newest(kit))]


async def agree(kit: Kit) -> str:
    """Say yes to the card that stands there now, with its phrase where it wants one."""
    phrase = re.search(r"type:  (.+)$", kit.card.text, re.MULTILINE)
    return await kit.say(phrase[1] if phrase else "go ahead")


def said(kit: Kit) -> str:
    """Return everything that is on the screen."""
    return "\n".join(one.text for one in kit.port.screen.values())
