"""A conversation under test: the real core, ledger and local execution; a scripted port and clock.

Transcripts (tests/transcripts/*.toml) and tests of the bot talk through it. What stands in for the world are
classes that implement the ports: a clock that moves when told, ids that count, a port that remembers what it
was asked to show.
"""

import asyncio
import contextlib
import functools
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bot.acts.handler import ActHandler
from bot.acts.registry import HANDLERS
from bot.app import App, assemble, running
from bot.core import Core
from bot.execution.executor import FleetExecutor
from bot.inventory import Inventory, ServiceConfig, TargetConfig, build
from bot.known_secrets import KnownSecrets
from bot.loading.lexicon import load_lexicons
from bot.loading.library import load_library
from bot.loading.rules import load_rules
from bot.loading.shelf import Shelf
from bot.planning.library import Library
from bot.ports import (
    Account,
    Capabilities,
    ChatPort,
    Executor,
    Form,
    Health,
    Inbound,
    InboundKind,
    Message,
    MessageRef,
    PlaceRef,
    Receipt,
    Sink,
)
from bot.runtime import said_at_run_time
from bot.settings.layers import Candidate, Layer
from bot.settings.live import Settings
from gate.domain import PersonId, ProposalId, Risk, TargetKind
from gate.policy import Operator, Permission, Policy
from ledger.projections import holds, project
from ledger.queries import Queries
from ledger.store import Ledger
from tests.ledger.support import lay_empty

START = datetime(2026, 3, 2, 14, 0, tzinfo=UTC)
EVERYTHING = (Permission(risk=Risk.DESTRUCTIVE, targets=("*",)),)


_library = functools.cache(load_library)
_rules = functools.cache(load_rules)


class ScriptedClock:
    """A clock that stands still until it is moved."""

    def __init__(self, start: datetime = START) -> None:
        self.instant = start

    def now(self) -> datetime:
        return self.instant

    def advance(self, seconds: float) -> None:
        self.instant += timedelta(seconds=seconds)


class CountingIds:
    """Ids that count: k00001, k00002, …"""

    def __init__(self) -> None:
        self.count = 0

    def short_id(self) -> str:
        self.count += 1
        return f"k{self.count:05d}"

    def token(self) -> str:
        self.count += 1
        return f"token-{self.count}"

    def code(self, alphabet: str, length: int) -> str:
        self.count += 1
        return f"{alphabet[0] * (length - 1)}{alphabet[self.count % len(alphabet)]}"


@dataclass(slots=True)
class Shown:
    """One message on the screen, as it stands now."""

    ref: MessageRef
    message: Message
    edits: int = 0

    @property
    def text(self) -> str:
        fold = "" if self.message.fold is None else "\n" + self.message.fold.plain()
        return self.message.body.plain() + fold

    def token(self, label: str) -> str:
        return next(one.token for one in self.message.buttons if one.label == label)


class ScriptedPort:
    """A chat surface that only remembers. What `Capabilities` knows of, it can do where told so by name.

    `position` is the platform's order: with `ordered`, every message posted takes the next one.
    """

    def __init__(self, name: str = "script", *, ordered: bool = False, **can: bool) -> None:
        self.name = name
        self.capabilities = replace(Capabilities(), **can)  # type: ignore[arg-type] # fields by name
        self.screen: dict[str, Shown] = {}
        self.notes: list[tuple[str, str]] = []
        self.sink: Sink | None = None
        self.ordered = ordered
        self.position = 0

    async def listen(self, sink: Sink) -> None:
        self.sink = sink

    async def post(self, place: PlaceRef, message: Message, *, nonce: str) -> MessageRef:
        self.position += self.ordered
        ref = MessageRef(place=place, message=nonce, position=self.position)
        self.screen[nonce] = Shown(ref, message)
        return ref

    async def find(self, place: PlaceRef, *, nonce: str) -> MessageRef | None:
        shown = self.screen.get(nonce)
        return None if shown is None else shown.ref

    async def edit(self, ref: MessageRef, message: Message) -> None:
        shown = self.screen[ref.message]
        shown.message, shown.edits = message, shown.edits + 1

    async def note(self, place: PlaceRef, account: Account, message: Message) -> None:
        self.notes.append((account.user, message.body.plain()))
        await self.post(place, message, nonce=f"note-{len(self.screen)}-{account.user}")

    async def health(self) -> Health:
        return Health(ok=True)

    async def close(self) -> None:
        self.sink = None


