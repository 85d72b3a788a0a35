"""The composition root: puts the parts together and runs them.

The only place that picks adapters by name and hands out clock, randomness and environment. It holds no rule.
`chat` runs the core for one console, `serve` for every surface; the read-only commands look at the ledger
without it (`bot.lookup`).
"""

import asyncio
import contextlib
import functools
import logging
import secrets
import signal
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from adapters.console import ConsolePort, choose_front
from bot import health, learning, surfaces, sweeping
from bot.acts.registry import HANDLERS
from bot.bookmarks import InboxBookmarks
from bot.cards import Cards
from bot.clock import SystemClock
from bot.conversation import Conversation
from bot.core import Core, Probe, no_probe
from bot.delegates.desk import Desk
from bot.delegates.keys import read as read_keys
from bot.delegates.loading import delegates_of
from bot.delivery import Delivery, Live
from bot.execution.executor import FleetExecutor
from bot.execution.limits import Limits
from bot.execution.work import Work
from bot.ids import RandomIds
from bot.known_secrets import KnownSecrets
from bot.listening import Listener
from bot.loading.lexicon import load_lexicons
from bot.loading.library import load_library
from bot.loading.shelf import Shelf, settle
from bot.outcome import text_of
from bot.planning.model.endpoint import key_of, open_thinker
from bot.planning.model.thinking import Thinker
from bot.ports import Account, ChatPort, Clock, Executor, Inbound, PlaceRef
from bot.pressing import Presses
from bot.runtime import said_at_run_time
from bot.scraping import Scraping
from bot.settings.addresses import loopback
from bot.settings.config import Config
from bot.settings.inventory import inventory_of
from bot.settings.live import Settings
from bot.settings.paths import Paths
from bot.settings.rules import rules_of
from bot.steering import Steering
from bot.timing import Stopwatch, Timing, no_stopwatch
from bot.turn import Turns
from gate import authority
from ledger.kinds import Batch, Draft, Kind
from ledger.projections import holds, project, reset
from ledger.queries import Queries
from ledger.store import Ledger

if TYPE_CHECKING:
    from bot.metrics import Metrics

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class App:
    """Everything that runs."""

    core: Core
    conversation: Conversation
    turns: Turns


def open_ledger(config: Config, clock: Clock) -> Ledger:
    """Open the ledger of `config` for writing.

    Raises:
        LedgerBusyError: another process writes it.
    """
    return Ledger.open(
        config.paths.ledger,
        project=project,
        holds=holds,
        random_bytes=secrets.token_bytes,
        clock=clock.now,
        checkpoint_every=config.number("ledger.checkpoint_entries"),
        checkpoint_s=float(config.number("ledger.checkpoint_s")),
    )


def build(
    config: Config,
    ledger: Ledger,
    *,
    ports: Sequence[ChatPort],
    clock: Clock,
    executor: Executor | None = None,
    thinker: Thinker | None = None,
    probe: Probe = no_probe,
    stopwatch: Stopwatch = no_stopwatch,
) -> App:
    """Put the core together around an open ledger. Call it inside the running loop.

    Args:
        thinker: the model that may plan; None for none.
    """
    inventory = inventory_of(config)
    library = config.paths.library
    queries = Queries(ledger.reader)
    settle(library, lambda capability: queries.capability(capability) is not None)
    shelf = Shelf(load_library(library if library.is_dir() else None), folder=library)
    known = KnownSecrets(filter(None, [key_of(config)]))
    settings = Settings(start=config.layers, runtime=functools.partial(said_at_run_time, queries))
    kept = functools.partial(settings.number, "bot.output_max_bytes")
    waiting = functools.partial(settings.number, "bot.waiting_shells")
    limits = Limits(handshakes_each=config.number("bot.logins_at_once"))
    core = Core(
        ledger=ledger,
        queries=queries,
        inventory=inventory,
        shelf=shelf,
        executor=executor
        or FleetExecutor(inventory, limits=limits, output_bytes=kept, waiting=waiting, learn=known.learn),
        rules=rules_of(config),
        lexicons=load_lexicons(),
        policy=config.policy,
        posture_is_set=config.values["policy.posture"].is_set,
        floor=config.floor,
        clock=clock,
        ids=RandomIds(),
        token_key=_token_key(config.paths),
        machine_zone=_machine_zone(config, clock),
        acts=HANDLERS,
        places=config.places,
        signal_rules=config.signal_rules,
        delegates=delegates_of(config.agents, places=config.places, inventory=inventory),
        settings=settings,
        retention_days=config.number("ledger.retention_days"),
        secrets=known,
        thinker=thinker,
        rehearsal=config.rehearsal,
        probe=probe,
        stopwatch=stopwatch,
    )
    return assemble(core, ports={port.name: port for port in ports})


