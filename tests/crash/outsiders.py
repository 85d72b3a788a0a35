"""A life of the bot in which an agent asks, alerts come, and somebody decides, all at once.

The agent asks until it is told an id, and from then on asks only what became of it. The sender of alerts
speaks HTTP and sends again what got no 2xx, as Alertmanager does. Each change leaves a line in the witness
file, and each command that the executor is handed one in the file `runs`, so that what ran twice is seen
whatever the ledger says.
"""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import aiohttp

from adapters.webhook import Settings
from adapters.webhook.port import WebhookPort
from bot.app import App
from bot.callers import Answer, Wanted, no_progress
from bot.delegates.desk import Desk
from bot.delegates.keys import Keys
from bot.ports import Ended, Executor, OutputSink
from gate.domain import Action, Target
from gate.lifecycle import ActionState
from tests.adapters.webhook_room import SECRET, alert, alertmanager
from tests.crash.order import CONFIG, Order
from tests.crash.person import Person, live_with
from tests.crash.trap import Trap

AGENT = "claude"
#: What the agent asks for: one that is agreed to, one that is refused, and one that only reads.
ASKED: Mapping[str, str] = {
    "granted": "echo agent >> {w}",
    "refused": "echo never >> {w}",
    "read": "uptime",
}
#: What alerts lead to: by rule one that runs by itself, since it only reads, and one that somebody agrees to.
RULES: Mapping[str, str] = {"Looked": "ls {dir}", "Marked": "echo alert >> {w}"}

_MORE = """
[places]
ops = "console::ops"
[signals]
autonomy = "run"
place = "ops"
[agents.claude]
login = "somebody-else"
place = "ops"
targets = ["*"]
"""


def command(order: Order, text: str) -> str:
    """Return a command of this cycle."""
    return text.format(w=order.witness, dir=order.folder)


def live(order: Order, _config_file: Path) -> int:
    """Live one life; return the exit code of its process."""
    rules = [
        f"[[signals.match]]\nlabels = {{ alertname = '{name}' }}\ncommand = '{command(order, text)}'\n"
        for name, text in RULES.items()
    ]
    config = order.path / "config.toml"
    config.write_text("\n".join([CONFIG, _MORE, *rules]))

    def given(app: App, trap: Trap) -> None:
        counted = Counted(app.core.executor, order.path / "runs", trap)
        object.__setattr__(app.core, "executor", counted)

    return live_with(_Everybody, order, config, given=given)


class Counted:
    """The real executor; what it is handed stands in a file before it runs."""

    def __init__(self, real: Executor, file: Path, trap: Trap) -> None:
        self._real, self._trap = real, trap
        self._fd = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    async def identify(self, target: Target) -> Target:
        return await self._real.identify(target)

    async def run(
        self, action: Action, *, on_output: OutputSink, cancel: asyncio.Event, reads: bool = False
    ) -> Ended:
        os.write(self._fd, f"{action.id}\n".encode())
        self._trap("run.handed")
        return await self._real.run(action, on_output=on_output, cancel=cancel, reads=reads)

    async def close(self) -> None:
        await self._real.close()