def person(name: str, *may: Permission) -> Operator:
    """Return an operator who speaks on the scripted port under their own name."""
    return Operator(id=PersonId(name), accounts=(f"script::{name}",), may=may or EVERYTHING)


@dataclass(slots=True, kw_only=True)
class Kit:
    """One running conversation."""

    app: App
    port: ScriptedPort
    clock: ScriptedClock
    events: int = 0
    mark: list[str] = field(default_factory=list)

    @property
    def core(self) -> Core:
        return self.app.core

    async def say(
        self,
        text: str,
        *,
        by: str = "ana",
        place: str = "ops",
        reply_to: Shown | None = None,
        settle: bool = True,
        is_bot: bool = False,
        **changes: object,
    ) -> str:
        """Say a line, wait until its turn has settled, and return everything that is new on the screen."""
        inbound = self._inbound(by, place, text=text, reply_to=None if reply_to is None else reply_to.ref)
        inbound = replace(inbound, account=replace(inbound.account, is_bot=is_bot))
        return await self.send(replace(inbound, **changes), settle=settle)  # type: ignore[arg-type] # fields by name

    async def press(self, shown: Shown, label: str, *, by: str = "ana", place: str = "ops") -> str:
        """Press a button."""
        inbound = self._inbound(by, place, text="")
        return await self.send(replace(inbound, kind=InboundKind.CLICK, token=shown.token(label)))

    async def form(self, shown: Shown, label: str, *, by: str = "ana", is_bot: bool = False) -> Form | None:
        """Press a button and return the form that it opens."""
        inbound = replace(self._inbound(by, "ops", text=""), kind=InboundKind.CLICK, token=shown.token(label))
        inbound = replace(inbound, account=replace(inbound.account, is_bot=is_bot))
        receipt = await self.hand_over(inbound)
        await asyncio.wait_for(receipt.settled, timeout=60)
        return receipt.form

    async def fill(self, form: Form | None, text: str, *, by: str = "ana") -> str:
        """Send a form with `text` in its field."""
        assert form is not None
        inbound = self._inbound(by, "ops", text=text)
        return await self.send(replace(inbound, kind=InboundKind.FORM, token=form.token))

    async def send(self, inbound: Inbound, *, settle: bool = True) -> str:
        """Hand over an event as it is."""
        before = {key: (one.edits, one.text) for key, one in self.port.screen.items()}
        receipt = await self.hand_over(inbound)
        if settle:
            await asyncio.wait_for(receipt.settled, timeout=60)
        return "\n\n".join(
            one.text
            for key, one in self.port.screen.items()
            if key not in before or before[key] != (one.edits, one.text)
        )

    async def look(self) -> None:
        """Do what the timer does when something is due, and wait until it is shown."""
        conversation = self.app.conversation
        await conversation._look_now()
        await conversation._delivery.flush()
        await conversation._delivery.settled()

    async def at_rest(self) -> None:
        """Wait until nothing of the newest proposal runs."""
        await self.app.conversation._work.quiet([ProposalId(self.newest_id())])

    async def hand_over(self, inbound: Inbound) -> Receipt:
        """Hand over an event and return its receipt."""
        return await self.app.conversation.sink(inbound)

    def _inbound(self, by: str, place: str, *, text: str, reply_to: MessageRef | None = None) -> Inbound:
        self.events += 1
        return Inbound(
            event_id=f"e{self.events}",
            place=PlaceRef(platform="script", channel=place),
            account=Account(platform="script", user=by),
            sent_at=self.clock.now(),
            direct=place.endswith("-dm"),
            text=text,
            reply_to=reply_to,
        )

    def inbound(self, text: str, *, by: str = "ana", place: str = "ops") -> Inbound:
        """Return a fresh message without sending it."""
        return self._inbound(by, place, text=text)

    @property
    def card(self) -> Shown:
        """The newest message that has, or had, a proposal."""
        ids = [one for one in self.port.screen.values() if one.message.buttons]
        return ids[-1]

    def newest_id(self) -> str:
        """The id of the newest proposal."""
        row = self.core.ledger.reader().execute("SELECT id FROM proposal ORDER BY made_seq DESC LIMIT 1")
        return str(row.fetchone()[0])

    def states(self, proposal: str | None = None) -> list[str]:
        """The states of the actions of a proposal, the newest by default."""
        rows = self.core.ledger.reader().execute(
            "SELECT state FROM action WHERE proposal=? ORDER BY position", (proposal or self.newest_id(),)
        )
        return [row[0] for row in rows]

    def kinds(self) -> list[str]:
        """Every kind of entry, in order."""
        return [row[0] for row in self.core.ledger.reader().execute("SELECT kind FROM entry ORDER BY seq")]


