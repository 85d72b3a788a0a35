"""Alerts for tests: deliveries as an adapter hands them over, and a conversation that they reach."""

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from bot.execution.executor import FleetExecutor
from bot.inventory import Inventory
from bot.ports import (
    Account,
    Captured,
    Ended,
    EndKind,
    Inbound,
    InboundKind,
    OutputSink,
    PlaceRef,
    Receipt,
    Streams,
)
from bot.settings.layers import Candidate, Layer
from bot.signals.cards import FIRING
from gate.domain import Action, RouteKind
from gate.lifecycle import ActionState
from gate.signals import Signal, SignalStatus, pack
from tests.kit import START, Kit, conversation

PLACES = {"alerts": "script::alerts"}


def settings(**values: object) -> dict[Layer, dict[str, Candidate]]:
    """Return the layers of a config file that sets these; "." in a key is written "__"."""
    named = {name.replace("__", "."): value for name, value in {"signals__place": "alerts", **values}.items()}
    return {
        Layer.FILE: {
            key: Candidate(layer=Layer.FILE, where="file", value=value)  # type: ignore[arg-type] # of any setting
            for key, value in named.items()
        }
    }


def alerting(
    folder: Path, *, level: str = "advise", more: Mapping[str, object] | None = None, **changes: Any
) -> contextlib.AbstractAsyncContextManager[Kit]:
    """Return a conversation that alerts are shown in."""
    layers = settings(signals__autonomy=level, **(more or {}))
    return conversation(folder, settings=layers, **{"places": PLACES, **changes})


def alert(
    name: str = "DiskFull",
    instance: str = "web1:9100",
    *,
    status: str = "firing",
    minutes: float = 0,
    labels: Mapping[str, str] | None = None,
    says: str = "/var is 93 % full",
    **changes: Any,
) -> Signal:
    """Return one signal of the source "am"."""
    made = Signal(
        source="am",
        fingerprint=f"{name}/{instance}",
        status=SignalStatus(status),
        starts_at=START + timedelta(minutes=minutes),
        labels={"alertname": name, "instance": instance, **(labels or {})},
        annotations={"summary": says} if says else {},
        severity="critical",
        group=f"{{}}:{{alertname={name}}}",
    )
    return replace(made, **changes)


class Sender:
    """Hands deliveries over, as the webhook adapter does."""

    def __init__(self, kit: Kit) -> None:
        self.kit, self.count = kit, 0

    async def send(self, *signals: Signal, event: str = "", sent_at: datetime | None = None) -> bool:
        """Deliver `signals`, wait until all is shown, and return whether that was new."""
        receipt = await self.hand_over(*signals, event=event, sent_at=sent_at)
        await receipt.settled
        await self.kit.app.conversation._delivery.flush()
        await self.kit.app.conversation._delivery.settled()
        return receipt.fresh

    async def hand_over(self, *signals: Signal, event: str = "", sent_at: datetime | None = None) -> Receipt:
        """Deliver `signals` and wait for nothing."""
        self.count += 1
        return await self.kit.hand_over(
            Inbound(
                event_id=event or f"d{self.count}",
                place=PlaceRef(platform="webhook", channel=signals[0].source),
                account=Account(platform="webhook", user=signals[0].source, is_bot=True),
                sent_at=sent_at or self.kit.clock.now(),
                kind=InboundKind.SIGNAL,
                text=pack(signals),
                addressed=False,
            )
        )


class Told(FleetExecutor):
    """Says what it is told to for some commands, in order, and remembers all that it ran; the rest is real.

    `says` is by command: (exit code, output) of each time, the last for all further times. An exit code of
    None stands for a target that cannot be reached.
    """

    def __init__(self, inventory: Inventory, *, says: Mapping[str, Sequence[tuple[int | None, str]]]) -> None:
        super().__init__(inventory)
        self.says = {command: list(ends) for command, ends in says.items()}
        self.ran: list[str] = []

    async def run(
        self, action: Action, *, on_output: OutputSink, cancel: asyncio.Event, reads: bool = False
    ) -> Ended:
        self.ran.append(action.command)
        ends = self.says.get(action.command)
        if ends is None:
            return await super().run(action, on_output=on_output, cancel=cancel)
        code, text = ends.pop(0) if len(ends) > 1 else ends[0]
        if code is None:
            return Ended(kind=EndKind.NOT_STARTED, note=text)
        data = text.encode()
        streams = Streams(stdout=data)
        return Ended(
            kind=EndKind.EXITED, exit_code=code, output=Captured(head=data, total=len(data), streams=streams)
        )


def telling(says: Mapping[str, Sequence[tuple[int | None, str]]]) -> Callable[[Inventory], Told]:
    """Return what makes an executor that says this."""
    return lambda inventory: Told(inventory, says=says)


def executor(kit: Kit) -> Told:
    """Return the executor of a conversation that was made with `Told`."""
    assert isinstance(kit.core.executor, Told)
    return kit.core.executor


def texts(kit: Kit) -> list[str]:
    """Return everything on the screen."""
    return [one.text for one in kit.port.screen.values()]


def cards(kit: Kit, mark: str = FIRING) -> Sequence[str]:
    """Return the cards of signals that fire, or that are over with OVER; a list of them is none."""
    return [text for text in texts(kit) if text.startswith(mark) and not text.startswith(f"{mark} #")]


async def at_rest(kit: Kit) -> None:
    """Wait until nothing is due, nothing runs, and everything is shown."""
    await kit.app.conversation._timer.fire()
    await _still(kit)
    await kit.look()
    while _moves(kit):  # what was looked at led to more
        await _still(kit)
        await kit.look()


async def _still(kit: Kit) -> None:
    """Wait until nothing moves."""
    work = kit.app.conversation._work
    while _moves(kit):
        if tasks := list(work._running._tasks.values()):
            await asyncio.wait(tasks)
        await asyncio.sleep(0)


def _moves(kit: Kit) -> bool:
    """Whether anything runs, or would without anybody's yes."""
    if kit.core.switches().stopped or kit.app.conversation._work._running._tasks:
        return bool(kit.app.conversation._work._running._tasks)
    return any(
        one.state in (ActionState.QUEUED, ActionState.STARTED)
        or (one.state is ActionState.PROPOSED and one.route is RouteKind.AUTO and not view.pending)
        for name in kit.core.queries.unfinished()
        if (view := kit.core.queries.proposal(name)) is not None
        for one in view.actions
    )