class _Everybody(Person):
    """The agent, the sender of alerts and the person who decides, each from wherever they stand."""

    async def see_through(self) -> None:
        """Go on until everything is over."""
        self._desk = Desk(self._app.core, self._app.conversation, Keys(), look_every_s=0.01)
        async with self._door() as url, aiohttp.ClientSession() as session:
            await asyncio.gather(self._ask(), self._send_all(url, session), self._decide())
            await self._send(url, session, "Marked", status="resolved")
            for name in RULES:  # what somebody overheard, or a sender that was not told
                await self._send(url, session, name, again=True)
        await self._desk.close()
        self._journal.write("over")

    # ------------------------------------------------------------ the agent

    async def _ask(self) -> None:
        for name in ASKED:
            if name in self._ids:  # a life before this one was told: now only the truth is asked for
                await self._ask_after(name)
        for name, text in ASKED.items():
            if name not in self._ids:
                wanted = Wanted(target="local", command=command(self._order, text), purpose=f"the {name} one")
                answer = await self._desk.run(AGENT, wanted)
                self._journal.write("told", name=name, id=answer.data["id"])
        while not all([await self._ask_after(name) for name in ASKED]):  # noqa: ASYNC110 - as an agent does
            await asyncio.sleep(0.02)

    async def _ask_after(self, name: str) -> bool:
        """Ask what became of a request, and write it down beside what the ledger has; whether it is over."""
        answer: Answer | None = None
        before, after = "", " "
        while before != after:  # it may go on while it is told
            before = self._state(self._ids[name])
            answer = await self._desk.result(AGENT, self._ids[name], wait_s=0, progress=no_progress)
            after = self._state(self._ids[name])
        assert answer is not None
        self._journal.write("truth", name=name, told=answer.data["state"], is_so=before)
        return before in {ActionState.SUCCEEDED, ActionState.FAILED, ActionState.CANCELLED}

    @property
    def _ids(self) -> dict[str, str]:
        return {str(one["name"]): str(one["id"]) for one in self._journal.read("told")}

    def _state(self, proposal: str) -> str:
        reader = self._app.core.ledger.reader()
        ((state,),) = reader.execute("SELECT state FROM action WHERE proposal=?", (proposal,)).fetchall()
        return str(state)

    # ------------------------------------------------------------ the sender

    @contextlib.asynccontextmanager
    async def _door(self) -> AsyncIterator[str]:
        secret = self._order.path / "secret"
        secret.touch(mode=0o600)
        secret.write_text(SECRET)
        source = {"format": "alertmanager", "token_file": str(secret)}
        settings = Settings.model_validate({"listen": "127.0.0.1:0", "sources": {"am": source}})
        port = WebhookPort(settings, secrets=settings.secrets(), clock=self._clock)
        listening = asyncio.create_task(port.listen(self._app.conversation.sink))
        while port.bound is None:  # noqa: ASYNC110 - it tells nobody
            await asyncio.sleep(0)
        yield f"http://127.0.0.1:{port.bound[1]}/signals/am"
        await port.close()
        await listening

    async def _send_all(self, url: str, session: aiohttp.ClientSession) -> None:
        for name in RULES:
            await self._send(url, session, name)

    async def _send(
        self,
        url: str,
        session: aiohttp.ClientSession,
        name: str,
        *,
        status: str = "firing",
        again: bool = False,
    ) -> None:
        """Deliver one alert, unless that was acknowledged before."""
        if self._known(f"{name} {status}") and not again:
            return
        labels = {"alertname": name, "instance": "web1"}
        one = alert(labels=labels, fingerprint=name, status=status, startsAt="2026-01-01T00:00:00Z")
        body: Any = alertmanager(one, status=status, groupKey=name)
        async with session.post(url, json=body, headers={"Authorization": f"Bearer {SECRET}"}) as answer:
            if answer.status != 200:
                raise RuntimeError(f"{answer.status}: {await answer.text()}")
        self._journal.write("delivered", name=f"{name} {status}")

    def _known(self, name: str) -> bool:
        return any(one["name"] == name for one in self._journal.read("delivered"))

    # ------------------------------------------------------------ the person

    async def _decide(self) -> None:
        """Settle what is unknown, refuse one request, agree to the others, until nothing is open."""
        while not self._is_over():
            queries = self._app.core.queries
            for one in queries.in_state(ActionState.LOST):
                ran = any(mark in one.action.command for mark in self._order.witness_lines)
                how = "ran" if ran else "did-not-run"
                await self.say(f"settle #{one.action.id} {how}, because I looked")
            for pending in queries.pending():
                if pending.requester == f"agent:{AGENT}" and pending.proposal not in self._ids.values():
                    continue  # the agent does not know of it yet, and would ask for it again
                if "never" in pending.action.command:
                    await self.say(f"deny #{pending.proposal}, no reason to")
                else:
                    await self.say(f"approve #{pending.proposal}")
            await self._app.conversation._look_now()
            await asyncio.sleep(0.01)

    def _is_over(self) -> bool:
        """Whether all that is to come has come, and ended."""
        rows = self._app.core.ledger.reader().execute("SELECT state FROM action").fetchall()
        ended = {ActionState.SUCCEEDED, ActionState.FAILED, ActionState.CANCELLED}
        return len(rows) >= len(ASKED) + len(RULES) and all(state in ended for (state,) in rows)