def local_inventory(services: Mapping[str, ServiceConfig] | None = None, *, webs: int = 2) -> Inventory:
    """Return an inventory of `local` and more names for this machine, so many of them tagged web."""
    targets = {"local": TargetConfig(kind=TargetKind.LOCAL)} | {
        f"web{number}": TargetConfig(kind=TargetKind.LOCAL, tags=("web",)) for number in range(1, webs + 1)
    }
    return build(targets, services or {})


def open_ledger(folder: Path, clock: ScriptedClock) -> Ledger:
    """Open a real ledger in `folder`."""
    chance = CountingIds()

    def random_bytes(size: int) -> bytes:
        chance.count += 1
        return chance.count.to_bytes(size, "big")

    lay_empty(folder)
    ledger = Ledger.open(
        folder / "ledger.db", project=project, holds=holds, random_bytes=random_bytes, clock=clock.now
    )
    chance.count += ledger.head().seq * 100  # no chance comes twice, in a ledger opened again neither
    return ledger


@contextlib.asynccontextmanager
async def conversation(
    folder: Path,
    *,
    operators: Sequence[Operator] = (person("ana"),),
    policy: Policy | None = None,
    inventory: Inventory | None = None,
    executor: Callable[[Inventory], Executor] = FleetExecutor,
    clock: ScriptedClock | None = None,
    port: ScriptedPort | None = None,
    ports: Sequence[ChatPort] = (),
    settings: Mapping[Layer, Mapping[str, Candidate]] | None = None,
    library: Library | None = None,
    acts: tuple[ActHandler, ...] = HANDLERS,
    secrets: Sequence[str] = (),
    **changes: object,
) -> AsyncIterator[Kit]:
    """Run a conversation on a ledger in `folder`; open the same folder again to go on after a stop.

    `settings` are the layers that the process started with.
    """
    clock, port = clock or ScriptedClock(), port or ScriptedPort()
    threads = ThreadPoolExecutor(max_workers=8)
    asyncio.get_running_loop().set_default_executor(threads)
    inventory = inventory or local_inventory()
    ledger = open_ledger(folder, clock)
    ids = CountingIds()
    ids.count = ledger.head().seq * 100
    try:
        queries = Queries(ledger.reader)
        core = Core(
            ledger=ledger,
            queries=queries,
            acts=acts,
            settings=Settings(start=settings or {}, runtime=functools.partial(said_at_run_time, queries)),
            inventory=inventory,
            shelf=Shelf(library or _library(), folder=folder / "library"),
            executor=executor(inventory),
            rules=_rules(),
            lexicons=load_lexicons(),
            policy=replace(policy or Policy(revision="r" * 64), operators=tuple(operators)),
            clock=clock,
            ids=ids,
            token_key=b"k" * 32,
            secrets=KnownSecrets(secrets),
            **changes,  # type: ignore[arg-type] # fields by name
        )
        app = assemble(core, ports={one.name: one for one in (port, *ports)})
        async with running(app):
            yield Kit(app=app, port=port, clock=clock, events=ids.count)
    finally:
        threads.shutdown()  # as asyncio.run does: no thread may read a ledger that is closed
        ledger.close()