def assemble(core: Core, *, ports: Mapping[str, ChatPort]) -> App:
    """Put everything around a core."""
    cards = Cards(
        token_key=core.token_key,
        secrets=core.secrets,
        last_run=core.queries.last_run,
        caution=functools.partial(learning.before, core),
        seconds=lambda one, requester: authority.seconds(
            core.policy, target=one.action.target, risk=one.verdict.risk, requester=requester
        ),
    )
    live = Live()
    delivery = Delivery(core, cards, ports=ports, live=live)
    work = Work(core, delivery, live=live)
    with_forms = frozenset(name for name, port in ports.items() if port.capabilities.forms)
    presses = Presses(core=core, cards=cards, with_forms=with_forms)
    steering = Steering(core=core, cards=cards, behind=live.behind)
    own_threads = frozenset(name for name, port in ports.items() if port.capabilities.own_threads)
    turns = Turns(core=core, cards=cards, presses=presses, steering=steering, own_threads=own_threads)
    conversation = Conversation(core, turns=turns, work=work, delivery=delivery, ports=ports)
    return App(core=core, conversation=conversation, turns=turns)


@contextlib.asynccontextmanager
async def running(app: App) -> AsyncIterator[None]:
    """Recover, keep time, and record start and stop."""
    core = app.core
    _record(core, Kind.BOT_STARTED)
    await app.conversation.recover()
    timer = asyncio.create_task(app.conversation.keep_time())
    try:
        yield
    finally:
        timer.cancel()
        await asyncio.gather(timer, return_exceptions=True)
        await app.conversation.close()
        await core.executor.close()
        _record(core, Kind.BOT_STOPPED)


def _record(core: Core, kind: Kind) -> None:
    draft = Draft(
        kind=kind,
        body={
            "policy_revision": core.policy.revision,
            "rules_revision": core.rules.revision,
            "posture": core.policy_now().posture.value,
            "rehearsal": core.rehearsal,
        },
    )
    core.ledger.append(Batch(at=core.now(), drafts=(draft,)))


def chat(config: Config, *, first: str = "") -> int:
    """Run the core for the console of this process; return its exit code.

    Args:
        first: what is said before anybody types; "" for nothing.
    """
    clock = SystemClock()
    ledger = open_ledger(config, clock)
    try:
        port = ConsolePort(
            clock=clock,
            login=config.login,
            front=choose_front(history=config.paths.history, first=first),
            rehearsal=config.rehearsal,
        )
        asyncio.run(_converse(config, ledger, port, clock))
        return port.exit_code
    finally:
        ledger.close()


async def _converse(config: Config, ledger: Ledger, port: ConsolePort, clock: Clock) -> None:
    app = build(config, ledger, ports=[port], clock=clock, thinker=open_thinker(config))
    port.greet = app.conversation.greet
    sweeping.settle()
    async with running(app):
        await port.listen(app.conversation.sink)


def say_once(config: Config, text: str) -> list[str]:
    """Take one turn of the user of this machine, which moves nothing else on, and return what is answered.

    Raises:
        LedgerBusyError: another process writes the ledger.
    """
    clock = SystemClock()
    ledger = open_ledger(config, clock)
    try:
        return asyncio.run(_say_once(config, ledger, text, clock))
    finally:
        ledger.close()


async def _say_once(config: Config, ledger: Ledger, text: str, clock: Clock) -> list[str]:
    app = build(config, ledger, ports=(), clock=clock)
    inbound = Inbound(
        event_id=app.core.ids.token(),
        place=PlaceRef(platform="console", channel=config.login),
        account=Account(platform="console", user=config.login, display=config.login),
        sent_at=clock.now(),
        text=text,
        direct=True,
    )
    place = app.core.place_of(inbound.place)
    outcome = await asyncio.to_thread(app.turns.take, inbound, inbox="", seen=ledger.outbox.seen(place))
    said = {
        effect.nonce: text_of(effect.body["text"]).plain()
        for effect in outcome.effects
        if "text" in effect.body and effect.place == place  # what goes elsewhere waits for `serve`
    }
    for item in ledger.outbox.pending():
        if item.nonce in said:  # it is shown by whoever called
            ledger.outbox.done(item.id)
    await app.core.executor.close()
    return list(said.values())


def serve(config: Config) -> int:
    """Run every configured surface until told to stop."""
    clock = SystemClock()
    ledger = open_ledger(config, clock)
    try:
        asyncio.run(_serve(config, ledger, clock))
    finally:
        ledger.close()
    return 0


def _metrics(config: Config, ledger: Ledger, clock: Clock) -> "Metrics | None":
    """Return what is told to whoever scrapes; None unless the owner switched that on."""
    if not config.text("metrics.listen"):
        return None
    from bot.metrics import Metrics  # noqa: PLC0415  # lazy: off by default

    metrics = Metrics(ledger, clock=clock, file=config.paths.health)
    ledger.timed = functools.partial(metrics.stopwatch, Timing.APPEND)
    return metrics


async def _serve(config: Config, ledger: Ledger, clock: Clock) -> None:
    metrics = _metrics(config, ledger, clock)
    console = ConsolePort(
        clock=clock,
        login=config.login,
        socket=config.paths.socket,
        admits=lambda account: config.operator_of(account) is not None,
        group=config.text("bot.socket_group"),
    )
    bookmarks = InboxBookmarks(ledger.inbox, Queries(ledger.reader))
    ports = [console, *surfaces.open_ports(config, clock=clock, bookmarks=bookmarks)]
    keys = read_keys(config.agents)
    stopwatch = no_stopwatch if metrics is None else metrics.stopwatch
    thinker = open_thinker(config)
    app = build(config, ledger, ports=ports, clock=clock, thinker=thinker, stopwatch=stopwatch)
    console.greet = app.conversation.greet
    app.core.secrets.learn(keys.clear)
    desk = Desk(app.core, app.conversation, keys)
    entrances = surfaces.open_agent_entrances(config, callers=desk)
    loop = asyncio.get_running_loop()
    sweeping.settle()
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    async with running(app):
        heard = [*ports[1:], *entrances]
        listeners = [Listener(one, app.conversation.sink, stopping=stopping) for one in heard]
        listening = [asyncio.create_task(one.keep()) for one in listeners]
        listening.append(asyncio.create_task(_listen(console, app, stopping)))
        aside = []  # what nothing waits for, and whose end ends nothing
        watched: list[health.Healthy] = [console, *listeners]
        if metrics is not None:
            scraping = Scraping(loopback(config.text("metrics.listen")), metrics)
            watched.append(scraping)
            aside.append(asyncio.create_task(scraping.keep()))
        aside.append(asyncio.create_task(health.keep(config.paths.health, watched, clock)))
        sys.stderr.write(f"sayso listens on {', '.join([str(config.paths.socket), *config.adapters])}\n")
        await stopping.wait()
        for task in aside:
            task.cancel()
        await desk.close()
        for way in (*entrances, *ports):
            await way.close()
        await asyncio.gather(*aside, return_exceptions=True)
        await asyncio.gather(*listening)


async def _listen(console: ConsolePort, app: App, stopping: asyncio.Event) -> None:
    """Listen to the local socket; without it nothing goes on, whatever the reason."""
    try:
        await console.listen(app.conversation.sink)
    finally:
        stopping.set()


def rebuild(config: Config) -> int:
    """Rebuild the projections from the entries; return how many were read."""
    ledger = open_ledger(config, SystemClock())
    try:
        return ledger.rebuild(reset)
    finally:
        ledger.close()


def _machine_zone(config: Config, clock: Clock) -> tzinfo:
    """Return this machine's zone; where it has none that is known by name, its present offset."""
    return ZoneInfo(config.zone) if config.zone != "UTC" else clock.now().astimezone().tzinfo or UTC


def _token_key(paths: Paths) -> bytes:
    """Return the secret that button tokens are made with; made on the first start, mode 0600."""
    file = paths.state / "token_key"
    with contextlib.suppress(FileExistsError):
        file.touch(mode=0o600, exist_ok=False)
        file.write_bytes(secrets.token_bytes(32))
    return file.read_bytes()
